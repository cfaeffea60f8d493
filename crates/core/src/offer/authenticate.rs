//! `WWW-Authenticate` as a list of challenges (RFC 9110 section 11.6.1): the schemes it names, and the terms that some
//! sellers state behind the scheme `x402`, wherever in the list it stands. Every byte is looked at a few times at most.

use std::borrow::Cow;

use super::RailSeen;
use super::beside::{LIMITS, Story, opens_as_json};
use super::header::{MOST, decode, named};
use crate::json;

const NAME: &str = "www-authenticate";
/// The place that findings name.
pub(super) const PLACE: &str = "header:WWW-Authenticate";
/// No terms in base64 are as short as this.
const SHORTEST: usize = 32;

/// One challenge of a list.
struct Challenge<'v> {
    scheme: &'v [u8],
    /// What stands behind the scheme, parted at its commas, up to the next challenge.
    parts: Vec<&'v [u8]>,
    /// The same up to the end of the value: JSON has commas of its own.
    rest: &'v [u8],
}

/// Names of the other ways to pay, by authentication scheme.
pub(super) fn rails(headers: &[(String, Vec<u8>)]) -> Vec<RailSeen> {
    let all = named(headers, NAME).flat_map(challenges);
    let mut rails: Vec<RailSeen> = all.filter_map(|one| RailSeen::of(&String::from_utf8_lossy(one.scheme))).collect();
    rails.sort();
    rails.dedup();
    rails
}

/// What stands behind the scheme `x402` and may be terms.
pub(super) fn terms(headers: &[(String, Vec<u8>)]) -> impl Iterator<Item = Cow<'_, [u8]>> {
    named(headers, NAME).flat_map(|value| {
        let ours = challenges(value).into_iter().filter(|one| one.scheme.eq_ignore_ascii_case(b"x402"));
        // JSON has the rest of the value for itself: nothing in it is a challenge, and no byte is read twice.
        let (mut all, mut json) = (Vec::new(), None);
        for one in ours {
            json = one.json();
            if json.is_some() {
                break;
            }
            all.extend(behind(&one));
        }
        all.into_iter().chain(json.map(Cow::Borrowed))
    })
}

impl<'v> Challenge<'v> {
    /// Plain JSON behind the scheme.
    fn json(&self) -> Option<&'v [u8]> {
        Some(self.rest.trim_ascii_start()).filter(|rest| rest.starts_with(b"{"))
    }
}

/// A token68 (RFC 9110 section 11.3) that is no short word, or each parameter that is terms by its content.
fn behind<'v>(challenge: &Challenge<'v>) -> Vec<Cow<'v, [u8]>> {
    let word = challenge.parts.first().map_or(&b""[..], |part| part.trim_ascii());
    if is_token68(word) {
        return vec![Cow::Borrowed(word)];
    }
    challenge.parts.iter().filter_map(|part| parameter(part)).collect()
}

fn is_token68(word: &[u8]) -> bool {
    let digits = word.len() - word.iter().rev().take_while(|byte| **byte == b'=').count();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
    digits >= SHORTEST && word.iter().take(digits).all(plain)
}

/// The value of a parameter that somebody could take for terms. One too large to be decoded may be that as well.
fn parameter(part: &[u8]) -> Option<Cow<'_, [u8]>> {
    let equals = part.iter().position(|byte| *byte == b'=')?;
    let value = unquoted(part.get(equals + 1..)?.trim_ascii());
    (value.len() > MOST || states(&decode(&value, PLACE, &mut Vec::new()))).then_some(value)
}

/// Whether `text` is JSON that states terms, or JSON that we cannot read and another may.
fn states(text: &[u8]) -> bool {
    opens_as_json(text) && json::observe(text, &LIMITS).map_or(true, |(doc, _)| !Story::of(doc.root()).is_empty())
}

/// A quoted string (RFC 9110 section 5.6.4) without its quotes and escapes; anything else as it is.
fn unquoted(value: &[u8]) -> Cow<'_, [u8]> {
    let Some(inner) = value.strip_prefix(b"\"") else { return Cow::Borrowed(value) };
    let inner = inner.strip_suffix(b"\"").unwrap_or(inner);
    if !inner.contains(&b'\\') {
        return Cow::Borrowed(inner);
    }
    let mut escaped = false;
    let kept = inner.iter().copied().filter(|byte| {
        escaped = *byte == b'\\' && !escaped;
        !escaped
    });
    Cow::Owned(kept.collect())
}

