//! The rules of entries: each is one of our leaves in its one spelling, and no commitment comes twice.

use std::collections::{BTreeMap, HashSet};

use countersign_core::leaf::{Leaf, Meaning};

/// The rule an entry breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLeaf {
    /// Other members, another type, or another spelling than a leaf has.
    #[error("it is not a leaf of this log's form")]
    Form,
    /// Another entry has the same commitment.
    #[error("its commitment stands in an earlier entry as well")]
    Twice,
}

impl BadLeaf {
    /// A stable word for the caller.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Form => "leaf_form",
            Self::Twice => "leaf_twice",
        }
    }
}

/// The entries seen so far.
#[derive(Debug, Default)]
pub(super) struct Leaves {
    seen: HashSet<[u8; 32]>,
    /// Commitments of those that are not remembered yet, in order.
    pub(super) new: Vec<[u8; 32]>,
    /// The index of the first of them.
    pub(super) first: u64,
    /// How many new ones there are of each type.
    pub(super) kinds: BTreeMap<String, u64>,
    /// How many of those are of kinds we do not know, which is no fault.
    pub(super) unknown: u64,
}

impl Leaves {
    /// Behind the first entries, whose commitments these are.
    pub(super) fn after(first: u64, seen: HashSet<[u8; 32]>) -> Self {
        Self { seen, first, ..Self::default() }
    }

    pub(super) fn add(&mut self, entry: &[u8]) -> Result<(), BadLeaf> {
        let leaf = Leaf::parse(entry).ok_or(BadLeaf::Form)?;
        let commitment = *leaf.commitment.as_bytes();
        if !self.seen.insert(commitment) {
            return Err(BadLeaf::Twice);
        }
        self.new.push(commitment);
        *self.kinds.entry(leaf.leaf_type.to_string()).or_default() += 1;
        self.unknown += u64::from(leaf.leaf_type.meaning() == Meaning::Unknown);
        Ok(())
    }
}
