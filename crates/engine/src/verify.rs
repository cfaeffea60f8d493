//! Says whether a signed decision is what its signer wrote, without a network and without our state.

use countersign_core::sign::{self, OpenError, VerifyingKey};
use countersign_core::time::Timestamp;
use serde_json::Value;

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
    /// Whether that end has passed at the instant asked about.
    pub expired: bool,
    /// The document itself.
    pub document: Value,
}

/// Verifies `bytes` against trusted `keys`, at `now`.
///
/// # Errors
/// [`OpenError`]: malformed, an unknown key, or a signature that does not hold.
pub fn verify(bytes: &[u8], keys: &[VerifyingKey], now: Timestamp) -> Result<Verified, OpenError> {
    let opened = sign::open(bytes, keys)?;
    let expires_at = opened.document["expiresAt"].as_str().and_then(|text| Timestamp::parse(text).ok());
    Ok(Verified {
        schema: opened.schema,
        key_id: opened.key_id.to_string(),
        issued_at: opened.issued_at,
        expires_at,
        expired: expires_at.is_some_and(|end| now >= end),
        document: opened.document,
    })
}
