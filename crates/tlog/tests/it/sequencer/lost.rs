//! A storage that has lost files since they were stored: what the segments still hold is stored again, and no segment
//! goes while it holds the last copy.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use countersign_tlog::sequencer::tiles::{Tiles, TilesError};
use countersign_tlog::sequencer::{Config, Log, OpenError};
use countersign_tlog::tile::TilePath;

use super::common::{Home, append, append_all, clock, entry, keys, leaf, verify};
use super::files::DirTiles;

/// A log whose full tiles are in files, of which some may be refused, and looks are slow and written down.
struct Lossy {
    home: Home,
    tiles: Arc<Watched>,
}

struct Watched {
    inner: DirTiles,
    /// Whether looks and writes fail for the first bundle.
    refuses: AtomicBool,
    slow: Mutex<Duration>,
    looked: Mutex<Vec<TilePath>>,
}

impl Watched {
    fn refused(&self, path: &TilePath) -> Result<(), TilesError> {
        let refused = self.refuses.load(Ordering::SeqCst) && path.index() == 0;
        if refused { Err(TilesError::Unavailable("injected".into())) } else { Ok(()) }
    }
}

impl Tiles for Watched {
    fn put(&self, path: &TilePath, bytes: &[u8]) -> Result<(), TilesError> {
        self.refused(path)?;
        self.inner.put(path, bytes)
    }

    fn get(&self, path: &TilePath) -> Result<Option<Vec<u8>>, TilesError> {
        self.inner.get(path)
    }

    fn holds(&self, path: &TilePath) -> Result<bool, TilesError> {
        self.refused(path)?;
        std::thread::sleep(*self.slow.lock().unwrap());
        self.looked.lock().unwrap().push(*path);
        Ok(self.inner.get(path)?.is_some())
    }

    fn publish(&self, checkpoint: &[u8]) -> Result<(), TilesError> {
        self.inner.publish(checkpoint)
    }

    fn published(&self) -> Result<Option<Vec<u8>>, TilesError> {
        self.inner.published()
    }
}

impl Lossy {
    fn new() -> Self {
        let home = Home::new();
        let tiles = Watched {
            inner: DirTiles::new(home.dir.path()),
            refuses: AtomicBool::new(false),
            slow: Mutex::default(),
            looked: Mutex::default(),
        };
        Self { home, tiles: Arc::new(tiles) }
    }

    fn open(&self, config: Config) -> Result<Log, OpenError> {
        Log::open(&self.home.path(), config, keys(), clock(&self.home.now), self.tiles.clone())
    }

    /// A closed log of this size, whose segments all stay.
    fn of(size: u64) -> Self {
        let lossy = Self::new();
        let log = lossy.open(Config { queue: 20_000, segment_bytes: 40_000, ..Config::one_shot() }).unwrap();
        append_all(&log, (0..size).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
        log.close();
        lossy
    }

    fn file(&self, name: &str) -> PathBuf {
        self.home.dir.path().join(name)
    }

    fn has_first_segment(&self) -> bool {
        self.home.path().join("wal/0000000000000001.wal").exists()
    }
}

/// Segments go as soon as nothing needs them.
fn forgetful() -> Config {
    Config {
        segment_bytes: 4000,
        remember: 50,
        remember_for: Duration::ZERO,
        publish_every: Duration::from_millis(1),
        ..Config::one_shot()
    }
}

fn grow(log: &Log, to: u64) {
    let from = log.head().checkpoint.size;
    append_all(log, (from..to).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
}

#[test]
fn what_the_storage_has_lost_is_stored_again_before_its_segments_go() {
    let names = ["tile/entries/000", "tile/0/000", "tile/entries/001", "tile/0/001"];
    for lost in [&names[..1], &names[2..3], &names[..2], &names[2..], &names[..]] {
        let lossy = Lossy::of(600);
        let whole: Vec<_> = lost.iter().map(|name| fs::read(lossy.file(name)).unwrap()).collect();
        lost.iter().for_each(|name| fs::remove_file(lossy.file(name)).unwrap());
        let log = lossy.open(forgetful()).unwrap();
        grow(&log, 3000);
        log.close();
        assert!(!lossy.has_first_segment(), "the control: what held the last copy is gone");
        for (name, bytes) in lost.iter().zip(whole) {
            assert_eq!(fs::read(lossy.file(name)).ok(), Some(bytes), "{name}");
        }
        let log = lossy.open(forgetful()).unwrap();
        for n in [3, 300] {
            assert_eq!(log.leaf(n), Ok(leaf(n)), "{lost:?}");
            assert_eq!(verify(&log.receipt(n).unwrap(), &leaf(n), &log.trust()), 3000);
        }
    }
}

/// A run that is cut short, or whose storage is away for the one file, must not leave it to the next to have the leaves.
#[test]
fn no_segment_goes_before_its_files_are_seen_in_the_storage() {
    let lossy = Lossy::of(600);
    fs::remove_file(lossy.file("tile/entries/000")).unwrap();
    lossy.tiles.refuses.store(true, Ordering::SeqCst);
    let log = lossy.open(forgetful()).unwrap();
    grow(&log, 3000);
    while !lossy.file("tile/entries/010").exists() {
        std::thread::yield_now();
    }
    log.close();
    assert!(lossy.has_first_segment(), "2,560 leaves are stored by their mark, and the first bundle is not there");
    lossy.tiles.refuses.store(false, Ordering::SeqCst);
    lossy.open(forgetful()).unwrap().close();
    assert!(!lossy.has_first_segment(), "the control");
    assert_eq!(lossy.open(forgetful()).unwrap().leaf(3), Ok(leaf(3)));
}

#[test]
fn only_what_the_segments_hold_is_looked_for() {
    let lossy = Lossy::new();
    let log = lossy.open(forgetful()).unwrap();
    grow(&log, 1900);
    log.close();
    assert!(!lossy.has_first_segment() && lossy.tiles.looked.lock().unwrap().is_empty(), "it has put all of it itself");
    let log = lossy.open(forgetful()).unwrap();
    grow(&log, 1901);
    log.close();
    let looked = lossy.tiles.looked.lock().unwrap().clone();
    assert!(looked.iter().all(|path| path.index() > 0) && looked.len() <= 2 * 6, "{looked:?}");
}

#[test]
fn a_command_that_ends_waits_for_no_look_that_drops_nothing() {
    let lossy = Lossy::of(10_240);
    *lossy.tiles.slow.lock().unwrap() = Duration::from_millis(100);
    let began = Instant::now();
    let log = lossy.open(Config::one_shot()).unwrap();
    append(&log, entry(10_240)).unwrap();
    log.close();
    assert!(began.elapsed() < Duration::from_secs(3), "{:?} for forty bundles and their tiles", began.elapsed());
    *lossy.tiles.slow.lock().unwrap() = Duration::ZERO;
    fs::remove_file(lossy.file("tile/0/039")).unwrap();
    let log = lossy.open(Config::one_shot()).unwrap();
    while !lossy.file("tile/0/039").exists() {
        std::thread::yield_now();
    }
    log.close();
}
