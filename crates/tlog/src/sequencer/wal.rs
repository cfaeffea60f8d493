//! Write-ahead segments: preallocated files that take one write and one `fdatasync` a batch.
//!
//! A segment is made under a temporary name, filled with zeros, synced, renamed, and its directory synced, before
//! anything rests on it. A full disk is therefore met when a segment is begun, where nothing is at stake, and not in
//! the middle of a batch; and a sync of a batch has no file length to record.
//!
//! It is made when it is needed and not ahead: 2 MiB of zeros and their syncs took 2.3 ms (median of 15, ext4), once in
//! about 11,000 entries, which is less than the window that every batch waits for.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::{Disk, at, private};

pub(super) mod header;
pub(super) mod record;

use header::Header;
use record::{Commit, Entry, Read};

/// The segment that takes the batches.
pub(super) struct Segment {
    file: File,
    offset: u64,
    capacity: u64,
}

/// Why no new segment could be begun.
#[derive(Debug)]
pub(super) enum BeginError {
    /// Nothing has changed; the old segment still counts.
    Clean(io::Error),
    /// The new segment may or may not be there after a power cut.
    InDoubt(io::Error),
}

impl Segment {
    /// Makes segment `header.number` with `records` in it and room for `room` bytes more.
    pub(super) fn begin(
        disk: &Arc<dyn Disk>,
        dir: &Path,
        header: &Header,
        records: &[u8],
        room: u64,
    ) -> Result<Self, BeginError> {
        let temporary = dir.join(format!("{:016x}.new", header.number));
        let head = [header.encode().as_slice(), records].concat();
        let offset = head.len() as u64;
        let capacity = offset + room;
        let file = write_new(disk, &temporary, &head, capacity).map_err(|error| {
            // Best effort: a start removes such files as well.
            let _ = fs::remove_file(&temporary);
            BeginError::Clean(at(&temporary)(error))
        })?;
        let doubt = |error| BeginError::InDoubt(at(dir)(error));
        fs::rename(&temporary, path(dir, header.number)).map_err(doubt)?;
        disk.sync_dir(dir).map_err(doubt)?;
        Ok(Self { file, offset, capacity })
    }

    /// Goes on in a segment whose records end at `offset` and of which the tail is known to be on disk.
    pub(super) fn resume(dir: &Path, number: u64, offset: u64) -> io::Result<Self> {
        let path = path(dir, number);
        let file = private().open(&path).map_err(at(&path))?;
        let capacity = file.metadata()?.len();
        Ok(Self { file, offset, capacity })
    }

    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.offset + bytes <= self.capacity
    }

    /// Writes one batch. Whatever goes wrong, nobody may assume that nothing was written.
    pub(super) fn write(&mut self, disk: &Arc<dyn Disk>, batch: &[u8]) -> io::Result<()> {
        disk.write_at(&self.file, batch, self.offset)?;
        self.offset += batch.len() as u64;
        Ok(())
    }

    pub(super) fn sync(&self, disk: &Arc<dyn Disk>) -> io::Result<()> {
        disk.sync(&self.file)
    }
}

/// Zeros are written, not only reserved: syncing over written blocks touches no metadata.
fn write_new(disk: &Arc<dyn Disk>, path: &Path, head: &[u8], capacity: u64) -> io::Result<File> {
    static CHUNK: [u8; 65_536] = [0; 65_536];
    let file = private().create(true).truncate(true).open(path)?;
    disk.write_at(&file, head, 0)?;
    let mut at = head.len() as u64;
    while at < capacity {
        let part = (capacity - at).min(CHUNK.len() as u64);
        disk.write_at(&file, CHUNK.get(..part as usize).unwrap_or(&CHUNK), at)?;
        at += part;
    }
    disk.sync(&file)?;
    Ok(file)
}

/// Where segment `number` is.
pub(super) fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:016x}.wal"))
}

/// Removes segments that were never finished. Only for the process that holds the log.
pub(super) fn remove_unfinished(dir: &Path) -> io::Result<()> {
    for found in fs::read_dir(dir).map_err(at(dir))? {
        let found = found?.path();
        if found.extension().is_some_and(|ending| ending == "new") {
            fs::remove_file(&found).map_err(at(&found))?;
        }
    }
    Ok(())
}

/// The numbers of all segments, in order.
pub(super) fn list(dir: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for found in fs::read_dir(dir).map_err(at(dir))? {
        let found = found?.path();
        let name = found.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some((stem, "wal")) = name.split_once('.') {
            numbers.extend(u64::from_str_radix(stem, 16));
        }
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// A segment as read.
pub(super) struct Contents {
    pub(super) header: Header,
    bytes: Vec<u8>,
    start: usize,
}

/// Where the committed batches of a segment end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// Only zeros follow.
    Clean(usize),
    /// Something follows that is not a batch: a write that did not finish, or damage.
    Torn(usize),
}

/// What makes a segment unusable. Offsets count bytes from the start of the file.
#[derive(Debug)]
pub(super) enum Damage {
    Header,
    /// A record before the commit of a later batch does not read.
    Record(usize),
}

impl Contents {
    pub(super) fn read(dir: &Path, number: u64) -> io::Result<Result<Self, Damage>> {
        let path = path(dir, number);
        let bytes = fs::read(&path).map_err(at(&path))?;
        Ok(match Header::decode(&bytes) {
            Some((header, start)) if header.number == number => Ok(Self { header, bytes, start }),
            _ => Err(Damage::Header),
        })
    }

    /// Gives every committed batch to `apply`, in order.
    ///
    /// A bad record followed by the commit of a *later* batch is damage: its batch was synced before the later one was
    /// written. In the last batch it may be a write that did not finish, whose sectors reach a disk in any order; if
    /// that batch was answered after all, the head files know.
    pub(super) fn batches<E: From<Damage>>(
        &self,
        mut apply: impl FnMut(&[Entry<'_>], &Commit) -> Result<(), E>,
    ) -> Result<Tail, E> {
        let mut rest = self.bytes.get(self.start..).unwrap_or_default();
        let (mut entries, mut end, mut root) = (Vec::new(), self.start, self.header.root);
        loop {
            match record::read(rest) {
                Read::Entry(entry, after) => {
                    entries.push(entry);
                    rest = after;
                }
                Read::Commit(commit, after) => {
                    apply(&entries, &commit)?;
                    entries.clear();
                    rest = after;
                    root = commit.root;
                    end = self.bytes.len() - after.len();
                }
                Read::Nothing => break,
            }
        }
        match record::find_commit(rest) {
            Some((own, after)) if own.before == root && record::find_commit(after).is_none() => {}
            Some(_) => return Err(Damage::Record(self.bytes.len() - rest.len()).into()),
            None => {}
        }
        let after = self.bytes.get(end..).unwrap_or_default();
        Ok(if after.iter().all(|byte| *byte == 0) { Tail::Clean(end) } else { Tail::Torn(end) })
    }

    /// The records up to `end`, for a fresh copy of the segment.
    pub(super) fn records(&self, end: usize) -> &[u8] {
        self.bytes.get(self.start..end).unwrap_or_default()
    }
}
