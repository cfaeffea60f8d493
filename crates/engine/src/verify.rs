//! Says whether a signed decision is what its signer wrote, without a network and without our state.

use std::borrow::Cow;

use countersign_core::json::{self, Limits, Profile};
use countersign_core::sign::{self, OpenError, VerifyingKey};
use countersign_core::time::Timestamp;
use serde_json::{Map, Value};

/// What stands beside a signed decision in an answer, and is signed by nobody.
const BESIDE: &str = "pq_trust";

/// What a verifier may conclude from one document.
#[derive(Debug)]
pub struct Verified {
    /// `countersign/decision/v1` and the like.
    pub schema: String,
    /// Which key signed it.
    pub key_id: String,
    /// When it says it was signed.
    pub issued_at: Timestamp,
    /// When its terms end, if it says so.
    pub expires_at: Option<Timestamp>,
    /// How the instant asked about stands to both.
    pub term: Term,
    /// The document itself.
    pub document: Value,
}

/// How far a document may be dated ahead of the reader's clock, in milliseconds: five minutes, as for checkpoints.
const MOST_AHEAD_MS: i64 = countersign_tlog::policy::MAX_AHEAD.cast_signed() * 1000;

/// How an instant stands to the time for which a document speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// More than five minutes before it was issued: nobody can have it yet.
    NotYet,
    /// Within.
    Running,
    /// At its end or later.
    Over,
}

impl Term {
    /// How `now` stands to what begins at `issued_at` and ends at `end`, if it ends.
    pub fn of(issued_at: Timestamp, end: Option<Timestamp>, now: Timestamp) -> Self {
        match () {
            () if issued_at.since(now) > MOST_AHEAD_MS => Self::NotYet,
            () if end.is_some_and(|end| now >= end) => Self::Over,
            () => Self::Running,
        }
    }
}

/// Verifies `bytes`, a signed document or the answer that carries one, against trusted `keys`, at `now`.
///
/// # Errors
/// [`OpenError`]: malformed, an unknown key, or a signature that does not hold.
pub fn verify(bytes: &[u8], keys: &[VerifyingKey], now: Timestamp) -> Result<Verified, OpenError> {
    let opened = sign::open(&signed_part(bytes)?, keys)?;
    let expires_at = opened.document.get("expiresAt").map(end).transpose()?;
    Ok(Verified {
        schema: opened.schema,
        key_id: opened.key_id.to_string(),
        issued_at: opened.issued_at,
        expires_at,
        term: Term::of(opened.issued_at, expires_at, now),
        document: opened.document,
    })
}

/// A document without an end says so by not having the member; one that cannot be read must not count as endless.
fn end(value: &Value) -> Result<Timestamp, OpenError> {
    let read = value.as_str().and_then(|text| Timestamp::parse(text).ok());
    read.ok_or(OpenError::Member("expiresAt"))
}

/// An answer without what stands beside the decision: the document that was signed.
///
/// # Errors
/// [`OpenError::Json`] for what is no strict JSON.
pub fn signed_part(bytes: &[u8]) -> Result<Cow<'_, [u8]>, OpenError> {
    let Ok(mut document) = serde_json::from_slice::<Map<String, Value>>(&canonical(bytes)?) else {
        return Ok(Cow::Borrowed(bytes));
    };
    match document.remove(BESIDE) {
        None => Ok(Cow::Borrowed(bytes)),
        Some(_) => Ok(Cow::Owned(json::to_canonical(&document)?)),
    }
}

/// An answer in canonical form: it may hold its decision twice, as itself and inside the reveal.
pub(crate) fn canonical(answer: &[u8]) -> Result<Vec<u8>, json::Error> {
    json::canonicalize(answer, Profile::Signed, &Limits { string: 2 << 20, size: 4 << 20, ..Limits::default() })
}

#[cfg(test)]
mod tests;
