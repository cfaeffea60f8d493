//! Where the terms stand, and the ladder of encodings they may be in.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::rules::finding;
use crate::finding::Finding;

const CANONICAL: &str = "payment-required";
/// Names met in the field that no standard client reads.
const ALIASES: [&str; 4] =
    ["x-payment-required", "x-payment-requirements", "payment-requirements", "x-accepts-payment"];
const LARGE: usize = 8 << 10;

/// The first challenge header's bytes, decoded, with what had to be overlooked.
pub(super) fn terms(headers: &[(String, Vec<u8>)], findings: &mut Vec<Finding>) -> Option<Vec<u8>> {
    let named = |wanted: &str| {
        headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|header| &header.1).collect::<Vec<_>>()
    };
    let canonical = named(CANONICAL);
    let value = match canonical.first() {
        Some(value) => value,
        None => {
            let (alias, value) = ALIASES.iter().find_map(|alias| Some((alias, *named(alias).first()?)))?;
            findings.push(finding("header.alias", format!("header:{alias}"), alias, Some("PAYMENT-REQUIRED")));
            value
        }
    };
    if canonical.iter().any(|other| *other != value) {
        findings.push(finding(
            "header.repeated",
            "header:PAYMENT-REQUIRED",
            &format!("{} different values", canonical.len()),
            None,
        ));
    }
    if value.len() > LARGE {
        findings.push(finding("header.large", "header:PAYMENT-REQUIRED", &format!("{} bytes", value.len()), None));
    }
    Some(decode(value.trim_ascii(), findings))
}

/// Standard base64, then unpadded, then URL-safe, then without inner space, then raw JSON.
fn decode(value: &[u8], findings: &mut Vec<Finding>) -> Vec<u8> {
    let mut note =
        |rule| findings.push(finding(rule, "header:PAYMENT-REQUIRED", &String::from_utf8_lossy(value), None));
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
    fn schemes_are_told_from_parameters_and_quoted_text() {
        assert_eq!(
            schemes(r#"L402 macaroon="a, Basic b", invoice="lnbc1", Payment id="x", Bearer"#),
            ["L402", "Payment", "Bearer"]
        );
        assert_eq!(schemes(r#"LSAT macaroon="\", Payment ""#), ["LSAT"]);
        assert_eq!(schemes(""), Vec::<String>::new());
    }
}
