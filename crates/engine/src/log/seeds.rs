//! The secrets of a log, `keys/log.seeds`, or of a witness: JSON of mode 0600 with the seeds of its Ed25519 and its ML-DSA-44 key.
//!
//! One file, so that no crash leaves one key without the other. It is never replaced. It names the public keys that its
//! seeds must give, so that no damaged seed signs as somebody else. Files of an earlier form do not name them: what is
//! known of their keys stands beside the log then ([`super::place`]).

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use countersign_core::json::{Limits, Node, Profile, parse};
use countersign_core::time::Timestamp;
use countersign_tlog::checkpoint::Origin;
use countersign_tlog::key::{Algorithm, KeyName, SignerKey, VerifierKey};
use countersign_tlog::sequencer::{Keys, KeysError};
use serde_json::json;
use zeroize::Zeroizing;

use super::LogError;
use crate::env::Env;
use crate::files::{Readers, beside, private_dir, sync_parent};

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

    /// What the first seed signs, and the second.
    const fn algorithms(self) -> [Algorithm; 2] {
        match self {
            Self::Log => [Algorithm::Ed25519, Algorithm::MlDsa44],
            Self::Witness => [Algorithm::Ed25519Cosignature, Algorithm::MlDsa44],
        }
    }
}

/// Whether the file said which keys its seeds give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// It did, and they give them.
    Named,
    /// It is older and did not.
    Unnamed,
}

/// The members of a seeds file. One with another name was another file once, or one of these.
const MEMBERS: [&str; 6] = ["schema", "origin", "created", "ed25519", "ml_dsa_44", "vkeys"];

type Seed = Zeroizing<[u8; 32]>;

/// A log's name and secrets. Wiped when dropped; never printed.
pub(crate) struct Seeds {
    of: SeedsOf,
    pub(crate) origin: Origin,
    created: Timestamp,
    secret: [Seed; 2],
    vkeys: Vec<VerifierKey>,
    form: Form,
}

impl Seeds {
    /// Fresh secrets. A log that nobody named is named after 8 random bytes, so that no two logs share a name.
    pub(crate) fn new(of: SeedsOf, env: &Env, origin: Option<Origin>) -> Result<Self, LogError> {
        let name = hex::encode(&env.random()?[..8]);
        let named = origin.or_else(|| Origin::parse(&format!("countersign.local/log/{name}")));
        let origin = named.ok_or(LogError::Keys(KeysError::Names))?;
        let secret = [Zeroizing::new(env.random()?), Zeroizing::new(env.random()?)];
        Ok(Self::of(of, origin, env.now(), secret)?)
    }

    fn of(of: SeedsOf, origin: Origin, created: Timestamp, secret: [Seed; 2]) -> Result<Self, KeysError> {
        let mut this = Self { of, origin, created, secret, vkeys: Vec::new(), form: Form::Named };
        this.vkeys = this.signers()?.iter().map(|key| key.verifier().clone()).collect();
        Ok(this)
    }

    pub(super) fn keys(&self) -> Result<Keys, KeysError> {
        Keys::new(self.signers()?)
    }

    /// The log's name and its Ed25519 public key, as a vkey.
    pub(super) fn name(&self) -> String {
        self.vkeys.first().map(VerifierKey::to_string).unwrap_or_default()
    }

    /// The public halves.
    pub(super) fn vkeys(&self) -> &[VerifierKey] {
        &self.vkeys
    }

    /// Whether nothing in the file itself shows that its seeds are those that were written.
    pub(super) fn is_unnamed(&self) -> bool {
        self.form == Form::Unnamed
    }

    /// Whether one of these lines, vkeys or `log` lines of a trust policy, is a key of this name that the seeds do not
    /// give. Lines that do not read say nothing.
    pub(super) fn differ_from(&self, lines: &str) -> bool {
        let vkeys = lines.lines().filter_map(|line| VerifierKey::parse(line.strip_prefix("log ").unwrap_or(line)).ok());
        vkeys.filter(|key| key.name().as_str() == self.origin.as_str()).any(|key| !self.vkeys.contains(&key))
    }

    /// The signing keys, Ed25519 first.
    pub(crate) fn signers(&self) -> Result<Vec<SignerKey>, KeysError> {
        let name = KeyName::parse(self.origin.as_str()).ok_or(KeysError::Names)?;
        let both = self.of.algorithms().into_iter().zip(&self.secret);
        let keys = both.map(|(algorithm, seed)| SignerKey::from_seed(name.clone(), algorithm, seed));
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
        let damaged = |why: &str| LogError::SeedsDamaged { path: path.to_owned(), why: why.to_owned() };
        Self::read(of, &bytes).map(Some).map_err(damaged)
    }

    fn read(of: SeedsOf, bytes: &[u8]) -> Result<Self, &'static str> {
        let (this, named) = Self::parse(of, bytes).ok_or("it does not read")?;
        let Some(named) = named else { return Ok(Self { form: Form::Unnamed, ..this }) };
        let right = this.vkeys.iter().map(VerifierKey::to_string).eq(named);
        if right { Ok(this) } else { Err("its seeds do not give the keys that it names") }
    }

    /// The seeds, and the keys that the file says they give, if it does.
    fn parse(of: SeedsOf, bytes: &[u8]) -> Option<(Self, Option<Vec<String>>)> {
        let doc = parse(bytes, Profile::Signed, &Limits::default()).ok()?;
        let root = doc.root();
        let text = |name: &str| root.get(name).and_then(|node| node.as_str());
        let seed = |name: &str| {
            let mut seed = Zeroizing::new([0; 32]);
            hex::decode_to_slice(text(name)?.as_bytes(), &mut *seed).ok()?;
            Some(seed)
        };
        let known = root.members().all(|(name, _)| MEMBERS.contains(&name.as_ref()));
        (known && text("schema")? == of.schema()).then_some(())?;
        let (origin, created) = (Origin::parse(&text("origin")?)?, Timestamp::parse(&text("created")?).ok()?);
        let this = Self::of(of, origin, created, [seed("ed25519")?, seed("ml_dsa_44")?]).ok()?;
        // One that is no text is no key of theirs either.
        let strings = |node: Node<'_>| node.items().filter_map(|item| item.as_str().map(Into::into)).collect();
        Some((this, root.get("vkeys").map(strings)))
    }

    /// Writes them unless there are some already, and gives those that are there: of two processes that start
    /// together, one makes the keys and both use them.
    pub(crate) fn store(self, path: &Path) -> Result<Self, LogError> {
        let io = |source| LogError::Io { path: path.to_owned(), source };
        private_dir(path.parent().unwrap_or(path)).map_err(io)?;
        let [ed25519, ml_dsa] = self.secret.each_ref().map(|seed| Zeroizing::new(hex::encode(**seed)));
        let vkeys: Vec<String> = self.vkeys.iter().map(VerifierKey::to_string).collect();
        let value = json!({
            "schema": self.of.schema(), "origin": self.origin.as_str(), "created": self.created,
            "ed25519": ed25519.as_str(), "ml_dsa_44": ml_dsa.as_str(), "vkeys": vkeys,
        });
        let bytes = Zeroizing::new(format!("{value:#}\n").into_bytes());
        let beside = beside(path, &bytes, Readers::Owner).map_err(io)?;
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
