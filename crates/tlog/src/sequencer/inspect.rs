//! What a log's directory says, read without opening the log and without changing a byte: for a file check, also while
//! another process writes.

use std::io::ErrorKind;
use std::path::Path;

use super::home::{self, Mark};
use super::shared::Live;
use super::{OpenError, recover};
use crate::checkpoint::{Checkpoint, Origin};
use crate::merkle::Hash;
use crate::tile::TilePath;

/// What a record says was signed last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed {
    /// Leaves.
    pub size: u64,
    /// The root over them.
    pub root: Hash,
    /// The signed time in seconds since the Unix epoch.
    pub time: u64,
}

impl From<Mark> for Signed {
    fn from(Mark { size, root, time, .. }: Mark) -> Self {
        Self { size, root, time }
    }
}

/// A log as its write-ahead segments give it. Every batch follows the one before, and the leaves give the last root.
pub struct Written {
    /// The log.
    pub checkpoint: Checkpoint,
    /// Below this many leaves, the log has put every full file into its storage, as its records and its segments say: one
    /// that is not there has been lost. A multiple of 256, and read before the segments as well.
    pub stored: u64,
    /// What the log's own head says was signed last. It was read before the segments, so they may
    /// be ahead of it and must not be behind.
    pub signed: Option<Signed>,
    /// What the second record says, if one was named and is there. Read before the segments as well.
    pub second: Option<Signed>,
    live: Live,
}

impl Written {
    /// Reads the directory, and a second record outside it ([`Config::second_record`](super::Config::second_record)).
    /// The last batch may be half written; it does not count then.
    ///
    /// # Errors
    /// [`OpenError`]: there is no log, its segments are damaged, or a record is damaged or another log's.
    pub fn read(dir: &Path, second: Option<&Path>) -> Result<Self, OpenError> {
        let origin = match home::read_origin(dir) {
            Ok(origin) => origin.ok_or_else(|| OpenError::OtherLog(dir.to_owned()))?,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(OpenError::Missing(dir.to_owned())),
            Err(error) => return Err(error.into()),
        };
        // Whatever a record says was in the segments before: read after them, it would name what was signed in between,
        // and a log that is being written would look rolled back.
        let signed = recorded(&dir.join("head"), &origin)?;
        let second = second.map_or(Ok(None), |path| recorded(path, &origin))?;
        let replayed = recover::written(&dir.join("wal"), &origin)?;
        let checkpoint = Checkpoint::new(origin, replayed.size, replayed.root);
        // A record that is ahead speaks of another state than this one.
        let marks = [signed, second].into_iter().flatten().filter(|mark| mark.size <= replayed.size);
        let stored = marks.map(|mark| mark.stored_of(replayed.size)).fold(replayed.stored, u64::max);
        let [signed, second] = [signed, second].map(|mark| mark.map(Signed::from));
        Ok(Self { checkpoint, stored, signed, second, live: replayed.live })
    }

    /// A tile or bundle out of the segments: partial ones, which are never stored, and full ones whose storing is due.
    pub fn tile(&self, path: &TilePath) -> Option<Vec<u8>> {
        self.live.tile(path)
    }
}

/// Whether a process runs the log in `dir`. Nothing is written.
///
/// # Errors
/// What the system said about the lock file.
pub fn is_held(dir: &Path) -> std::io::Result<bool> {
    home::is_locked(dir)
}

/// Whether the directory in `dir` is a copy of that log, which signs nothing until it is adopted. Nothing is written.
///
/// # Errors
/// [`OpenError`]: its identity cannot be read, or is another log's.
pub fn is_copy(dir: &Path, origin: &Origin) -> Result<bool, OpenError> {
    match home::check_identity(dir, origin) {
        Ok(()) => Ok(false),
        Err(OpenError::Copied(_)) => Ok(true),
        // A copy made without the empty lock file: nobody signs there.
        Err(OpenError::Io(error)) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// The last state that a record of signed heads names: the log's own `head`, or a second one elsewhere. `None`
/// when there is no such file, or nothing was ever signed.
fn recorded(path: &Path, origin: &Origin) -> Result<Option<Mark>, OpenError> {
    match home::read_mark(path, origin) {
        Ok(mark) => Ok(mark),
        Err(Some(error)) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(Some(error)) => Err(OpenError::Io(error)),
        Err(None) => Err(OpenError::Record(path.display().to_string())),
    }
}
