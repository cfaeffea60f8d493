//! `docs/refusals.md`, made from the codes themselves, and held against them.

use std::collections::BTreeSet;

use countersign_core::endpoint::UrlError;
use countersign_core::offer::rules;
use countersign_engine::check::CheckError;
use countersign_engine::decision::Miss;
use countersign_probe::RefusedCode;

/// Code, what it means, what to do.
type Row = (String, String, String);

struct Section {
    title: &'static str,
    says: &'static str,
    rows: Vec<Row>,
}

fn row(code: &str, means: &str, hint: &str) -> Row {
    (code.to_owned(), means.to_owned(), hint.to_owned())
}

fn sections() -> [Section; 5] {
    [
        Section {
            title: "The text is no URL of a seller's",
            says: "Nothing is sent. Exit code 3. `--json` prints `{\"code\", \"error\", \"hint\"}`, in a list (`--from`) with `url`.",
            rows: UrlError::ALL.iter().map(|one| row(one.code(), &one.to_string(), one.hint())).collect(),
        },
        Section {
            title: "Nothing that may be used came back",
            says: "The decision is signed all the same. `word` is `not_evaluated`, `transport.refused` holds the code and \
                   `transport.reason` the case; the finding is `transport.` and the code. On the terminal the code stands \
                   in brackets behind the first line. Exit code 4.",
            rows: RefusedCode::ALL.iter().map(|one| door(one.as_str())).collect(),
        },
        Section {
            title: "No offer was selected",
            says: "`miss_reason` of a decision. Exit code 4 when `word` is `not_evaluated`, else 1. Why a challenge is not \
                   payable stands in `findings` ([rules.md](rules.md)); which bounds were in the way, in \
                   `unmet_constraints`.",
            rows: Miss::ALL.iter().map(|one| row(one.as_str(), one.told().0, one.told().1)).collect(),
        },
        Section {
            title: "The check could not be finished",
            says: "Something of this machine is in the way, never the seller. There is no decision. Exit code 4. `--json` \
                   prints `{\"code\", \"error\", \"hint\"}`, in a list with `url`.",
            rows: CheckError::CODES
                .iter()
                .map(|(code, means, hint)| row(code, means, hint))
                .chain([row("look_ended", "a look of `check --from` ended in a defect of ours", "report it")])
                .collect(),
        },
        Section {
            title: "The program could not begin",
            says: "`--json` prints `{\"code\", \"error\", \"hint\"}`, except for a flag that does not exist, which is told \
                   on the terminal only.",
            rows: vec![
                row("usage", "the command line or a setting is wrong; exit code 2", "correct what the sentence names"),
                row("malformed_input", "a file or an argument is not what it should be; exit code 3", "replace it"),
                row("not_evaluated", "something of this machine is in the way; exit code 4", "do what the hint says"),
            ],
        },
    ]
}

fn door(word: &str) -> Row {
    let rule = rules::rule(&format!("transport.{word}")).expect("a test of the engine holds every word of the door");
    row(word, rule.reason, rule.hint)
}

const HEAD: &str = "# Codes

Every code that `check` can end in, so that a program can act on it: the sentences may change, the codes do not. Exit \
codes: 0 an offer was selected, 1 none was, 2 usage, 3 malformed input, 4 could not be evaluated, 5 an offer was \
selected but the receipt that `--require-transparency` demands is missing (`pq_trust.transparency.code` says why).
";

fn document() -> String {
    let mut text = HEAD.to_owned();
    for Section { title, says, rows } in sections() {
        text.push_str(&format!("\n## {title}\n\n{says}\n\n| code | means | what to do |\n|---|---|---|\n"));
        rows.iter().for_each(|(code, means, hint)| text.push_str(&format!("| `{code}` | {means} | {hint} |\n")));
    }
    text
}

#[test]
fn the_page_of_codes_is_current() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/refusals.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, document()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), document(), "run with UPDATE_DOCS=1");
}

/// Every word that the sources give as a code is listed, and nothing else is.
#[test]
fn every_code_of_the_sources_is_on_the_page_and_no_other() {
    let door = include_str!("../../probe/src/guarded/outcome.rs");
    let door = door.split("/// A remark on how an answer came.").next().unwrap();
    let sources = [
        include_str!("../../core/src/endpoint.rs"),
        door,
        include_str!("../../engine/src/decision/miss.rs"),
        include_str!("../../engine/src/check/error.rs"),
    ];
    let arms = sources.iter().flat_map(|text| text.split("=> \"").skip(1)).filter_map(|rest| rest.split('"').next());
    let plain = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'0'..=b'9'));
    let ours = [include_str!("app.rs"), include_str!("commands/check.rs"), include_str!("commands/check/many.rs")];
    let given = ["coded(\"", "code: \"", "\"code\": \""]
        .iter()
        .flat_map(|mark| ours.iter().flat_map(move |text| text.split(*mark).skip(1)))
        .filter_map(|rest| rest.split('"').next());
    let used: BTreeSet<String> = arms.chain(given).filter(plain).map(str::to_owned).collect();
    let listed: BTreeSet<String> = sections().into_iter().flat_map(|section| section.rows).map(|row| row.0).collect();
    assert_eq!(used, listed);
    assert!(used.len() > 50, "{}", used.len());
}
