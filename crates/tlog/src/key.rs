//! Keys of signed notes: names, four-byte ids, the vkey text form, and the three signature types this crate speaks.
//!
//! | type | algorithm | signs |
//! |---|---|---|
//! | 0x01 | Ed25519 | the note text |
//! | 0x04 | Ed25519 | a time and the note text (`cosignature/v1`) |
//! | 0x06 | ML-DSA-44 | a time, the cosigner's name, and origin, size and root of the checkpoint (`subtree/v1`) |
//!
//! One secret serves one type: the id covers the type byte, so a key under another type is another key.

use std::fmt;

use ed25519_dalek::Signer as _;
use ml_dsa::MlDsa44;
use sha2::{Digest, Sha256};

use crate::cosign;
use crate::note::NoteSignature;
use crate::text::{from_base64, to_base64};

/// The longest key name or origin, in bytes: type 0x06 counts them in one byte.
pub const MAX_NAME: usize = 255;

/// The name of a key: 1 to [`MAX_NAME`] bytes, without white space, `+` or control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyName(String);

impl KeyName {
    /// Reads a name; `None` when it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let bad = |c: char| c.is_whitespace() || c == '+' || c.is_ascii_control();
        let right = (1..=MAX_NAME).contains(&text.len()) && !text.contains(bad);
        right.then(|| Self(text.to_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The first four bytes of SHA-256(name || LF || type || public key). Prints as 8 hexadecimal digits.
///
/// It finds a key among those already trusted; it is too short to identify one by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; 4]);

impl KeyId {
    /// The id with these bytes.
    pub const fn from_bytes(bytes: [u8; 4]) -> Self {
        Self(bytes)
    }

    /// The four bytes.
    pub const fn as_bytes(&self) -> &[u8; 4] {
        &self.0
    }

    fn of(name: &KeyName, algorithm: Algorithm, public: &[u8]) -> Self {
        let hash = Sha256::new().chain_update(name.as_str()).chain_update([b'\n', algorithm.byte()]);
        let [a, b, c, d, ..]: [u8; 32] = hash.chain_update(public).finalize().into();
        Self([a, b, c, d])
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&hex::encode(self.0))
    }
}

/// The signature types of c2sp.org/signed-note this crate signs and verifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// Type 0x01: a log's Ed25519 signature.
    Ed25519,
    /// Type 0x04: a witness's timestamped Ed25519 cosignature.
    Ed25519Cosignature,
    /// Type 0x06: a timestamped ML-DSA-44 signature of a log or a witness.
    MlDsa44,
}

impl Algorithm {
    /// The type byte in key ids and vkeys.
    pub const fn byte(self) -> u8 {
        match self {
            Self::Ed25519 => 0x01,
            Self::Ed25519Cosignature => 0x04,
            Self::MlDsa44 => 0x06,
        }
    }

    /// Whether the signature stands against a quantum computer.
    pub const fn is_post_quantum(self) -> bool {
        matches!(self, Self::MlDsa44)
    }

    /// Whether the signature covers a note's whole text. Type 0x06 leaves a checkpoint's extension lines out.
    pub const fn covers_text(self) -> bool {
        matches!(self, Self::Ed25519 | Self::Ed25519Cosignature)
    }

    /// Bytes of the raw signature, behind the time where there is one.
    const fn signature_len(self) -> usize {
        match self {
            Self::Ed25519 | Self::Ed25519Cosignature => 64,
            Self::MlDsa44 => 2420,
        }
    }

    const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0x01 => Some(Self::Ed25519),
            0x04 => Some(Self::Ed25519Cosignature),
            0x06 => Some(Self::MlDsa44),
            _ => None,
        }
    }
}

/// The text is not a vkey this crate can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not `name+id+base64`, or one of the parts is not well formed.
    #[error("a verifier key has the form name+8 hexadecimal digits+base64")]
    Malformed,
    /// The type byte is none of 0x01, 0x04 and 0x06.
    #[error("signature type {0:#04x} is not supported")]
    UnsupportedType(u8),
    /// The public key has the wrong length, is weak, or is not in canonical form.
    #[error("the public key is not valid")]
    BadPublicKey,
    /// The id is not the one of this name and key.
    #[error("the key id does not belong to this name and public key")]
    WrongId,
}

impl KeyError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Malformed => "key_malformed",
            Self::UnsupportedType(_) => "key_type_unsupported",
            Self::BadPublicKey => "key_bad",
            Self::WrongId => "key_wrong_id",
        }
    }
}

/// Why a signature is none by the key that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignatureFault {
    /// It has not the length of its type, or states a time that no clock shows.
    Malformed,
    /// It does not verify.
    Wrong,
}

