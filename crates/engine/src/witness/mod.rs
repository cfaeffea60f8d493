//! A witness of logs (C2SP tlog-witness): it cosigns a checkpoint only when it continues the last one it cosigned.
//!
//! The promise is that two checkpoints with this witness's signature never contradict each other, also over crashes.
//! So requests take turns, the new state is durable before anything is signed, and what a request was judged by is what
//! its state replaces. A witness that died may have remembered a checkpoint it never signed, which costs the log one
//! repeated request; it never signed one that it does not remember.
//!
//! A state that is gone would read as a log that was never cosigned. So a mark, `witness.begun`, names every log before its
//! first signature, and a marked log without its state is refused, at the start and by every request. The trade-off: a
//! folder that lost a state is given up, and with it the witness's name.

mod begun;

#[cfg(test)]
mod tests;

use std::fs::{self, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use countersign_tlog::checkpoint::{Checkpoint, Origin};
use countersign_tlog::key::{KeyName, SignerKey, VerifierKey};
use countersign_tlog::note::Note;
use countersign_tlog::policy::Policy;
use countersign_tlog::witness::{self, AddCheckpoint, Refusal, State};

use self::begun::Begun;
use crate::env::Env;
use crate::files::{Readers, private_dir, replace};
use crate::lock::Lock;
use crate::log::{LogError, Seeds, SeedsOf};

/// The largest request in bytes.
pub const LARGEST_REQUEST: usize = witness::MAX_REQUEST;

/// A place between two actions, in the order they happen; tests end the process there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The request is right; nothing is written.
    Judged,
    /// The new state is durable; nothing is signed.
    Persisted,
    /// The mark names the log; nothing is signed.
    Begun,
    /// It is signed, and the answer has not left.
    Signed,
}

/// A witness with its keys and its folder.
pub struct Witness {
    dir: PathBuf,
    logs: Vec<VerifierKey>,
    keys: Vec<SignerKey>,
    env: Arc<Env>,
    /// Whoever has it has the turn.
    begun: Mutex<Begun>,
    observe: fn(Step),
    _lock: Lock,
}

/// Why a witness cannot start.
#[derive(Debug, thiserror::Error)]
pub enum WitnessError {
    /// The file system refused.
    #[error("cannot use {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another witness has this folder.
    #[error("another process is the witness of {0}")]
    Held(PathBuf),
    /// The first start needs a name.
    #[error("a new witness needs a name, such as witness.example/w1")]
    Unnamed,
    /// It has another name already.
    #[error("this witness is named {0}, and a name never changes")]
    OtherName(Origin),
    /// Its seeds.
    #[error(transparent)]
    Seeds(#[from] LogError),
    /// Its seeds give no keys.
    #[error("the seeds give no keys: {0}")]
    Keys(String),
    /// The state of a log that it has cosigned is gone.
    #[error("{0} is gone, and this witness has cosigned that log: it could not tell a second history from the first")]
    Forgot(PathBuf),
}

impl WitnessError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unnamed => "--name gives it",
            Self::OtherName(_) => "leave --name out, or name another folder with --state",
            Self::Seeds(error) => error.hint(),
            Self::Io { .. } | Self::Held(_) | Self::Keys(_) => "--state names a folder that is this witness's alone",
            Self::Forgot(_) => {
                "put that very file back, if it was moved away; an older copy will not do. Otherwise give this witness up: \
                 name another folder with --state and another name with --name, and tell the logs that ask it"
            }
        }
    }
}

impl WitnessError {
    /// Stable code for callers.
    pub fn code(&self) -> &str {
        match self {
            Self::Io { .. } => "witness_io",
            Self::Held(_) => "witness_held",
            Self::Unnamed => "witness_unnamed",
            Self::OtherName(_) => "witness_other_name",
            Self::Seeds(error) => error.code(),
            Self::Keys(_) => "witness_keys",
            Self::Forgot(_) => "witness_state_lost",
        }
    }
}

