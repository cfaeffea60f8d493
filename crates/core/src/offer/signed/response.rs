//! The signature on the answer itself (RFC 9421, as the http-message-signatures extension has it), and
//! the digest of its body.
//!
//! A signature that holds is worth what it covers: the terms, wherever they stand, and the address that
//! was asked, without which an answer of another resource could be shown here.

use serde::Serialize;

use super::keys::{self, KeyPlace};
use crate::endpoint::ResourceUrl;
use crate::http_signature::{self, Digested, Message, Outcome, Signature};
use crate::offer::rules::finding;
use crate::offer::{BodyEnd, Exchange, Reading, Source, clean};
use crate::sign::stranger::PublicKey;

/// What became of one signature on the answer.
#[derive(Clone, Debug, Serialize)]
pub struct SignedResponse {
    /// Its label; empty when the signature headers could not be read at all.
    pub label: String,
    /// The outcome.
    pub state: ResponseState,
    /// A stable word for what stood in the way, or the component that is not covered.
    pub why: Option<&'static str>,
    /// The name of the key, cleaned.
    pub keyid: Option<String>,
    /// What the signature says it is for, cleaned.
    pub tag: Option<String>,
    /// When it was made by the signer's clock, Unix seconds.
    pub created: Option<i64>,
    /// When it ends, Unix seconds.
    pub expires: Option<i64>,
    /// The components it covers, cleaned.
    pub covers: Vec<String>,
}

/// Outcomes, each with a rule of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseState {
    /// It holds over the terms, by a key that the asked origin publishes.
    Published,
    /// It holds over the terms, by a key that nothing ties to the seller.
    Unproven,
    /// It holds, but over too little.
    Partial,
    /// It has ended.
    Expired,
    /// It does not hold.
    Invalid,
    /// The key would have to be looked up elsewhere.
    KeyNotResolved,
    /// It uses a part of the standard that is not built here.
    NotSupported,
    /// Not what the standard calls a signature.
    Malformed,
}

impl ResponseState {
    fn rule(self) -> &'static str {
        match self {
            Self::Published => "signature.response.published",
            Self::Unproven => "signature.response.unproven",
            Self::Partial => "signature.response.partial",
            Self::Expired => "signature.response.expired",
            Self::Invalid => "signature.response.invalid",
            Self::KeyNotResolved => "signature.response.key_not_resolved",
            Self::NotSupported => "signature.response.not_supported",
            Self::Malformed => "signature.response.form",
        }
    }
}

/// Most signatures on one answer that are told; honest ones have one or two.
const MOST: usize = 8;

/// Checks the digest of the body and every signature on the answer.
pub(super) fn examine(exchange: &Exchange<'_>, source: Source, reading: &mut Reading) {
    let digested = match exchange.body_end {
        BodyEnd::Whole => http_signature::content_digest(exchange.headers, exchange.body),
        BodyEnd::CutOff | BodyEnd::Stopped => Digested::NotReadable,
    };
    if digested == Digested::Differs {
        reading.findings.push(finding("content.digest", "answer:digest", "the digest of other bytes", None));
    }
    if !http_signature::is_signed(exchange.headers) {
        return;
    }
    let Ok(url) = ResourceUrl::parse(exchange.url) else { return };
    let message = Message { status: exchange.status, headers: exchange.headers, method: exchange.method, url: &url };
    let published = |keyid: &str| keys::find(exchange.keys, KeyPlace::Directory, keyid);
    let key_of = |keyid: &str| published(keyid).cloned().or_else(|| PublicKey::from_did(keyid).ok());
    let found: Vec<SignedResponse> = match http_signature::verify(&message, key_of) {
        Ok(all) => all.into_iter().map(|one| judged(one, exchange, source, digested)).collect(),
        Err(malformed) => vec![unreadable(malformed.0)],
    };
    if found.len() > MOST {
        let seen = format!("{} signatures, {MOST} told", found.len());
        reading.findings.push(finding("signature.response.form", "answer:signature", &seen, None));
    }
    for signed in found.into_iter().take(MOST) {
        let by = signed.keyid.as_deref().unwrap_or("nobody named");
        let seen = signed.why.map_or_else(|| format!("signed by {by}"), |why| format!("signed by {by}: {why}"));
        reading.findings.push(finding(signed.state.rule(), "answer:signature", &seen, None));
        reading.signatures.response.push(signed);
    }
}

fn unreadable(why: &'static str) -> SignedResponse {
    let (state, why) = (ResponseState::Malformed, Some(why));
    let (label, covers) = (String::new(), Vec::new());
    SignedResponse { label, state, why, keyid: None, tag: None, created: None, expires: None, covers }
}

fn judged(signature: Signature, exchange: &Exchange<'_>, source: Source, digested: Digested) -> SignedResponse {
    let ended = signature.expires.is_some_and(|expires| exchange.seen_at.seconds() > expires);
    let keyid = signature.keyid.as_deref().unwrap_or_default();
    let by_site = keys::find(exchange.keys, KeyPlace::Directory, keyid).is_some();
    // In canonical form or as bytes, a header is covered as wholly as in the form it was sent in.
    let whole = |form: &str| matches!(form, "" | ";sf" | ";bs");
    let covers =
        |component: &str| signature.components.iter().any(|one| one.strip_prefix(component).is_some_and(whole));
    let lacking = lacking(source, digested).into_iter().find(|(component, met)| !met || !covers(component));
    let (state, why) = match signature.outcome {
        Outcome::Malformed(why) => (ResponseState::Malformed, Some(why)),
        Outcome::NotSupported(why) => (ResponseState::NotSupported, Some(why)),
        Outcome::Invalid(why) => (ResponseState::Invalid, Some(why)),
        _ if digested == Digested::Differs && covers("\"content-digest\"") => {
            (ResponseState::Invalid, Some("content-digest"))
        }
        _ if ended => (ResponseState::Expired, Some("expires")),
        Outcome::KeyNotFound => (ResponseState::KeyNotResolved, Some("keyid_needs_a_look_up")),
        Outcome::Holds => match lacking {
            Some((component, _)) => (ResponseState::Partial, Some(component)),
            None if by_site => (ResponseState::Published, None),
            None => (ResponseState::Unproven, None),
        },
    };
    SignedResponse {
        label: clean::shown(&signature.label),
        state,
        why,
        keyid: signature.keyid.as_deref().map(clean::shown),
        tag: signature.tag.as_deref().map(clean::shown),
        created: signature.created,
        expires: signature.expires,
        covers: signature.components.iter().take(32).map(|one| clean::shown(one)).collect(),
    }
}

/// What has to be covered, with whether it could be checked at all.
fn lacking(source: Source, digested: Digested) -> [(&'static str, bool); 4] {
    let terms = match source {
        Source::Header => ("\"payment-required\"", true),
        Source::Body => ("\"content-digest\"", digested == Digested::Same),
    };
    [("\"@status\"", true), terms, ("\"@authority\";req", true), ("\"@path\";req", true)]
}

#[cfg(test)]
mod tests;
