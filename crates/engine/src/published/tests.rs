use std::path::Path;
use std::time::Duration;

use countersign_core::time::Timestamp;
use countersign_tlog::checkpoint::Origin;
use countersign_tlog::policy::{Policy, PostQuantum};
use countersign_tlog::sequencer::tiles::MemoryTiles;
use countersign_tlog::sequencer::{self, Config, Entry, Keys};

use super::*;
use crate::receipt::{Demands, Receipt, verify};

fn append(log: &Log, n: u64) {
    let mut idempotency_key = [0; 32];
    idempotency_key[..8].copy_from_slice(&n.to_be_bytes());
    log.append(Entry { idempotency_key, leaf: format!("entry-{n}").into_bytes() }, |outcome| drop(outcome.unwrap()));
}

fn log(leaves: u64) -> (tempfile::TempDir, Published) {
    let dir = tempfile::tempdir().unwrap();
    let origin = Origin::parse("log.example.test/served").unwrap();
    let config = Config::default();
    sequencer::init(dir.path(), &origin, &config.disk).unwrap();
    let keys = Keys::from_seeds(&origin, &[1; 32], &[2; 32]).unwrap();
    let log =
        Log::open(dir.path(), config, keys, Arc::new(|| 1_764_500_000), Arc::new(MemoryTiles::default())).unwrap();
    (0..leaves).for_each(|n| append(&log, n));
    log.flush();
    (dir, Published::new(Arc::new(log)))
}

#[test]
fn every_width_up_to_the_head_is_served_and_nothing_beyond() {
    let (_dir, public) = log(300);
    let full = public.tile("tile/entries/000").unwrap();
    // SHA-256 of the bundle of entry-0 to entry-255, from another implementation.
    let expected = "2e41f76a98595afb6b3a27a02a74792386a99b155db3579513faf3bf67057752";
    assert_eq!(hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&full.bytes)), expected);
    assert_eq!(full.width, Width::Full);
    let three = public.tile("tile/entries/000.p/3").unwrap();
    assert_eq!(hex::encode(&three.bytes), "0007656e7472792d300007656e7472792d310007656e7472792d32");
    assert_eq!(three.width, Width::Partial);
    assert_eq!(public.tile("tile/0/001.p/44").unwrap().bytes.len(), 44 * 32);
    assert_eq!(public.tile("tile/1/000.p/1").unwrap().bytes.len(), 32);
    for path in ["tile/0/001", "tile/0/001.p/45", "tile/0/002.p/1", "tile/2/000.p/1", "tile/63/000.p/1"] {
        assert_eq!(public.tile(path), Err(NotServed::Outside), "{path}");
    }
}

/// A log of 1,900 leaves in files, of which the first tiles and bundles are in no memory.
pub(crate) struct Stored {
    dir: tempfile::TempDir,
    /// What it had signed at 300 leaves.
    pub(crate) early: Note,
}

impl Stored {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        sequencer::init(&dir.path().join("log"), &Self::origin(), &Config::default().disk).unwrap();
        let log = Self::over(dir.path());
        (0..300).for_each(|n| append(&log, n));
        log.flush();
        let early = log.head().note.clone();
        (300..1900).for_each(|n| append(&log, n));
        log.flush();
        log.close();
        Self { dir, early }
    }

    fn origin() -> Origin {
        Origin::parse("log.example.test/served").unwrap()
    }

    fn over(dir: &Path) -> Log {
        let config = Config { segment_bytes: 4000, remember: 50, remember_for: Duration::ZERO, ..Config::one_shot() };
        let keys = Keys::from_seeds(&Self::origin(), &[1; 32], &[2; 32]).unwrap();
        let tiles = Arc::new(crate::log::DirTiles::new(dir));
        Log::open(&dir.join("log"), config, keys, Arc::new(|| 1_764_500_000), tiles).unwrap()
    }

    pub(crate) fn open(&self) -> Log {
        Self::over(self.dir.path())
    }

    /// Does `work` while one bit of a file is another.
    pub(crate) fn spoilt(&self, name: &str, work: impl FnOnce(Log)) {
        let file = self.dir.path().join(name);
        let whole = std::fs::read(&file).unwrap();
        let mut spoilt = whole.clone();
        spoilt[8 * 32] ^= 1;
        let put = |bytes: &[u8]| std::fs::remove_file(&file).and_then(|()| std::fs::write(&file, bytes)).unwrap();
        put(&spoilt);
        work(self.open());
        put(&whole);
    }
}

/// A receipt that does not verify would read as fraud; a damaged file is told as one.
#[test]
fn nothing_of_a_damaged_file_leaves() {
    let stored = Stored::new();
    for name in ["tile/0/000", "tile/entries/000"] {
        stored.spoilt(name, |log| {
            let public = Published::new(Arc::new(log));
            let damaged = NotServed::Damaged(TilePath::parse(name).unwrap());
            assert_eq!((damaged.code(), damaged.kind()), ("tile_damaged", NotServedKind::Damaged));
            assert_eq!(public.receipt("7"), Err(damaged.clone()));
            assert_eq!(public.tile(name), Err(damaged.clone()));
            assert_eq!(public.tile(&format!("{name}.p/9")), Err(damaged));
            assert!(public.receipt("1899").is_ok(), "what is whole is served");
        });
        let public = Published::new(Arc::new(stored.open()));
        assert!(public.receipt("7").is_ok() && public.tile(name).is_ok(), "the control");
    }
}

#[test]
fn paths_in_another_spelling_are_refused() {
    let (_dir, public) = log(1);
    assert!(public.tile("tile/0/000.p/1").is_ok(), "the control");
    for path in [
        "tile/00/000",
        "tile/64/000",
        "tile/0/0",
        "tile/0/1000",
        "tile/0/x000/000",
        "tile/0/000.p/0",
        "tile/0/000.p/256",
        "tile/0/000.p/01",
        "tile/0/x001",
        "tile/0/001/067",
        "tile/data/000",
        "tile/",
        "tile/0/",
        "tile/0/000/",
        "",
    ] {
        let kind = public.tile(path).map_err(|error| error.kind());
        assert_eq!(kind, Err(NotServedKind::Malformed), "{path}");
    }
}

#[test]
fn a_receipt_by_index_verifies_under_the_served_trust() {
    let (_dir, public) = log(7);
    let policy = Policy::parse(public.trust().as_bytes()).unwrap();
    let now = Timestamp::from_seconds(1_764_500_000);
    let demands = Demands { policy: &policy, pq: PostQuantum::Required, max_age_ms: Some(1000), now };
    for index in ["0", "3", "6"] {
        let bytes = public.receipt(index).unwrap().to_string();
        let proved = verify(bytes.as_bytes(), &demands).unwrap();
        assert_eq!((proved.receipt.index.to_string().as_str(), proved.receipt.reveal), (index, None));
        assert!(Receipt::parse(bytes.replace("\"index\":", "\"index\":1").as_bytes()).is_ok());
        assert!(verify(bytes.replace("\"index\":", "\"index\":1").as_bytes(), &demands).is_err(), "another index");
    }
    assert_eq!(public.receipt("7"), Err(NotServed::Outside));
    for index in ["", "07", "-1", "+1", "1.0", "x", "18446744073709551616"] {
        assert_eq!(public.receipt(index), Err(NotServed::Index), "{index:?}");
    }
}