/// A public key with its name: what a reader of notes trusts. Prints as its vkey.
#[derive(Clone)]
pub struct VerifierKey {
    name: KeyName,
    id: KeyId,
    algorithm: Algorithm,
    public: Vec<u8>,
    decoded: Decoded,
}

#[derive(Clone)]
enum Decoded {
    Ed25519(ed25519_dalek::VerifyingKey),
    MlDsa44(Box<ml_dsa::VerifyingKey<MlDsa44>>),
}

impl VerifierKey {
    /// Reads `name+id+base64(type || public key)`.
    pub fn parse(vkey: &str) -> Result<Self, KeyError> {
        let mut parts = vkey.splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(KeyError::Malformed);
        };
        let name = KeyName::parse(name).ok_or(KeyError::Malformed)?;
        let key = from_base64(key).ok_or(KeyError::Malformed)?;
        let (&byte, public) = key.split_first().ok_or(KeyError::Malformed)?;
        let algorithm = Algorithm::from_byte(byte).ok_or(KeyError::UnsupportedType(byte))?;
        let this = Self::new(name, algorithm, public)?;
        if this.id.to_string() == id { Ok(this) } else { Err(KeyError::WrongId) }
    }

    /// A key from its parts; `public` is 32 bytes (Ed25519) or 1312 (ML-DSA-44).
    pub fn new(name: KeyName, algorithm: Algorithm, public: &[u8]) -> Result<Self, KeyError> {
        let decoded = match algorithm {
            Algorithm::Ed25519 | Algorithm::Ed25519Cosignature => decode_ed25519(public),
            Algorithm::MlDsa44 => decode_ml_dsa(public),
        };
        let decoded = decoded.ok_or(KeyError::BadPublicKey)?;
        let id = KeyId::of(&name, algorithm, public);
        Ok(Self { name, id, algorithm, public: public.to_vec(), decoded })
    }

    /// The name signatures carry.
    pub fn name(&self) -> &KeyName {
        &self.name
    }

    /// The id signatures carry.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// What it verifies.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The public key's bytes, without the type byte.
    pub fn public_key(&self) -> &[u8] {
        &self.public
    }

    /// Verifies a signature blob over a note text and gives the time it states; 0 where its type states none.
    pub(crate) fn verify(&self, text: &str, blob: &[u8]) -> Result<u64, SignatureFault> {
        let (time, signature) = self.split(blob).ok_or(SignatureFault::Malformed)?;
        let message = match self.algorithm {
            Algorithm::Ed25519 => Some(text.as_bytes().to_vec()),
            Algorithm::Ed25519Cosignature => Some(cosign::cosignature_message(time, text)),
            Algorithm::MlDsa44 => cosign::checkpoint_message(&self.name, time, text),
        };
        let holds = message.is_some_and(|message| self.verify_raw(&message, signature));
        if holds { Ok(time) } else { Err(SignatureFault::Wrong) }
    }

    /// Time and raw signature of a blob, where it has the form of this key's type.
    fn split<'b>(&self, blob: &'b [u8]) -> Option<(u64, &'b [u8])> {
        let (time, signature) = match self.algorithm {
            Algorithm::Ed25519 => (0, blob),
            Algorithm::Ed25519Cosignature | Algorithm::MlDsa44 => cosign::split(blob)?,
        };
        (signature.len() == self.algorithm.signature_len()).then_some((time, signature))
    }

    /// Verifies a bare signature over a finished message.
    pub(crate) fn verify_raw(&self, message: &[u8], signature: &[u8]) -> bool {
        match &self.decoded {
            Decoded::Ed25519(key) => ed25519_dalek::Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify_strict(message, &signature).is_ok()),
            Decoded::MlDsa44(key) => ml_dsa::Signature::<MlDsa44>::try_from(signature)
                .is_ok_and(|signature| key.verify_with_context(message, &[], &signature)),
        }
    }
}

impl PartialEq for VerifierKey {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.algorithm, &self.public) == (&other.name, other.algorithm, &other.public)
    }
}

impl Eq for VerifierKey {}

impl fmt::Display for VerifierKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = [&[self.algorithm.byte()], self.public.as_slice()].concat();
        write!(out, "{}+{}+{}", self.name, self.id, to_base64(&key))
    }
}

impl fmt::Debug for VerifierKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "VerifierKey({}+{}, {:?})", self.name, self.id, self.algorithm)
    }
}

