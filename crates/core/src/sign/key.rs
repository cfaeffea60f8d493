//! Ed25519 keys (RFC 8032), as narrow as this product needs them.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer};
use sha2::{Digest, Sha256};

/// The first 8 bytes of SHA-256 over the raw public key; prints as 16 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; 8]);

impl KeyId {
    fn of(public: &[u8; 32]) -> Self {
        let digest = Sha256::digest(public);
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        Self(first)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", hex::encode(self.0))
    }
}

/// Why a public key is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The bytes are no point of the curve.
    #[error("the key is no Ed25519 public key")]
    NotAPoint,
    /// A point of small order: anybody can make signatures for it.
    #[error("the key is weak: a point of small order")]
    Weak,
    /// Another encoding of the same point exists.
    #[error("the key is not in canonical encoding")]
    NotCanonical,
}

/// A public key that passed every check at load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey(ed25519_dalek::VerifyingKey);

impl VerifyingKey {
    /// Takes 32 raw bytes.
    ///
    /// # Errors
    /// [`KeyError`]; the policy stands in the module's documentation.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, KeyError> {
        let key = ed25519_dalek::VerifyingKey::from_bytes(bytes).map_err(|_| KeyError::NotAPoint)?;
        if key.is_weak() {
            return Err(KeyError::Weak);
        }
        // The key object keeps the bytes as given; the point written again is the canonical form.
        if key.to_edwards().compress().as_bytes() != bytes {
            return Err(KeyError::NotCanonical);
        }
        Ok(Self(key))
    }

    /// The raw 32 bytes.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// The raw bytes in standard base64.
    pub fn to_base64(&self) -> String {
        STANDARD.encode(self.0.as_bytes())
    }

    /// This key's id.
    pub fn id(&self) -> KeyId {
        KeyId::of(self.0.as_bytes())
    }

    /// Whether `signature` (64 bytes) holds over `message`, strictly (no malleability, no small order).
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        Signature::from_slice(signature).is_ok_and(|signature| self.0.verify_strict(message, &signature).is_ok())
    }
}

/// A private key. Never printed; wiped when dropped.
pub struct SigningKey(ed25519_dalek::SigningKey);

impl fmt::Debug for SigningKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "SigningKey({}, hidden)", self.id())
    }
}

impl SigningKey {
    /// From a 32-byte seed (RFC 8032 section 5.1.5).
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(&seed))
    }

    /// The public half.
    pub fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey(self.0.verifying_key())
    }

    /// The public half's id.
    pub fn id(&self) -> KeyId {
        KeyId::of(self.0.verifying_key().as_bytes())
    }

    /// 64 bytes over `message`; the same every time.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }

    pub(super) fn seed(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }
}
