//! What a key says of itself: `countersign/key/v1`, the document behind a `key` leaf.
//!
//! A key speaks of nobody but itself and signs what it says. So nobody can end another's key, a rotation needs no order
//! between two signers, and the last thing a key signs is its own end. What this proves is possession, never whose key
//! it is: that a reader knows from elsewhere, or not.
//!
//! Two statements of one key differ in `until` alone. Each is dated by the change it speaks of, and Ed25519 is
//! deterministic (RFC 8032 section 5.1.6), so a key that says the same again says the same bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::{Purpose, SealError, SigningKey, VerifyingKey, open, seal};
use crate::json::{self, Doc, Limits, NodeKind, Profile};
use crate::time::Timestamp;

const SCHEMA: &str = "countersign/key/v1";

const MEMBERS: [&str; 8] = ["schema", "issuedAt", "keyId", "publicKey", "purpose", "from", "until", "signature"];

/// When a key signs: whole seconds, both ends included. The key that follows begins in the second the old one ends in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// Its first second.
    pub from: Timestamp,
    /// Its last one; none while it signs.
    pub until: Option<Timestamp>,
}

impl Validity {
    /// Whether something dated `at` may be signed by the key.
    pub fn covers(&self, at: Timestamp) -> bool {
        at.seconds() >= self.from.seconds() && self.until.is_none_or(|until| at.seconds() <= until.seconds())
    }

    /// When it last changed, which is when its key said so.
    pub fn changed(&self) -> Timestamp {
        self.until.unwrap_or(self.from)
    }
}

/// One key, what it may sign and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyStatement {
    /// The key.
    pub key: VerifyingKey,
    /// What it signs.
    pub purpose: Purpose,
    /// When it does.
    pub validity: Validity,
}

/// Why a document is no statement of a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyStatementError {
    /// Not strict JSON.
    #[error("not a statement of a key: {0}")]
    Json(#[from] json::Error),
    /// A member is absent, unknown, or not what it should be.
    #[error("not a statement of a key: `{0}` is missing or not what it should be")]
    Member(&'static str),
    /// The key that it names did not sign it.
    #[error("the key did not sign what is said of it")]
    Signature,
}

impl KeyStatementError {
    /// Stable code for callers.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Json(error) => error.code(),
            Self::Member(_) => "key_statement_member",
            Self::Signature => "signature_invalid",
        }
    }
}

impl KeyStatement {
    /// What `key` says of itself, canonical bytes; the same every time.
    ///
    /// # Errors
    /// None in practice: eight short members always have a canonical form.
    pub fn seal(key: &SigningKey, purpose: Purpose, validity: Validity) -> Result<Vec<u8>, SealError> {
        let members = [
            ("schema", json!(SCHEMA)),
            ("publicKey", json!(key.verifying_key().to_base64())),
            ("purpose", json!(purpose.as_str())),
            ("from", json!(validity.from)),
            ("until", json!(validity.until)),
        ];
        seal(members.map(|(name, value)| (name.to_owned(), value)).into_iter().collect(), validity.changed(), key)
    }

    /// Reads a statement and verifies it by the key inside. Strict: no other member, times in the one spelling we write,
    /// the end not before the beginning, and dated by the later of them.
    ///
    /// # Errors
    /// [`KeyStatementError`]
    pub fn open(bytes: &[u8]) -> Result<Self, KeyStatementError> {
        let doc = json::parse(bytes, Profile::Signed, &Limits::default())?;
        let statement = Self::read(&doc).map_err(KeyStatementError::Member)?;
        match open(bytes, std::slice::from_ref(&statement.key)) {
            Ok(_) => Ok(statement),
            Err(_) => Err(KeyStatementError::Signature),
        }
    }

    fn read(doc: &Doc<'_>) -> Result<Self, &'static str> {
        let root = doc.root();
        if root.members().any(|(name, _)| !MEMBERS.contains(&name.as_ref())) {
            return Err("another member");
        }
        let text = |name: &'static str| root.get(name).and_then(|node| node.as_str()).ok_or(name);
        let second = |name: &'static str| time(&text(name)?).ok_or(name);
        let until = root.get("until").ok_or("until")?;
        let validity = Validity {
            from: second("from")?,
            until: if until.kind() == NodeKind::Null { None } else { Some(second("until")?) },
        };
        let key = key(&text("publicKey")?).ok_or("publicKey")?;
        let signature = STANDARD.decode(text("signature")?.as_bytes()).is_ok_and(|bytes| bytes.len() == 64);
        let ordered = validity.until.is_none_or(|until| validity.from <= until);
        let holds = |right: bool, name: &'static str| right.then_some(()).ok_or(name);
        holds(text("schema")? == SCHEMA, "schema")?;
        holds(text("keyId")? == key.id().to_string(), "keyId")?;
        holds(ordered, "until")?;
        holds(second("issuedAt")? == validity.changed(), "issuedAt")?;
        holds(signature, "signature")?;
        Ok(Self { key, purpose: Purpose::parse(&text("purpose")?).ok_or("purpose")?, validity })
    }
}

/// A time in the one spelling we write.
fn time(text: &str) -> Option<Timestamp> {
    Timestamp::parse(text).ok().filter(|time| time.to_string() == text)
}

fn key(text: &str) -> Option<VerifyingKey> {
    let bytes: [u8; 32] = STANDARD.decode(text).ok()?.try_into().ok()?;
    VerifyingKey::from_bytes(&bytes).ok()
}

#[cfg(test)]
mod tests;
