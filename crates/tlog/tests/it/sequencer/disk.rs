//! Disks and storage that fail: the log says what it knows, signs nothing in doubt, and goes on after a start.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_tlog::sequencer::disk::Disk;
use countersign_tlog::sequencer::tiles::{MemoryTiles, Tiles, TilesError};
use countersign_tlog::sequencer::{AppendError, Config, Fatal, Flush, Log, Logged};
use countersign_tlog::tile::TilePath;

use super::common::*;

/// A disk of which single operations can be switched to fail.
#[derive(Default)]
struct Faulty {
    no_write: AtomicBool,
    no_sync: AtomicBool,
    no_dir_sync: AtomicBool,
    /// Writes of this length and more fail: a new segment, but not a batch.
    no_space_for: AtomicU64,
}

fn fail(when: &AtomicBool) -> io::Result<()> {
    if when.load(Ordering::SeqCst) { Err(io::Error::other("injected")) } else { Ok(()) }
}

impl Disk for Faulty {
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        use std::os::unix::fs::FileExt as _;
        fail(&self.no_write)?;
        let limit = self.no_space_for.load(Ordering::SeqCst);
        if limit != 0 && bytes.len() as u64 >= limit {
            return Err(io::ErrorKind::StorageFull.into());
        }
        file.write_all_at(bytes, offset)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        fail(&self.no_sync)?;
        file.sync_data()
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        fail(&self.no_dir_sync)?;
        File::open(dir)?.sync_all()
    }
}

/// A log on a faulty disk, and what its fatal hook was told.
fn faulty(home: &Home) -> (Log, Arc<Faulty>, Arc<Mutex<Vec<Fatal>>>) {
    let (disk, told) = (Arc::new(Faulty::default()), Arc::new(Mutex::new(Vec::new())));
    let hook = Arc::clone(&told);
    let config = Config {
        disk: disk.clone(),
        segment_bytes: 100_000,
        fatal: Arc::new(move |fatal| hook.lock().unwrap().push(fatal.clone())),
        ..Config::one_shot()
    };
    (home.open(config), disk, told)
}

/// What the hook was told; callers hear first.
fn wait_for(told: &Mutex<Vec<Fatal>>) -> Vec<&'static str> {
    while told.lock().unwrap().is_empty() {
        std::thread::yield_now();
    }
    told.lock().unwrap().iter().map(|fatal| fatal.what).collect()
}

#[test]
fn a_failed_write_or_sync_ends_the_log_and_the_next_start_knows() {
    for (fault, survives) in [("write", false), ("sync", true)] {
        let home = Home::new();
        let (log, disk, told) = faulty(&home);
        let first = append(&log, entry(0)).unwrap();
        let switch = if fault == "write" { &disk.no_write } else { &disk.no_sync };
        switch.store(true, Ordering::SeqCst);
        assert_eq!(append(&log, entry(1)), Err(AppendError::Unknown));
        assert_eq!(wait_for(&told), [fault]);
        assert_eq!(log.fatal().map(|fatal| fatal.what), Some(fault));
        assert_eq!(log.head(), first.head, "nothing in doubt was signed");
        switch.store(false, Ordering::SeqCst);
        assert_eq!(append(&log, entry(2)), Err(AppendError::Closed), "it does not try again");
        log.close();

        let log = home.open(Config::one_shot());
        assert_eq!(verify(&log.receipt(0).unwrap(), &leaf(0), &log.trust()), if survives { 2 } else { 1 });
        let again = append(&log, entry(1)).unwrap();
        let expected = if survives { Logged::Before } else { Logged::Now };
        assert_eq!((again.index, again.logged), (1, expected), "after a failed {fault}");
        assert_eq!(append(&log, entry(2)).unwrap().index, 2);
    }
}

#[test]
fn a_full_disk_refuses_the_batch_and_the_log_lives_on() {
    let home = Home::new();
    let (log, disk, told) = faulty(&home);
    // A segment has room for 100,000 bytes; a leaf that does not fit asks for a new one.
    let big = |n: u64| countersign_tlog::sequencer::Entry { idempotency_key: key(n), leaf: vec![7; 60_000] };
    assert_eq!(append(&log, big(0)).unwrap().index, 0);
    disk.no_space_for.store(4000, Ordering::SeqCst);
    assert_eq!(append(&log, big(1)), Err(AppendError::NoSpace));
    assert_eq!(append(&log, entry(2)).unwrap().index, 1, "what fits is still taken");
    assert!(told.lock().unwrap().is_empty());
    disk.no_space_for.store(0, Ordering::SeqCst);
    assert_eq!(append(&log, big(1)).unwrap().index, 2, "and a retry is new, not a conflict");
    log.close();
    assert_eq!(home.open(Config::one_shot()).head().checkpoint.size, 3);
}

#[test]
fn a_segment_whose_name_may_be_lost_ends_the_log() {
    let home = Home::new();
    let (log, disk, told) = faulty(&home);
    let big = |n: u64| countersign_tlog::sequencer::Entry { idempotency_key: key(n), leaf: vec![7; 60_000] };
    append(&log, big(0)).unwrap();
    disk.no_dir_sync.store(true, Ordering::SeqCst);
    assert_eq!(append(&log, big(1)), Err(AppendError::Unknown));
    assert_eq!(wait_for(&told), ["segment"]);
    log.close();
    assert_eq!(append(&home.open(Config::one_shot()), big(1)).unwrap().index, 1);
}

