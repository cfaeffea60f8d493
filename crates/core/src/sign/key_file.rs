//! A private key as it lies in a file: `countersign/key-file/v1`, JSON, with the seed in hex.

use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::SigningKey;
use crate::json::{self, Limits, Profile};
use crate::time::Timestamp;

const SCHEMA: &str = "countersign/key-file/v1";

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$row:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$row])* $variant),+ }
        impl $name {
            /// Its word in files and answers.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
            pub(super) fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

words! {
    /// What a key may sign.
    Purpose {
        /// Verdicts on endpoints.
        Verdict = "verdict",
        /// Decisions of a check.
        Decision = "decision",
        /// Approvals of tool manifests.
        Approval = "approval",
        /// Evidence of the verification utility.
        Evidence = "evidence",
        /// Credentials of merchants.
        Credential = "credential",
        /// Checkpoints of the log.
        Log = "log",
    }
}

words! {
    /// Where a key stands in its rotation.
    KeyState {
        /// Published, not signing yet.
        Announced = "announced",
        /// Signs now.
        Current = "current",
        /// Signs no more; what it signed still verifies.
        Previous = "previous",
    }
}

/// One key and what it is for.
#[derive(Debug)]
pub struct KeyFile {
    /// What it may sign.
    pub purpose: Purpose,
    /// Where it stands.
    pub state: KeyState,
    /// When it was made.
    pub created: Timestamp,
    /// The private key.
    pub key: SigningKey,
}

/// Why bytes are no key file. Says which member, never what stood in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFileError {
    /// Not strict JSON.
    #[error("not a key file: {0}")]
    Json(#[from] json::Error),
    /// A member is absent or not what it should be.
    #[error("not a key file: `{0}` is missing or not what it should be")]
    Member(&'static str),
    /// The public key beside the seed belongs to another seed.
    #[error("the public key does not belong to the seed")]
    Mismatch,
}

impl KeyFile {
    /// Reads the bytes of a key file.
    ///
    /// # Errors
    /// [`KeyFileError`]
    pub fn parse(bytes: &[u8]) -> Result<Self, KeyFileError> {
        let doc = json::parse(bytes, Profile::Signed, &Limits::default())?;
        let text =
            |name: &'static str| doc.root().get(name).and_then(|node| node.as_str()).ok_or(KeyFileError::Member(name));
        // Files of the first days share their schema with the statements that keys sign, which have no seed.
        if !matches!(&*text("schema")?, SCHEMA | "countersign/key/v1") {
            return Err(KeyFileError::Member("schema"));
        }
        let mut seed = Zeroizing::new([0; 32]);
        hex::decode_to_slice(text("seed")?.as_bytes(), &mut *seed).map_err(|_| KeyFileError::Member("seed"))?;
        let file = Self {
            purpose: Purpose::parse(&text("purpose")?).ok_or(KeyFileError::Member("purpose"))?,
            state: KeyState::parse(&text("state")?).ok_or(KeyFileError::Member("state"))?,
            created: Timestamp::parse(&text("created")?).map_err(|_| KeyFileError::Member("created"))?,
            key: SigningKey::from_seed(*seed),
        };
        if text("publicKey")? != file.key.verifying_key().to_base64() {
            return Err(KeyFileError::Mismatch);
        }
        Ok(file)
    }

    /// The bytes to write to a file of mode 0600; wiped when dropped.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let seed = Zeroizing::new(hex::encode(self.key.seed()));
        let value: Value = json!({
            "schema": SCHEMA, "purpose": self.purpose.as_str(), "state": self.state.as_str(),
            "created": self.created, "keyId": self.key.id().to_string(),
            "publicKey": self.key.verifying_key().to_base64(), "seed": seed.as_str(),
        });
        Zeroizing::new(format!("{value:#}\n").into_bytes())
    }
}
