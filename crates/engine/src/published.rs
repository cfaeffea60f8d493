//! What a log shows everybody: its newest checkpoint, tiles and bundles, proofs by index, and its keys.
//!
//! Answers are values; the front end adds status, headers and nothing else. A tile is served in every width that the
//! newest checkpoint implies, cut from what is stored, so every checkpoint that was ever signed can still be checked.
//! A stored file that the tree does not bear out is told as damaged and not given out: whoever got it would keep it for a
//! year. The trade-off: a receipt from here has no reveal, because the log never had one.

use std::sync::Arc;

use countersign_tlog::checkpoint::Checkpoint;
use countersign_tlog::merkle;
use countersign_tlog::note::Note;
use countersign_tlog::sequencer::{Log, ReadError};
use countersign_tlog::tile::{PathError, TilePath};
use serde_json::Value;

use crate::cosigners::Cosigners;
use crate::receipt::Receipt;

#[cfg(test)]
pub(crate) mod tests;

/// The public side of a running log.
#[derive(Clone)]
pub struct Published {
    log: Arc<Log>,
    cosigners: Option<Arc<Cosigners>>,
}

/// Whether a file can still grow into a wider one of another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 256 hashes or entries.
    Full,
    /// Fewer; the full file replaces it one day.
    Partial,
}

/// A tile or an entry bundle. Its bytes never change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// As C2SP tlog-tiles lays them out.
    pub bytes: Vec<u8>,
    /// Full or partial.
    pub width: Width,
}

/// Why something is not served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotServed {
    /// The path is not in the one spelling of C2SP tlog-tiles.
    #[error("not a tile path: {0}")]
    Path(#[from] PathError),
    /// The index is not a number in shortest form.
    #[error("an index is a decimal number in shortest form")]
    Index,
    /// The newest checkpoint does not reach that far, yet.
    #[error("the log does not reach that far")]
    Outside,
    /// No witness has cosigned anything yet, or none is asked.
    #[error("no witness has cosigned a checkpoint")]
    NotCosigned,
    /// A stored file is not what the tree has there.
    #[error("the log's storage is damaged: {0} is not what the tree has there")]
    Damaged(TilePath),
    /// The cosigned checkpoint that is kept beside the log is of another history. A proof that fails would read as fraud.
    #[error("the log's files contradict each other: entry {0} does not lead to the cosigned root")]
    Unproved(u64),
    /// The log's own storage failed.
    #[error("the log's storage does not answer")]
    Storage(ReadError),
}

/// What a refusal means to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotServedKind {
    /// The question is wrong and stays wrong.
    Malformed,
    /// There is no such thing, or not yet.
    Absent,
    /// The operator has to put a file right.
    Damaged,
    /// Asking again may help.
    Unavailable,
}

impl NotServed {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Path(error) => error.code(),
            Self::Index => "index_malformed",
            Self::Outside => "log_outside",
            Self::NotCosigned => "log_not_cosigned",
            Self::Damaged(path) => ReadError::Damaged(*path).code(),
            Self::Unproved(_) => "log_unproved",
            Self::Storage(error) => error.code(),
        }
    }

    /// What it means to the caller.
    pub const fn kind(&self) -> NotServedKind {
        match self {
            Self::Path(_) | Self::Index => NotServedKind::Malformed,
            Self::Outside | Self::NotCosigned => NotServedKind::Absent,
            Self::Damaged(_) | Self::Unproved(_) => NotServedKind::Damaged,
            Self::Storage(_) => NotServedKind::Unavailable,
        }
    }
}

impl From<ReadError> for NotServed {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Outside => Self::Outside,
            ReadError::Damaged(path) => Self::Damaged(path),
            ReadError::Missing(_) | ReadError::Tiles(_) => Self::Storage(error),
        }
    }
}

impl Published {
    /// Shows this log.
    pub fn new(log: Arc<Log>) -> Self {
        Self { log, cosigners: None }
    }

    /// Shows what witnesses have cosigned as well.
    #[must_use]
    pub fn with_cosigners(self, cosigners: Arc<Cosigners>) -> Self {
        Self { cosigners: Some(cosigners), ..self }
    }

    /// The newest signed checkpoint, a C2SP signed note; with the cosignatures of witnesses that have seen it already.
    pub fn checkpoint(&self) -> String {
        let head = self.log.head();
        let whole = self.cosigners.as_ref().map(|cosigners| cosigners.with_cosignatures(&head.note));
        whole.as_ref().unwrap_or(&head.note).to_string()
    }

    /// The newest checkpoint that satisfies the quorum of the log's witnesses, or [`Cosigners::cosigned`] by any of them
    /// while there is none. It lags behind [`Self::checkpoint`], which waits for nobody.
    ///
    /// # Errors
    /// [`NotServed::NotCosigned`]
    pub fn cosigned_checkpoint(&self) -> Result<String, NotServed> {
        self.cosigned().map(|note| note.to_string()).ok_or(NotServed::NotCosigned)
    }

    fn cosigned(&self) -> Option<Note> {
        self.cosigners.as_ref().and_then(|cosigners| cosigners.cosigned())
    }

    /// The checkpoint a receipt of leaf `index` stands under: the newest cosigned one, or the newest while no cosigned
    /// one reaches that far.
    fn checkpoint_over(&self, index: u64) -> Result<(Note, Checkpoint), NotServed> {
        let head = self.log.head();
        // One that an earlier run kept may be ahead of a log that was rolled back.
        let reaches = |one: &Checkpoint| index < one.size && one.size <= head.checkpoint.size;
        let cosigned = self.cosigned().and_then(|note| Some((Checkpoint::parse(note.text()).ok()?, note)));
        match cosigned.filter(|(checkpoint, _)| reaches(checkpoint)) {
            Some((checkpoint, note)) => Ok((note, checkpoint)),
            None if reaches(&head.checkpoint) => Ok((head.note.clone(), head.checkpoint.clone())),
            None => Err(NotServed::Outside),
        }
    }

    /// The keys that verify the log, as a C2SP tlog-policy without witnesses.
    pub fn trust(&self) -> String {
        self.log.trust()
    }

    /// The file at `path`, which begins with `tile/`. May read from the storage, and blocks while it does.
    ///
    /// # Errors
    /// [`NotServed`]
    pub fn tile(&self, path: &str) -> Result<Tile, NotServed> {
        let path = TilePath::parse(path)?;
        let bytes = self.log.tile(&path)?.ok_or(NotServed::Outside)?;
        Ok(Tile { bytes, width: if path.is_full() { Width::Full } else { Width::Partial } })
    }

    /// The receipt of leaf `index`, without the reveal: under the newest checkpoint that witnesses have cosigned, or
    /// under the newest one while none of those reaches that far. Blocks like [`Self::tile`].
    ///
    /// # Errors
    /// [`NotServed`]
    pub fn receipt(&self, index: &str) -> Result<Value, NotServed> {
        let number: u64 = index.parse().map_err(|_| NotServed::Index)?;
        if number.to_string() != index {
            return Err(NotServed::Index);
        }
        let (note, checkpoint) = self.checkpoint_over(number)?;
        let leaf_hash = merkle::leaf_hash(&self.log.leaf(number)?);
        let path = self.log.inclusion(number, checkpoint.size)?;
        merkle::verify_inclusion(&leaf_hash, number, checkpoint.size, &path, &checkpoint.root)
            .map_err(|_| NotServed::Unproved(number))?;
        let log_origin = self.log.head().checkpoint.origin.clone();
        Ok(Receipt { log_origin, index: number, leaf_hash, path, checkpoint: note, reveal: None }.to_public_value())
    }
}
