//! Signatures on HTTP responses (RFC 9421), checked with keys that the caller brings.
//!
//! Strict where a reader could be led to another message than the signer meant: names given twice,
//! components the message lacks, values outside ASCII. What the standard allows and nobody was seen to
//! use on a 402 (`tr`, RSA, P-384, HMAC, header fields of the request) is said to be not supported instead of guessed at.

mod base;
mod component;
mod digest;
mod field;

#[cfg(test)]
mod tests;

pub use digest::{Digested, content_digest};

use crate::endpoint::ResourceUrl;
use crate::sign::stranger::{Algorithm, PublicKey};
use field::{Bare, Dictionary, InnerList, Member};

/// Most signatures that are looked at in one message.
const MOST: usize = 8;

/// Most components that are followed in one message, over all of its signatures: each has a header read for it.
const MOST_COMPONENTS: usize = 64;

/// A response and the request it answers.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The status answered.
    pub status: u16,
    /// Header names and raw values, in order.
    pub headers: &'a [(String, Vec<u8>)],
    /// The method asked with.
    pub method: &'a str,
    /// The URL asked.
    pub url: &'a ResourceUrl,
}

/// One signature of a message and what it came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Its label in both headers.
    pub label: String,
    /// The name of the key, as written.
    pub keyid: Option<String>,
    /// What the signature is for, as written.
    pub tag: Option<String>,
    /// When it was made, seconds since the Unix epoch, by the signer's clock.
    pub created: Option<i64>,
    /// When it ends, seconds since the Unix epoch.
    pub expires: Option<i64>,
    /// Component identifiers as they stand in the signature, such as `"@path";req`.
    pub components: Vec<String>,
    /// The outcome.
    pub outcome: Outcome,
}

/// What a signature came to. The words are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It holds under the key its `keyid` names.
    Holds,
    /// It does not hold, or cannot over this message.
    Invalid(&'static str),
    /// Not what the standard calls a signature.
    Malformed(&'static str),
    /// Something of the standard that is not built here.
    NotSupported(&'static str),
    /// The caller has no key of that name.
    KeyNotFound,
}

/// The signature headers as a whole cannot be read; a stable word for why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub &'static str);

/// Whether the message claims to be signed.
pub fn is_signed(headers: &[(String, Vec<u8>)]) -> bool {
    headers.iter().any(|(name, _)| is_one_of(name, &["signature-input", "signature"]))
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|one| name.eq_ignore_ascii_case(one))
}

/// Verifies every signature of the message, at most 8. `key_of` answers for a `keyid`.
///
/// # Errors
/// [`Malformed`] when the two headers cannot be read or do not belong together.
pub fn verify(message: &Message<'_>, key_of: impl Fn(&str) -> Option<PublicKey>) -> Result<Vec<Signature>, Malformed> {
    let read = |name, why| {
        let value = base::field(message.headers, name).ok().flatten().ok_or(Malformed(why))?;
        field::dictionary(&value).ok_or(Malformed(why))
    };
    let inputs: Dictionary = read("signature-input", "signature_input")?;
    let signatures: Dictionary = read("signature", "signature")?;
    if inputs.len() != signatures.len() || inputs.is_empty() || inputs.len() > MOST {
        return Err(Malformed("labels"));
    }
    let look = Look { message, followed: covered(&inputs) <= MOST_COMPONENTS, key_of: &key_of };
    let one = |(label, input): (String, Member)| {
        let bytes = signatures.iter().find(|(other, _)| *other == label).map(|(_, member)| member);
        let Some(Member::Item(Bare::Bytes(bytes), _)) = bytes else { return Err(Malformed("signature")) };
        let Member::List(list) = input else { return Err(Malformed("signature_input")) };
        Ok(look.judge(label, &list, bytes))
    };
    inputs.into_iter().map(one).collect()
}

/// How many components the signatures cover together.
fn covered(inputs: &Dictionary) -> usize {
    let items = |(_, input): &(String, Member)| match input {
        Member::List(list) => list.items.len(),
        Member::Item(..) => 0,
    };
    inputs.iter().map(items).sum()
}

/// What all signatures of a message are judged by.
struct Look<'a, K> {
    message: &'a Message<'a>,
    /// Whether there are few enough components to follow them.
    followed: bool,
    key_of: &'a K,
}

impl<K: Fn(&str) -> Option<PublicKey>> Look<'_, K> {
    fn judge(&self, label: String, list: &InnerList, bytes: &[u8]) -> Signature {
        let text = |name| match list.param(name) {
            Some(Bare::String(text)) => Some(text.clone()),
            _ => None,
        };
        let seconds = |name| match list.param(name) {
            Some(Bare::Integer(seconds)) => Some(*seconds),
            _ => None,
        };
        let keyid = text("keyid");
        Signature {
            label,
            tag: text("tag"),
            created: seconds("created"),
            expires: seconds("expires"),
            components: list.items.iter().map(field::identifier).collect(),
            outcome: self.outcome(list, bytes, keyid.as_deref()).unwrap_or_else(|not| not),
            keyid,
        }
    }

    /// Form first, then the message, then the key: what is wrong without any key is said without one.
    fn outcome(&self, list: &InnerList, bytes: &[u8], keyid: Option<&str>) -> Result<Outcome, Outcome> {
        well_formed(list)?;
        if !self.followed {
            return Err(Outcome::NotSupported("components"));
        }
        let base = base::of(self.message, list)?;
        let named = named_algorithm(list)?;
        let Some(key) = keyid.and_then(self.key_of) else { return Ok(Outcome::KeyNotFound) };
        let usable = matches!(key.algorithm(), Algorithm::Ed25519 | Algorithm::P256);
        if !usable || named.is_some_and(|named| named != key.algorithm()) {
            return Err(Outcome::Invalid("alg_is_not_the_keys"));
        }
        if key.verifies(&base, bytes) { Ok(Outcome::Holds) } else { Err(Outcome::Invalid("signature_does_not_hold")) }
    }
}

/// The parameters of RFC 9421 section 2.3 with their types.
fn well_formed(list: &InnerList) -> Result<(), Outcome> {
    let right = |(name, value): &(String, Bare)| match name.as_str() {
        "created" | "expires" => matches!(value, Bare::Integer(_)),
        "keyid" | "alg" | "nonce" | "tag" => matches!(value, Bare::String(_)),
        _ => true,
    };
    match list.params.iter().all(right) {
        true if list.param("keyid").is_some() => Ok(()),
        true => Err(Outcome::Malformed("keyid")),
        false => Err(Outcome::Malformed("parameter")),
    }
}

fn named_algorithm(list: &InnerList) -> Result<Option<Algorithm>, Outcome> {
    match list.param("alg") {
        None => Ok(None),
        Some(Bare::String(name)) if name == "ed25519" => Ok(Some(Algorithm::Ed25519)),
        Some(Bare::String(name)) if name == "ecdsa-p256-sha256" => Ok(Some(Algorithm::P256)),
        Some(_) => Err(Outcome::NotSupported("alg")),
    }
}
