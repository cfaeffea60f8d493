//! The tree of RFC 6962 section 2.1: hashing, proof generation, and the iterative verifiers of RFC 9162.
//!
//! Nothing here recurses and nothing here allocates by a number read from outside: a proof holds at most
//! [`MAX_PROOF`] hashes because a tree holds fewer than 2^63 leaves. Proofs are generated over a [`HashReader`], so
//! the same code runs over memory ([`MemoryTree`]) and over tiles ([`crate::tile::TileHashes`]).
//!
//! The size 0 has no consistency proof at all; protocols that give it a meaning (the witness protocol) do so themselves.

use std::fmt;

use sha2::{Digest, Sha256};

mod paths;

pub use paths::Paths;

/// The largest number of leaves a tree may have: 2^63 - 1, so that sizes fit every implementation's signed integer.
pub const MAX_SIZE: u64 = (1 << 63) - 1;

/// The most hashes one inclusion or consistency proof may hold.
pub const MAX_PROOF: usize = 63;

/// A SHA-256 tree hash. Prints as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash with these 32 bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Hash({self})")
    }
}

/// The root of the tree without leaves: SHA-256 of nothing (RFC 6962 section 2.1).
pub fn empty_root() -> Hash {
    Hash(Sha256::digest([]).into())
}

/// The hash of one entry: SHA-256(00 || entry). The prefix keeps a leaf from ever being read as an inner node.
pub fn leaf_hash(entry: &[u8]) -> Hash {
    Hash(Sha256::new().chain_update([0]).chain_update(entry).finalize().into())
}

/// The hash of an inner node: SHA-256(01 || left || right).
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Hash(Sha256::new().chain_update([1]).chain_update(left.0).chain_update(right.0).finalize().into())
}

/// Why a proof does not show what it claims. Each has a stable [`code`](Self::code).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The leaf index is not below the tree size.
    #[error("the leaf index is not inside the tree")]
    IndexOutside,
    /// The older tree is empty or larger than the newer one.
    #[error("the two tree sizes have no consistency proof")]
    SizesOutside,
    /// The proof has too few or too many hashes for these sizes.
    #[error("the proof has the wrong number of hashes")]
    WrongLength,
    /// The hashes do not lead to the claimed root.
    #[error("the proof does not lead to the claimed root")]
    WrongRoot,
}

impl VerifyError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::IndexOutside => "index_outside",
            Self::SizesOutside => "sizes_outside",
            Self::WrongLength => "wrong_length",
            Self::WrongRoot => "wrong_root",
        }
    }
}

/// Shows that `leaf` is the entry number `index` of the tree with `size` leaves and this `root`.
///
/// `proof` runs from the leaf's sibling up to the root's child. RFC 9162 section 2.1.3.2.
pub fn verify_inclusion(leaf: &Hash, index: u64, size: u64, proof: &[Hash], root: &Hash) -> Result<(), VerifyError> {
    if index >= size {
        return Err(VerifyError::IndexOutside);
    }
    if proof.len() > MAX_PROOF {
        return Err(VerifyError::WrongLength);
    }
    let mut path = Path { node: index, last: size - 1 };
    let mut computed = *leaf;
    for sibling in proof {
        computed = match path.climb().ok_or(VerifyError::WrongLength)? {
            Side::Left => node_hash(sibling, &computed),
            Side::Right => node_hash(&computed, sibling),
        };
    }
    path.finish()?;
    same(&computed, root)
}