/// A request was not answered by a cosignature.
#[derive(Debug, thiserror::Error)]
pub enum NotCosigned {
    /// The request is at fault, or the log.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The witness is: its state does not read or cannot be written, so it signs nothing.
    #[error("the witness cannot answer: {0}")]
    Ours(String),
}

impl Witness {
    /// Opens the witness in `dir` for the logs of a policy. The first start makes its keys under `name`.
    ///
    /// # Errors
    /// [`WitnessError`]
    pub fn open(dir: &Path, policy: &Policy, name: Option<KeyName>, env: Arc<Env>) -> Result<Self, WitnessError> {
        let failed = |source| WitnessError::Io { path: dir.to_owned(), source };
        private_dir(dir).map_err(failed)?;
        let lock = lock(dir)?;
        let begun = Begun::load(dir).map_err(failed)?;
        if let Some(state) = lost(dir, &begun).map_err(failed)? {
            return Err(WitnessError::Forgot(state));
        }
        let keys = keys(dir, name, &env)?;
        let logs = policy.logs().to_vec();
        Ok(Self { dir: dir.to_owned(), logs, keys, env, begun: Mutex::new(begun), observe: |_| (), _lock: lock })
    }

    /// The name in its signatures.
    pub fn name(&self) -> &str {
        self.keys.first().map_or("", |key| key.verifier().name().as_str())
    }

    /// Its public keys, one vkey each: Ed25519 (0x04) and ML-DSA-44 (0x06).
    pub fn vkeys(&self) -> Vec<String> {
        self.keys.iter().map(|key| key.verifier().to_string()).collect()
    }

    /// The logs it knows.
    pub fn logs(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.logs.iter().map(|key| key.name().as_str()).collect();
        names.dedup();
        names
    }

    /// Answers an `add-checkpoint` request: cosignature lines. Blocks while another request has its turn.
    ///
    /// # Errors
    /// [`NotCosigned`], with the HTTP status in its [`Refusal`].
    pub fn add_checkpoint(&self, body: &[u8]) -> Result<String, NotCosigned> {
        let request = AddCheckpoint::parse(body).map_err(|error| Refusal::Malformed(error.to_string()))?;
        let origin = witness::origin(&request)?;

        // 1. Judge by the state that is on disk. Nobody else may between here and 2, or two requests judged by one
        //    state would let the log grow in two directions. Dies here: nothing has changed.
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.state(&origin)?;
        if known.is_none() && begun.has(&origin) {
            return Err(NotCosigned::Ours(WitnessError::Forgot(self.file(&origin, "state")).to_string()));
        }
        let judged = witness::judge(&request, &self.logs, &known.unwrap_or_else(State::empty))?;
        (self.observe)(Step::Judged);

        // 2. Remember, durably. Dies during it: the old state or the new. Dies after it: the log asks again from the
        //    size it believes, is told the new one, and repeats the same checkpoint, which continues itself.
        if known != Some(judged.state) {
            let note = judged.checkpoint.to_string();
            replace(&self.file(&origin, "state"), note.as_bytes(), Readers::Owner).map_err(|error| ours(&error))?;
        }
        (self.observe)(Step::Persisted);

        // 3. Say that there is such a state, durably and for good, so that its loss is noticed. After the state, or a death
        //    in between would read as a loss; before the signature, or one could be made that nothing speaks of. Dies here:
        //    as above, and the repeated request marks the log.
        begun.add(&origin).map_err(|error| ours(&error))?;
        (self.observe)(Step::Begun);

        // 4. Only now sign. Dies here: a signature that nobody has.
        let time = self.env.seconds().max(1);
        let lines = witness::cosign(&judged.checkpoint, &self.keys, time).map_err(|error| ours(&error))?;
        (self.observe)(Step::Signed);

        // 5. Show it. Failing to is no harm: the monitoring address may lag.
        self.show(&self.file(&origin, "cosigned"), &judged.checkpoint, &lines);
        Ok(lines)
    }

