//! Which findings a document lists. A reading keeps all of them, because the words are spoken from all; a document has
//! a size, which a stranger must not set.

use std::collections::BTreeMap;

use super::Reading;
use super::rules::finding;
use crate::finding::Finding;

/// Most findings of one rule, beside the one that gave the word.
const OF_A_RULE: usize = 16;
/// Most findings of all rules.
const IN_ALL: usize = 64;

/// The findings of `reading` in the order in which they are told ([`Finding::order`]): the first sixteen of each rule and
/// of these the first sixty-four, the one that gave the word always, and one finding more that says what is missing.
pub fn listed(reading: &Reading) -> Vec<Finding> {
    let deciding = reading.deciding();
    let decides = |finding: &Finding| deciding.is_some_and(|deciding| std::ptr::eq(deciding, finding));
    let mut all: Vec<&Finding> = reading.findings.iter().collect();
    all.sort_by(|left, right| left.order(right));
    let mut room = IN_ALL - usize::from(deciding.is_some());
    let (mut kept, mut missing): (BTreeMap<&str, usize>, BTreeMap<&str, usize>) = Default::default();
    all.retain(|finding| {
        let of_rule = kept.entry(finding.rule).or_default();
        let stays = decides(finding) || (room > 0 && *of_rule < OF_A_RULE);
        match stays {
            true if decides(finding) => {}
            true => (*of_rule, room) = (*of_rule + 1, room - 1),
            false => *missing.entry(finding.rule).or_default() += 1,
        }
        stays
    });
    all.into_iter().cloned().chain(left_out(&missing)).collect()
}

/// How many findings of each rule are not listed; none when all are.
fn left_out(missing: &BTreeMap<&str, usize>) -> Option<Finding> {
    let sum: usize = missing.values().sum();
    let each: Vec<String> = missing.iter().map(|(rule, count)| format!("{count} {rule}")).collect();
    let seen = format!("{sum} left out: {}", each.join(", "));
    (sum > 0).then(|| finding("findings.left_out", "findings", &seen, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offer::{NotEvaluated, ReadingKind, Word};

    fn many(rule: &'static str, count: usize) -> Vec<Finding> {
        (0..count).map(|at| finding(rule, format!("accepts[{at}]"), "x", None)).collect()
    }

    /// A 402 without options: the first finding of all decides.
    fn of(findings: Vec<Finding>) -> Reading {
        Reading::nothing(ReadingKind::NoTerms, Word::NotPayable, findings)
    }

    #[test]
    fn what_fits_is_listed_whole() {
        let all = [many("amount.form", 16), many("asset.unknown", 16)].concat();
        assert_eq!(listed(&of(all.clone())), all);
    }

    /// The one that decides beside sixteen others.
    #[test]
    fn the_rest_of_a_rule_is_counted() {
        let all = [many("asset.unknown", 1), many("amount.form", 20)].concat();
        let listed = listed(&of(all.clone()));
        assert_eq!(listed[..17], all[1..18]);
        assert_eq!(listed[17], all[0]);
        assert_eq!((listed[18].rule, listed[18].observed.as_str()), ("findings.left_out", "3 left out: 3 amount.form"));
        assert_eq!(listed.len(), 19);
    }

    /// 16 each of severity low, high and block, for four blocking rules: 64 have room.
    #[test]
    fn the_gravest_stay_in_front() {
        let blocks = ["amount.form", "asset.form", "network.form", "payee.form"];
        let rules = ["header.base64_unpadded", "header.huge"].into_iter().chain(blocks);
        let listed = listed(&of(rules.flat_map(|rule| many(rule, 16)).collect()));
        let of_place = |at: usize| listed[at * 4..][..4].iter().map(|one| (one.rule, one.subject.clone()));
        for at in 0..16 {
            assert!(of_place(at).eq(blocks.map(|rule| (rule, format!("accepts[{at}]")))), "{at}");
        }
        let seen = "32 left out: 16 header.base64_unpadded, 16 header.huge";
        assert_eq!((listed.len(), listed[64].observed.as_str()), (65, seen));
    }

    /// One that no list would have room for gave the word: it stands in the list all the same, in its place.
    #[test]
    fn what_gave_the_word_is_always_listed() {
        let blocks = ["amount.form", "asset.form", "network.form", "payee.form", "scheme.unknown"];
        let mut findings: Vec<Finding> = blocks.into_iter().flat_map(|rule| many(rule, 16)).collect();
        findings.extend([finding("http.catch_all", "path", "x", None), finding("http.wall", "status", "403", None)]);
        let wall = ReadingKind::NotEvaluated(NotEvaluated::Wall);
        let listed = listed(&Reading::nothing(wall, Word::NotEvaluated, findings));
        assert_eq!((listed.len(), listed[63].rule, listed[64].rule), (65, "http.wall", "findings.left_out"));
        // 63 are twelve places and three rules of the thirteenth.
        let seen = "18 left out: 3 amount.form, 3 asset.form, 1 http.catch_all, 3 network.form, 4 payee.form, \
                    4 scheme.unknown";
        assert_eq!(listed[64].observed, seen);
    }
}
