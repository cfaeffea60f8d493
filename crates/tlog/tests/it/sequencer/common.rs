//! A log in a temporary directory, with a clock the test sets.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use countersign_tlog::checkpoint::Origin;
use countersign_tlog::merkle::leaf_hash;
use countersign_tlog::policy::{Policy, PostQuantum};
use countersign_tlog::proof::TlogProof;
use countersign_tlog::sequencer::disk::{Disk, RealDisk};
use countersign_tlog::sequencer::tiles::{MemoryTiles, Tiles};
use countersign_tlog::sequencer::{self, AppendError, Appended, Clock, Config, Entry, Keys, Log, OpenError};

pub(crate) const START: u64 = 1_764_500_000;

pub(crate) fn origin() -> Origin {
    Origin::parse("log.example.test/verdicts/2026").unwrap()
}

pub(crate) fn keys() -> Keys {
    Keys::from_seeds(&origin(), &std::array::from_fn(|i| i as u8), &std::array::from_fn(|i| 0x40 + i as u8)).unwrap()
}

pub(crate) fn real_disk() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

/// A clock that shows what was last put into it.
pub(crate) fn clock(at: &Arc<AtomicU64>) -> Clock {
    let at = Arc::clone(at);
    Arc::new(move || at.load(Ordering::SeqCst))
}

/// A directory with an empty log, storage, and a clock.
pub(crate) struct Home {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) tiles: Arc<MemoryTiles>,
    pub(crate) now: Arc<AtomicU64>,
}

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self {
            dir: tempfile::tempdir().unwrap(),
            tiles: Arc::new(MemoryTiles::default()),
            now: Arc::new(AtomicU64::new(START)),
        };
        sequencer::init(&home.path(), &origin(), &real_disk()).unwrap();
        home
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.dir.path().join("log")
    }

    pub(crate) fn open(&self, config: Config) -> Log {
        self.try_open(config).unwrap()
    }

    pub(crate) fn try_open(&self, config: Config) -> Result<Log, OpenError> {
        let tiles: Arc<dyn Tiles> = self.tiles.clone();
        Log::open(&self.path(), config, keys(), clock(&self.now), tiles)
    }
}

pub(crate) fn leaf(n: u64) -> Vec<u8> {
    format!("entry-{n}").into_bytes()
}

pub(crate) fn key(n: u64) -> [u8; 32] {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&n.to_be_bytes());
    key
}

pub(crate) fn entry(n: u64) -> Entry {
    Entry { idempotency_key: key(n), leaf: leaf(n) }
}

/// Appends and waits.
pub(crate) fn append(log: &Log, entry: Entry) -> Result<Appended, AppendError> {
    let (tell, told) = mpsc::channel();
    log.append(entry, move |outcome| tell.send(outcome).unwrap());
    told.recv().unwrap()
}

/// Appends all at once and waits for every answer.
pub(crate) fn append_all(log: &Log, entries: impl IntoIterator<Item = Entry>) -> Vec<Result<Appended, AppendError>> {
    let waits: Vec<_> = entries
        .into_iter()
        .map(|entry| {
            let (tell, told) = mpsc::channel();
            log.append(entry, move |outcome| tell.send(outcome).unwrap());
            told
        })
        .collect();
    waits.into_iter().map(|told| told.recv().unwrap()).collect()
}

/// What a stranger with the trust file does.
pub(crate) fn verify(proof: &TlogProof, leaf: &[u8], trust: &str) -> u64 {
    let policy = Policy::parse(trust.as_bytes()).unwrap();
    let proof = TlogProof::parse(proof.to_string().as_bytes()).unwrap();
    let accepted = proof.verify(&leaf_hash(leaf), &policy, PostQuantum::Required).unwrap();
    accepted.checkpoint.size
}

pub(crate) fn copy_dir(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for found in std::fs::read_dir(from).unwrap() {
        let found = found.unwrap();
        let target = to.join(found.file_name());
        if found.file_type().unwrap().is_dir() {
            copy_dir(&found.path(), &target);
        } else {
            std::fs::copy(found.path(), target).unwrap();
        }
    }
}
