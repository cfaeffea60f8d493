//! How far a look at a long log has come, so that one that is cut short does not begin again.
//!
//! It is no claim of the log and nothing is convicted by it: it says what this monitor has read itself, and the root which
//! that gave. One that does not read, or began behind another checkpoint, counts for nothing.

use std::collections::{BTreeMap, HashSet};
use std::io;

use countersign_tlog::merkle::Hash;
use countersign_tlog::range::Range;
use serde_json::{Value, json};

use super::{Memory, MemoryError};
use crate::files::{Readers, replace};
use crate::monitor::leaves::Leaves;

/// Entries that were read behind a remembered checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The size of that checkpoint.
    from: u64,
    /// Entries of the log up to where it was read.
    pub(crate) size: u64,
    /// What they gave.
    pub(crate) root: Hash,
    kinds: BTreeMap<String, u64>,
    unknown: u64,
}

impl Progress {
    /// Behind the first `from` entries, `leaves` were read and gave `range`.
    pub(crate) fn of(from: u64, range: &Range, leaves: &Leaves) -> Self {
        let (size, root) = (range.size(), range.root());
        Self { from, size, root, kinds: leaves.kinds.clone(), unknown: leaves.unknown }
    }

    /// The entries it stands for, whose commitments, and those before, are `seen`.
    pub(crate) fn leaves(self, seen: HashSet<[u8; 32]>) -> Leaves {
        let mut leaves = Leaves::after(self.size, seen);
        (leaves.kinds, leaves.unknown) = (self.kinds, self.unknown);
        leaves
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        let number = |name: &str| value.get(name)?.as_u64();
        let root = hex::decode(value.get("root")?.as_str()?).ok()?.try_into().ok()?;
        let kinds = value.get("kinds")?.as_object()?.iter();
        Some(Self {
            from: number("from")?,
            size: number("size")?,
            root: Hash::from_bytes(root),
            kinds: kinds.map(|(kind, count)| Some((kind.clone(), count.as_u64()?))).collect::<Option<_>>()?,
            unknown: number("unknown")?,
        })
    }

    fn to_value(&self) -> Value {
        let root = self.root.to_string();
        json!({"from": self.from, "size": self.size, "root": root, "kinds": self.kinds, "unknown": self.unknown})
    }
}

impl Memory {
    /// Where the last look stopped that began behind the first `from` entries.
    pub(in crate::monitor) fn progress(&self, from: u64) -> Option<Progress> {
        let bytes = std::fs::read(self.beside("progress")?).ok()?;
        Progress::parse(&bytes).filter(|progress| progress.from == from && progress.size > from)
    }

    /// Remembers how far it has come; commitments that are remembered so leave `leaves`.
    pub(in crate::monitor) fn save_progress(
        &self,
        progress: &Progress,
        leaves: &mut Leaves,
    ) -> Result<(), MemoryError> {
        let Some(path) = self.beside("progress") else { return Ok(()) };
        self.save_commitments(leaves.first, &leaves.new)?;
        let bytes = progress.to_value().to_string().into_bytes();
        replace(&path, &bytes, Readers::Owner).map_err(|source| MemoryError::Io { path, source })?;
        leaves.new.clear();
        leaves.first = progress.size;
        Ok(())
    }

    /// The look has ended.
    pub(in crate::monitor) fn drop_progress(&self) -> Result<(), MemoryError> {
        let Some(path) = self.beside("progress") else { return Ok(()) };
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(MemoryError::Io { path, source }),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}