/// A point has several encodings and eight weak values; only the one encoding of a strong point is a key.
fn decode_ed25519(public: &[u8]) -> Option<Decoded> {
    let bytes: [u8; 32] = public.try_into().ok()?;
    let key = ed25519_dalek::VerifyingKey::from_bytes(&bytes).ok()?;
    let canonical = key.to_edwards().compress().to_bytes() == bytes;
    (canonical && !key.is_weak()).then_some(Decoded::Ed25519(key))
}

fn decode_ml_dsa(public: &[u8]) -> Option<Decoded> {
    let encoded = ml_dsa::EncodedVerifyingKey::<MlDsa44>::try_from(public).ok()?;
    Some(Decoded::MlDsa44(Box::new(ml_dsa::VerifyingKey::decode(&encoded))))
}

/// Why a key does not sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSignable {
    /// It is not what this key's type signs: type 0x06 signs checkpoints only.
    #[error("an ML-DSA-44 note key signs checkpoints only, and the text is not one")]
    Text,
    /// The time is beyond [`MAX_TIME`](crate::cosign::MAX_TIME): every reader would refuse the signature as malformed.
    #[error("a signature states a time of at most 2^63 - 1 seconds")]
    Time,
}

/// A secret key with its name. `Debug` shows the public half only; the secret is wiped when dropped.
pub struct SignerKey {
    verifier: VerifierKey,
    secret: Secret,
}

enum Secret {
    Ed25519(ed25519_dalek::SigningKey),
    MlDsa44(Box<ml_dsa::SigningKey<MlDsa44>>),
}

impl SignerKey {
    /// The key of `algorithm` made from a 32-byte seed (RFC 8032 secret key, FIPS 204 xi).
    pub fn from_seed(name: KeyName, algorithm: Algorithm, seed: &[u8; 32]) -> Result<Self, KeyError> {
        let (secret, public) = match algorithm {
            Algorithm::Ed25519 | Algorithm::Ed25519Cosignature => {
                let key = ed25519_dalek::SigningKey::from_bytes(seed);
                let public = key.verifying_key().to_bytes().to_vec();
                (Secret::Ed25519(key), public)
            }
            Algorithm::MlDsa44 => {
                let key = ml_dsa::SigningKey::<MlDsa44>::from_seed(&(*seed).into());
                let public = key.expanded_key().verifying_key().encode().to_vec();
                (Secret::MlDsa44(Box::new(key)), public)
            }
        };
        Ok(Self { verifier: VerifierKey::new(name, algorithm, &public)?, secret })
    }

    /// The public half.
    pub fn verifier(&self) -> &VerifierKey {
        &self.verifier
    }

    /// Signs a note text. `time`, in seconds since the Unix epoch and at most [`MAX_TIME`](cosign::MAX_TIME), is part of
    /// types 0x04 and 0x06 (0 claims nothing); type 0x01 states none.
    ///
    /// ML-DSA signs deterministically, so the same input always gives the same line.
    ///
    /// # Errors
    /// [`NotSignable`]
    pub fn sign(&self, text: &str, time: u64) -> Result<NoteSignature, NotSignable> {
        if time > cosign::MAX_TIME && self.verifier.algorithm != Algorithm::Ed25519 {
            return Err(NotSignable::Time);
        }
        self.sign_at(text, time)
    }

    /// As [`Self::sign`], whatever the time: with it, tests make what a reader must refuse.
    pub(crate) fn sign_at(&self, text: &str, time: u64) -> Result<NoteSignature, NotSignable> {
        let name = self.verifier.name();
        let blob = match self.verifier.algorithm {
            Algorithm::Ed25519 => self.sign_raw(text.as_bytes())?,
            Algorithm::Ed25519Cosignature => {
                cosign::join(time, &self.sign_raw(&cosign::cosignature_message(time, text))?)
            }
            Algorithm::MlDsa44 => {
                let message = cosign::checkpoint_message(name, time, text).ok_or(NotSignable::Text)?;
                cosign::join(time, &self.sign_raw(&message)?)
            }
        };
        Ok(NoteSignature::new(name.clone(), self.verifier.id(), blob))
    }

    /// Signs a finished message.
    pub(crate) fn sign_raw(&self, message: &[u8]) -> Result<Vec<u8>, NotSignable> {
        match &self.secret {
            Secret::Ed25519(key) => Ok(key.sign(message).to_bytes().to_vec()),
            Secret::MlDsa44(key) => {
                let signature = key.expanded_key().sign_deterministic(message, &[]).map_err(|_| NotSignable::Text)?;
                Ok(signature.encode().to_vec())
            }
        }
    }
}

impl fmt::Debug for SignerKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "SignerKey({}+{}, secret hidden)", self.verifier.name, self.verifier.id)
    }
}

#[cfg(test)]
mod tests;
