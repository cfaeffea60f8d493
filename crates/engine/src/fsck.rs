//! A log's files checked against each other: entries, tiles, write-ahead segments, both records of what was signed, and
//! the public checkpoint.
//!
//! Nothing is repaired and nothing is changed, and the log may be in use meanwhile. What differs first is named, in the
//! order in which a person would look: what the log is built from before what is derived from it.
//!
//! What the log has stored must be in the storage that was named, and there alone: segments go in time, and whoever asks
//! about a bucket may want to do without the folder. So copies elsewhere are named with what is lacking, and not counted.

use std::path::{Path, PathBuf};

use countersign_tlog::checkpoint::Checkpoint;
use countersign_tlog::fsck::{FsckError, Report, fsck};
use countersign_tlog::merkle::root;
use countersign_tlog::note::{Note, NoteError};
use countersign_tlog::policy::{Policy, PostQuantum};
use countersign_tlog::sequencer::tiles::{Tiles, TilesError};
use countersign_tlog::sequencer::{OpenError, Signed, Written};
use countersign_tlog::tile::{TileHashes, TilePath};

use lacking::Lacking;

use crate::log::{LogError, Place};

pub mod lacking;
#[cfg(test)]
mod tests;

/// A log whose files agree.
#[derive(Clone, Debug)]
pub struct Whole {
    /// Origin, size and the root that the entries give.
    pub checkpoint: Checkpoint,
    /// How much was read.
    pub report: Report,
    /// The size of the public checkpoint, which may lag behind. None before the first.
    pub published: Option<u64>,
}

/// Why a log is not whole, or why that cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// There is no log here, or no longer.
    #[error(transparent)]
    Absent(LogError),
    /// The write-ahead segments.
    #[error(transparent)]
    Segments(OpenError),
    /// A record of signed heads says more was signed than the segments hold, or another root.
    #[error("{file} says that {size} leaves were signed, and the segments do not give that state")]
    Head {
        /// The log's own `head`, or `log-head` outside its folder.
        file: PathBuf,
        /// The size in it.
        size: u64,
    },
    /// Entries and tiles.
    #[error(transparent)]
    Files(FsckError<TilesError>),
    /// The storage lacks what the log has stored there.
    #[error("{0}")]
    Lacking(Lacking),
    /// The public checkpoint is not signed by this log.
    #[error("the public checkpoint is not one of this log: {0}")]
    Published(String),
    /// The public checkpoint says another state.
    #[error("the public checkpoint says size {size} with a root that the entries do not give")]
    PublishedRoot {
        /// The size it says.
        size: u64,
    },
    /// A file could not be read.
    #[error("{0}")]
    Unreadable(String),
}

/// What a fault means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The files differ.
    Differs,
    /// What is there agrees, as far as it was read, and files are not where they were stored.
    Lacks,
    /// Something could not be read, so nothing is said.
    Unknown,
}

impl Fault {
    /// A stable word for the caller.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Absent(LogError::Lost(_)) => "log_lost",
            Self::Absent(LogError::Keyless(_)) => "log_keys_lost",
            Self::Absent(_) => "log_missing",
            Self::Segments(error) => error.code(),
            Self::Head { .. } => "fsck_head",
            Self::Files(error) => error.code(),
            Self::Lacking(_) => "fsck_lacking",
            Self::Published(_) => "fsck_checkpoint",
            Self::PublishedRoot { .. } => "fsck_checkpoint_root",
            Self::Unreadable(_) => "fsck_unreadable",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match (self, self.kind()) {
            (Self::Absent(LogError::NoLog), _) => "`--data` names the data directory",
            (Self::Absent(error), _) => error.hint(),
            (Self::Published(_), _) => {
                "the next start of the log replaces it, where `log/head` is whole and the checkpoint is not another log's"
            }
            (Self::Lacking(lacking), _) => lacking.hint(),
            (_, FaultKind::Unknown) => "make it readable and try again; nothing is said about the log until then",
            (_, FaultKind::Differs | FaultKind::Lacks) => {
                "restore the newest copy of the data directory; receipts already given still show what was logged"
            }
        }
    }

    /// What it means.
    pub fn kind(&self) -> FaultKind {
        match self {
            Self::Absent(_)
            | Self::Unreadable(_)
            | Self::Segments(OpenError::Io(_))
            | Self::Files(FsckError::Source(..)) => FaultKind::Unknown,
            Self::Lacking(_) => FaultKind::Lacks,
            _ => FaultKind::Differs,
        }
    }
}

