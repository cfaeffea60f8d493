//! The right edge of the tree: what an append touches or a retry asks for, kept in memory; everything left of it is
//! read from tiles (`tree`).
//!
//! A tree of any size needs one unfinished tile per level here, plus the full tiles that are not stored yet. Each tile
//! is held as the small tree over its 256 hashes, so a path through it is looked up, never computed. The trade-off is
//! 16 kB a tile instead of 8.

use std::collections::VecDeque;

use crate::merkle::{Hash, HashReader as _, MemoryTree};
use crate::tile::FULL_WIDTH;

/// Tree levels from one tile level to the next, and the number of tile levels a tree below 2^63 leaves can have.
pub(super) const HEIGHT: u8 = 8;
pub(super) const WIDTH: u64 = FULL_WIDTH as u64;

/// Level and number of a tile.
pub(super) type At = (u8, u64);

/// The tiles an append can still touch, a retry can still ask for, or nobody has stored yet.
#[derive(Clone, Default)]
pub(super) struct Edge {
    size: u64,
    levels: [Row; HEIGHT as usize],
}

/// Neighbouring tiles of one level, of which the last may be unfinished.
#[derive(Clone, Default)]
struct Row {
    /// The number of the first tile held.
    first: u64,
    tiles: VecDeque<MemoryTree>,
}

impl Row {
    fn get(&self, n: u64) -> Option<&MemoryTree> {
        self.tiles.get(usize::try_from(n.checked_sub(self.first)?).ok()?)
    }

    /// Appends a hash; the root of the last tile when that made it full.
    fn push(&mut self, hash: Hash) -> Option<Hash> {
        if self.tiles.back().is_none_or(|last| last.size() == WIDTH) {
            self.tiles.push_back(MemoryTree::new());
        }
        let last = self.tiles.back_mut()?;
        last.push(hash);
        (last.size() == WIDTH).then(|| last.root())
    }
}

impl Edge {
    /// The edge of a tree of `size` leaves from the hashes of the unfinished tile of each level; `None` when the rows
    /// do not have the lengths this size asks for.
    pub(super) fn restore(size: u64, rows: &[Vec<Hash>]) -> Option<Self> {
        let mut edge = Self { size, levels: Default::default() };
        for (level, held) in (0..).zip(&mut edge.levels) {
            let stored = hashes_at(level, size);
            let row = rows.get(usize::from(level)).map_or(&[][..], Vec::as_slice);
            if row.len() as u64 != stored % WIDTH {
                return None;
            }
            held.first = stored / WIDTH;
            for hash in row {
                held.push(*hash);
            }
        }
        Some(edge)
    }

    /// The hashes of the unfinished tile of each level: what [`restore`](Self::restore) takes.
    pub(super) fn rows(&self) -> Vec<Vec<Hash>> {
        let row = |(level, held): (u8, &Row)| {
            let stored = hashes_at(level, self.size);
            let tile = held.get(stored / WIDTH);
            (0..stored % WIDTH).filter_map(|n| tile.and_then(|tile| tile.hash(0, n).ok())).collect()
        };
        (0..).zip(&self.levels).map(row).collect()
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Appends a hashed leaf. A tile that becomes full gives its root to the tile above it.
    pub(super) fn push(&mut self, leaf: Hash) {
        let mut hash = leaf;
        for level in &mut self.levels {
            match level.push(hash) {
                Some(root) => hash = root,
                None => break,
            }
        }
        self.size += 1;
    }

    /// Lets go of the full tiles that lie below `stored` leaves, which must be stored: they can be read back.
    pub(super) fn forget(&mut self, stored: u64) {
        for (level, held) in (0..).zip(&mut self.levels) {
            while held.first < hashes_at(level, stored) / WIDTH && held.tiles.front().is_some_and(|t| t.size() == WIDTH)
            {
                held.tiles.pop_front();
                held.first += 1;
            }
        }
    }

    pub(super) fn tile(&self, (level, n): At) -> Option<&MemoryTree> {
        self.levels.get(usize::from(level))?.get(n)
    }

    /// The bytes of a tile's first `width` hashes, if the tile is held here.
    pub(super) fn tile_bytes(&self, level: u8, n: u64, width: u16) -> Option<Vec<u8>> {
        first_hashes(self.tile((level, n))?, width)
    }
}

/// The bytes of a tile's first `width` hashes; `None` when it has fewer.
pub(super) fn first_hashes(tile: &MemoryTree, width: u16) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::from(width) * 32);
    for at in 0..u64::from(width) {
        bytes.extend_from_slice(tile.hash(0, at).ok()?.as_bytes());
    }
    Some(bytes)
}

fn hashes_at(level: u8, size: u64) -> u64 {
    size.checked_shr(u32::from(level) * u32::from(HEIGHT)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merkle::{leaf_hash, root};
    use crate::sequencer::tiles::MemoryTiles;
    use crate::sequencer::tree::{Cache, Tree};

    fn leaf(n: u64) -> Hash {
        leaf_hash(format!("entry-{n}").as_bytes())
    }

    /// Roots of the entries `entry-<n>`, from an implementation of another language.
    const ROOTS: [(u64, &str); 4] = [
        (3, "a64bf26e09128f6fe2fe6f8b2d8c801e166b57c047a7cd9b2b809e7a96a2f1cb"),
        (257, "918b1cec64f317c76e3cf55c0536841c039eff06772ebb8828ce7c176028b5ac"),
        (65_537, "b63007bf60359bdcbc1d1ef1ed256fe359d2b9d15aba68a3cee30a832f40c79e"),
        (70_000, "a62a54be33294ffd5a5c4c637fd754630b71a892e8356e3a666a5c8a7ffd1518"),
    ];

    #[test]
    fn an_edge_restored_from_its_rows_reaches_the_published_roots() {
        let (tiles, cache, mut edge) = (MemoryTiles::default(), Cache::default(), Edge::default());
        for (size, expected) in ROOTS {
            while edge.size() < size {
                edge.push(leaf(edge.size()));
            }
            let tree = Tree { edge: &edge, tiles: &tiles, cache: &cache };
            assert_eq!(root(&tree, size).unwrap().to_string(), expected);
            let bare = Edge::restore(size, &edge.rows()).unwrap();
            let tree = Tree { edge: &bare, tiles: &tiles, cache: &cache };
            assert_eq!(root(&tree, size).unwrap().to_string(), expected, "the rows alone give the root");
        }
        assert!(Edge::restore(70_001, &edge.rows()).is_none());
    }
}
