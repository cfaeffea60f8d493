//! Keys on disk: `keys/<purpose>-<keyId>.json` in the data directory, one file a key, mode 0600.
//!
//! A file that others may read is refused rather than repaired: whoever loosened it should know.
//!
//! Of several processes that need a first key at once, one makes it and the others find it: keys are made under a lock
//! on `keys/.lock`, after reading the folder again. A crash between the two steps of a rotation leaves two keys called
//! current; the newest signs, and of two keys for one purpose the later one always has the later `created`.
//!
//! A key signs from the second it was made in to the second in which the next one for its purpose was made. That follows
//! from the files alone, so it holds after a crash too. Nothing is ever dated outside: whoever signs reads the folder
//! again under a shared lock, and a rotation takes its time under the exclusive one, so no process goes on signing with
//! a key that another has replaced.

pub mod leaves;
mod lost;

use std::fs::{self, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use countersign_core::sign::{KeyFile, KeyId, KeyState, Purpose, SealError, SigningKey, Validity, VerifyingKey, seal};
use countersign_core::time::Timestamp;
use serde_json::{Map, Value};

use crate::env::{Env, NoRandomness};
use crate::files::{self, private_dir};

pub use lost::lost;

/// The keys of one data directory.
#[derive(Debug)]
pub struct Keys {
    dir: PathBuf,
    files: Vec<KeyFile>,
}

/// When the key that signs was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// It was there, or another process was faster.
    Before,
    /// By this call.
    Now,
}

/// Why keys could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The file system refused.
    #[error("cannot use the key file {path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process makes or reads keys, and does not let go of the folder.
    #[error("another process keeps {0} locked")]
    Held(PathBuf),
    /// Others may read the private key.
    #[error("the key file {0} can be read by others")]
    TooOpen(PathBuf),
    /// The file is not a key file of ours.
    #[error("the key file {path} is damaged: {why}")]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// No randomness for a new key.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The document could not be written in canonical form.
    #[error("the document could not be signed: {0}")]
    Seal(#[from] SealError),
}

impl KeysError {
    /// Stable code for callers.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "keys_io",
            Self::Held(_) => "keys_held",
            Self::TooOpen(_) => "keys_too_open",
            Self::Damaged { .. } => "keys_damaged",
            Self::NoRandomness(_) => "no_randomness",
            Self::Seal(_) => "seal_failed",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { .. } => "check that the data directory exists and is yours, or name another with --data",
            Self::Held(_) => "another command may be stopped in the middle; let it go on or end it, and try again",
            Self::TooOpen(_) => "run `chmod 600` on it, and make a new key if anyone else may have read it",
            Self::Damaged { .. } => "restore it from a backup, or move it away and run `countersign keys rotate`",
            Self::NoRandomness(_) => "try again once the system has started fully",
            Self::Seal(_) => "report this as a defect of this program",
        }
    }
}

impl Keys {
    /// Reads every key file below `data`; an absent folder holds no keys.
    ///
    /// # Errors
    /// [`KeysError`] for the first file that cannot be trusted; nothing is changed on disk.
    pub fn load(data: &Path) -> Result<Self, KeysError> {
        let dir = data.join("keys");
        let files = read_all(&dir)?;
        Ok(Self { dir, files })
    }

    /// Every key, in file order.
    pub fn all(&self) -> &[KeyFile] {
        &self.files
    }

    /// Public halves of every key with this purpose, whatever its state: what a verifier may trust.
    pub fn verifying(&self, purpose: Purpose) -> Vec<VerifyingKey> {
        self.files.iter().filter(|file| file.purpose == purpose).map(|file| file.key.verifying_key()).collect()
    }

    /// The key that signs now; none until the first signature makes one.
    pub fn signer(&self, purpose: Purpose) -> Option<&KeyFile> {
        self.newest(purpose).map(|at| &self.files[at])
    }

    /// When this key signs; [`Validity::until`] is none for the newest of its purpose.
    pub fn validity(&self, file: &KeyFile) -> Validity {
        let next = |other: &&KeyFile| {
            other.purpose == file.purpose && other.state != KeyState::Announced && other.created > file.created
        };
        let until = self.files.iter().filter(next).map(|other| other.created).min();
        Validity { from: file.created, until }
    }

    /// The key that signs now, made on first use. Another process may have made or replaced it since this one looked.
    ///
    /// # Errors
    /// [`KeysError`] when the folder cannot be read, or a new key cannot be made or written.
    pub fn current(&mut self, purpose: Purpose, env: &Env) -> Result<&SigningKey, KeysError> {
        let (at, _) = self.signing(purpose, env)?;
        Ok(&self.files[at].key)
    }

    /// The id of the key that [`Keys::current`] gives, and whether this call made it.
    ///
    /// # Errors
    /// As [`Keys::current`].
    pub fn ensure(&mut self, purpose: Purpose, env: &Env) -> Result<(KeyId, Made), KeysError> {
        let (at, made) = self.signing(purpose, env)?;
        Ok((self.files[at].key.id(), made))
    }

    /// Signs a document of `now` with the key that signs now. `now` must have been read before the call. Where the clock
    /// runs behind the making of the key, the document is dated by the key: it was not signed before.
    ///
    /// # Errors
    /// As [`Keys::current`], and [`KeysError::Seal`].
    pub fn seal(
        &mut self,
        purpose: Purpose,
        document: Map<String, Value>,
        now: Timestamp,
        env: &Env,
    ) -> Result<Vec<u8>, KeysError> {
        let (at, _) = self.signing(purpose, env)?;
        let file = &self.files[at];
        Ok(seal(document, now.max(file.created), &file.key)?)
    }

