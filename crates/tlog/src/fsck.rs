//! Reads a whole log again from its bundles, and holds every tile and the signed root against what they give.
//!
//! A proof touches a few tiles; this touches all of them, entry by entry, so it finds a tile that was changed in a place
//! no proof has looked at yet. It keeps one unfinished tile a level in memory and reads every file once.

use crate::checkpoint::Checkpoint;
use crate::merkle::{Hash, HashReader as _, MemoryTree, empty_root, leaf_hash, node_hash};
use crate::tile::bundle::{self, BundleError};
use crate::tile::{Content, FULL_WIDTH, TilePath};

const LEVELS: u8 = 8;
const WIDTH: u64 = FULL_WIDTH as u64;

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Entries.
    pub entries: u64,
    /// Entry bundles, the last one partial or full.
    pub bundles: u64,
    /// Hash tiles of all levels.
    pub tiles: u64,
}

/// What is wrong with a stored log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FsckError<E> {
    /// A file the checkpoint implies is not there, neither partial nor full.
    #[error("{0} is missing")]
    Missing(TilePath),
    /// A bundle does not read.
    #[error("{0}: {1}")]
    Bundle(TilePath, BundleError),
    /// A tile is not what the entries give.
    #[error("{0} is not what the entries give")]
    Tile(TilePath),
    /// All files agree with each other and not with the checkpoint.
    #[error("the entries give the root {found}, and the checkpoint says another")]
    Root {
        /// What the entries give.
        found: Hash,
    },
    /// A file could not be read, which says nothing of it.
    #[error("{0} could not be read: {1}")]
    Source(TilePath, E),
}

impl<E> FsckError<E> {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Missing(_) => "fsck_missing",
            Self::Bundle(..) => "fsck_bundle",
            Self::Tile(_) => "fsck_tile",
            Self::Root { .. } => "fsck_root",
            Self::Source(..) => "fsck_source",
        }
    }
}

/// Derives the root of `checkpoint` from the files `source` gives (`None` for one that is not there), comparing every
/// tile on the way. `each` is shown every entry with its index.
///
/// The checkpoint's signatures are not looked at: a caller verifies them first.
pub fn fsck<E>(
    checkpoint: &Checkpoint,
    source: impl Fn(&TilePath) -> Result<Option<Vec<u8>>, E>,
    mut each: impl FnMut(u64, &[u8]),
) -> Result<Report, FsckError<E>> {
    let mut check = Check { size: checkpoint.size, source, levels: Vec::new(), report: Report::default() };
    for number in 0..checkpoint.size.div_ceil(WIDTH) {
        let (path, bytes) = check.read(Content::Entries, number)?;
        let entries = bundle::decode(&bytes, path.width()).map_err(|error| FsckError::Bundle(path, error))?;
        check.report.bundles += 1;
        for entry in entries {
            each(check.report.entries, entry);
            check.report.entries += 1;
            check.push(leaf_hash(entry))?;
        }
    }
    let found = check.finish()?;
    if found == checkpoint.root { Ok(check.report) } else { Err(FsckError::Root { found }) }
}

/// One level: how many of its tiles are behind us, and the one being filled.
#[derive(Default)]
struct Level {
    full: u64,
    tile: MemoryTree,
    hashes: Vec<u8>,
}

struct Check<F> {
    size: u64,
    source: F,
    levels: Vec<Level>,
    report: Report,
}

impl<E, F: Fn(&TilePath) -> Result<Option<Vec<u8>>, E>> Check<F> {
    /// The partial file if there is one, or the beginning of the full one.
    fn read(&self, content: Content, number: u64) -> Result<(TilePath, Vec<u8>), FsckError<E>> {
        // Both callers count tiles that the size implies, so the path exists; a full one stands in for type's sake.
        let path = TilePath::at(content, number, self.size).unwrap_or_else(|| TilePath::full_at(content, number));
        let read = |path: TilePath| (self.source)(&path).map_err(|error| FsckError::Source(path, error));
        if let Some(bytes) = read(path)? {
            return Ok((path, bytes));
        }
        let full = read(path.full())?.ok_or(FsckError::Missing(path))?;
        let prefix = match content {
            Content::Entries => bundle::prefix(&full, path.width()),
            Content::Hashes(_) => full.get(..usize::from(path.width()) * 32),
        };
        Ok((path, prefix.unwrap_or(&full).to_vec()))
    }

    /// Takes a leaf up as far as it completes tiles.
    fn push(&mut self, leaf: Hash) -> Result<(), FsckError<E>> {
        let mut hash = leaf;
        for level in 0..LEVELS {
            if self.levels.len() == usize::from(level) {
                self.levels.push(Level::default());
            }
            let Some(row) = self.levels.get_mut(usize::from(level)) else { break };
            row.tile.push(hash);
            row.hashes.extend_from_slice(hash.as_bytes());
            if row.tile.size() < WIDTH {
                break;
            }
            let done = std::mem::take(row);
            row.full = done.full + 1;
            self.compare(level, done.full, &done.hashes)?;
            hash = done.tile.root();
        }
        Ok(())
    }

    fn compare(&mut self, level: u8, number: u64, hashes: &[u8]) -> Result<(), FsckError<E>> {
        let (path, stored) = self.read(Content::Hashes(level), number)?;
        self.report.tiles += 1;
        if stored == hashes { Ok(()) } else { Err(FsckError::Tile(path)) }
    }

    /// Compares the unfinished tiles and folds them into the root, from the lowest level up.
    fn finish(&mut self) -> Result<Hash, FsckError<E>> {
        let levels = std::mem::take(&mut self.levels);
        let mut root = None;
        for (level, row) in (0..LEVELS).zip(&levels).filter(|(_, row)| row.tile.size() > 0) {
            self.compare(level, row.full, &row.hashes)?;
            root = fold(&row.tile, root);
        }
        Ok(root.unwrap_or_else(empty_root))
    }
}

/// The root over a tile's hashes and, to their right, the smaller tree `below` that is not one of them yet.
fn fold(tile: &MemoryTree, below: Option<Hash>) -> Option<Hash> {
    let (mut parts, mut at) = (Vec::new(), 0);
    while at < tile.size() {
        let level = (tile.size() - at).ilog2() as u8;
        parts.extend(tile.hash(level, at >> level).ok());
        at += 1 << level;
    }
    parts.into_iter().chain(below).rev().reduce(|right, left| node_hash(&left, &right))
}

#[cfg(test)]
mod tests;
