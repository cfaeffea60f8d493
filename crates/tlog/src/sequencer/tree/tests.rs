use super::*;
use crate::merkle::{ProveError, inclusion_proof};
use crate::sequencer::tiles::{MemoryTiles, TilesError};
use crate::tile::tile_bytes;

/// Leaves of a tree with one full tile at level 1, and 300 more.
const SIZE: u64 = 65_836;

fn leaf(n: u64) -> Hash {
    leaf_hash(format!("entry-{n}").as_bytes())
}

fn full(level: u8, n: u64) -> TilePath {
    TilePath::full_at(Content::Hashes(level), n)
}

/// A storage that notes what is read, and changes one bit of one file.
#[derive(Default)]
struct Spoilt {
    inner: MemoryTiles,
    spoilt: Option<(TilePath, usize)>,
    read: Mutex<Vec<String>>,
}

impl Spoilt {
    /// What was read since this was asked last.
    fn read(&self) -> Vec<String> {
        std::mem::take(&mut self.read.lock().unwrap())
    }
}

impl Tiles for Spoilt {
    fn put(&self, path: &TilePath, bytes: &[u8]) -> Result<(), TilesError> {
        self.inner.put(path, bytes)
    }

    fn get(&self, path: &TilePath) -> Result<Option<Vec<u8>>, TilesError> {
        self.read.lock().unwrap().push(path.to_string());
        let mut found = self.inner.get(path)?;
        if let (Some(bytes), Some((spoilt, bit))) = (&mut found, self.spoilt)
            && spoilt == *path
        {
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        Ok(found)
    }

    fn publish(&self, _: &[u8]) -> Result<(), TilesError> {
        Ok(())
    }

    fn published(&self) -> Result<Option<Vec<u8>>, TilesError> {
        Ok(None)
    }
}

/// The edge of a tree of [`SIZE`] leaves as a start has it, its full tiles in a storage, and the tree in memory.
fn stored() -> (Edge, Spoilt, MemoryTree) {
    let (mut edge, tiles) = (Edge::default(), Spoilt::default());
    (0..SIZE).for_each(|n| edge.push(leaf(n)));
    let whole = tree_of((0..SIZE).map(leaf));
    for path in (0..257).map(|n| full(0, n)).chain([full(1, 0)]) {
        tiles.put(&path, &tile_bytes(&whole, &path).unwrap()).unwrap();
    }
    (Edge::restore(SIZE, &edge.rows()).unwrap(), tiles, whole)
}

#[test]
fn what_was_forgotten_is_read_back_from_tiles() {
    let (tiles, cache, mut edge) = (MemoryTiles::default(), Cache::default(), Edge::default());
    (0..1000).for_each(|n| edge.push(leaf(n)));
    let whole = edge.clone();
    edge.forget(768);
    let tree = Tree { edge: &edge, tiles: &tiles, cache: &cache };
    assert!(matches!(tree.hash(0, 5), Err(ReadError::Missing(_))));
    for n in 0..3 {
        tiles.put(&full(0, n), &whole.tile_bytes(0, n, 256).unwrap()).unwrap();
    }
    let reference = Tree { edge: &whole, tiles: &tiles, cache: &cache };
    for index in [0, 255, 256, 700, 767, 768, 999] {
        assert_eq!(inclusion_proof(&tree, index, 1000).unwrap(), inclusion_proof(&reference, index, 1000).unwrap());
    }
}

#[test]
fn a_tile_is_read_once_and_the_one_above_it_once_for_all_below() {
    let (edge, tiles, whole) = stored();
    let tree = Tree { edge: &edge, tiles: &tiles, cache: &Cache::default() };
    assert_eq!(tree.hash(0, 70).unwrap(), whole.hash(0, 70).unwrap());
    assert_eq!(tiles.read(), ["tile/1/000", "tile/0/000"]);
    for n in 1..256 {
        assert_eq!(tree.hash(0, n * 256).unwrap(), whole.hash(0, n * 256).unwrap());
        assert_eq!(tiles.read(), [full(0, n).to_string()], "the tile above stays, however many below it are read");
    }
    assert_eq!(inclusion_proof(&tree, 65_535, SIZE).unwrap(), inclusion_proof(&whole, 65_535, SIZE).unwrap());
    assert_eq!(tree.hash(0, 65_536).unwrap(), whole.hash(0, 65_536).unwrap());
    assert_eq!(tiles.read(), ["tile/0/256"], "above it is the edge");
}

#[test]
fn one_changed_bit_of_a_tile_is_damage_and_is_not_kept() {
    let (edge, mut tiles, whole) = stored();
    // Bits of the first, a middle and the last hash.
    for (path, index) in [(full(0, 3), 800), (full(1, 0), 800), (full(0, 256), 65_540)] {
        for bit in [0, 256 * 100 + 17, 256 * 256 - 1] {
            tiles.spoilt = Some((path, bit));
            let cold = Cache::default();
            let tree = Tree { edge: &edge, tiles: &tiles, cache: &cold };
            for _ in 0..2 {
                assert_eq!(tree.hash(0, index), Err(ReadError::Damaged(path)), "bit {bit} of {path}");
            }
            let refused = inclusion_proof(&tree, index, SIZE);
            assert_eq!(refused, Err(ProveError::Read(ReadError::Damaged(path))));
            tiles.spoilt = None;
            let tree = Tree { edge: &edge, tiles: &tiles, cache: &cold };
            assert_eq!(tree.hash(0, index), Ok(whole.hash(0, index).unwrap()), "the control: {path} as it was");
        }
    }
}

#[test]
fn a_tile_in_the_place_of_another_is_damage() {
    let (edge, mut tiles, whole) = stored();
    tiles.inner = MemoryTiles::default();
    let other = tile_bytes(&whole, &full(0, 1)).unwrap();
    tiles.put(&full(1, 0), &tile_bytes(&whole, &full(1, 0)).unwrap()).unwrap();
    for (n, bytes) in [(0, &other[..]), (1, &other[..]), (2, &other[..8160]), (3, &[]), (4, &other.repeat(2)[..])] {
        tiles.put(&full(0, n), bytes).unwrap();
    }
    let tree = Tree { edge: &edge, tiles: &tiles, cache: &Cache::default() };
    for n in [0, 2, 3, 4] {
        assert_eq!(tree.hash(0, n * 256), Err(ReadError::Damaged(full(0, n))));
    }
    assert_eq!(tree.hash(0, 256), Ok(whole.hash(0, 256).unwrap()), "the control: in its own place");
}

#[test]
fn what_the_tree_does_not_reach_is_outside_it() {
    let (edge, tiles, _) = stored();
    let tree = Tree { edge: &edge, tiles: &tiles, cache: &Cache::default() };
    for (level, n) in [(0, SIZE), (0, u64::MAX), (8, 257), (16, 1), (56, 0), (62, 0), (64, 0), (255, 0)] {
        assert_eq!(tree.hash(level, n), Err(ReadError::Outside), "{n} at level {level}");
    }
    assert_eq!(tree.hash(16, 0).map(drop), Ok(()), "the control");
    assert_eq!(tiles.read(), [""; 0], "and no storage was asked");
}