/// Shows that the tree of `old` leaves is a prefix of the tree of `new` leaves. RFC 9162 section 2.1.4.2.
///
/// Equal sizes need an empty proof and equal roots; `old` may not be 0.
pub fn verify_consistency(
    old: u64,
    new: u64,
    proof: &[Hash],
    old_root: &Hash,
    new_root: &Hash,
) -> Result<(), VerifyError> {
    if old == 0 || old > new {
        return Err(VerifyError::SizesOutside);
    }
    if proof.len() > MAX_PROOF || (old == new) != proof.is_empty() {
        return Err(VerifyError::WrongLength);
    }
    let mut path = Path { node: old - 1, last: new - 1 };
    path.skip_complete();
    let (first, rest) = starting_node(old, proof, old_root);
    let (mut old_computed, mut new_computed) = (first, first);
    for sibling in rest {
        match path.climb().ok_or(VerifyError::WrongLength)? {
            Side::Left => {
                old_computed = node_hash(sibling, &old_computed);
                new_computed = node_hash(sibling, &new_computed);
            }
            Side::Right => new_computed = node_hash(&new_computed, sibling),
        }
    }
    if old != new {
        path.finish()?;
    }
    same(&old_computed, old_root)?;
    same(&new_computed, new_root)
}

/// An old tree whose size is a power of two is itself a node of the new tree, so its root opens the path unwritten.
fn starting_node<'p>(old: u64, proof: &'p [Hash], old_root: &Hash) -> (Hash, &'p [Hash]) {
    match proof.split_first() {
        Some((first, rest)) if !old.is_power_of_two() => (*first, rest),
        _ => (*old_root, proof),
    }
}

fn same(computed: &Hash, claimed: &Hash) -> Result<(), VerifyError> {
    if computed == claimed { Ok(()) } else { Err(VerifyError::WrongRoot) }
}

/// On which side of the current node the next proof hash stands.
enum Side {
    Left,
    Right,
}

/// The walk both verifiers share: `node` and the right-most node `last`, numbered within the current level.
struct Path {
    node: u64,
    last: u64,
}

impl Path {
    /// One level up, or more while the node is an only child on the right edge. `None` at the root already.
    fn climb(&mut self) -> Option<Side> {
        if self.last == 0 {
            return None;
        }
        let side = if self.node & 1 == 1 || self.node == self.last {
            while self.node & 1 == 0 && self.node != 0 {
                self.up();
            }
            Side::Left
        } else {
            Side::Right
        };
        self.up();
        Some(side)
    }

    /// Climbs over the levels at which the node is a right child: the old tree ends there on a complete subtree.
    fn skip_complete(&mut self) {
        while self.node & 1 == 1 {
            self.up();
        }
    }

    fn up(&mut self) {
        self.node >>= 1;
        self.last >>= 1;
    }

    fn finish(&self) -> Result<(), VerifyError> {
        if self.last == 0 { Ok(()) } else { Err(VerifyError::WrongLength) }
    }
}

/// Gives hashes of complete subtrees.
pub trait HashReader {
    /// What can go wrong while reading.
    type Error;

    /// The hash over the leaves `[n << level, (n + 1) << level)`, all of which must exist; `level` is at most 62.
    fn hash(&self, level: u8, n: u64) -> Result<Hash, Self::Error>;
}

/// Why no proof could be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProveError<E> {
    /// The index or the sizes ask for a proof that does not exist, or a size exceeds [`MAX_SIZE`].
    #[error("no such proof exists in this tree")]
    OutOfRange,
    /// A subtree hash could not be read.
    #[error("a subtree hash could not be read")]
    Read(#[source] E),
}

/// The root of the first `size` leaves.
pub fn root<R: HashReader>(reader: &R, size: u64) -> Result<Hash, ProveError<R::Error>> {
    match size {
        0 => Ok(empty_root()),
        1..=MAX_SIZE => range_root(reader, 0, size),
        _ => Err(ProveError::OutOfRange),
    }
}

/// The proof that leaf `index` is in the tree of `size` leaves, the leaf's sibling first (RFC 6962 section 2.1.1).
pub fn inclusion_proof<R: HashReader>(reader: &R, index: u64, size: u64) -> Result<Vec<Hash>, ProveError<R::Error>> {
    if index >= size || size > MAX_SIZE {
        return Err(ProveError::OutOfRange);
    }
    let (mut low, mut high) = (0, size);
    let mut proof = Vec::new();
    while high - low > 1 {
        let middle = low + split(high - low);
        if index < middle {
            proof.push(range_root(reader, middle, high)?);
            high = middle;
        } else {
            proof.push(range_root(reader, low, middle)?);
            low = middle;
        }
    }
    proof.reverse();
    Ok(proof)
}

