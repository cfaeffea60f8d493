//! What goes into a log and what comes out: entries, receipts, heads, and every way it can fail.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::tiles::TilesError;
use crate::checkpoint::Checkpoint;
use crate::merkle::{Hash, ProveError};
use crate::note::Note;
use crate::proof::TlogProof;
use crate::tile::TilePath;

/// When a batch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// This long after its first leaf, or when nothing has come for a quarter of it.
    Window(Duration),
    /// As soon as the queue is empty.
    AtOnce,
}

/// A leaf to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Names the operation; a retry carries the same one.
    pub idempotency_key: [u8; 32],
    /// The leaf's bytes.
    pub leaf: Vec<u8>,
}

/// A signed state of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Origin, size and root.
    pub checkpoint: Checkpoint,
    /// The checkpoint with an Ed25519 and an ML-DSA-44 line.
    pub note: Note,
    /// The signed time in seconds since the Unix epoch.
    pub time: u64,
}

/// Whether the append made the leaf or found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logged {
    /// The leaf is new.
    Now,
    /// The same leaf was already logged under this key.
    Before,
}

/// A leaf that is durable and under a signed checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The leaf's index.
    pub index: u64,
    /// Its hash.
    pub leaf_hash: Hash,
    /// The inclusion path under `head`, the leaf's sibling first.
    pub path: Vec<Hash>,
    /// The checkpoint.
    pub head: Arc<Head>,
    /// New or found.
    pub logged: Logged,
}

impl Appended {
    /// The receipt as a `.tlog-proof`.
    pub fn proof(&self) -> TlogProof {
        TlogProof { extra: None, index: self.index, path: self.path.clone(), checkpoint: self.head.note.clone() }
    }
}

/// Why there is no receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The queue is full, or the tile storage is too far behind. Nothing was appended; try later.
    #[error("the log is busy")]
    Busy,
    /// The leaf is empty or longer than 65,535 bytes.
    #[error("a leaf has 1 to 65,535 bytes")]
    LeafLength,
    /// The idempotency key belongs to another leaf.
    #[error("the idempotency key belongs to another leaf, at index {0}")]
    Conflict(u64),
    /// There was no room for a new write-ahead segment. Nothing was appended.
    #[error("the log's disk is full")]
    NoSpace,
    /// The last signature is dated more than [`MAX_AHEAD`](crate::policy::MAX_AHEAD) seconds after the clock. Signed
    /// times do not go back, so this one would be dated wrongly too. Nothing was appended.
    #[error("the log's last signature is dated {} seconds ahead of this machine's clock", .signed.saturating_sub(*.now))]
    ClockBehind {
        /// The signed time in seconds since the Unix epoch.
        signed: u64,
        /// The clock, in the same unit.
        now: u64,
    },
    /// The log has ended. Nothing was appended.
    #[error("the log is closed")]
    Closed,
    /// The log ended while the leaf was being written: it may or may not be in. A retry with the same key finds out.
    #[error("the log ended while the leaf was being written")]
    Unknown,
}

impl AppendError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Busy => "log_busy",
            Self::LeafLength => "leaf_length",
            Self::Conflict(_) => "idempotency_conflict",
            Self::NoSpace => "log_no_space",
            Self::ClockBehind { .. } => "log_clock_behind",
            Self::Closed => "log_closed",
            Self::Unknown => "log_outcome_unknown",
        }
    }
}

/// A place between two actions of the log, in the order they happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Indices and the new root are computed; nothing is written.
    Assigned,
    /// The batch is written, not synced.
    Written,
    /// The batch is durable.
    Synced,
    /// The checkpoint is signed and has not left.
    Signed,
    /// The head file names the signed checkpoint.
    Marked,
    /// Readers see the new head.
    Swapped,
    /// Receipts have left.
    Replied,
    /// Full tiles and bundles are stored.
    Stored,
    /// The public checkpoint is replaced.
    Published,
    /// Write-ahead segments that nobody needs are gone.
    Dropped,
    /// A new write-ahead segment is in use.
    Rotated,
}

/// Why a log ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the log has ended at {what}: {why}")]
pub struct Fatal {
    /// The action that failed.
    pub what: &'static str,
    /// The cause, for the operator.
    pub why: String,
}

impl Fatal {
    pub(super) fn new(what: &'static str, why: impl ToString) -> Self {
        Self { what, why: why.to_string() }
    }
}

/// Why something could not be read from the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The newest checkpoint does not reach that far.
    #[error("the log does not reach that far")]
    Outside,
    /// A stored tile or bundle is gone.
    #[error("{0} is missing")]
    Missing(TilePath),
    /// A stored tile or bundle is not what the tree has there.
    #[error("{0} is damaged")]
    Damaged(TilePath),
    /// The storage failed.
    #[error(transparent)]
    Tiles(#[from] TilesError),
}

