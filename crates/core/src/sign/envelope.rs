//! Sealing and opening signed documents.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::{KeyId, SigningKey, VerifyingKey};
use crate::json::{self, Limits, Profile};
use crate::time::Timestamp;

/// Why a document could not be sealed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// It has no `schema`.
    #[error("a signed document needs a `schema`")]
    NoSchema,
    /// It sets a member that sealing sets.
    #[error("a signed document may not bring its own `{0}`")]
    Reserved(&'static str),
    /// It holds what no signed document may hold.
    #[error("the document has no canonical form: {0}")]
    Json(#[from] json::Error),
}

/// Why a document was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Not strict JSON.
    #[error("not a signed document: {0}")]
    Json(#[from] json::Error),
    /// A member that every signed document has is absent or of another type.
    #[error("not a signed document: `{0}` is missing or not what it should be")]
    Member(&'static str),
    /// Signed by a key that is not among the trusted ones.
    #[error("signed by key {0}, which is not among the trusted keys")]
    UnknownKey(String),
    /// The named key did not sign these bytes.
    #[error("the signature does not hold: the document was changed or never signed by this key")]
    BadSignature,
}

impl OpenError {
    /// Stable code for callers.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Json(error) => error.code(),
            Self::Member(_) => "member_missing",
            Self::UnknownKey(_) => "unknown_key",
            Self::BadSignature => "signature_invalid",
        }
    }
}

/// A document whose signature holds.
#[derive(Clone, Debug)]
pub struct Opened {
    /// `countersign/<kind>/v1`
    pub schema: String,
    /// Who signed.
    pub key_id: KeyId,
    /// When, by the signer's clock.
    pub issued_at: Timestamp,
    /// The whole document.
    pub document: Value,
}

/// Signs `document`: adds `issuedAt`, `keyId` and `signature`, and returns the RFC 8785 bytes. Nothing leaves here that
/// [`open`] would not read: a document over one of its limits is refused.
///
/// # Errors
/// [`SealError`]
pub fn seal(mut document: Map<String, Value>, issued_at: Timestamp, key: &SigningKey) -> Result<Vec<u8>, SealError> {
    if !document.get("schema").is_some_and(Value::is_string) {
        return Err(SealError::NoSchema);
    }
    if let Some(taken) = ["issuedAt", "keyId", "signature"].into_iter().find(|name| document.contains_key(*name)) {
        return Err(SealError::Reserved(taken));
    }
    document.insert("issuedAt".to_owned(), issued_at.to_string().into());
    document.insert("keyId".to_owned(), key.id().to_string().into());
    document.insert("signature".to_owned(), STANDARD.encode([0; 64]).into());
    let text = Value::Object(document).to_string();
    let parted = json::canonicalize_without(text.as_bytes(), "signature", Profile::Signed, &Limits::default())?;
    Ok(filled(parted.whole, parted.member, &STANDARD.encode(key.sign(&parted.rest))))
}

/// The document with `signature` where one of the same length stands in `member`: what follows the name, a colon and
/// a quote.
fn filled(mut whole: Vec<u8>, member: Range<usize>, signature: &str) -> Vec<u8> {
    const NAME: &str = "\"signature\":\"";
    let text = &whole[member.clone()];
    let from = member.start + usize::from(text.starts_with(b",")) + NAME.len();
    whole.splice(from..from + signature.len(), signature.bytes());
    whole
}

/// Verifies `bytes` against the trusted key its `keyId` names.
///
/// # Errors
/// [`OpenError`]; malformed, unknown and invalid are told apart.
pub fn open(bytes: &[u8], trusted: &[VerifyingKey]) -> Result<Opened, OpenError> {
    let canonical = json::canonicalize_without(bytes, "signature", Profile::Signed, &Limits::default())?;
    let document: Map<String, Value> =
        serde_json::from_slice(&canonical.whole).map_err(|_| OpenError::Member("schema"))?;
    let text = |name: &'static str| document.get(name).and_then(Value::as_str).ok_or(OpenError::Member(name));
    let schema = text("schema")?.to_owned();
    let issued_at = Timestamp::parse(text("issuedAt")?).map_err(|_| OpenError::Member("issuedAt"))?;
    let key_id = text("keyId")?.to_owned();
    let signature = STANDARD.decode(text("signature")?).map_err(|_| OpenError::Member("signature"))?;
    let Some(key) = trusted.iter().find(|key| key.id().to_string() == key_id) else {
        return Err(OpenError::UnknownKey(key_id.chars().filter(char::is_ascii_hexdigit).take(16).collect()));
    };
    if !key.verifies(&canonical.rest, &signature) {
        return Err(OpenError::BadSignature);
    }
    Ok(Opened { schema, key_id: key.id(), issued_at, document: Value::Object(document) })
}
