//! A command line that does not parse, for a program: the parser writes for people alone.

use std::ffi::OsStr;

use clap::Parser as _;
use clap::error::ErrorKind;

use crate::Exit;
use crate::app::{self, Failure};
use crate::args::Cli;
use crate::show;

/// What was typed, or the exit code after it was said what is wrong with it. A wish for help or the version ends here.
pub(crate) fn parsed() -> Result<Cli, Exit> {
    Cli::try_parse().map_err(|error| {
        if !error.use_stderr() {
            error.exit();
        }
        if wants_json(std::env::args_os()) {
            show::json(&app::told(&failure(&error).into()));
        }
        let _gone = error.print();
        Exit::Usage
    })
}

/// Nothing was parsed, so the flag is looked for as the parser would: behind `--` it is a value.
fn wants_json(args: impl Iterator<Item = impl AsRef<OsStr>>) -> bool {
    args.take_while(|one| one.as_ref() != "--").any(|one| one.as_ref() == "--json")
}

/// The parser's sentence, and its tip or the usage as the hint.
fn failure(error: &clap::Error) -> Failure {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::usage("the command needs arguments, and has none").advised("--help lists what it takes");
    }
    let text = error.to_string();
    let mut parts = text.split("\n\n").map(one_line);
    let sentence = parts.next().unwrap_or_default();
    let rest: Vec<String> = parts.collect();
    let hint = ["tip: ", "Usage: "].iter().find_map(|start| rest.iter().find_map(|part| told(part, start)));
    let failure = Failure::usage(sentence.strip_prefix("error: ").unwrap_or(&sentence));
    failure.advised(hint.unwrap_or_else(|| "--help lists what it takes".to_owned()))
}

fn told(part: &str, start: &str) -> Option<String> {
    let rest = part.strip_prefix(start)?;
    Some(if start == "Usage: " { format!("write {rest}") } else { rest.to_owned() })
}

fn one_line(part: &str) -> String {
    part.lines().map(str::trim).collect::<Vec<_>>().join(" ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::{failure, wants_json};
    use crate::app;
    use crate::args::Cli;

    #[test]
    fn the_flag_is_found_wherever_it_is_one() {
        assert!(wants_json(["countersign", "check", "--bogus", "--json"].iter()));
        assert!(wants_json(["countersign", "--json", "bogus"].iter()));
        assert!(!wants_json(["countersign", "check", "--", "--json"].iter()), "a value");
        assert!(!wants_json(["countersign", "check", "--jsonp"].iter()));
    }

    #[test]
    fn the_sentence_is_one_line_and_the_hint_is_the_tip_or_the_usage() {
        let of = |args: &[&str]| {
            let error = Cli::try_parse_from([&["countersign"], args].concat()).unwrap_err();
            let told = app::told(&failure(&error).into());
            assert_eq!(told["code"], "usage");
            [&told["error"], &told["hint"]].map(|text| text.as_str().unwrap().to_owned())
        };
        assert_eq!(
            of(&["check"]),
            ["the following required arguments were not provided: <URL>", "write countersign check <URL>"]
        );
        assert_eq!(
            of(&["check", "--bogus"]),
            ["unexpected argument '--bogus' found", "to pass '--bogus' as a value, use '-- --bogus'"]
        );
        assert_eq!(of(&["log"]), ["the command needs arguments, and has none", "--help lists what it takes"]);
        let [sentence, hint] = of(&["check", "x", "--max-latency-ms", "q"]);
        assert_eq!(hint, "--help lists what it takes");
        assert_eq!(sentence, "invalid value 'q' for '--max-latency-ms <MS>': invalid digit found in string");
    }
}
