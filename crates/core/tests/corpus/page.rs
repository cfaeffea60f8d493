//! `docs/corpus.md` against the tests: every row of the corpus is there, and what it names as its test runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The rows that were kept; numbers that are missing were not.
const KEPT: [&str; 50] = [
    "C1", "C2", "C4", "C5", "C6", "C7", "C8", "C9", "C11", "C12", "C13", "C14", "C15", "C16", "C18", "C19", "C20",
    "C21", "C22", "C23", "C24", "C25", "C26", "C28", "C29", "C30", "C32", "C33", "C34", "C35", "C36", "C37", "C39",
    "C40", "C41", "C42", "C44", "C46", "C48", "C50", "C51", "C53", "C54", "C55", "C56", "C57", "C59", "C60", "C61",
    "C62",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of the page: their numbers, and the tests they name.
fn rows() -> Vec<(Vec<String>, Vec<String>)> {
    let page = std::fs::read_to_string(root().join("docs/corpus.md")).expect("the page");
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix("| C")?.trim_end_matches(" |").split(" | ").collect();
        let numbers = format!("C{}", cells.first()?).split(", ").map(str::to_owned).collect();
        let tests = cells.last()?.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        Some((numbers, tests))
    };
    page.lines().filter_map(row).collect()
}

/// The source files of these tests, one text.
fn corpus() -> String {
    let files = std::fs::read_dir(root().join("crates/core/tests/corpus")).expect("the folder");
    files.map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("text")).collect()
}

#[test]
fn every_row_stands_on_the_page_once() {
    let told: Vec<String> = rows().into_iter().flat_map(|(numbers, _)| numbers).collect();
    let (wanted, seen): (BTreeSet<&str>, BTreeSet<&str>) = (KEPT.into(), told.iter().map(String::as_str).collect());
    assert_eq!((seen, told.len()), (wanted, KEPT.len()));
}

#[test]
fn every_row_names_tests_that_are_there() {
    for (numbers, tests) in rows() {
        assert!(!tests.is_empty(), "{numbers:?}");
        for test in tests {
            let (text, name) = match test.split_once("::") {
                Some((path, name)) => (std::fs::read_to_string(root().join(path)).expect("a file"), name),
                None => (corpus(), test.as_str()),
            };
            assert!(text.contains(&format!("fn {name}()")), "{numbers:?} names {test}");
        }
    }
}

#[test]
fn every_test_of_a_row_stands_on_the_page() {
    let named: BTreeSet<String> = rows().into_iter().flat_map(|(_, tests)| tests).collect();
    let text = corpus();
    let here = text.lines().filter_map(|line| line.strip_prefix("fn c")?.split('(').next());
    let of_a_row: Vec<String> =
        here.filter(|name| name.starts_with(|one: char| one.is_ascii_digit())).map(|name| format!("c{name}")).collect();
    assert!(of_a_row.len() > 40, "{of_a_row:?}");
    for test in of_a_row {
        assert!(named.contains(&test), "{test}");
    }
}
