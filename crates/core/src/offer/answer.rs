//! What the answer's own headers say about its terms: who may keep them, and which clients can read them.

use super::rules::finding;
use crate::finding::Finding;

/// Examines caching and, where the terms stand in a header, what a page in a browser would see of it.
pub(super) fn examine(headers: &[(String, Vec<u8>)], findings: &mut Vec<Finding>) {
    if !lists(headers, "cache-control", "no-store") {
        note("cache.shared", headers, "Cache-Control", Some("no-store"), findings);
    }
    if !stands(headers, "payment-required") {
        return;
    }
    let exposed = |name| lists(headers, "access-control-expose-headers", name);
    if !stands(headers, "access-control-allow-origin") {
        note("cors.closed", headers, "Access-Control-Allow-Origin", None, findings);
    } else if !exposed("payment-required") && !exposed("*") {
        note("cors.hidden", headers, "Access-Control-Expose-Headers", Some("PAYMENT-REQUIRED"), findings);
    }
}

fn note(
    rule: &'static str,
    headers: &[(String, Vec<u8>)],
    name: &str,
    expected: Option<&str>,
    findings: &mut Vec<Finding>,
) {
    let lines: Vec<_> = values(headers, name).map(String::from_utf8_lossy).collect();
    let seen = if lines.is_empty() { "absent".to_owned() } else { lines.join(", ") };
    findings.push(finding(rule, format!("header:{name}"), &seen, expected));
}

/// The lines of one header; several are one list (RFC 9110 section 5.3).
fn values<'h>(headers: &'h [(String, Vec<u8>)], name: &str) -> impl Iterator<Item = &'h [u8]> {
    headers.iter().filter(move |header| header.0.eq_ignore_ascii_case(name)).map(|header| header.1.as_slice())
}

fn stands(headers: &[(String, Vec<u8>)], name: &str) -> bool {
    values(headers, name).any(|value| !value.trim_ascii().is_empty())
}

fn lists(headers: &[(String, Vec<u8>)], name: &str, wanted: &str) -> bool {
    let same = |item: &[u8]| item.trim_ascii().eq_ignore_ascii_case(wanted.as_bytes());
    values(headers, name).any(|value| value.split(|byte| *byte == b',').any(same))
}
