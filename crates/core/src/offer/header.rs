//! Where the terms stand, and the ladder of encodings they may be in.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::authenticate;
use super::rules::finding;
use crate::finding::Finding;

const CANONICAL: &str = "header:PAYMENT-REQUIRED";
/// Names met in the field that no standard client reads, and the places that findings give them.
const ALIASES: [(&str, &str); 4] = [
    ("x-payment-required", "header:X-PAYMENT-REQUIRED"),
    ("x-payment-requirements", "header:X-PAYMENT-REQUIREMENTS"),
    ("payment-requirements", "header:PAYMENT-REQUIREMENTS"),
    ("x-accepts-payment", "header:X-ACCEPTS-PAYMENT"),
];
const LARGE: usize = 8 << 10;
const HUGE: usize = 16 << 10;
/// Above this nothing is decoded.
pub(super) const MOST: usize = 64 << 10;
/// No more values beside the graded one are compared.
const MOST_BESIDE: usize = 32;

/// The terms in a header.
pub(super) struct Terms {
    /// The place that findings name.
    pub(super) place: &'static str,
    /// Decoded; none when they were too large to decode.
    pub(super) bytes: Option<Vec<u8>>,
    /// The other headers that terms are sent in, place and value likewise; what is not compared has no value.
    pub(super) beside: Vec<(&'static str, Option<Vec<u8>>)>,
}

impl Terms {
    /// Whether standard clients read this header.
    pub(super) fn canonical(&self) -> bool {
        self.place == CANONICAL
    }
}

/// The first challenge header, decoded, with what had to be overlooked. An empty one is none: the reference client reads
/// on in the body.
pub(super) fn terms(headers: &[(String, Vec<u8>)], findings: &mut Vec<Finding>) -> Option<Terms> {
    let mut canonical = named(headers, "payment-required").collect::<Vec<_>>();
    if matches!(canonical[..], [value] if value.is_empty()) {
        findings.push(finding("header.empty", CANONICAL, "no value", None));
        canonical.clear();
    }
    let mut aliases = aliases(headers);
    let (place, value) = match canonical.first() {
        Some(value) => (CANONICAL, Cow::Borrowed(*value)),
        None => aliases.next()?,
    };
    if place != CANONICAL {
        findings.push(finding("header.alias", place, name(place), Some("PAYMENT-REQUIRED")));
    }
    if canonical.len() > 1 {
        findings.push(finding("header.repeated", place, &format!("{} values", canonical.len()), None));
    }
    let rule = match value.len() {
        size if size > MOST => Some("header.payload_too_large"),
        size if size > HUGE => Some("header.huge"),
        size if size > LARGE => Some("header.large"),
        _ => None,
    };
    findings.extend(rule.map(|rule| finding(rule, place, &format!("{} bytes", value.len()), None)));
    let read =
        |value: &[u8], findings: &mut Vec<Finding>| (value.len() <= MOST).then(|| decode(value, place, findings));
    let mut beside: Vec<_> =
        aliases.by_ref().take(MOST_BESIDE).map(|(place, value)| (place, read(&value, &mut Vec::new()))).collect();
    beside.extend(aliases.next().map(|(place, _)| (place, None)));
    Some(Terms { place, bytes: read(&value, findings), beside })
}

/// What stands in the other headers that sellers have sent terms in, without those that are empty.
fn aliases(headers: &[(String, Vec<u8>)]) -> impl Iterator<Item = (&'static str, Cow<'_, [u8]>)> {
    let named_so = ALIASES.iter().flat_map(|(alias, place)| named(headers, alias).map(|value| (*place, value.into())));
    let behind = authenticate::terms(headers).map(|value| (authenticate::PLACE, value));
    named_so.chain(behind).filter(|(_, value)| !value.is_empty())
}

/// The values of the header `wanted`, without the space around them.
pub(super) fn named<'h>(headers: &'h [(String, Vec<u8>)], wanted: &'static str) -> impl Iterator<Item = &'h [u8]> {
    headers.iter().filter(move |(name, _)| name.eq_ignore_ascii_case(wanted)).map(|header| header.1.trim_ascii())
}

/// The header's name, of its place.
pub(super) fn name(place: &'static str) -> &'static str {
    &place["header:".len()..]
}

/// Standard base64, then unpadded, then URL-safe, then without inner space, then raw JSON.
pub(super) fn decode(value: &[u8], place: &'static str, findings: &mut Vec<Finding>) -> Vec<u8> {
    let mut note = |rule| findings.push(finding(rule, place, &String::from_utf8_lossy(value), None));
    if let Ok(bytes) = STANDARD.decode(value) {
        return bytes;
    }
    if let Ok(bytes) = STANDARD_NO_PAD.decode(value) {
        note("header.base64_unpadded");
        return bytes;
    }
    let trimmed: Vec<u8> = value.iter().copied().filter(|byte| *byte != b'=').collect();
    if let Ok(bytes) = URL_SAFE_NO_PAD.decode(&trimmed) {
        note("header.base64_url");
        return bytes;
    }
    let packed: Vec<u8> = trimmed.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if let (true, Ok(bytes)) = (packed.len() < trimmed.len(), STANDARD_NO_PAD.decode(&packed)) {
        note("header.base64_spaces");
        return bytes;
    }
    note("header.not_base64");
    value.to_vec()
}
