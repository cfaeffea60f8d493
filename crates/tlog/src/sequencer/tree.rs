//! The whole tree: the right edge where it reaches, stored tiles left of it.
//!
//! What comes from the storage is not believed. The root of a full tile is one hash of the tile above it, the root of
//! that one a hash of the next, and the last ends in the edge, which gave the signed root when the log started. So a
//! changed bit, whoever changed it, is told as [`ReadError::Damaged`] before it reaches a proof or a reader. The
//! trade-off: the tiles above are read first, one a level at most, and kept with those that were read lately.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::ReadError;
use super::edge::{At, Edge, HEIGHT, WIDTH, first_hashes};
use super::tiles::Tiles;
use crate::merkle::{Hash, HashReader, MemoryTree, leaf_hash};
use crate::tile::{Content, FULL_WIDTH, TilePath, bundle};

const CACHED_TILES: usize = 64;

/// Stored tiles that were held against the tree, the one not used for longest first.
#[derive(Default)]
pub(super) struct Cache(Mutex<VecDeque<(At, Arc<MemoryTree>)>>);

impl Cache {
    fn get(&self, at: At) -> Option<Arc<MemoryTree>> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = held.iter().position(|(key, _)| *key == at)?;
        let (_, tile) = held.remove(found)?;
        held.push_back((at, Arc::clone(&tile)));
        Some(tile)
    }

    fn put(&self, at: At, tile: &Arc<MemoryTree>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= CACHED_TILES {
            held.pop_front();
        }
        held.push_back((at, Arc::clone(tile)));
    }
}

/// The edge and the storage together, as one reader of hashes.
pub(super) struct Tree<'t> {
    pub(super) edge: &'t Edge,
    pub(super) tiles: &'t dyn Tiles,
    pub(super) cache: &'t Cache,
}

impl Tree<'_> {
    /// The bytes of a full tile's first `width` hashes, for a tile that is stored.
    pub(super) fn stored_bytes(&self, at: At, width: u16) -> Result<Vec<u8>, ReadError> {
        first_hashes(&*self.stored(at)?, width).ok_or(ReadError::Outside)
    }

    /// The root over a full tile, out of the tile above it. No tree has a full tile at the highest level.
    pub(super) fn root_over(&self, (level, n): At) -> Result<Hash, ReadError> {
        let above = level.checked_add(1).filter(|above| *above < HEIGHT).ok_or(ReadError::Outside)?;
        self.hash(above * HEIGHT, n)
    }

    fn stored(&self, at: At) -> Result<Arc<MemoryTree>, ReadError> {
        if let Some(tile) = self.cache.get(at) {
            return Ok(tile);
        }
        // What is above comes first: whoever fetches what is missing and begins again hashes no tile twice.
        let root = self.root_over(at)?;
        let path = TilePath::full_at(Content::Hashes(at.0), at.1);
        let bytes = self.tiles.get(&path)?.ok_or(ReadError::Missing(path))?;
        let tile = full_tile(&bytes).filter(|tile| tile.root() == root).ok_or(ReadError::Damaged(path))?;
        let tile = Arc::new(tile);
        self.cache.put(at, &tile);
        Ok(tile)
    }
}

impl HashReader for Tree<'_> {
    type Error = ReadError;

    fn hash(&self, level: u8, n: u64) -> Result<Hash, ReadError> {
        let (tile_level, rise) = (level / HEIGHT, level % HEIGHT);
        let first = n.checked_mul(1 << rise).ok_or(ReadError::Outside)?;
        let (at, inside) = ((tile_level, first / WIDTH), (first % WIDTH) >> rise);
        match self.edge.tile(at) {
            Some(tile) => tile.hash(rise, inside).map_err(|_| ReadError::Outside),
            None => self.stored(at)?.hash(rise, inside).map_err(|_| ReadError::Outside),
        }
    }
}

/// The small tree over the hashes of a full tile; `None` when the bytes are shorter or longer.
fn full_tile(bytes: &[u8]) -> Option<MemoryTree> {
    let (hashes, rest) = bytes.as_chunks::<32>();
    let full = hashes.len() as u64 == WIDTH && rest.is_empty();
    full.then(|| tree_of(hashes.iter().map(|bytes| Hash::from_bytes(*bytes))))
}

/// The root that the entries of a full bundle give: that of the tile at level 0 beside it. `None` when it does not read.
pub(super) fn bundle_root(bytes: &[u8]) -> Option<Hash> {
    let entries = bundle::decode(bytes, FULL_WIDTH).ok()?;
    Some(tree_of(entries.into_iter().map(leaf_hash)).root())
}

fn tree_of(hashes: impl Iterator<Item = Hash>) -> MemoryTree {
    let mut tree = MemoryTree::new();
    for hash in hashes {
        tree.push(hash);
    }
    tree
}

#[cfg(test)]
mod tests;
