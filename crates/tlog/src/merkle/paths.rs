//! Inclusion proofs for a whole batch: the tree's right edge is hashed once, not once a leaf.

use std::cmp::Ordering;

use super::{Hash, HashReader, MAX_SIZE, ProveError, node_hash};

/// Inclusion proofs of many leaves in one tree: what lies on its right edge is hashed once, and a proof is looked up.
///
/// [`inclusion_proof`](super::inclusion_proof) gives the same for one leaf.
pub struct Paths<'r, R> {
    reader: &'r R,
    size: u64,
    /// The right-most node of each level, complete or not, from the last leaf up to the root.
    edge: Vec<Hash>,
}

impl<'r, R: HashReader> Paths<'r, R> {
    /// Reads the right edge of the tree of 1 to [`MAX_SIZE`] leaves.
    pub fn new(reader: &'r R, size: u64) -> Result<Self, ProveError<R::Error>> {
        let mut last = size.checked_sub(1).filter(|_| size <= MAX_SIZE).ok_or(ProveError::OutOfRange)?;
        let mut hash = reader.hash(0, last).map_err(ProveError::Read)?;
        let mut edge = vec![hash];
        for level in 0.. {
            if last == 0 {
                break;
            }
            if last & 1 == 1 {
                // The right-most node is a right child, so its left sibling is complete.
                hash = node_hash(&reader.hash(level, last - 1).map_err(ProveError::Read)?, &hash);
            }
            edge.push(hash);
            last >>= 1;
        }
        Ok(Self { reader, size, edge })
    }

    /// The proof that leaf `index` is in the tree, the leaf's sibling first.
    pub fn path(&self, index: u64) -> Result<Vec<Hash>, ProveError<R::Error>> {
        if index >= self.size {
            return Err(ProveError::OutOfRange);
        }
        let mut path = Vec::with_capacity(self.edge.len());
        for (level, right_most) in (0u8..).zip(&self.edge) {
            let (sibling, last) = ((index >> level) ^ 1, (self.size - 1) >> level);
            match sibling.cmp(&last) {
                Ordering::Less => path.push(self.reader.hash(level, sibling).map_err(ProveError::Read)?),
                Ordering::Equal => path.push(*right_most),
                // An only child on the right edge, or the root: no sibling.
                Ordering::Greater => {}
            }
        }
        Ok(path)
    }
}
