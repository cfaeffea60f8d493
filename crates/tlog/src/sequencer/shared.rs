//! What the log's two threads and its readers share.
//!
//! The tree may be ahead of the head by the batch that is being written. Readers take sizes from the head only, and a
//! tree only grows, so they never see what is not signed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};

use super::edge::Edge;
use super::tiles::{MemoryTiles, Tiles};
use super::tree::{Cache, Tree, bundle_root};
use super::wal::header::Header;
use super::{Fatal, Head, Keys, ReadError};
use crate::merkle::ProveError;
use crate::tile::bundle;
use crate::tile::{Content, TilePath};

/// Entries of one bundle, in order.
pub(super) type Entries = Vec<Arc<[u8]>>;

/// The tree from the first write-ahead segment on, and the entries of every bundle that is not stored yet.
#[derive(Default)]
pub(super) struct Live {
    pub(super) edge: Edge,
    pub(super) bundles: BTreeMap<u64, Entries>,
}

impl Live {
    /// A tile or bundle that is not stored yet, or not at all because it is partial.
    pub(super) fn tile(&self, path: &TilePath) -> Option<Vec<u8>> {
        match path.content() {
            Content::Hashes(level) => self.edge.tile_bytes(level, path.index(), path.width()),
            Content::Entries => {
                let entries = self.bundles.get(&path.index())?.get(..usize::from(path.width()))?;
                bundle::encode(entries).ok()
            }
        }
    }
}

/// A write-ahead segment, the tree's size where it begins, and the time signed last before it.
#[derive(Clone, Copy)]
pub(super) struct SegmentStart {
    pub(super) number: u64,
    pub(super) size: u64,
    pub(super) time: u64,
}

impl From<&Header> for SegmentStart {
    fn from(header: &Header) -> Self {
        Self { number: header.number, size: header.size, time: header.time }
    }
}

/// What the keeper is told.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Orders {
    pub(super) heads: u64,
    pub(super) closing: bool,
}

pub(super) struct Shared {
    pub(super) keys: Keys,
    pub(super) tiles: Arc<dyn Tiles>,
    pub(super) cache: Cache,
    pub(super) live: RwLock<Live>,
    pub(super) segments: Mutex<Vec<SegmentStart>>,
    head: RwLock<Arc<Head>>,
    stored: AtomicU64,
    orders: Mutex<Orders>,
    wake: Condvar,
    fatal: Mutex<Option<Fatal>>,
}

impl Shared {
    pub(super) fn new(
        keys: Keys,
        tiles: Arc<dyn Tiles>,
        live: Live,
        segments: Vec<SegmentStart>,
        head: Arc<Head>,
        stored: u64,
    ) -> Self {
        Self {
            keys,
            tiles,
            cache: Cache::default(),
            live: RwLock::new(live),
            segments: Mutex::new(segments),
            head: RwLock::new(head),
            stored: AtomicU64::new(stored),
            orders: Mutex::default(),
            wake: Condvar::new(),
            fatal: Mutex::new(None),
        }
    }

