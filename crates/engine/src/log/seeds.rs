//! The secrets of a log, `keys/log.seeds`: JSON of mode 0600 with the seeds of its Ed25519 and its ML-DSA-44 key.
//!
//! One file, so that no crash leaves one key without the other. It is never replaced.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use countersign_core::json::{Limits, Profile, parse};
use countersign_core::time::Timestamp;
use countersign_tlog::checkpoint::Origin;
use countersign_tlog::sequencer::{Keys, KeysError};
use serde_json::json;
use zeroize::Zeroizing;

use super::LogError;
use super::place::{beside, private_dir, sync_parent};
use crate::env::Env;

const SCHEMA: &str = "countersign/log-seeds/v1";

/// A log's name and secrets. Wiped when dropped; never printed.
pub(super) struct Seeds {
    pub(super) origin: Origin,
    created: Timestamp,
    ed25519: Zeroizing<[u8; 32]>,
    ml_dsa: Zeroizing<[u8; 32]>,
}

impl Seeds {
    /// Fresh secrets. A log that nobody named is named after 8 random bytes, so that no two logs share a name.
    pub(super) fn new(env: &Env, origin: Option<Origin>) -> Result<Self, LogError> {
        let name = hex::encode(&env.random()?[..8]);
        let named = origin.or_else(|| Origin::parse(&format!("countersign.local/log/{name}")));
        Ok(Self {
            origin: named.ok_or(LogError::Keys(KeysError::Names))?,
            created: env.now(),
            ed25519: Zeroizing::new(env.random()?),
            ml_dsa: Zeroizing::new(env.random()?),
        })
    }

    pub(super) fn keys(&self) -> Result<Keys, KeysError> {
        Keys::from_seeds(&self.origin, &self.ed25519, &self.ml_dsa)
    }

    pub(super) fn load(path: &Path) -> Result<Option<Self>, LogError> {
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
        Self::read(&bytes).map(Some).ok_or_else(|| refuse("it is damaged".to_owned()))
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let doc = parse(bytes, Profile::Signed, &Limits::default()).ok()?;
        let text = |name: &str| doc.root().get(name).and_then(|node| node.as_str());
        let seed = |name: &str| {
            let mut seed = Zeroizing::new([0; 32]);
            hex::decode_to_slice(text(name)?.as_bytes(), &mut *seed).ok()?;
            Some(seed)
        };
        (text("schema")? == SCHEMA).then_some(())?;
        Some(Self {
            origin: Origin::parse(&text("origin")?)?,
            created: Timestamp::parse(&text("created")?).ok()?,
            ed25519: seed("ed25519")?,
            ml_dsa: seed("ml_dsa_44")?,
        })
    }

    /// Writes them unless there are some already, and gives those that are there: of two processes that start
    /// together, one makes the keys and both use them.
    pub(super) fn store(self, path: &Path) -> Result<Self, LogError> {
        let io = |source| LogError::Io { path: path.to_owned(), source };
        private_dir(path.parent().unwrap_or(path)).map_err(io)?;
        let hidden = |seed: &[u8; 32]| Zeroizing::new(hex::encode(seed));
        let (ed25519, ml_dsa) = (hidden(&self.ed25519), hidden(&self.ml_dsa));
        let value = json!({
            "schema": SCHEMA, "origin": self.origin.as_str(), "created": self.created,
            "ed25519": ed25519.as_str(), "ml_dsa_44": ml_dsa.as_str(),
        });
        let bytes = Zeroizing::new(format!("{value:#}\n").into_bytes());
        let beside = beside(path, &bytes, 0o600).map_err(io)?;
        let linked = fs::hard_link(&beside, path);
        fs::remove_file(&beside).and_then(|()| sync_parent(path)).map_err(io)?;
        match linked {
            Ok(()) => Ok(self),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::load(path)?.ok_or(LogError::NoLog),
            Err(error) => Err(io(error)),
        }
    }
}
