//! What a monitor remembers: the last checkpoint it verified, and every commitment up to there.
//!
//! ```text
//! FILE               the signed checkpoint, replaced as a whole
//! FILE.commitments   32 bytes an entry; what lies beyond the checkpoint's size counts as far as FILE.progress says
//! FILE.progress      how far a look has come that has not ended
//! FILE.evidence      a checkpoint that contradicts FILE: the two together convict the log
//! FILE.evidence.cosigned  the one that contradicts FILE.evidence, where that is not FILE
//! FILE.lock          held for a whole look: of two at once, the slower would put what it saw first in the place of what
//!                    the other saw later
//! ```
//!
//! Commitments are written first: a crash in between leaves some too many, which the next run cuts off.

mod progress;

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use countersign_core::time::Timestamp;
use countersign_tlog::checkpoint::Checkpoint;
use countersign_tlog::key::VerifierKey;
use countersign_tlog::note::Note;
use countersign_tlog::policy::{Policy, RejectError};

use crate::files::{self, Readers, replace};
use crate::lock::Lock;
use crate::receipt::RefusalKind;

pub(super) use progress::Progress;

/// How many entries are read before it is remembered that they were: some seconds from a read API.
const EVERY: usize = 16_384;

/// Where a monitor remembers; without a file it forgets everything, and reads the whole log each time.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    file: Option<PathBuf>,
    /// How many new entries are remembered at once.
    pub(super) every: usize,
}

/// Why the memory is of no use.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The file system refused.
    #[error("cannot use {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The remembered checkpoint is not signed by a log that is trusted today.
    #[error("the remembered checkpoint is not accepted: {0}")]
    Checkpoint(RejectError),
    /// Another look is going on with it.
    #[error("another monitor is using {0}")]
    Held(PathBuf),
    /// The commitments are not there, or do not reach as far as the checkpoint.
    #[error("{0} ends before the remembered checkpoint")]
    Short(PathBuf),
}

impl MemoryError {
    /// A stable word for the caller.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "state_unusable",
            Self::Held(_) => "state_held",
            Self::Checkpoint(_) => "state_checkpoint",
            Self::Short(_) => "state_short",
        }
    }

    pub(super) fn kind(&self) -> RefusalKind {
        match self {
            Self::Io { .. } | Self::Held(_) => RefusalKind::Stale,
            Self::Checkpoint(error) if RefusalKind::of(error) == RefusalKind::Trust => RefusalKind::Trust,
            Self::Checkpoint(_) | Self::Short(_) => RefusalKind::Malformed,
        }
    }
}

/// The last checkpoint.
#[derive(Clone, Debug)]
pub(super) struct Last {
    pub(super) checkpoint: Checkpoint,
    /// When the log signed it.
    pub(super) signed_at: Option<Timestamp>,
}

impl Last {
    pub(super) fn size(&self) -> u64 {
        self.checkpoint.size
    }
}

impl Memory {
    /// Remembers in this file and in those that are named like it.
    pub fn in_file(file: &Path) -> Self {
        Self { file: Some(file.to_owned()), every: EVERY }
    }

    /// Where a checkpoint that contradicts the remembered one is kept.
    pub fn evidence(&self) -> Option<PathBuf> {
        self.beside("evidence")
    }

    /// What it remembers in: the checkpoint and the commitments, without which progress counts for nothing. Evidence is not among them; nobody may be told to remove it.
    pub fn files(&self) -> Vec<PathBuf> {
        self.file.iter().cloned().chain(self.beside("commitments")).collect()
    }

    fn beside(&self, ending: &str) -> Option<PathBuf> {
        let mut name = self.file.as_ref()?.clone().into_os_string();
        name.push(format!(".{ending}"));
        Some(name.into())
    }

    /// The memory is this look's alone until the lock is dropped.
    pub(super) fn lock(&self) -> Result<Option<Lock>, MemoryError> {
        let Some((file, path)) = self.file.as_ref().zip(self.beside("lock")) else { return Ok(None) };
        Lock::alone(&path).map(Some).map_err(|refused| match refused {
            TryLockError::WouldBlock => MemoryError::Held(file.clone()),
            TryLockError::Error(source) => MemoryError::Io { path, source },
        })
    }

