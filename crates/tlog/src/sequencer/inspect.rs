//! What a log's directory says, read without opening the log and without changing a byte: for a file check, also while
//! another process writes.

use std::path::Path;
use std::sync::Arc;

use super::disk::{Disk, RealDisk};
use super::home::{self, Marks};
use super::shared::Live;
use super::{OpenError, recover};
use crate::checkpoint::{Checkpoint, Origin};
use crate::merkle::Hash;
use crate::tile::TilePath;

/// A log as its write-ahead segments give it. Every batch follows the one before, and the leaves give the last root.
pub struct Written {
    /// The log.
    pub checkpoint: Checkpoint,
    /// Leaves below this one are in stored bundles only; a multiple of 256.
    pub first: u64,
    /// The last size and root that the log's own head says were signed. It was read before the segments, so they may
    /// be ahead of it and must not be behind.
    pub signed: Option<(u64, Hash)>,
    live: Live,
}

impl Written {
    /// Reads the directory. The last batch may be half written; it does not count then.
    ///
    /// # Errors
    /// [`OpenError`]: there is no log, or its segments are damaged.
    pub fn read(dir: &Path) -> Result<Self, OpenError> {
        if !dir.join("identity").exists() {
            return Err(OpenError::Missing(dir.to_owned()));
        }
        let origin = home::read_origin(dir)?.ok_or_else(|| OpenError::OtherLog(dir.to_owned()))?;
        let signed = signed(dir, &origin)?;
        let replayed = recover::written(&dir.join("wal"), &origin)?;
        let checkpoint = Checkpoint::new(origin, replayed.size, replayed.root);
        Ok(Self { checkpoint, first: replayed.stored, signed, live: replayed.live })
    }

    /// A tile or bundle out of the segments: partial ones, which are never stored, and full ones whose storing is due.
    pub fn tile(&self, path: &TilePath) -> Option<Vec<u8>> {
        self.live.tile(path)
    }
}

fn signed(dir: &Path, origin: &Origin) -> Result<Option<(u64, Hash)>, OpenError> {
    let path = dir.join("head");
    if !path.exists() {
        return Ok(None);
    }
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let (_, mark) = Marks::open(&disk, &path, origin).map_err(|error| match error {
        Some(error) => OpenError::Io(error),
        None => OpenError::Record(path.display().to_string()),
    })?;
    Ok(mark.map(|mark| (mark.size, mark.root)))
}