    /// Makes a new current key; the old one stays as `previous`, so that what it signed still verifies.
    /// The new key is written first: a crash in between leaves two current keys, of which the newest counts, never none.
    ///
    /// # Errors
    /// [`KeysError`] when a file cannot be written.
    pub fn rotate(&mut self, purpose: Purpose, env: &Env) -> Result<&SigningKey, KeysError> {
        let _lock = lock(&self.dir, Lock::Exclusive)?;
        self.files = read_all(&self.dir)?;
        let at = self.add(purpose, env)?;
        for file in &mut self.files[..at] {
            if file.purpose == purpose && file.state == KeyState::Current {
                file.state = KeyState::Previous;
                write(&self.dir, file)?;
            }
        }
        Ok(&self.files[at].key)
    }

    /// Where the newest current key of this purpose is.
    fn newest(&self, purpose: Purpose) -> Option<usize> {
        let current = |file: &KeyFile| file.purpose == purpose && file.state == KeyState::Current;
        let mine = self.files.iter().enumerate().filter(|(_, file)| current(file));
        mine.max_by_key(|(_, file)| file.created).map(|(at, _)| at)
    }

    /// Whoever rotates meanwhile waits, and takes its time afterwards.
    fn signing(&mut self, purpose: Purpose, env: &Env) -> Result<(usize, Made), KeysError> {
        let shared = lock(&self.dir, Lock::Shared)?;
        self.files = read_all(&self.dir)?;
        drop(shared);
        self.newest(purpose).map_or_else(|| self.first(purpose, env), |at| Ok((at, Made::Before)))
    }

    /// Another process may have made it since this one looked.
    fn first(&mut self, purpose: Purpose, env: &Env) -> Result<(usize, Made), KeysError> {
        let _lock = lock(&self.dir, Lock::Exclusive)?;
        self.files = read_all(&self.dir)?;
        match self.newest(purpose) {
            Some(at) => Ok((at, Made::Before)),
            None => Ok((self.add(purpose, env)?, Made::Now)),
        }
    }

    /// Later than every key of the purpose by a whole second, which is what a key file keeps, whatever the clock says.
    fn add(&mut self, purpose: Purpose, env: &Env) -> Result<usize, KeysError> {
        let key = SigningKey::from_seed(env.random()?);
        let others = self.files.iter().filter(|file| file.purpose == purpose);
        let now = Timestamp::from_seconds(env.now().seconds());
        let created = others.map(|file| file.created.plus_millis(1000)).max().map_or(now, |next| next.max(now));
        let file = KeyFile { purpose, state: KeyState::Current, created, key };
        write(&self.dir, &file)?;
        self.files.push(file);
        Ok(self.files.len() - 1)
    }
}

fn read_all(dir: &Path) -> Result<Vec<KeyFile>, KeysError> {
    let mut paths: Vec<PathBuf> = match fs::read_dir(dir) {
        Ok(entries) => entries.filter_map(Result::ok).map(|entry| entry.path()).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(source) => return Err(KeysError::Io { path: dir.to_owned(), source }),
    };
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

/// How long somebody waits for a folder in which keys are made: a few milliseconds of another process.
const PATIENCE: Duration = Duration::from_secs(5);

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(5);

#[derive(Clone, Copy)]
enum Lock {
    /// Keys are read by whoever signs.
    Shared,
    /// Keys are made.
    Exclusive,
}

/// Waits for the lock, but not for ever; it ends with the file, and so with the process.
fn lock(dir: &Path, kind: Lock) -> Result<fs::File, KeysError> {
    lock_within(dir, kind, PATIENCE)
}

fn lock_within(dir: &Path, kind: Lock, patience: Duration) -> Result<fs::File, KeysError> {
    let path = dir.join(".lock");
    let io = |source| KeysError::Io { path: path.clone(), source };
    private_dir(dir).map_err(io)?;
    let file = files::private().create(true).truncate(false).open(&path).map_err(io)?;
    let until = Instant::now() + patience;
    loop {
        let tried = match kind {
            Lock::Shared => file.try_lock_shared(),
            Lock::Exclusive => file.try_lock(),
        };
        match tried {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(io(error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => return Err(KeysError::Held(path)),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
        }
    }
}

fn read(path: &Path) -> Result<KeyFile, KeysError> {
    use std::os::unix::fs::PermissionsExt;
    let io = |source| KeysError::Io { path: path.to_owned(), source };
    let mode = fs::metadata(path).map_err(io)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(KeysError::TooOpen(path.to_owned()));
    }
    let bytes = fs::read(path).map_err(io)?;
    KeyFile::parse(&bytes).map_err(|error| KeysError::Damaged { path: path.to_owned(), why: error.to_string() })
}

/// Written beside, synced, then renamed, so that a crash leaves the old file or the new one.
fn write(dir: &Path, file: &KeyFile) -> Result<(), KeysError> {
    let path = dir.join(format!("{}-{}.json", file.purpose.as_str(), file.key.id()));
    let beside = path.with_extension("new");
    let io = |source| KeysError::Io { path: path.clone(), source };
    private_dir(dir).map_err(io)?;
    let mut out = files::private().create(true).truncate(true).open(&beside).map_err(io)?;
    out.write_all(&file.to_bytes()).and_then(|()| out.sync_all()).map_err(io)?;
    fs::rename(&beside, &path).and_then(|()| fs::File::open(dir)?.sync_all()).map_err(io)
}

#[cfg(test)]
mod tests;