/// A part that begins with a token which is no parameter's name begins a challenge; the others belong to the one before.
fn challenges(value: &[u8]) -> Vec<Challenge<'_>> {
    let (mut found, mut at) = (Vec::<Challenge<'_>>::new(), 0);
    for part in parts(value) {
        match (scheme(part), found.last_mut()) {
            (Some(scheme), _) => {
                let behind = part.len() - part.trim_ascii_start().len() + scheme.len();
                found.push(Challenge { scheme, parts: vec![&part[behind..]], rest: &value[at + behind..] });
            }
            (None, Some(last)) => last.parts.push(part),
            (None, None) => {}
        }
        at += part.len() + 1;
    }
    found
}

/// The value parted at the commas outside of quoted strings.
fn parts(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut quoted, mut escaped) = (false, false);
    value.split(move |byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b',' => return !quoted,
            _ => {}
        }
        false
    })
}

fn scheme(part: &[u8]) -> Option<&[u8]> {
    let part = part.trim_ascii_start();
    let in_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    let (token, rest) = part.split_at(part.iter().take_while(|byte| in_token(byte)).count());
    (!token.is_empty() && !rest.trim_ascii_start().starts_with(b"=")).then_some(token)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn found(value: &str) -> Vec<String> {
        let headers = [("WWW-Authenticate".to_owned(), value.as_bytes().to_vec())];
        terms(&headers).map(|one| String::from_utf8_lossy(&one).into_owned()).collect()
    }

    #[test]
    fn terms_behind_the_scheme_are_told_from_parameters() {
        let word = "eyJ4NDAyVmVyc2lvbiI6MiwiYWNjZXB0cyI6W119";
        for (value, terms) in [
            (format!("x402 {word}"), Some(word)),
            (format!("X402   {word}==, L402 token=\"a\""), Some(&*format!("{word}=="))),
            (format!("L402 token=\"a, b\", x402 {word}, Bearer"), Some(word)),
            (r#"x402 {"accepts":[]}"#.to_owned(), Some(r#"{"accepts":[]}"#)),
            (r#"Bearer, x402 {"accepts":[],"a":1}"#.to_owned(), Some(r#"{"accepts":[],"a":1}"#)),
            ("x402".to_owned(), None),
            ("x402 version".to_owned(), None),
            (format!("x402 terms={word}"), None),
            (format!("x402 terms=\"{word}\""), None),
            (format!("L402 {word}"), None),
            (format!("x402x {word}"), None),
            (format!("L402 token=\"a, x402 {word}\""), None),
            (r#"Bearer {"a":1}"#.to_owned(), None),
        ] {
            assert_eq!(found(&value), terms.into_iter().collect::<Vec<_>>(), "{value}");
        }
    }

    #[test]
    fn a_parameter_that_states_terms_is_one_of_them() {
        let (stated, other) = (r#"{"accepts":[{"payTo":"0x1"}]}"#, STANDARD.encode(r#"{"realm":["a"]}"#));
        let (word, cut) = (STANDARD.encode(stated), STANDARD.encode(&stated[..20]));
        assert_eq!(found(&format!("x402 realm=\"a, b\", terms=\"{word}\", more={other}")), [&*word]);
        assert_eq!(found(&format!("Bearer, x402 terms={word}, L402 terms={word}")), [&*word]);
        assert_eq!(found(&format!("x402 a={word}, b=\"{cut}\"")), [word, cut], "what is cut may be read by others");
        assert_eq!(found(&format!("x402 terms=\"{}\"", stated.replace('"', "\\\""))), [stated]);
        assert_eq!(found(&"x402 {,".repeat(9)).len(), 1, "JSON has the rest for itself");
        assert_eq!(found("x402 realm=\"eyJ\\\\\\\"\", a=\"").len(), 0);
    }

    #[test]
    fn schemes_are_told_from_parameters_and_quoted_text() {
        let schemes = |value: &'static str| -> Vec<&str> {
            challenges(value.as_bytes()).iter().flat_map(|one| std::str::from_utf8(one.scheme)).collect()
        };
        assert_eq!(
            schemes(r#"L402 macaroon="a, Basic b", invoice="lnbc1", Payment id="x", Bearer"#),
            ["L402", "Payment", "Bearer"]
        );
        assert_eq!(schemes(r#"LSAT macaroon="\", Payment ""#), ["LSAT"]);
        assert_eq!(schemes(""), Vec::<&str>::new());
    }
}
