//! The keys of a log: an Ed25519 and an ML-DSA-44 line on every checkpoint.

use std::sync::Arc;

use super::{Fatal, Head};
use crate::checkpoint::{Checkpoint, Origin};
use crate::key::{Algorithm, KeyError, KeyName, SignerKey, VerifierKey};
use crate::merkle::Hash;
use crate::note::Note;

/// Why keys are not those of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// A log signs with at least one key of type 0x01 and one of type 0x06, and none of type 0x04.
    #[error("a log signs with Ed25519 and ML-DSA-44 keys, at least one of each")]
    Algorithms,
    /// The keys have different names; a log's keys are named like its origin.
    #[error("the keys of a log have one name, its origin")]
    Names,
    /// The origin is not a key name, or a seed gives no key.
    #[error(transparent)]
    Key(#[from] KeyError),
}

impl KeysError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Algorithms => "log_key_algorithms",
            Self::Names => "log_key_names",
            Self::Key(error) => error.code(),
        }
    }
}

/// A log's signing keys. Several of a type sign side by side while one replaces another.
#[derive(Debug)]
pub struct Keys {
    origin: Origin,
    signers: Vec<SignerKey>,
    verifiers: Vec<VerifierKey>,
}

impl Keys {
    /// Keys that all carry the log's origin as their name.
    pub fn new(signers: Vec<SignerKey>) -> Result<Self, KeysError> {
        let verifiers: Vec<VerifierKey> = signers.iter().map(|signer| signer.verifier().clone()).collect();
        let has = |algorithm| verifiers.iter().any(|key| key.algorithm() == algorithm);
        if !has(Algorithm::Ed25519) || !has(Algorithm::MlDsa44) || has(Algorithm::Ed25519Cosignature) {
            return Err(KeysError::Algorithms);
        }
        let mut names = verifiers.iter().map(VerifierKey::name);
        let origin = names.next().and_then(|name| Origin::parse(name.as_str())).ok_or(KeysError::Names)?;
        if names.any(|name| name.as_str() != origin.as_str()) {
            return Err(KeysError::Names);
        }
        Ok(Self { origin, signers, verifiers })
    }

    /// One key of each type from its 32-byte seed. The seeds must differ from each other in a real log.
    pub fn from_seeds(origin: &Origin, ed25519: &[u8; 32], ml_dsa: &[u8; 32]) -> Result<Self, KeysError> {
        let name = KeyName::parse(origin.as_str()).ok_or(KeysError::Names)?;
        Self::new(vec![
            SignerKey::from_seed(name.clone(), Algorithm::Ed25519, ed25519)?,
            SignerKey::from_seed(name, Algorithm::MlDsa44, ml_dsa)?,
        ])
    }

    /// The log they sign for.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The public halves.
    pub fn verifiers(&self) -> &[VerifierKey] {
        &self.verifiers
    }

    /// A C2SP policy that accepts this log and asks for no witness.
    pub fn trust(&self) -> String {
        let lines: String = self.verifiers.iter().map(|key| format!("log {key}\n")).collect();
        format!("{lines}quorum none\n")
    }

    /// Signs a state of the log.
    pub(super) fn sign(&self, size: u64, root: Hash, time: u64) -> Result<Arc<Head>, Fatal> {
        let checkpoint = Checkpoint::new(self.origin.clone(), size, root);
        let text = checkpoint.to_string();
        let lines: Result<Vec<_>, _> = self.signers.iter().map(|signer| signer.sign(&text, time)).collect();
        let lines = lines.map_err(|error| Fatal::new("sign", error))?;
        let note = Note::new(&text, &lines).ok_or_else(|| Fatal::new("sign", "the note does not read back"))?;
        Ok(Arc::new(Head { checkpoint, note, time }))
    }
}
