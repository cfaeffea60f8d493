//! The table of rules, its page, and the ids that code names.

use super::*;

#[test]
fn every_rule_row_reads_and_its_page_is_current() {
    let lines = include_str!("../../../data/rules.tsv").lines().count() - 1;
    assert_eq!(rules::table().len(), lines, "every row has five cells and a known severity");
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, rules::document()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), rules::document(), "run with UPDATE_DOCS=1");
}

/// Every id that code names stands in the table.
#[test]
fn no_finding_is_made_from_an_unknown_rule() {
    let sources = [
        include_str!("../alias.rs"),
        include_str!("../answer.rs"),
        include_str!("../compare.rs"),
        include_str!("../entry.rs"),
        include_str!("../entry/extra.rs"),
        include_str!("../entry/money.rs"),
        include_str!("../entry/payee.rs"),
        include_str!("../entry/time.rs"),
        include_str!("../extension.rs"),
        include_str!("../grade.rs"),
        include_str!("../header.rs"),
        include_str!("../listed.rs"),
        include_str!("../mod.rs"),
        include_str!("../names.rs"),
        include_str!("../signed/mod.rs"),
        include_str!("../signed/response.rs"),
        include_str!("../redirect.rs"),
        include_str!("../resource.rs"),
        include_str!("../whole.rs"),
        include_str!("../x402.rs"),
    ];
    let used = sources.iter().flat_map(|text| text.split('"')).filter(|word| {
        word.split_once('.').is_some_and(|(left, right)| {
            !left.is_empty()
                && !right.is_empty()
                && word.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || matches!(one, '.' | '_'))
                && left.chars().all(char::is_alphabetic)
        })
    });
    let places = ["resource.url", "extensions.sign", "extra.decimals"];
    for id in used.filter(|word| !places.contains(word)) {
        assert!(rules::table().iter().any(|rule| rule.id == id), "{id}");
    }
}
