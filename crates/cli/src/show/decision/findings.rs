//! The findings of a decision as lines. One rule often finds the same thing in several offers: its sentence and its hint are
//! said once, with every place beside what stood there.

use serde_json::Value;

use super::{MARK, fenced, list, reason, text};

/// The lines, the gravest rule first.
pub(super) fn told(document: &Value) -> Vec<String> {
    let rules = grouped(list(document, "findings").map(|finding| (text(finding, "rule"), finding)));
    let decided = |rule: &str| document["word_rule"] == rule;
    rules.iter().flat_map(|(rule, found)| of_rule(rule, found, decided(rule))).collect()
}

/// What has the same key together, in the order in which the keys come first.
fn grouped<K: PartialEq, V>(pairs: impl Iterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// What is merely worth knowing takes one line; what gave the word, or what somebody should act on, also says where and
/// how.
fn of_rule(rule: &str, found: &[&Value], decided: bool) -> Vec<String> {
    let Some(first) = found.first() else { return Vec::new() };
    let (severity, reason) = (text(first, "severity"), reason(rule).unwrap_or(rule));
    if severity == "info" && !decided {
        return vec![format!("  info     {reason} ({rule}{})", inside(found))];
    }
    let mut lines = vec![format!("  {severity:<8} {reason}")];
    lines.extend(seen(found).into_iter().map(|(what, places)| format!("           {rule} at {places}: saw {what}")));
    lines.push(format!("           hint: {}", text(first, "hint")));
    lines
}

/// Where inside the offers; what is about the whole answer has no place that a reader misses.
fn inside(found: &[&Value]) -> String {
    let subjects: Vec<&str> = found.iter().map(|finding| text(finding, "subject")).collect();
    let offers = subjects.iter().any(|subject| subject.contains("accepts["));
    if offers || subjects.len() > 1 { format!(" at {}", places(&subjects)) } else { String::new() }
}

/// Each thing that was seen, once, and where.
fn seen(found: &[&Value]) -> Vec<(String, String)> {
    let told = |finding: &&Value| {
        let expected = finding["expected"].as_str().map(|it| format!(", expected {}", fenced(it))).unwrap_or_default();
        format!("{}{expected}", fenced(text(finding, "observed")))
    };
    let all = grouped(found.iter().map(|finding| (told(finding), text(finding, "subject"))));
    all.into_iter().map(|(what, subjects)| (what, places(&subjects))).collect()
}

/// `accepts[0, 2].asset, body:accepts[0].asset`: places that differ in the option only are said together.
fn places(subjects: &[&str]) -> String {
    let all = grouped(subjects.iter().map(|subject| split(subject)));
    let told = all.iter().map(|((before, after), options)| {
        let named: Vec<&str> = options.iter().copied().flatten().collect();
        match (named.as_slice(), options.len()) {
            ([], 1) => (*before).to_owned(),
            ([], times) => format!("{before}, {times} times"),
            (named, _) => format!("{before}{}{after}", named.join(", ")),
        }
    });
    told.collect::<Vec<_>>().join(", ").replace('`', MARK)
}

/// A place without the number of its option, and that number.
fn split(subject: &str) -> ((&str, &str), Option<&str>) {
    let start = subject.find("accepts[").map(|at| at + "accepts[".len());
    let parts = start.and_then(|start| {
        let end = start + subject.get(start..)?.find(']')?;
        Some(((subject.get(..start)?, subject.get(end..)?), Some(subject.get(start..end)?)))
    });
    parts.unwrap_or(((subject, ""), None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn finding(rule: &str, severity: &str, subject: &str, observed: &str) -> Value {
        json!({"rule": rule, "severity": severity, "subject": subject, "observed": observed, "hint": "none"})
    }

    /// Five offers of one seller, each `upto`, three of them of one token that nobody knows.
    #[test]
    fn what_one_rule_finds_in_five_offers_is_said_once_with_its_places() {
        let unknown = [(0, "0xaa"), (2, "0xbb"), (4, "0xaa")];
        let high = unknown.map(|(at, seen)| finding("asset.unknown", "medium", &format!("accepts[{at}].asset"), seen));
        let info = (0..5).map(|at| finding("scheme.upto", "info", &format!("accepts[{at}].scheme"), "upto"));
        let whole = finding("signature.absent", "info", "signature", "none");
        let findings: Vec<Value> = high.into_iter().chain(info).chain([whole]).collect();
        let lines = told(&json!({"word_rule": "asset.unknown", "findings": findings}));
        let sentence = |rule| reason(rule).expect("a rule");
        assert_eq!(
            lines,
            [
                format!("  medium   {}", sentence("asset.unknown")),
                "           asset.unknown at accepts[0, 4].asset: saw `0xaa`".to_owned(),
                "           asset.unknown at accepts[2].asset: saw `0xbb`".to_owned(),
                "           hint: none".to_owned(),
                format!("  info     {} (scheme.upto at accepts[0, 1, 2, 3, 4].scheme)", sentence("scheme.upto")),
                format!("  info     {} (signature.absent)", sentence("signature.absent")),
            ]
        );
    }

    #[test]
    fn places_of_header_and_body_stay_apart_and_marks_stay_inside() {
        assert_eq!(
            places(&["accepts[1].a", "body:accepts[0].a", "accepts[3].a"]),
            "accepts[1, 3].a, body:accepts[0].a"
        );
        assert_eq!(places(&["url", "accepts", "accepts[0"]), "url, accepts, accepts[0");
        assert_eq!(places(&["extensions.`x"]), "extensions.\\u{60}x");
        assert_eq!(places(&["url", "url"]), "url, 2 times");
    }
}