    /// A repeated checkpoint stays as it is shown, so that repeating one costs the disk nothing: only the time in the
    /// cosignatures would be another.
    fn show(&self, file: &Path, checkpoint: &Note, lines: &str) {
        let there = fs::read(file).ok().and_then(|bytes| Note::parse(&bytes).ok());
        if there.is_none_or(|there| there.text() != checkpoint.text()) {
            let _lags = replace(file, format!("{checkpoint}{lines}").as_bytes(), Readers::Owner);
        }
    }

    /// What the monitoring address shows at `<hex SHA-256(origin)>/checkpoint`: the newest checkpoint it cosigned, of
    /// a log it knows.
    pub fn checkpoint(&self, path: &str) -> Option<Vec<u8>> {
        let origins = self.logs.iter().filter_map(|key| Origin::parse(key.name().as_str()));
        let origin = origins.into_iter().find(|origin| witness::monitoring_path(origin) == path)?;
        fs::read(self.file(&origin, "cosigned")).ok()
    }

    fn file(&self, origin: &Origin, ending: &str) -> PathBuf {
        file(&self.dir, origin, ending)
    }

    /// A state that does not read is no empty one: a witness that forgot may contradict itself.
    fn state(&self, origin: &Origin) -> Result<Option<State>, NotCosigned> {
        let path = self.file(origin, "state");
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ours(&error)),
        };
        let damaged = || NotCosigned::Ours(format!("{} does not read", path.display()));
        let note = Note::parse(&bytes).map_err(|_| damaged())?;
        let checkpoint = Checkpoint::parse(note.text()).map_err(|_| damaged())?;
        if checkpoint.origin != *origin {
            return Err(damaged());
        }
        Ok(Some(State { size: checkpoint.size, root: checkpoint.root }))
    }
}

fn ours(error: &dyn std::fmt::Display) -> NotCosigned {
    NotCosigned::Ours(error.to_string())
}

fn file(dir: &Path, origin: &Origin, ending: &str) -> PathBuf {
    let path = witness::monitoring_path(origin);
    let hash = path.split('/').next().unwrap_or_default();
    dir.join(format!("{hash}.{ending}"))
}

/// A state that is gone: of a log that the mark names, or of one whose cosigned checkpoint is still shown.
fn lost(dir: &Path, begun: &Begun) -> io::Result<Option<PathBuf>> {
    let mut states: Vec<PathBuf> = begun.origins().map(|origin| file(dir, origin, "state")).collect();
    for entry in fs::read_dir(dir)? {
        let shown = entry?.path();
        if shown.extension().is_some_and(|ending| ending == "cosigned") {
            states.push(shown.with_extension("state"));
        }
    }
    for state in states {
        if !state.try_exists()? {
            return Ok(Some(state));
        }
    }
    Ok(None)
}

fn lock(dir: &Path) -> Result<Lock, WitnessError> {
    let path = dir.join("lock");
    Lock::alone(&path).map_err(|refused| match refused {
        TryLockError::WouldBlock => WitnessError::Held(dir.to_owned()),
        TryLockError::Error(source) => WitnessError::Io { path, source },
    })
}

fn keys(dir: &Path, name: Option<KeyName>, env: &Env) -> Result<Vec<SignerKey>, WitnessError> {
    let path = dir.join("witness.seeds");
    let wanted = name.as_ref().and_then(|name| Origin::parse(name.as_str()));
    let seeds = match (Seeds::load(SeedsOf::Witness, &path)?, wanted) {
        (Some(seeds), Some(name)) if seeds.origin != name => return Err(WitnessError::OtherName(seeds.origin.clone())),
        (Some(seeds), _) => seeds,
        (None, Some(name)) => Seeds::new(SeedsOf::Witness, env, Some(name))?.store(&path)?,
        (None, None) => return Err(WitnessError::Unnamed),
    };
    seeds.signers().map_err(|e| WitnessError::Keys(e.to_string()))
}
