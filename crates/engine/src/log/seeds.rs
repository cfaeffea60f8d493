//! The secrets of a log, `keys/log.seeds`, or of a witness: JSON of mode 0600 with the seeds of its Ed25519 and its ML-DSA-44 key.
//!
//! One file, so that no crash leaves one key without the other. It is never replaced.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use countersign_core::json::{Limits, Profile, parse};
use countersign_core::time::Timestamp;
use countersign_tlog::checkpoint::Origin;
use countersign_tlog::key::{Algorithm, KeyName, SignerKey};
use countersign_tlog::sequencer::{Keys, KeysError};
use serde_json::json;
use zeroize::Zeroizing;

use super::LogError;
use super::place::{beside, private_dir, sync_parent};
use crate::env::Env;

/// Whose seeds they are. A file of one kind is never read as the other: a log and a witness sign different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeedsOf {
    /// A log, which signs with types 0x01 and 0x06.
    Log,
    /// A witness, which cosigns with types 0x04 and 0x06.
    Witness,
}

impl SeedsOf {
    const fn schema(self) -> &'static str {
        match self {
            Self::Log => "countersign/log-seeds/v1",
            Self::Witness => "countersign/witness-seeds/v1",
        }
    }
}

/// A log's name and secrets. Wiped when dropped; never printed.
pub(crate) struct Seeds {
    of: SeedsOf,
    pub(crate) origin: Origin,
    created: Timestamp,
    ed25519: Zeroizing<[u8; 32]>,
    ml_dsa: Zeroizing<[u8; 32]>,
}

impl Seeds {
    /// Fresh secrets. A log that nobody named is named after 8 random bytes, so that no two logs share a name.
    pub(crate) fn new(of: SeedsOf, env: &Env, origin: Option<Origin>) -> Result<Self, LogError> {
        let name = hex::encode(&env.random()?[..8]);
        let named = origin.or_else(|| Origin::parse(&format!("countersign.local/log/{name}")));
        Ok(Self {
            of,
            origin: named.ok_or(LogError::Keys(KeysError::Names))?,
            created: env.now(),
            ed25519: Zeroizing::new(env.random()?),
            ml_dsa: Zeroizing::new(env.random()?),
        })
    }

    pub(super) fn keys(&self) -> Result<Keys, KeysError> {
        Keys::from_seeds(&self.origin, &self.ed25519, &self.ml_dsa)
    }

    /// The log's name and its Ed25519 public key, as a vkey.
    pub(super) fn name(&self) -> Result<String, KeysError> {
        let name = KeyName::parse(self.origin.as_str()).ok_or(KeysError::Names)?;
        Ok(SignerKey::from_seed(name, Algorithm::Ed25519, &self.ed25519)?.verifier().to_string())
    }

    /// Signing keys of these types, the first from the Ed25519 seed and the second from the other.
    pub(crate) fn signers(&self, types: [Algorithm; 2]) -> Result<Vec<SignerKey>, KeysError> {
        let name = KeyName::parse(self.origin.as_str()).ok_or(KeysError::Names)?;
        let seeds = [&self.ed25519, &self.ml_dsa];
        let keys =
            types.iter().zip(seeds).map(|(algorithm, seed)| SignerKey::from_seed(name.clone(), *algorithm, seed));
        Ok(keys.collect::<Result<_, _>>()?)
    }

    pub(crate) fn load(of: SeedsOf, path: &Path) -> Result<Option<Self>, LogError> {
        let refuse = |why: String| LogError::Seeds { path: path.to_owned(), why };
        let bytes = match fs::read(path) {
            Ok(bytes) => Zeroizing::new(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refuse(error.to_string())),
        };
        let mode = fs::metadata(path).map_err(|error| refuse(error.to_string()))?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(refuse("it can be read by others".to_owned()));
        }
        Self::read(of, &bytes).map(Some).ok_or_else(|| refuse("it is damaged".to_owned()))
    }

    fn read(of: SeedsOf, bytes: &[u8]) -> Option<Self> {
        let doc = parse(bytes, Profile::Signed, &Limits::default()).ok()?;
        let text = |name: &str| doc.root().get(name).and_then(|node| node.as_str());
        let seed = |name: &str| {
            let mut seed = Zeroizing::new([0; 32]);
            hex::decode_to_slice(text(name)?.as_bytes(), &mut *seed).ok()?;
            Some(seed)
        };
        (text("schema")? == of.schema()).then_some(())?;
        Some(Self {
            of,
            origin: Origin::parse(&text("origin")?)?,
            created: Timestamp::parse(&text("created")?).ok()?,
            ed25519: seed("ed25519")?,
            ml_dsa: seed("ml_dsa_44")?,
        })
    }

    /// Writes them unless there are some already, and gives those that are there: of two processes that start
    /// together, one makes the keys and both use them.
    pub(crate) fn store(self, path: &Path) -> Result<Self, LogError> {
        let io = |source| LogError::Io { path: path.to_owned(), source };
        private_dir(path.parent().unwrap_or(path)).map_err(io)?;
        let hidden = |seed: &[u8; 32]| Zeroizing::new(hex::encode(seed));
        let (ed25519, ml_dsa) = (hidden(&self.ed25519), hidden(&self.ml_dsa));
        let value = json!({
            "schema": self.of.schema(), "origin": self.origin.as_str(), "created": self.created,
            "ed25519": ed25519.as_str(), "ml_dsa_44": ml_dsa.as_str(),
        });
        let bytes = Zeroizing::new(format!("{value:#}\n").into_bytes());
        let beside = beside(path, &bytes, 0o600).map_err(io)?;
        let linked = fs::hard_link(&beside, path);
        fs::remove_file(&beside).and_then(|()| sync_parent(path)).map_err(io)?;
        match linked {
            Ok(()) => Ok(self),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Self::load(self.of, path)?.ok_or(LogError::NoLog)
            }
            Err(error) => Err(io(error)),
        }
    }
}
