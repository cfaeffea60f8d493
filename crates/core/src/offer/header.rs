//! Where the terms stand, and the ladder of encodings they may be in.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

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
const AUTHENTICATE: &str = "header:WWW-Authenticate";
const LARGE: usize = 8 << 10;
const HUGE: usize = 16 << 10;
/// No terms in base64 are as short as this.
const SHORTEST: usize = 32;
/// Above this nothing is decoded.
const MOST: usize = 64 << 10;

/// The terms in a header.
pub(super) struct Terms {
    /// The place that findings name.
    pub(super) place: &'static str,
    /// Decoded; none when they were too large to decode.
    pub(super) bytes: Option<Vec<u8>>,
    /// The other headers that terms are sent in, place and value likewise.
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
        Some(value) => (CANONICAL, *value),
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
    let beside = aliases.map(|(place, value)| (place, read(value, &mut Vec::new()))).collect();
    Some(Terms { place, bytes: read(value, findings), beside })
}

/// What stands in the other headers that sellers have sent terms in, without those that are empty.
fn aliases(headers: &[(String, Vec<u8>)]) -> impl Iterator<Item = (&'static str, &[u8])> {
    let named_so = ALIASES.iter().flat_map(|(alias, place)| named(headers, alias).map(|value| (*place, value)));
    let behind = named(headers, "www-authenticate").filter_map(behind_scheme).map(|value| (AUTHENTICATE, value));
    named_so.chain(behind).filter(|(_, value)| !value.is_empty())
}

/// Terms that stand behind the scheme `x402` where a challenge has its token68 (RFC 9110 section 11.3), or as plain JSON.
/// Parameters are no terms, and neither is a short word.
fn behind_scheme(value: &[u8]) -> Option<&[u8]> {
    let (scheme, rest) = value.split_at_checked(b"x402 ".len())?;
    let rest = rest.trim_ascii_start();
    if !scheme.eq_ignore_ascii_case(b"x402 ") {
        return None;
    }
    if rest.starts_with(b"{") {
        return Some(rest);
    }
    let word = rest.split(|byte| *byte == b',').next()?.trim_ascii();
    let digits = word.len() - word.iter().rev().take_while(|byte| **byte == b'=').count();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
    (digits >= SHORTEST && word.get(..digits)?.iter().all(plain)).then_some(word)
}

/// The values of the header `wanted`, without the space around them.
fn named<'h>(headers: &'h [(String, Vec<u8>)], wanted: &'static str) -> impl Iterator<Item = &'h [u8]> {
    headers.iter().filter(move |(name, _)| name.eq_ignore_ascii_case(wanted)).map(|header| header.1.trim_ascii())
}

/// The header's name, of its place.
pub(super) fn name(place: &'static str) -> &'static str {
    &place["header:".len()..]
}

/// Standard base64, then unpadded, then URL-safe, then without inner space, then raw JSON.
fn decode(value: &[u8], place: &'static str, findings: &mut Vec<Finding>) -> Vec<u8> {
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

/// Names of the other ways to pay that `WWW-Authenticate` headers offer, by authentication scheme.
pub(super) fn rails(headers: &[(String, Vec<u8>)]) -> Vec<super::RailSeen> {
    let values = headers.iter().filter(|header| header.0.eq_ignore_ascii_case("www-authenticate"));
    let mut rails: Vec<super::RailSeen> = values
        .flat_map(|header| schemes(&String::from_utf8_lossy(&header.1)))
        .filter_map(|scheme| super::RailSeen::of(&scheme))
        .collect();
    rails.sort();
    rails.dedup();
    rails
}

/// The authentication schemes of one header value (RFC 9110 section 11.6.1): a token at the start or
/// after a comma that is followed by space or the end, not by `=`. Quoted strings are passed over.
fn schemes(value: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in outside_quotes(value).split(',') {
        let part = part.trim_start();
        let token: String =
            part.chars().take_while(|one| one.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(*one)).collect();
        let rest = part[token.len()..].trim_start();
        if !token.is_empty() && !rest.starts_with('=') {
            found.push(token);
        }
    }
    found
}

/// The value with the inside of every quoted string blanked.
fn outside_quotes(value: &str) -> String {
    let (mut quoted, mut escaped) = (false, false);
    value
        .chars()
        .map(|one| {
            let inside = quoted;
            match one {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                _ => {}
            }
            if inside { '_' } else { one }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_behind_the_scheme_are_told_from_parameters() {
        let word = "eyJ4NDAyVmVyc2lvbiI6MiwiYWNjZXB0cyI6W119";
        for (value, terms) in [
            (format!("x402 {word}"), Some(word)),
            (format!("X402   {word}==, L402 token=\"a\""), Some(&*format!("{word}=="))),
            (r#"x402 {"accepts":[]}"#.to_owned(), Some(r#"{"accepts":[]}"#)),
            ("x402".to_owned(), None),
            ("x402 version".to_owned(), None),
            (format!("x402 terms={word}"), None),
            (format!("x402 terms=\"{word}\""), None),
            (format!("L402 {word}"), None),
            (format!("x402x {word}"), None),
            (r#"Bearer {"a":1}"#.to_owned(), None),
        ] {
            assert_eq!(behind_scheme(value.as_bytes()), terms.map(str::as_bytes), "{value}");
        }
    }

    #[test]
    fn schemes_are_told_from_parameters_and_quoted_text() {
        assert_eq!(
            schemes(r#"L402 macaroon="a, Basic b", invoice="lnbc1", Payment id="x", Bearer"#),
            ["L402", "Payment", "Bearer"]
        );
        assert_eq!(schemes(r#"LSAT macaroon="\", Payment ""#), ["LSAT"]);
        assert_eq!(schemes(""), Vec::<String>::new());
    }
}
