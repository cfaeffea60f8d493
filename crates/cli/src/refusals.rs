//! `docs/refusals.md`, made from the codes themselves, and held against them.

mod tables;

use std::collections::BTreeSet;
use std::path::Path;

use countersign_core::endpoint::UrlError;
use countersign_core::offer::rules;
use countersign_engine::check::CheckError;
use countersign_engine::decision::Miss;
use countersign_probe::RefusedCode;

use crate::codes;

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

/// `code | means | what to do`, one row a line.
fn table(text: &str) -> Vec<Row> {
    let cells = |line: &str| match line.split(" | ").collect::<Vec<_>>()[..] {
        [code, means, hint] => row(code, means, hint),
        _ => panic!("a row has three cells: {line}"),
    };
    text.trim().lines().map(cells).collect()
}

fn section(title: &'static str, says: &'static str, rows: Vec<Row>) -> Section {
    Section { title, says, rows }
}

fn sections() -> Vec<Section> {
    let checks = CheckError::CODES.iter().map(|(code, means, hint)| row(code, means, hint));
    vec![
        section(
            "The text is no URL of a seller's",
            "Nothing is sent. Exit code 3. `--json` prints `{\"code\", \"error\", \"hint\"}`, in a list (`--from`) with `url`.",
            UrlError::ALL.iter().map(|one| row(one.code(), &one.to_string(), one.hint())).collect(),
        ),
        section(
            "Nothing that may be used came back",
            "The decision is signed all the same. `word` is `not_evaluated`, `transport.refused` holds the code and \
             `transport.reason` the case; the finding is `transport.` and the code. On the terminal the code stands \
             in brackets behind the first line. Exit code 4.",
            RefusedCode::ALL.iter().map(|one| door(one.as_str())).collect(),
        ),
        section(
            "No offer was selected",
            "`miss_reason` of a decision. Exit code 4 when `word` is `not_evaluated`, else 1. Why a challenge is not \
             payable stands in `findings` ([rules.md](rules.md)); which bounds were in the way, in \
             `unmet_constraints`.",
            Miss::ALL.iter().map(|one| row(one.as_str(), one.told().0, one.told().1)).collect(),
        ),
        section(
            "The signature of an offer is none",
            "`why` beside a signature of the seller's in `signatures`; the finding says what that means for the word.",
            table(tables::SIGNED),
        ),
        section(
            "The check could not be finished",
            "Something of this machine is in the way, never the seller. There is no decision. Exit code 4. `--json` \
             prints `{\"code\", \"error\", \"hint\"}`, in a list with `url`. `doctor` tells the same codes before a check meets them.",
            checks.chain(table(tables::CHECK)).collect(),
        ),
        section(
            "The program could not begin, or could not write its answer",
            "`--json` prints `{\"code\", \"error\", \"hint\"}`.",
            table(tables::BEGIN).into_iter().chain(table(codes::NAMED)).collect(),
        ),
        section(
            "The log gives no receipt, or does not open",
            "`pq_trust.transparency.code` of a check's answer, whose decision stands all the same; or the end of a `log`, \
             `receipt` or `keys` command, exit code 4, with `{\"code\", \"error\", \"hint\"}`.",
            table(tables::LOG),
        ),
        section(
            "A log is watched",
            "`log fsck`, `log monitor` and `log witness`. The first two print `{\"result\", \"code\", \"reason\", \"hint\"}`, and \
             what [the log](#the-log-gives-no-receipt-or-does-not-open) and [verify](#verify-refuses) say as well. Exit code 1 \
             where something is wrong with the log, 4 where nothing can be said.",
            table(tables::WATCH),
        ),
        section(
            "`verify` refuses",
            "`{\"result\", \"code\", \"reason\", \"hint\"}`. `result` says what kind of no it is: `malformed` exit code 3, \
             `not_evaluated` and `stale` 4, `trust_policy_not_met` 5, any other 1. `log monitor` says the same of what a log shows.",
            table(codes::VERIFY),
        ),
        section(
            "The read API of a log says no",
            "`error.code` of what `log serve` answers, with status 400 or 404.",
            table(tables::SERVED),
        ),
    ]
}

