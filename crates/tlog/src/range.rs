//! A compact range: the roots of the complete subtrees that a tree's first leaves fall into. It is all that is needed to
//! append and to give the root, so a monitor can take up a tree where it left it.

use crate::merkle::{Hash, HashReader, MAX_SIZE, ProveError, empty_root, node_hash};

/// The first `size` leaves of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Range {
    size: u64,
    /// One root for each bit that is set in `size`, the largest subtree first.
    parts: Vec<Hash>,
}

impl Range {
    /// Reads the subtrees of the first `size` leaves. What a reader gives is proved by comparing [`Self::root`] with
    /// a root that is trusted.
    ///
    /// # Errors
    /// [`ProveError::OutOfRange`] beyond [`MAX_SIZE`], or the reader's error.
    pub fn read<R: HashReader>(reader: &R, size: u64) -> Result<Self, ProveError<R::Error>> {
        if size > MAX_SIZE {
            return Err(ProveError::OutOfRange);
        }
        let (mut parts, mut at) = (Vec::new(), 0);
        while at < size {
            let level = (size - at).ilog2() as u8;
            parts.push(reader.hash(level, at >> level).map_err(ProveError::Read)?);
            at += 1 << level;
        }
        Ok(Self { size, parts })
    }

    /// How many leaves it covers.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Adds a leaf's hash. Every subtree it completes becomes one with its left neighbour.
    pub fn push(&mut self, leaf: Hash) {
        let mut hash = leaf;
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.parts.pop() {
                hash = node_hash(&left, &hash);
            }
        }
        self.parts.push(hash);
        self.size += 1;
    }

    /// The root over its leaves.
    pub fn root(&self) -> Hash {
        let folded = self.parts.iter().copied().rev().reduce(|right, left| node_hash(&left, &right));
        folded.unwrap_or_else(empty_root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merkle::{MemoryTree, leaf_hash, root};

    fn leaf(n: u64) -> Hash {
        leaf_hash(format!("entry-{n}").as_bytes())
    }

    /// Roots of the entries `entry-<n>`, from an implementation of another language.
    const ROOTS: [(u64, &str); 5] = [
        (3, "a64bf26e09128f6fe2fe6f8b2d8c801e166b57c047a7cd9b2b809e7a96a2f1cb"),
        (7, "9139601cc1ca8ab2a7a0c2c134c04845f2b1ba549a83d6c845cfcda439cc585d"),
        (256, "f85f4ead34080710b4d1e808301543aaab81aa04deb88599350dc26a4f2f58de"),
        (257, "918b1cec64f317c76e3cf55c0536841c039eff06772ebb8828ce7c176028b5ac"),
        (1000, "d03d63b772af99019817ee3e018286d36a26161bdb5bfe8228e92c02abe9115d"),
    ];

    #[test]
    fn pushing_reaches_the_published_roots() {
        let mut range = Range::default();
        assert_eq!(range.root(), empty_root());
        for (size, expected) in ROOTS {
            while range.size() < size {
                range.push(leaf(range.size()));
            }
            assert_eq!(range.root().to_string(), expected);
        }
    }

    #[test]
    fn a_range_taken_up_at_any_size_goes_on_to_the_same_root() {
        let mut tree = MemoryTree::new();
        for n in 0..40 {
            tree.push(leaf(n));
        }
        for size in 0..=40 {
            let mut range = Range::read(&tree, size).unwrap();
            assert_eq!(range.root(), root(&tree, size).unwrap(), "{size}");
            (size..40).for_each(|n| range.push(leaf(n)));
            assert_eq!(range.root(), tree.root(), "from {size}");
        }
        assert!(Range::read(&tree, 41).is_err());
        assert_eq!(Range::read(&tree, MAX_SIZE + 1), Err(ProveError::OutOfRange));
    }
}