/// Storage with something before every write: a failure, or a panic.
struct Before<F> {
    inner: MemoryTiles,
    write: F,
}

impl<F: Fn() -> Result<(), TilesError> + Send + Sync> Tiles for Before<F> {
    fn put(&self, path: &TilePath, bytes: &[u8]) -> Result<(), TilesError> {
        (self.write)().and_then(|()| self.inner.put(path, bytes))
    }

    fn get(&self, path: &TilePath) -> Result<Option<Vec<u8>>, TilesError> {
        self.inner.get(path)
    }

    fn publish(&self, checkpoint: &[u8]) -> Result<(), TilesError> {
        self.inner.publish(checkpoint)
    }

    fn published(&self) -> Result<Option<Vec<u8>>, TilesError> {
        self.inner.published()
    }
}

fn before<F: Fn() -> Result<(), TilesError> + Send + Sync>(write: F) -> Arc<Before<F>> {
    Arc::new(Before { inner: MemoryTiles::default(), write })
}

/// Storage that is away for the next `failures` writes.
fn away(failures: &Arc<AtomicU64>) -> Arc<Before<impl Fn() -> Result<(), TilesError> + Send + Sync + use<>>> {
    let failures = Arc::clone(failures);
    before(move || {
        let left = failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        left.map_or(Ok(()), |_| Err(TilesError::Unavailable("injected".into())))
    })
}

#[test]
fn storage_that_is_away_delays_tiles_and_never_receipts() {
    let home = Home::new();
    let tiles = away(&Arc::new(AtomicU64::new(3)));
    let config = Config {
        flush: Flush::Window(Duration::from_secs(600)),
        batch: 256,
        publish_every: Duration::from_millis(1),
        ..Config::default()
    };
    let log = Log::open(&home.path(), config, keys(), clock(&home.now), tiles.clone()).unwrap();
    append_all(&log, (0..256).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    while tiles.inner.paths().len() < 2 || tiles.published().unwrap().is_none() {
        std::thread::yield_now();
    }
    assert_eq!(verify(&log.receipt(9).unwrap(), &leaf(9), &log.trust()), 256);
}

#[test]
fn a_backlog_of_tiles_has_a_bound() {
    let home = Home::new();
    let failures = Arc::new(AtomicU64::new(u64::MAX));
    let away = away(&failures);
    let config = Config { backlog: 300, publish_every: Duration::from_millis(1), ..Config::one_shot() };
    let log = Log::open(&home.path(), config, keys(), clock(&home.now), away.clone()).unwrap();
    (0..300).for_each(|n| drop(append(&log, entry(n)).unwrap()));
    assert_eq!(append(&log, entry(300)), Err(AppendError::Busy));
    failures.store(0, Ordering::SeqCst);
    while append(&log, entry(300)) == Err(AppendError::Busy) {
        std::thread::yield_now();
    }
    assert_eq!(append(&log, entry(300)).unwrap().index, 300, "once the storage is back");
}

#[test]
fn tiles_that_were_never_stored_are_stored_by_the_next_run() {
    let home = Home::new();
    let away = away(&Arc::new(AtomicU64::new(u64::MAX)));
    let log = Log::open(&home.path(), Config::one_shot(), keys(), clock(&home.now), away).unwrap();
    append_all(&log, (0..300).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    log.close();
    assert!(home.tiles.paths().is_empty());
    home.open(Config::one_shot()).close();
    let mut paths: Vec<_> = home.tiles.paths().iter().map(ToString::to_string).collect();
    paths.sort();
    assert_eq!(paths, ["tile/0/000", "tile/entries/000"]);
}

#[test]
fn a_tile_with_other_bytes_ends_the_log() {
    let home = Home::new();
    home.tiles.put(&TilePath::parse("tile/0/000").unwrap(), &[0; 8192]).unwrap();
    let (log, _, told) = faulty(&home);
    append_all(&log, (0..256).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    assert_eq!(wait_for(&told), ["store"]);
    assert_eq!(append(&log, entry(300)), Err(AppendError::Closed));
    log.close();
    assert_eq!(wait_for(&told), ["store"], "told once");
}

#[test]
fn a_panic_behind_the_receipts_ends_the_log() {
    let home = Home::new();
    let (panics, told) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
    let now = Arc::clone(&panics);
    let tiles = before(move || {
        assert!(!now.load(Ordering::SeqCst), "injected");
        Ok(())
    });
    let hook = Arc::clone(&told);
    let fatal = Arc::new(move |fatal: &Fatal| hook.lock().unwrap().push(fatal.clone()));
    let config = Config { fatal, ..Config::one_shot() };
    let log = Log::open(&home.path(), config, keys(), clock(&home.now), tiles.clone()).unwrap();
    append_all(&log, (0..256).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    while tiles.inner.paths().len() < 2 {
        std::thread::yield_now();
    }
    assert_eq!(log.fatal(), None, "the control");
    panics.store(true, Ordering::SeqCst);
    append_all(&log, (256..512).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    assert_eq!(wait_for(&told), ["keeper"]);
    assert_eq!(append(&log, entry(600)), Err(AppendError::Closed));
    log.close();
    assert_eq!(wait_for(&told), ["keeper"], "told once");
    panics.store(false, Ordering::SeqCst);
    let log = Log::open(&home.path(), Config::one_shot(), keys(), clock(&home.now), tiles).unwrap();
    assert_eq!(verify(&log.receipt(511).unwrap(), &leaf(511), &log.trust()), 512, "what was answered is there");
}
