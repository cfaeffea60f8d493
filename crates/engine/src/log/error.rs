//! Why there is no receipt, and what to do about it.

use std::io;
use std::path::PathBuf;

use countersign_tlog::checkpoint::Origin;
use countersign_tlog::sequencer::tiles::TilesError;
use countersign_tlog::sequencer::{AppendError, Fatal, InitError, KeysError, OpenError, ReadError};

use crate::env::NoRandomness;

/// Why a document could not be logged.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The log does not open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The log could not be made.
    #[error(transparent)]
    Init(#[from] InitError),
    /// The log gave no receipt.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The process that holds the log said no.
    #[error("the process that holds the log answered {code}: {message}")]
    Holder {
        /// Its code.
        code: String,
        /// Its reason.
        message: String,
    },
    /// Another process holds the log and does not take leaves.
    #[error("another process holds the log and does not answer: {0}")]
    Unreachable(String),
    /// A write, a sync or a tile of this process's log went wrong: it signs nothing more.
    #[error("{0}; what its disk holds is in doubt")]
    InDoubt(Fatal),
    /// A server's log cannot be reached by the commands it is there for.
    #[error("cannot open {path} for other commands: {source}")]
    Door {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The log ended while the leaf was in it.
    #[error("the log ended before it answered")]
    Ended,
    /// There are keys of a log that signed before, and the log is gone.
    #[error("the keys of a log are here, but the log itself is not in {0}")]
    Lost(PathBuf),
    /// There is a log, or was one, and its keys are gone.
    #[error("a log was begun here, but its keys are not in {0}")]
    Keyless(PathBuf),
    /// There is no log.
    #[error("this data directory has no log yet")]
    NoLog,
    /// The seeds file cannot be used.
    #[error("cannot use the log's key file {path}: {why}")]
    Seeds {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The seeds file does not read, or its seeds give other keys than the ones that signed.
    #[error("the key file {path} is damaged: {why}")]
    SeedsDamaged {
        /// The file.
        path: PathBuf,
        /// What shows it.
        why: String,
    },
    /// The seeds are no keys of a log.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// A receipt to be renewed is of another log.
    #[error("the receipt is of the log {theirs}, and the log of this data directory is {ours}")]
    OtherLog {
        /// The receipt's.
        theirs: Origin,
        /// The data directory's.
        ours: Origin,
    },
    /// A receipt to be renewed is for what this log does not hold there.
    #[error("the receipt is for another entry than the log has at index {0}")]
    OtherEntry(u64),
    /// The receipt does not verify.
    #[error("the log gave a receipt that does not verify: {0}")]
    Wrong(String),
    /// What is to be appended is no [`Leaf`](countersign_core::leaf::Leaf). Nothing was appended.
    #[error("what is to be logged has not the form of a leaf, so nothing was appended")]
    LeafForm,
    /// What a process asked the holder of the log does not read.
    #[error("what was asked of the process that holds the log does not read")]
    Question,
    /// The document is not text.
    #[error("a logged document is UTF-8 text")]
    NotText,
    /// A file could not be read or written.
    #[error("cannot use {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No randomness for a salt or a seed.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
}

impl LogError {
    /// What to do when no receipt came, and the leaf may be in all the same.
    pub const AGAIN: &str = "run the command again: another check makes a new decision with an entry of its own, and this \
         one's may stand in the log unseen; a change of keys gets the entry it already has";

    /// What to do about a copy.
    pub const ADOPT: &str = "run `countersign log adopt` once the process that used the original can never run again";

    /// What to do when the last signed time is far ahead of the clock.
    pub const CLOCK: &str = "set this machine's clock right; if it was wrong when the log signed, nothing is signed until that \
         time, because signed times never go back: wait, or give the log up as docs/log.md says and begin another one";

    /// What to do when two processes do not understand each other.
    const OTHER_VERSION: &str = "two versions of this program may be at work on one data directory: end the process that \
         holds the log, and start it again with this version";

    const OUTSIDE: &str = "the entry is not in this log; was the receipt made by another one?";
    const REACH: &str = "make the tile storage reachable and try again; this says nothing against what the log holds";
    const FSCK: &str = "run `countersign log fsck`, and restore the data directory from a copy if it finds damage";
    const BUSY: &str = "the log has more leaves than it can write now; try again";
    const SPACE: &str = "free some space on the log's disk";
    const GIVEN: &str = "its receipt is the one that was given first; `countersign receipt export`";

    /// Stable code for callers.
    pub fn code(&self) -> &str {
        match self {
            Self::Open(error) => error.code(),
            Self::Init(error) => error.code(),
            Self::Append(error) => error.code(),
            Self::Read(error) => error.code(),
            Self::Holder { code, .. } => code,
            Self::Unreachable(_) => "log_unreachable",
            Self::InDoubt(_) => "log_in_doubt",
            Self::Door { .. } => "log_door",
            Self::Ended => "log_ended",
            Self::Lost(_) => "log_lost",
            Self::Keyless(_) => "log_keys_lost",
            Self::NoLog => "log_missing",
            Self::Seeds { .. } => "log_seeds",
            Self::SeedsDamaged { .. } => "log_seeds_damaged",
            Self::Keys(error) => error.code(),
            Self::OtherLog { .. } => "log_receipt_other_log",
            Self::OtherEntry(_) => "log_receipt_other_entry",
            Self::Wrong(_) => "log_receipt_wrong",
            Self::LeafForm => "log_leaf_form",
            Self::Question => "log_question",
            Self::NotText => "log_not_text",
            Self::Io { .. } => "log_io",
            Self::NoRandomness(_) => "no_randomness",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Open(OpenError::Copied(_)) => Self::ADOPT,
            Self::Open(OpenError::Behind { .. } | OpenError::Forked { .. }) => {
                "restore the newest copy of the data directory; an older one must never sign again"
            }
            Self::Open(OpenError::ClockBehind { .. }) | Self::Append(AppendError::ClockBehind { .. }) => Self::CLOCK,
            Self::Open(OpenError::Lacking(_)) => {
                "name the bucket that holds the log's tiles with `--tiles`, or put the file back from a copy: `countersign log \
                 fsck` says what else is gone"
            }
            Self::Read(ReadError::Outside) => Self::OUTSIDE,
            Self::Open(OpenError::Tiles(TilesError::Unavailable(_)))
            | Self::Read(ReadError::Tiles(TilesError::Unavailable(_))) => Self::REACH,
            Self::Open(OpenError::Damaged(_) | OpenError::Tiles(_)) | Self::Wrong(_) | Self::Read(_) => Self::FSCK,
            Self::Open(OpenError::Held(_)) | Self::Unreachable(_) | Self::Ended => {
                "another command may be starting or stopping; try again"
            }
            Self::InDoubt(_) => {
                "look at the log's disk; this process signs nothing more, and the next start decides from what is on disk"
            }
            Self::Door { .. } => {
                "see that `log/` is yours and on a file system that has sockets; outside Linux, and without /proc, the path of \
                 a socket has about a hundred bytes at most: name a data directory with a shorter one"
            }
            Self::Append(AppendError::Busy) => Self::BUSY,
            Self::Append(AppendError::NoSpace) => Self::SPACE,
            Self::Append(AppendError::Conflict(_)) => Self::GIVEN,
            Self::LeafForm | Self::Question => Self::OTHER_VERSION,
            Self::Holder { code, .. } => holders(code),
            Self::Append(_) => Self::AGAIN,
            Self::Lost(_) => {
                "restore the newest copy of `log/`; a new log under the same keys would sign a second history. To give it up \
                 instead, move `keys/log.seeds` and `log-head` out of the data directory and run `countersign log init`: \
                 another log, under new keys"
            }
            Self::Keyless(_) => {
                "restore it from a copy, with mode 0600; to give the log up instead, move `log/` and `log-head` out of the \
                 data directory and run `countersign log init`: another log, under new keys"
            }
            Self::OtherLog { .. } => {
                "only the log that gave it renews it: run this on that log's data directory, or ask for \
                 /log/receipt/INDEX of its read API and put your reveal beside what comes"
            }
            Self::OtherEntry(_) => "`countersign verify` says whether the receipt holds",
            Self::NoLog | Self::Open(OpenError::Missing(_)) => {
                "run `countersign log init`, or name the data directory that has one with `--data`"
            }
            Self::Open(OpenError::OtherLog(_)) => {
                "`keys/log.seeds` or `log/identity` is another log's, or damaged: restore both from one copy"
            }
            Self::Open(OpenError::OtherKeys(_)) => {
                "restore the `keys/log.seeds` that signed it, or name the storage of this log; where those keys are lost, give \
                 the log up as docs/log.md says"
            }
            Self::Open(OpenError::Record(_)) => {
                "run `countersign log fsck`, and restore the newest copy of the data directory"
            }
            Self::Seeds { .. } => "restore it from a copy, with mode 0600",
            Self::SeedsDamaged { .. } => {
                "restore the file from a copy, with mode 0600; nothing was signed with other keys, and nothing was overwritten"
            }
            Self::Open(OpenError::Io(error)) | Self::Init(InitError::Io(error)) | Self::Io { source: error, .. } => {
                system(error)
            }
            Self::Init(_) | Self::Keys(_) | Self::NotText | Self::NoRandomness(_) => {
                "`countersign log status` says what is there"
            }
        }
    }
}

/// What to do about what the holder answered: what one would do had it happened here.
fn holders(code: &str) -> &'static str {
    match code {
        "log_leaf_form" | "log_question" => LogError::OTHER_VERSION,
        "log_outside" => LogError::OUTSIDE,
        "tile_missing" | "tile_damaged" | "tiles_conflict" => LogError::FSCK,
        "tiles_unavailable" => LogError::REACH,
        "log_busy" => LogError::BUSY,
        "log_no_space" => LogError::SPACE,
        "log_clock_behind" => LogError::CLOCK,
        "idempotency_conflict" => LogError::GIVEN,
        _ => LogError::AGAIN,
    }
}

/// What to do when the system refuses a file.
fn system(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "run it as the user to whom the data directory belongs",
        io::ErrorKind::NotADirectory => "`--data` names a folder",
        io::ErrorKind::ReadOnlyFilesystem => {
            "make it writable; `log status`, `log fsck` and `log monitor` write nothing there"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space on the log's disk",
        _ => "look at the disk; `countersign log fsck` says whether the log's files agree",
    }
}

#[cfg(test)]
mod tests {
    use countersign_tlog::tile::{Content, TilePath};

    use super::*;

    /// Whoever asks through the holder has the same to do as the holder.
    #[test]
    fn what_the_holder_says_no_to_has_the_hint_that_it_has_without_one() {
        let tile = TilePath::full_at(Content::Entries, 3);
        for error in [
            LogError::Read(ReadError::Outside),
            LogError::Read(ReadError::Missing(tile)),
            LogError::Read(ReadError::Damaged(tile)),
            LogError::Read(TilesError::Unavailable("away".into()).into()),
            LogError::Append(AppendError::Busy),
            LogError::Append(AppendError::NoSpace),
            LogError::Append(AppendError::ClockBehind { signed: 2, now: 1 }),
            LogError::Append(AppendError::Closed),
            LogError::Append(AppendError::Unknown),
            LogError::LeafForm,
            LogError::Question,
        ] {
            let told = LogError::Holder { code: error.code().to_owned(), message: error.to_string() };
            assert_eq!((told.code(), told.hint()), (error.code(), error.hint()));
        }
        let missing = LogError::Holder { code: "tile_missing".into(), message: "gone".into() };
        assert!(missing.hint().contains("log fsck"), "{}", missing.hint());
    }
}