impl ReadError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Outside => "log_outside",
            Self::Missing(_) => "tile_missing",
            Self::Damaged(_) => "tile_damaged",
            Self::Tiles(error) => error.code(),
        }
    }
}

impl From<ProveError<ReadError>> for ReadError {
    fn from(error: ProveError<ReadError>) -> Self {
        match error {
            ProveError::OutOfRange => Self::Outside,
            ProveError::Read(error) => error,
        }
    }
}

/// What somebody else knows of this log. `by` says who, for the message of a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A signed checkpoint.
    Checkpoint {
        /// Who holds it.
        by: String,
        /// The checkpoint as a signed note.
        note: Vec<u8>,
    },
    /// A size without a root, as a witness names it when it is asked from another one (C2SP tlog-witness, 409).
    Size {
        /// Who names it.
        by: String,
        /// Leaves.
        size: u64,
    },
    /// That our root at this size is not the one they know (C2SP tlog-witness, 422).
    OtherHistory {
        /// Who says so.
        by: String,
        /// Leaves.
        size: u64,
    },
}

/// Why no log could be made.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// There is a log already.
    #[error("{0} already holds a log")]
    Exists(PathBuf),
    /// Another process has the directory: it makes the log, or runs it.
    #[error("{0} is in use by another process")]
    Held(PathBuf),
    /// A file could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl InitError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Exists(_) => "log_exists",
            Self::Held(_) => "log_held",
            Self::Io(_) => "log_io",
        }
    }
}

/// Why a log does not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no log.
    #[error("{0} holds no log")]
    Missing(PathBuf),
    /// Another process runs this log.
    #[error("{0} is in use by another process")]
    Held(PathBuf),
    /// The directory is a copy, or was moved to another disk.
    #[error("{0} is a copy of a log: two processes with one key would sign two histories")]
    Copied(PathBuf),
    /// The directory belongs to a log of another origin.
    #[error("{0} belongs to another log")]
    OtherLog(PathBuf),
    /// What was already answered does not read.
    #[error("the log is damaged: {0}")]
    Damaged(String),
    /// A record of this log is ahead of it: the directory was restored from an older copy, or lost its end.
    #[error("the log has {ours} leaves, but {by} has seen {theirs}: was it restored from an older copy?")]
    Behind {
        /// The record.
        by: String,
        /// Leaves here.
        ours: u64,
        /// Leaves there.
        theirs: u64,
    },
    /// A record of this log shows another history.
    #[error("{by} has seen another history of this log at {size} leaves")]
    Forked {
        /// The record.
        by: String,
        /// Leaves of the record.
        size: u64,
    },
    /// A record of this log does not read, or is not signed by it.
    #[error("the record of {0} does not read as a checkpoint of this log")]
    Record(String),
    /// Other keys have signed a record under this log's name. These keys would begin a second history under it.
    #[error("{0} is signed under this log's name, and not by its keys")]
    OtherKeys(String),
    /// The last signature is dated more than [`MAX_AHEAD`](crate::policy::MAX_AHEAD) seconds after the clock: one of the
    /// two is wrong. Signed times do not go back, and readers refuse a time so far ahead of theirs.
    #[error("the log's last signature is dated {} seconds ahead of this machine's clock", .signed.saturating_sub(*.now))]
    ClockBehind {
        /// The signed time in seconds since the Unix epoch.
        signed: u64,
        /// The clock, in the same unit.
        now: u64,
    },
    /// The tile storage lacks what no write-ahead segment holds: it is another one, or entries are lost.
    #[error(
        "the tile storage lacks {0}, and no write-ahead segment holds it: it is another storage, or entries are lost"
    )]
    Lacking(TilePath),
    /// The tile storage failed.
    #[error(transparent)]
    Tiles(#[from] TilesError),
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl OpenError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Missing(_) => "log_missing",
            Self::Held(_) => "log_held",
            Self::Copied(_) => "log_copied",
            Self::OtherLog(_) => "log_other",
            Self::Damaged(_) => "log_damaged",
            Self::Behind { .. } => "log_behind",
            Self::Forked { .. } => "log_forked",
            Self::Record(_) => "log_record",
            Self::OtherKeys(_) => "log_other_keys",
            Self::ClockBehind { .. } => "log_clock_behind",
            Self::Lacking(_) => "log_tiles_lacking",
            Self::Tiles(error) => error.code(),
            Self::Io(_) => "log_io",
        }
    }
}