    pub(super) fn head(&self) -> Arc<Head> {
        Arc::clone(&self.head.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Shows readers a new head and wakes the keeper.
    pub(super) fn swap(&self, head: Arc<Head>) {
        *self.head.write().unwrap_or_else(PoisonError::into_inner) = head;
        self.orders().heads += 1;
        self.wake.notify_all();
    }

    /// Leaves whose full tiles and bundles are stored; a multiple of 256.
    pub(super) fn stored(&self) -> u64 {
        self.stored.load(Ordering::Acquire)
    }

    /// Lets go of the bundles that were stored. Their hashes stay while a retry of one of their leaves can come.
    pub(super) fn set_stored(&self, stored: u64) {
        self.stored.store(stored, Ordering::Release);
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        live.bundles = live.bundles.split_off(&(stored / 256));
    }

    pub(super) fn orders(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wait(&self, since: Orders, at_most: std::time::Duration) -> Orders {
        let guard = self.orders();
        let waited = self.wake.wait_timeout_while(guard, at_most, |orders| *orders == since);
        let (guard, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *guard
    }

    pub(super) fn close_keeper(&self) {
        self.orders().closing = true;
        self.wake.notify_all();
    }

    /// Ends the log; the first reason stays.
    pub(super) fn end(&self, fatal: Fatal) -> bool {
        let mut held = self.fatal.lock().unwrap_or_else(PoisonError::into_inner);
        let first = held.is_none();
        held.get_or_insert(fatal);
        first
    }

    pub(super) fn fatal(&self) -> Option<Fatal> {
        self.fatal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the tree for somebody outside, from the storage where it must.
    ///
    /// The storage may be far away, and a batch waits for whoever holds the tree: so it is let go while a tile is
    /// fetched, and what was read is read again with that tile at hand.
    pub(super) fn with_tree<T>(
        &self,
        read: impl Fn(&Tree<'_>) -> Result<T, ProveError<ReadError>>,
    ) -> Result<T, ReadError> {
        let fetched = MemoryTiles::default();
        loop {
            // Only a tile that is not among the fetched is missing, so every turn fetches another one.
            let path = match self.with_memory(&fetched, &read) {
                Err(ReadError::Missing(path)) => path,
                done => return done,
            };
            fetched.put(&path, &self.fetch(path)?)?;
        }
    }

    /// Reads the tree for the sequencer, which never waits for the storage and never ends because it is away: all
    /// leaves whose keys are remembered, and everything right of them, are in memory.
    pub(super) fn with_edge<T>(
        &self,
        read: impl Fn(&Tree<'_>) -> Result<T, ProveError<ReadError>>,
    ) -> Result<T, ReadError> {
        self.with_memory(&MemoryTiles::default(), read)
    }

    fn with_memory<T>(
        &self,
        tiles: &MemoryTiles,
        read: impl Fn(&Tree<'_>) -> Result<T, ProveError<ReadError>>,
    ) -> Result<T, ReadError> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        Ok(read(&Tree { edge: &live.edge, tiles, cache: &self.cache })?)
    }

    /// A tile or bundle that exists in the signed tree: from memory, or the beginning of the stored full file, which was
    /// held against the tree.
    pub(super) fn tile(&self, path: &TilePath) -> Result<Vec<u8>, ReadError> {
        if let Some(bytes) = self.tile_in_memory(path) {
            return Ok(bytes);
        }
        match path.content() {
            Content::Hashes(level) => {
                let at = (level, path.index());
                self.with_tree(|tree| tree.stored_bytes(at, path.width()).map_err(ProveError::Read))
            }
            Content::Entries => self.stored_bundle(path),
        }
    }

    /// The beginning of a stored bundle. It may have 16 MB, so it is not kept: it is hashed whenever it is read.
    fn stored_bundle(&self, path: &TilePath) -> Result<Vec<u8>, ReadError> {
        let full = path.full();
        let root = self.with_tree(|tree| tree.root_over((0, path.index())).map_err(ProveError::Read))?;
        let mut bytes = self.fetch(full)?;
        if bundle_root(&bytes) != Some(root) {
            return Err(ReadError::Damaged(full));
        }
        let end = bundle::prefix(&bytes, path.width()).ok_or(ReadError::Damaged(full))?.len();
        bytes.truncate(end);
        Ok(bytes)
    }

    fn fetch(&self, path: TilePath) -> Result<Vec<u8>, ReadError> {
        self.tiles.get(&path)?.ok_or(ReadError::Missing(path))
    }

    /// A tile or bundle out of memory alone.
    pub(super) fn tile_in_memory(&self, path: &TilePath) -> Option<Vec<u8>> {
        self.live.read().unwrap_or_else(PoisonError::into_inner).tile(path)
    }
}
