//! What the answer's own headers say about its terms: who may keep them, and which clients can read them.

use super::rules::finding;
use crate::finding::Finding;

/// Examines caching and, where the terms stand in a header, what a page in a browser would see of it.
pub(super) fn examine(headers: &[(String, Vec<u8>)], findings: &mut Vec<Finding>) {
    let cached = values(headers, "cache-control");
    if !lists(&cached, "no-store") {
        let seen = cached.unwrap_or_else(|| "absent".to_owned());
        findings.push(finding("cache.shared", "header:Cache-Control", &seen, Some("no-store")));
    }
    if values(headers, "payment-required").is_none() {
        return;
    }
    let exposed = values(headers, "access-control-expose-headers");
    if values(headers, "access-control-allow-origin").is_none() {
        findings.push(finding("cors.closed", "header:Access-Control-Allow-Origin", "absent", None));
    } else if !lists(&exposed, "payment-required") && !lists(&exposed, "*") {
        let seen = exposed.unwrap_or_else(|| "absent".to_owned());
        findings.push(finding("cors.hidden", "header:Access-Control-Expose-Headers", &seen, Some("PAYMENT-REQUIRED")));
    }
}

/// All values of one header, joined as RFC 9110 section 5.3 joins them.
fn values(headers: &[(String, Vec<u8>)], name: &str) -> Option<String> {
    let named = headers.iter().filter(|header| header.0.eq_ignore_ascii_case(name));
    let values: Vec<_> = named.map(|header| String::from_utf8_lossy(&header.1)).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

fn lists(value: &Option<String>, wanted: &str) -> bool {
    value.as_ref().is_some_and(|value| value.split(',').any(|item| item.trim().eq_ignore_ascii_case(wanted)))
}