fn door(word: &str) -> Row {
    let rule = rules::rule(&format!("transport.{word}")).expect("a test of the engine holds every word of the door");
    row(word, rule.reason, rule.hint)
}

const HEAD: &str = "# Codes

Every code that a command or an answer can hold, so that a program can act on it: the sentences may change, the codes do \
not. Exit codes of `check`: 0 an offer was selected, 1 none was, 2 usage, 3 malformed input, 4 could not be evaluated, 5 \
an offer was selected but the receipt that `--require-transparency` demands is missing (`pq_trust.transparency.code` says \
why).
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

/// Errors whose codes no command and no answer shows: they are findings, or told in a sentence of another error.
const NOT_SHOWN: [&str; 5] = [
    "core/src/address.rs",
    "core/src/domain.rs",
    "core/src/network.rs",
    "tlog/src/tile/bundle.rs",
    "tlog/src/witness.rs",
];

/// Likewise, in a file with others that are shown.
const NOT_SHOWN_WORDS: [&str; 2] = ["key_not_supported", "key_not_a_point"];

/// Every Rust source of ours that is no test, with its path below `crates`.
fn sources(folder: &Path, into: &mut Vec<(String, String)>) {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let name = path.to_string_lossy().split_once("/../../").unwrap().1.to_owned();
        match path.is_dir() {
            _ if name.contains("test") || name.contains("refusals") => {}
            true => sources(&path, into),
            false => into.push((name, std::fs::read_to_string(&path).unwrap())),
        }
    }
}

/// The words in the functions called `code`, of each file: what stands in quotes until the function ends.
fn codes_of(text: &str) -> impl Iterator<Item = &str> {
    let bodies = text.split("fn code(").skip(1).filter_map(|rest| rest.split("\n    }\n").next());
    bodies.flat_map(|body| body.split('"').skip(1).step_by(2))
}

/// The words that the commands give as a code themselves.
fn given(text: &str) -> impl Iterator<Item = &str> {
    let first = [
        "coded(\"",
        "listed(\"",
        "code: \"",
        "\"code\": \"",
        "(\"code\", \"",
        "not_evaluated(self.global, \"",
        "Over => (\"",
        "global, word, \"",
    ];
    let first = first.into_iter().flat_map(|mark| text.split(mark).skip(1)).filter_map(|rest| rest.split('"').next());
    let calls = ["refused(global, \"", "refused(reader.global, \"", "refused(self.global, \""]
        .into_iter()
        .flat_map(|mark| text.split(mark).skip(1));
    let second = calls.filter_map(|rest| rest.split_once("\", \"")?.1.split('"').next());
    first.chain(second)
}

/// Every word that the sources give as a code is listed, and nothing else is.
#[test]
fn every_code_of_the_sources_is_on_the_page_and_no_other() {
    let plain = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'0'..=b'9'));
    let mut all = Vec::new();
    for part in ["core", "tlog", "store", "engine", "server", "cli"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates").join(part).join("src"), &mut all);
    }
    let shown = all.iter().filter(|(name, _)| !NOT_SHOWN.iter().any(|one| name.ends_with(one)));
    let coded = shown.flat_map(|(_, text)| codes_of(text)).filter(|word| !NOT_SHOWN_WORDS.contains(word));
    let commands = all.iter().filter(|(name, _)| name.contains("cli/src") && !name.contains("lab/"));
    let door = RefusedCode::ALL.iter().map(|one| one.as_str()).chain(Miss::ALL.iter().map(|one| one.as_str()));
    let used = coded.chain(commands.flat_map(|(_, text)| given(text))).chain(door).filter(plain);
    let used: BTreeSet<String> = used.map(str::to_owned).collect();
    let rows: Vec<String> = sections().into_iter().flat_map(|section| section.rows).map(|row| row.0).collect();
    let listed: BTreeSet<String> = rows.iter().cloned().collect();
    let (missing, idle): (Vec<_>, Vec<_>) = (used.difference(&listed).collect(), listed.difference(&used).collect());
    assert!(missing.is_empty() && idle.is_empty(), "not on the page: {missing:?}; given nowhere: {idle:?}");
    assert!(rows.len() == listed.len() && listed.len() > 200, "each once: {} {}", rows.len(), listed.len());
}