/// Reads the whole log of a data directory, whose full tiles are in `tiles` ([`Tiles::stored`]).
///
/// # Errors
/// [`Fault`], the first one.
pub fn check(data: &Path, tiles: &dyn Tiles) -> Result<Whole, Fault> {
    let place = Place::new(data);

    // What was public and signed first, so that a log which grows meanwhile is not behind it.
    let published = published(&place, tiles)?;
    let second = place.second_record();
    let written = Written::read(&place.log(), Some(&second)).map_err(|error| segments(&place, error))?;
    let due = |path: &TilePath| path.is_full() && path.end_leaf().is_some_and(|end| end <= written.stored);
    let source = |path: &TilePath| match tiles.stored(path)? {
        None if !due(path) => Ok(written.tile(path)),
        there => Ok(there),
    };

    let report = fsck(&written.checkpoint, source, |_, _| ()).map_err(|error| match error {
        FsckError::Missing(path) if due(&path) => match Lacking::list(tiles, &written) {
            Ok(Some(lacking)) => Fault::Lacking(lacking),
            // It was put there a moment ago, or the storage says two things of it.
            Ok(None) => Fault::Files(FsckError::Missing(path)),
            Err(error) => unreadable(error),
        },
        error => Fault::Files(error),
    })?;

    // From here on the files are known to give the root of the segments, so they answer for smaller sizes too.
    let size = written.checkpoint.size;
    let at = |wanted: u64| (wanted <= size).then(|| root(&TileHashes::new(size, source), wanted).ok()).flatten();
    // A folder restored from an older copy agrees with itself: only the record outside it knows. Without that file there
    // is nothing to say, as at a start, which makes it anew.
    for (file, signed) in [(place.log().join("head"), written.signed), (second, written.second)] {
        if let Some(Signed { size, .. }) = signed.filter(|signed| at(signed.size) != Some(signed.root)) {
            return Err(Fault::Head { file, size });
        }
    }
    if let Some(public) = published.as_ref().filter(|public| at(public.size) != Some(public.root)) {
        return Err(Fault::PublishedRoot { size: public.size });
    }
    Ok(Whole { checkpoint: written.checkpoint, report, published: published.map(|public| public.size) })
}

fn unreadable(error: TilesError) -> Fault {
    Fault::Unreadable(error.to_string())
}

fn segments(place: &Place, error: OpenError) -> Fault {
    if let OpenError::Missing(_) = error { Fault::Absent(place.absent()) } else { Fault::Segments(error) }
}

/// The public checkpoint, signed by the log's own keys.
fn published(place: &Place, tiles: &dyn Tiles) -> Result<Option<Checkpoint>, Fault> {
    let Some(bytes) = tiles.published().map_err(unreadable)? else {
        return Ok(None);
    };
    let trust = place.shown_trust().map_err(|error| Fault::Unreadable(error.to_string()))?;
    let policy = Policy::parse(trust.as_bytes()).map_err(|error| Fault::Unreadable(error.to_string()))?;
    let note = Note::parse(&bytes).map_err(|error: NoteError| Fault::Published(error.to_string()))?;
    let accepted = policy.accept(&note, PostQuantum::Required).map_err(|error| Fault::Published(error.to_string()))?;
    Ok(Some(accepted.checkpoint))
}
