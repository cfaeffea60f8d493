//! Members whose names differ from the format's in letter case alone. The reference client in JavaScript does not see them.
//! `encoding/json` of Go, and so the reference client in Go, takes them for the format's own, and of several the last: one
//! challenge then names two payees.
//!
//! Only objects whose members the format names are looked at. Inside `extra`, `extensions` and schemas names are free, and
//! read as they are written.

use super::rules::finding;
use crate::finding::Finding;
use crate::json::Node;

/// What the envelope is made of, in either version.
pub(super) const ENVELOPE: [&str; 5] = ["x402Version", "error", "resource", "accepts", "extensions"];
/// What an entry of `accepts` is made of, in either version.
pub(super) const ENTRY: [&str; 12] = [
    "scheme",
    "network",
    "amount",
    "maxAmountRequired",
    "asset",
    "payTo",
    "maxTimeoutSeconds",
    "extra",
    "resource",
    "description",
    "mimeType",
    "outputSchema",
];
/// What the resource of version 2 is made of.
pub(super) const RESOURCE: [&str; 6] = ["url", "description", "mimeType", "serviceName", "tags", "iconUrl"];
/// Most spellings of one name that are told: a thousand more say no more.
const MOST_SEEN: usize = 4;

/// One finding for each of the `known` names that `object` writes otherwise; its place is the name as written, after `place`.
pub(super) fn examine(object: Node<'_>, known: &[&'static str], place: &str, findings: &mut Vec<Finding>) {
    if !strays(object, known) {
        return;
    }
    let written: Vec<_> = object.members().filter_map(|(name, _)| Some((meant(&name, known)?, name))).collect();
    for right in known {
        let all: Vec<_> = written.iter().filter(|(meant, _)| meant == right).map(|(_, name)| name).collect();
        let Some(other) = all.iter().find(|name| name.as_ref() != *right) else { continue };
        let rule = if all.len() > 1 { "json.folded_name" } else { "json.letter_case" };
        let seen: Vec<_> = all.iter().take(MOST_SEEN).map(|name| visible(name)).collect();
        findings.push(finding(rule, format!("{place}{}", visible(other)), &seen.join(", "), Some(right)));
    }
}

/// Whether a member of `object` is called by one of the `known` names in another letter case.
pub(super) fn strays(object: Node<'_>, known: &[&'static str]) -> bool {
    // Nearly every name is written as the format writes it, and is looked at no further.
    object.members().any(|(name, _)| !known.contains(&name.as_ref()) && meant(&name, known).is_some())
}

/// The name of `known` that a reader without regard to letter case takes `name` for.
fn meant(name: &str, known: &[&'static str]) -> Option<&'static str> {
    known.iter().copied().find(|right| folds(name, right))
}

/// Whether the two are one under Unicode's simple case folding, of which `right` being ASCII leaves little: two letters that
/// are not ASCII fold to one that is, the long s and the Kelvin sign.
pub(super) fn folds(name: &str, right: &str) -> bool {
    if name.is_ascii() {
        return name.eq_ignore_ascii_case(right);
    }
    let plain = |one: char| match one {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        _ => one.to_ascii_lowercase(),
    };
    name.chars().map(plain).eq(right.chars().map(|one| one.to_ascii_lowercase()))
}

/// The name with what looks like an ASCII letter and is none written out.
fn visible(name: &str) -> String {
    let written = |one: char| if one.is_ascii() { one.to_string() } else { one.escape_unicode().to_string() };
    name.chars().map(written).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{self, Limits};

    fn told(text: &str) -> Vec<(&'static str, String, String)> {
        let (doc, _) = json::observe(text.as_bytes(), &Limits::default()).unwrap();
        let mut findings = Vec::new();
        examine(doc.root(), &ENTRY, "accepts[0].", &mut findings);
        assert_eq!(strays(doc.root(), &ENTRY), !findings.is_empty());
        findings.into_iter().map(|one| (one.rule, one.subject, one.observed)).collect()
    }

    /// As `strings.EqualFold` of Go says.
    #[test]
    fn names_fold_as_unicode_folds_them() {
        for (name, right) in [
            ("PAYTO", "payTo"),
            ("payto", "payTo"),
            ("a\u{17f}\u{17f}et", "asset"),
            ("networ\u{212a}", "network"),
            ("NETWOR\u{212a}", "network"),
        ] {
            assert!(folds(name, right), "{name}");
        }
        // The dotless i, the full-width p, a trailing space and a trailing zero byte fold to nothing else.
        for (name, right) in [
            ("pay_to", "payTo"),
            ("pr\u{131}ce", "price"),
            ("\u{ff50}ayTo", "payTo"),
            ("payTo ", "payTo"),
            ("payTo\0", "payTo"),
            ("payT", "payTo"),
        ] {
            assert!(!folds(name, right), "{name}");
        }
    }

    #[test]
    fn a_name_beside_its_twin_is_told_from_a_name_alone() {
        assert_eq!(told(r#"{"payTo":"a","amount":"1","PaymentTo":"b"}"#), []);
        for (text, rule, place, seen) in [
            (r#"{"payTo":"a","PayTo":"b"}"#, "json.folded_name", "accepts[0].PayTo", "payTo, PayTo"),
            (r#"{"\u0050ayTo":"b","payTo":"a"}"#, "json.folded_name", "accepts[0].PayTo", "PayTo, payTo"),
            (r#"{"PAYTO":"a","PayTo":"b"}"#, "json.folded_name", "accepts[0].PAYTO", "PAYTO, PayTo"),
            (r#"{"PayTo":"a"}"#, "json.letter_case", "accepts[0].PayTo", "PayTo"),
            (
                "{\"asset\":\"a\",\"a\u{17f}set\":\"b\"}",
                "json.folded_name",
                "accepts[0].a\\u{17f}set",
                "asset, a\\u{17f}set",
            ),
        ] {
            assert_eq!(told(text), [(rule, place.to_owned(), seen.to_owned())], "{text}");
        }
    }

    #[test]
    fn each_name_is_told_once_however_often_it_stands_there() {
        let all: Vec<_> = (0..32).map(|bits: u8| spelled("payTo", bits)).map(|name| format!("\"{name}\":1")).collect();
        assert_eq!(told(&format!("{{{}}}", all.join(","))).len(), 1);
    }

    /// `name` with the letters in upper case whose bit is set.
    fn spelled(name: &str, bits: u8) -> String {
        let letter = |(at, one): (usize, char)| {
            if bits >> at & 1 == 1 { one.to_ascii_uppercase() } else { one.to_ascii_lowercase() }
        };
        name.chars().enumerate().map(letter).collect()
    }
}
