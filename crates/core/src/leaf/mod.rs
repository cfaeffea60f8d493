//! What the log says in public about a signed document, and what opens it.
//!
//! A [`Leaf`] is three members of JSON: a kind, a minute, and a commitment. The commitment is keyed with a secret salt
//! of 32 bytes, so a leaf says nothing about the document to anybody who was not given the [`Reveal`]; wallet addresses
//! and URLs are guessable, and a plain hash of them would not hide them. Destroying salt and document erases what a
//! leaf was about while every proof over the leaf stays right.

mod kind;
mod reveal;

#[cfg(test)]
mod tests;

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha2::Sha256;

pub use kind::{KINDS, KindRow, LeafType, Meaning};
pub use reveal::{Reveal, RevealError};

use crate::json;
use crate::time::Timestamp;

const MINUTE_MS: i64 = 60_000;

/// A whole minute, UTC. Leaves are coarser than documents, so that the log tells less about who asked what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Minute(Timestamp);

impl Minute {
    /// The minute that `time` falls into.
    pub const fn of(time: Timestamp) -> Self {
        Self(Timestamp::from_millis(time.millis().div_euclid(MINUTE_MS) * MINUTE_MS))
    }

    /// Reads the one spelling `YYYY-MM-DDTHH:MM:00Z`.
    pub fn parse(text: &str) -> Option<Self> {
        let minute = Self::of(Timestamp::parse(text).ok()?);
        (minute.to_string() == text).then_some(minute)
    }

    /// Its first instant.
    pub const fn start(self) -> Timestamp {
        self.0
    }
}

impl fmt::Display for Minute {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// 32 secret bytes, the same under every retry of one document. `Debug` hides them; whoever holds a reveal knows them.
#[derive(Clone, PartialEq, Eq)]
pub struct Salt([u8; 32]);

impl Salt {
    /// A salt of these bytes. The length is fixed because HMAC pads shorter keys, which would make two salts one.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    fn parse(hex: &str) -> Option<Self> {
        digits(hex).map(Self)
    }

    /// The commitment to `document` under `leaf_type`: HMAC-SHA-256(salt, type ‖ 0x00 ‖ document).
    pub fn commit(&self, leaf_type: &LeafType, document: &[u8]) -> Commitment {
        // HMAC works on a key of one block; a shorter one is filled with zeroes (RFC 2104 section 2).
        let mut block = [0; 64];
        block[..32].copy_from_slice(&self.0);
        let mac = Hmac::<Sha256>::new(&block.into());
        let mac = mac.chain_update(leaf_type.as_str()).chain_update([0]).chain_update(document);
        Commitment(mac.finalize().into_bytes().into())
    }
}

impl fmt::Debug for Salt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Salt(hidden)")
    }
}

/// What a leaf says of its document. Prints as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Commitment([u8; 32]);

impl Commitment {
    fn parse(hex: &str) -> Option<Self> {
        digits(hex).map(Self)
    }
}

impl Commitment {
    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Commitment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Commitment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Commitment({self})")
    }
}

/// 32 bytes in the one spelling we write: lower-case hexadecimal.
fn digits(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(text, &mut bytes).ok()?;
    (hex::encode(bytes) == text).then_some(bytes)
}

/// One entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// What kind of document stands behind it.
    pub leaf_type: LeafType,
    /// The minute it was made.
    pub minute: Minute,
    /// What it says of the document.
    pub commitment: Commitment,
}

impl Leaf {
    /// Reads the bytes of a log entry; `None` when they are not exactly those that [`Self::to_bytes`] writes.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let doc = json::parse(bytes, json::Profile::Signed, &json::Limits::default()).ok()?;
        let text = |name| doc.root().get(name).and_then(|node| node.as_str());
        let leaf = Self {
            leaf_type: LeafType::parse(&text("type")?)?,
            minute: Minute::parse(&text("ts")?)?,
            commitment: Commitment::parse(&text("commitment")?)?,
        };
        (leaf.to_bytes().ok()? == bytes).then_some(leaf)
    }

    /// The bytes that are logged: RFC 8785 of `{"commitment","ts","type"}`, about 140 of them.
    ///
    /// # Errors
    /// None in practice: three short strings always have a canonical form.
    pub fn to_bytes(&self) -> Result<Vec<u8>, json::Error> {
        json::to_canonical(&json!({
            "commitment": self.commitment.to_string(), "ts": self.minute.to_string(), "type": self.leaf_type.as_str(),
        }))
    }
}