    /// The remembered checkpoint. The log must have signed it with a key that is still trusted; witnesses that the
    /// policy has demanded since, and its age, do not matter.
    pub(super) fn last(&self, policy: &Policy) -> Result<Option<Last>, MemoryError> {
        let Some(path) = &self.file else { return Ok(None) };
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(MemoryError::Io { path: path.clone(), source }),
        };
        signed_by_log(&bytes, policy).map(Some).map_err(MemoryError::Checkpoint)
    }

    /// The commitments of the first `size` entries.
    pub(super) fn commitments(&self, size: u64) -> Result<HashSet<[u8; 32]>, MemoryError> {
        let Some(path) = self.beside("commitments").filter(|_| size > 0) else { return Ok(HashSet::new()) };
        let mut bytes = Vec::new();
        match File::open(&path).and_then(|file| file.take(size * 32).read_to_end(&mut bytes)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            read => drop(read.map_err(|source| MemoryError::Io { path: path.clone(), source })?),
        }
        if (bytes.len() as u64) < size * 32 {
            return Err(MemoryError::Short(path));
        }
        Ok(bytes.as_chunks::<32>().0.iter().copied().collect())
    }

    /// Remembers `note`, whose log has `new` entries behind the first `before`.
    pub(super) fn save(&self, before: u64, new: &[[u8; 32]], note: &[u8]) -> Result<(), MemoryError> {
        let Some(file) = &self.file else { return Ok(()) };
        self.save_commitments(before, new)?;
        replace(file, note, Readers::Owner).map_err(|source| MemoryError::Io { path: file.clone(), source })?;
        // Left behind in a crash, it begins at another size than is remembered now.
        self.drop_progress()
    }

    fn save_commitments(&self, before: u64, new: &[[u8; 32]]) -> Result<(), MemoryError> {
        let Some(path) = self.beside("commitments") else { return Ok(()) };
        write_behind(&path, before * 32, &new.concat()).map_err(|source| MemoryError::Io { path, source })
    }

    /// Keeps a checkpoint that contradicts the remembered one, or `other`.
    pub(super) fn keep_evidence(&self, note: &[u8], other: Option<&Vec<u8>>) -> Result<(), MemoryError> {
        let kept = [(self.evidence(), Some(note)), (self.beside("evidence.cosigned"), other.map(Vec::as_slice))];
        for (path, note) in kept {
            let Some((path, note)) = path.zip(note) else { continue };
            replace(&path, note, Readers::Owner).map_err(|source| MemoryError::Io { path, source })?;
        }
        Ok(())
    }
}

fn signed_by_log(bytes: &[u8], policy: &Policy) -> Result<Last, RejectError> {
    let note = Note::parse(bytes)?;
    let checkpoint = Checkpoint::parse(note.text())?;
    let ours = |key: &&VerifierKey| key.name().as_str() == checkpoint.origin.as_str();
    let keys: Vec<VerifierKey> = policy.logs().iter().filter(ours).cloned().collect();
    if keys.is_empty() {
        return Err(RejectError::UnknownLog(checkpoint.origin));
    }
    let verified = note.verify(&keys)?;
    if !checkpoint.is_covered_by(&verified) {
        return Err(RejectError::ExtensionsNotSigned(checkpoint.origin));
    }
    let time = verified.iter().filter_map(|one| one.time).max();
    let signed_at = time.and_then(|time| i64::try_from(time).ok()).map(Timestamp::from_seconds);
    Ok(Last { checkpoint, signed_at })
}

/// Cuts the file at `at`, appends, and makes it durable.
fn write_behind(path: &Path, at: u64, bytes: &[u8]) -> io::Result<()> {
    let mut file = files::private().create(true).truncate(false).open(path)?;
    file.set_len(at)?;
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests;