/// The proof that the tree of `old` leaves is a prefix of the tree of `new` leaves (RFC 6962 section 2.1.2).
pub fn consistency_proof<R: HashReader>(reader: &R, old: u64, new: u64) -> Result<Vec<Hash>, ProveError<R::Error>> {
    if old == 0 || old > new || new > MAX_SIZE {
        return Err(ProveError::OutOfRange);
    }
    let (mut low, mut high) = (0, new);
    let mut proof = Vec::new();
    while old < high {
        let middle = low + split(high - low);
        if old <= middle {
            proof.push(range_root(reader, middle, high)?);
            high = middle;
        } else {
            proof.push(range_root(reader, low, middle)?);
            low = middle;
        }
    }
    // With `low` still 0 the remaining node is the old tree itself, whose root the verifier already has.
    if low > 0 {
        proof.push(range_root(reader, low, high)?);
    }
    proof.reverse();
    Ok(proof)
}

/// The root over `[low, high)`, where `low` is a multiple of a power of two not below `high - low`.
fn range_root<R: HashReader>(reader: &R, low: u64, high: u64) -> Result<Hash, ProveError<R::Error>> {
    let mut parts = Vec::new();
    let mut at = low;
    while at < high {
        let level = (high - at).ilog2() as u8;
        parts.push(reader.hash(level, at >> level).map_err(ProveError::Read)?);
        at += 1 << level;
    }
    // Complete subtrees shrink from left to right, so the root folds them from the right.
    let folded = parts.into_iter().rev().reduce(|right, left| node_hash(&left, &right));
    folded.ok_or(ProveError::OutOfRange)
}

/// The largest power of two strictly below `leaves`, which is at least 2.
const fn split(leaves: u64) -> u64 {
    1 << (leaves - 1).ilog2()
}

/// Where the hash of subtree `n` at `level` stands when hashes are stored in the order they become known.
///
/// Leaf by leaf: its own hash, then every subtree it completes. `None` when the position does not fit in 64 bits.
pub fn stored_index(level: u8, n: u64) -> Option<u64> {
    let last_leaf = n.checked_add(1)?.checked_mul(1u64.checked_shl(u32::from(level))?)? - 1;
    let before = last_leaf.checked_mul(2)? - u64::from(last_leaf.count_ones());
    before.checked_add(u64::from(level))
}

/// A tree held in memory: every complete subtree's hash, in the order of [`stored_index`], less than two a leaf.
#[derive(Clone, Debug, Default)]
pub struct MemoryTree {
    size: u64,
    hashes: Vec<Hash>,
}

impl MemoryTree {
    /// A tree without leaves.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf that is already hashed and gives its index.
    pub fn push(&mut self, leaf: Hash) -> u64 {
        let index = self.size;
        self.size += 1;
        self.hashes.push(leaf);
        let mut newest = leaf;
        for level in 0..index.trailing_ones() as u8 {
            // The completed subtree's left half is the even node below it: index >> level is odd here.
            let Some(left) = self.get(level, (index >> level) - 1) else { break };
            newest = node_hash(&left, &newest);
            self.hashes.push(newest);
        }
        index
    }

    /// The root over all leaves.
    pub fn root(&self) -> Hash {
        root(self, self.size).unwrap_or_else(|_| empty_root())
    }

    fn get(&self, level: u8, n: u64) -> Option<Hash> {
        let at = usize::try_from(stored_index(level, n)?).ok()?;
        self.hashes.get(at).copied()
    }
}

/// The tree has no such complete subtree yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tree has no complete subtree {n} at level {level}")]
pub struct NoSuchSubtree {
    /// Height of the subtree asked for.
    pub level: u8,
    /// Its number within that level.
    pub n: u64,
}

impl HashReader for MemoryTree {
    type Error = NoSuchSubtree;

    fn hash(&self, level: u8, n: u64) -> Result<Hash, NoSuchSubtree> {
        self.get(level, n).ok_or(NoSuchSubtree { level, n })
    }
}

#[cfg(test)]
pub(crate) mod tests;
