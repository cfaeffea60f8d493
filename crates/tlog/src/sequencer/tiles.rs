//! Where full tiles, entry bundles and the public checkpoint are kept, and who is told about new checkpoints.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::tile::TilePath;

/// A failure of the place behind [`Tiles`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TilesError {
    /// It could not be reached or is full; trying again may help.
    #[error("tile storage: {0}")]
    Unavailable(String),
    /// It already holds other bytes under this path. Two writers had one log, or the storage is damaged.
    #[error("{0} is stored with other bytes")]
    Conflict(TilePath),
}

impl TilesError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unavailable(_) => "tiles_unavailable",
            Self::Conflict(_) => "tiles_conflict",
        }
    }
}

/// Hears that a storage stopped working, with the reason, and with `None` that it works again.
pub type Turned = Arc<dyn Fn(Option<&TilesError>) + Send + Sync>;

/// Storage for full tiles and full entry bundles, and for the one file that changes, the public checkpoint.
///
/// Calls may block; they come from the log's own threads and from readers.
pub trait Tiles: Send + Sync {
    /// Stores a full file once. Returns when it is durable. The same bytes again are fine; other bytes are
    /// [`TilesError::Conflict`].
    fn put(&self, path: &TilePath, bytes: &[u8]) -> Result<(), TilesError>;

    /// The bytes of a full file, or `None` when it is not there.
    fn get(&self, path: &TilePath) -> Result<Option<Vec<u8>>, TilesError>;

    /// As [`get`](Self::get), from the place that [`put`](Self::put) writes to and nowhere else: a storage that also reads
    /// an older place says here what it holds itself.
    fn stored(&self, path: &TilePath) -> Result<Option<Vec<u8>>, TilesError> {
        self.get(path)
    }

    /// Whether [`stored`](Self::stored) would give the file, for less than reading it where that can be had.
    fn holds(&self, path: &TilePath) -> Result<bool, TilesError> {
        Ok(self.stored(path)?.is_some())
    }

    /// Replaces the public checkpoint. It may be lost in a crash: it can only grow older, never wrong.
    fn publish(&self, checkpoint: &[u8]) -> Result<(), TilesError>;

    /// The public checkpoint, or `None` before the first.
    fn published(&self) -> Result<Option<Vec<u8>>, TilesError>;
}

/// Who hears of new checkpoints. The log never waits for an answer and never needs one.
pub trait Witnesses: Send + Sync {
    /// A checkpoint was published; `note` is its exact bytes. Must return at once. What a witness then wants to see
    /// comes from [`Log::witness_request`](super::Log::witness_request).
    fn offer(&self, note: &[u8]);
}

/// Tiles in memory, for tests and for logs that nobody keeps.
#[derive(Default)]
pub struct MemoryTiles(Mutex<Held>);

#[derive(Default)]
struct Held {
    files: HashMap<TilePath, Vec<u8>>,
    checkpoint: Option<Vec<u8>>,
}

impl MemoryTiles {
    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every stored path.
    pub fn paths(&self) -> Vec<TilePath> {
        self.held().files.keys().copied().collect()
    }
}

impl Tiles for MemoryTiles {
    fn put(&self, path: &TilePath, bytes: &[u8]) -> Result<(), TilesError> {
        let mut held = self.held();
        let there = held.files.entry(*path).or_insert_with(|| bytes.to_vec());
        if there == bytes { Ok(()) } else { Err(TilesError::Conflict(*path)) }
    }

    fn get(&self, path: &TilePath) -> Result<Option<Vec<u8>>, TilesError> {
        Ok(self.held().files.get(path).cloned())
    }

    fn publish(&self, checkpoint: &[u8]) -> Result<(), TilesError> {
        self.held().checkpoint = Some(checkpoint.to_vec());
        Ok(())
    }

    fn published(&self) -> Result<Option<Vec<u8>>, TilesError> {
        Ok(self.held().checkpoint.clone())
    }
}
