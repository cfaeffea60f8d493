//! `docs/reading-a-check.md` against the program: its commands are run, and what it shows is what they print.

use std::path::Path;

use super::common::Lab;

/// A command as the page shows it, and the lines below it.
fn shown(page: &str) -> Vec<(String, String)> {
    let blocks = page.split("```\n").skip(1).step_by(2);
    let command = |block: &str| {
        let (command, output) = block.split_once('\n')?;
        Some((command.strip_prefix("$ countersign ")?.to_owned(), output.to_owned()))
    };
    blocks.filter_map(command).collect()
}

/// The log of the page has another name than the one of this run.
fn named(text: &str) -> String {
    let lines = text.lines().map(|line| line.split_once("countersign.local/log/").map_or(line, |(before, _)| before));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_the_page_on_reading_a_check_shows_is_what_is_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reading-a-check.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (lab, shown) = (Lab::start(), shown(&page));
    assert_eq!(shown.len(), 3, "the commands of the page");
    for (command, output) in shown {
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(words[..4], ["check", "--allow-loopback", "--ca", "lab-ca.pem"], "as a reader has to type it");
        let url = words.last().expect("a URL");
        let seller = url.strip_prefix("https://").and_then(|rest| rest.split('.').next()).expect("a seller");
        assert_eq!(*url, format!("https://{seller}.localhost:4402/paid"));
        let (here, more) = (lab.url(seller), &words[4..words.len() - 1]);
        let look = || {
            let data = tempfile::tempdir().expect("a folder");
            let out = lab.check(data.path(), &[more, &[here.as_str()]].concat());
            String::from_utf8(out.stdout).expect("text")
        };
        // On a busy machine the path asked beside the URL may not have answered in time.
        let printed = (0..20).map(|_| look()).find(|said| !said.contains("other paths")).expect("the lab answers");
        let printed = named(&printed);
        let begins = output.lines().count() == 1;
        let same = if begins { printed.lines().next() } else { Some(printed.as_str()) };
        assert_eq!(same, Some(named(&output).as_str()), "{command}");
    }
}
