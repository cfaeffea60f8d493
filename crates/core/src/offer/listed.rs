//! Which findings a document lists. A reading keeps all of them, because the words are spoken from all; a document has
//! a size, which a stranger must not set.

use std::collections::BTreeMap;

use super::rules::finding;
use crate::finding::Finding;

/// Most findings of one rule.
const OF_A_RULE: usize = 16;
/// Most findings of all rules.
const IN_ALL: usize = 64;

/// `all`, or the first sixteen of each rule and of these the sixty-four gravest, in their order, and one finding more
/// that says what is missing.
pub fn listed(all: &[Finding]) -> Vec<Finding> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut kept: Vec<(usize, &Finding)> = all
        .iter()
        .enumerate()
        .filter(|(_, finding)| {
            let count = counts.entry(finding.rule).or_default();
            *count += 1;
            *count <= OF_A_RULE
        })
        .collect();
    kept.sort_by_key(|(at, finding)| (std::cmp::Reverse(finding.severity), *at));
    kept.truncate(IN_ALL);
    kept.sort_by_key(|(at, _)| *at);
    for (_, finding) in &kept {
        counts.entry(finding.rule).and_modify(|count| *count -= 1);
    }
    let mut listed: Vec<Finding> = kept.into_iter().map(|(_, finding)| finding.clone()).collect();
    listed.extend(left_out(&counts));
    listed
}

/// How many findings of each rule are not listed; none when all are.
fn left_out(counts: &BTreeMap<&'static str, usize>) -> Option<Finding> {
    let sum: usize = counts.values().sum();
    let each: Vec<String> =
        counts.iter().filter(|(_, count)| **count > 0).map(|(rule, count)| format!("{count} {rule}")).collect();
    let seen = format!("{sum} left out: {}", each.join(", "));
    (sum > 0).then(|| finding("findings.left_out", "findings", &seen, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(rule: &'static str, count: usize) -> Vec<Finding> {
        (0..count).map(|at| finding(rule, format!("accepts[{at}]"), "x", None)).collect()
    }

    #[test]
    fn what_fits_is_listed_whole() {
        let all = [many("amount.form", 16), many("asset.unknown", 16)].concat();
        assert_eq!(listed(&all), all);
    }

    #[test]
    fn the_rest_of_a_rule_is_counted() {
        let all = [many("amount.form", 20), many("asset.unknown", 1)].concat();
        let listed = listed(&all);
        assert_eq!(listed[..16], all[..16]);
        assert_eq!(listed[16], all[20]);
        assert_eq!((listed[17].rule, listed[17].observed.as_str()), ("findings.left_out", "4 left out: 4 amount.form"));
        assert_eq!(listed.len(), 18);
    }

    /// 16 of severity low and 16 of high stand before five blocking rules with 16 each; 64 have room.
    #[test]
    fn the_gravest_stay_in_their_order() {
        let blocks = ["amount.form", "asset.form", "payee.form", "network.form", "scheme.unknown"];
        let all: Vec<Finding> = ["header.base64_unpadded", "header.huge"]
            .into_iter()
            .chain(blocks)
            .flat_map(|rule| many(rule, 16))
            .collect();
        let listed = listed(&all);
        assert_eq!(listed[..64], all[32..96], "four blocking rules, whole");
        let seen = "48 left out: 16 header.base64_unpadded, 16 header.huge, 16 scheme.unknown";
        assert_eq!((listed.len(), listed[64].observed.as_str()), (65, seen));
    }
}
