//! A tile storage that is far away, or another one: nothing but its own readers waits for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::time::{Duration, Instant};

use countersign_tlog::sequencer::tiles::{MemoryTiles, Tiles, TilesError, Witnesses};
use countersign_tlog::sequencer::{Config, Log, Logged, OpenError, ReadError, Seen};
use countersign_tlog::tile::{Content, TilePath};

use super::common::{Home, START, append, append_all, clock, entry, keys, leaf, verify};

/// Storage that can stop answering reads, with an error or not at all.
#[derive(Default)]
struct Far {
    inner: MemoryTiles,
    away: AtomicBool,
    silent: Mutex<bool>,
    spoke: Condvar,
    /// How long every write takes.
    slow: Duration,
    asked: Mutex<Option<mpsc::Sender<TilePath>>>,
}

impl Far {
    fn silent(&self, silent: bool) {
        *self.silent.lock().unwrap() = silent;
        self.spoke.notify_all();
    }
}

impl Tiles for Far {
    fn put(&self, path: &TilePath, bytes: &[u8]) -> Result<(), TilesError> {
        std::thread::sleep(self.slow);
        if self.away.load(Ordering::SeqCst) {
            return Err(TilesError::Unavailable("injected".into()));
        }
        self.inner.put(path, bytes)
    }

    fn get(&self, path: &TilePath) -> Result<Option<Vec<u8>>, TilesError> {
        if let Some(asked) = self.asked.lock().unwrap().as_ref() {
            asked.send(*path).unwrap();
        }
        drop(self.spoke.wait_while(self.silent.lock().unwrap(), |silent| *silent).unwrap());
        if self.away.load(Ordering::SeqCst) {
            return Err(TilesError::Unavailable("injected".into()));
        }
        self.inner.get(path)
    }

    fn publish(&self, checkpoint: &[u8]) -> Result<(), TilesError> {
        self.inner.publish(checkpoint)
    }

    fn published(&self) -> Result<Option<Vec<u8>>, TilesError> {
        self.inner.published()
    }
}

/// A log of 1,900 leaves, whose first segment holds about 1,100 and is gone: nothing in memory reaches back to its leaves.
fn long(home: &Home, tiles: &Arc<Far>) -> Log {
    let config = Config { segment_bytes: 4000, remember: 50, remember_for: Duration::ZERO, ..Config::one_shot() };
    let log = Log::open(&home.path(), config, keys(), clock(&home.now), tiles.clone()).unwrap();
    long_after(&log, home);
    log
}

/// The leaves from where the log is now up to 1,900.
fn long_after(log: &Log, home: &Home) {
    let from = log.head().checkpoint.size;
    append_all(log, (from..1800).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    while home.path().join("wal/0000000000000001.wal").exists() {
        std::thread::yield_now();
    }
    // The next segment lets the tiles of those that were dropped go.
    for n in 1800..1900 {
        append(log, entry(n)).unwrap();
    }
}

#[test]
fn a_retry_is_answered_while_the_storage_is_away() {
    let home = Home::new();
    let tiles = Arc::new(Far::default());
    let config = Config { publish_every: Duration::from_millis(1), ..Config::one_shot() };
    let log = Log::open(&home.path(), config, keys(), clock(&home.now), tiles.clone()).unwrap();
    append_all(&log, (0..600).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    while tiles.inner.paths().len() < 4 {
        std::thread::yield_now();
    }
    tiles.away.store(true, Ordering::SeqCst);
    for n in [0, 255, 256, 599] {
        let again = append(&log, entry(n)).unwrap();
        assert_eq!((again.index, again.logged), (n, Logged::Before));
        assert_eq!(verify(&again.proof(), &leaf(n), &log.trust()), 600);
    }
    assert_eq!(append(&log, entry(600)).unwrap().index, 600);
    assert!(matches!(log.leaf(3), Err(ReadError::Tiles(_))), "the control: entries are read from the storage");
    assert_eq!(log.fatal(), None);
}

#[test]
fn a_reader_who_waits_for_the_storage_keeps_no_batch_waiting() {
    let home = Home::new();
    let tiles = Arc::new(Far::default());
    let log = long(&home, &tiles);
    let (tell, told) = mpsc::channel();
    *tiles.asked.lock().unwrap() = Some(tell);
    tiles.silent(true);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| log.receipt(3));
        let asked = told.recv_timeout(Duration::from_secs(10));
        let appended = append(&log, entry(1900));
        tiles.silent(false);
        assert_eq!(asked.unwrap().to_string(), "tile/0/000", "the reader was at the storage");
        assert_eq!(appended.unwrap().index, 1900);
        assert_eq!(verify(&reader.join().unwrap().unwrap(), &leaf(3), &log.trust()), 1900);
    });
}

#[test]
fn a_start_over_a_storage_that_lacks_what_was_stored_is_refused() {
    let home = Home::new();
    let tiles = Arc::new(Far::default());
    long(&home, &tiles).close();
    let open = |tiles: Arc<dyn Tiles>| Log::open(&home.path(), Config::one_shot(), keys(), clock(&home.now), tiles);
    let refused = open(Arc::new(MemoryTiles::default())).map(drop).unwrap_err();
    // The newest that no segment holds whole: how far they reach back is a matter of how the batches fell.
    let lacking = |path: TilePath| path.content() == Content::Entries && (1..=6).contains(&path.index());
    assert!(matches!(refused, OpenError::Lacking(path) if lacking(path)), "{refused}");
    tiles.away.store(true, Ordering::SeqCst);
    assert!(matches!(open(tiles.clone()), Err(OpenError::Tiles(TilesError::Unavailable(_)))), "away is not lacking");
    tiles.away.store(false, Ordering::SeqCst);
    assert_eq!(open(tiles).unwrap().head().checkpoint.size, 1900);
}

/// What a witness or an older head names lies behind the segments, so the start asks the storage for its root.
#[test]
fn a_start_that_cannot_reach_the_storage_calls_nothing_damaged() {
    let home = Home::new();
    let tiles = Arc::new(Far::default());
    let config = || Config { segment_bytes: 4000, remember: 50, remember_for: Duration::ZERO, ..Config::one_shot() };
    let open = |config: Config| Log::open(&home.path(), config, keys(), clock(&home.now), tiles.clone());
    let log = open(config()).unwrap();
    append_all(&log, (0..300).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    let note = log.head().note.to_string().into_bytes();
    log.close();
    long_after(&open(config()).unwrap(), &home);
    let seen = || Config { seen: vec![Seen::Checkpoint { by: "w1".into(), note: note.clone() }], ..config() };
    tiles.away.store(true, Ordering::SeqCst);
    let away = open(seen()).map(drop).unwrap_err();
    assert!(matches!(away, OpenError::Tiles(TilesError::Unavailable(_))), "{away}");
    tiles.away.store(false, Ordering::SeqCst);
    assert_eq!(open(seen()).unwrap().head().checkpoint.size, 1900, "the control");
    let lacking = Log::open(&home.path(), seen(), keys(), clock(&home.now), Arc::new(MemoryTiles::default()));
    assert!(matches!(lacking, Err(OpenError::Lacking(_))));
}

/// A witness that passes on what it is told.
struct Told(Mutex<mpsc::Sender<String>>);

impl Witnesses for Told {
    fn offer(&self, note: &[u8]) {
        let _closed = self.0.lock().unwrap().send(String::from_utf8(note.to_vec()).unwrap());
    }
}

/// The size on the second line of a checkpoint.
fn size(note: &str) -> u64 {
    note.lines().nth(1).unwrap().parse().unwrap()
}

#[test]
fn witnesses_hear_of_new_checkpoints_while_the_storage_is_away() {
    let (home, tiles) = (Home::new(), Arc::new(Far::default()));
    let (tell, told) = mpsc::channel();
    let witnesses: Option<Arc<dyn Witnesses>> = Some(Arc::new(Told(Mutex::new(tell))));
    let config = Config { publish_every: Duration::from_millis(1), witnesses, ..Config::one_shot() };
    let log = Log::open(&home.path(), config, keys(), clock(&home.now), tiles.clone()).unwrap();
    tiles.away.store(true, Ordering::SeqCst);
    append_all(&log, (0..300).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    let heard = || size(&told.recv_timeout(Duration::from_secs(10)).unwrap());
    while heard() < 300 {}
    assert_eq!(tiles.inner.paths().len(), 0, "nothing could be stored");
    tiles.away.store(false, Ordering::SeqCst);
    log.close();
    assert_eq!(tiles.inner.paths().len(), 2, "the control: a bundle and a tile");
}

#[test]
fn a_long_backlog_for_a_slow_storage_holds_up_neither_checkpoints_nor_the_end() {
    let home = Home::new();
    let tiles = Arc::new(Far { slow: Duration::from_millis(150), ..Far::default() });
    let config = Config { publish_every: Duration::from_millis(200), queue: 20_000, ..Config::default() };
    let log = Log::open(&home.path(), config.clone(), keys(), clock(&home.now), tiles.clone()).unwrap();
    // Forty bundles and their tiles: twelve seconds of writing.
    append_all(&log, (0..10_240).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    let published = || tiles.inner.published().unwrap().map_or(0, |note| size(&String::from_utf8(note).unwrap()));
    let began = Instant::now();
    while published() < 10_240 {
        assert!(
            began.elapsed() < Duration::from_secs(4),
            "the checkpoint waits for {} files",
            tiles.inner.paths().len()
        );
        std::thread::yield_now();
    }
    let began = Instant::now();
    log.close();
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
    assert!(tiles.inner.paths().len() < 80, "the control: the storage is too slow for all of them");
    // What is left is stored by the next that opens the log.
    let open = || Log::open(&home.path(), config.clone(), keys(), clock(&home.now), tiles.clone()).unwrap();
    assert_eq!(open().head().checkpoint.size, 10_240);
}

#[test]
fn a_log_whose_tiles_say_something_else_shows_no_further_checkpoint() {
    let (home, tiles) = (Home::new(), Arc::new(MemoryTiles::default()));
    tiles.put(&TilePath::full_at(Content::Entries, 0), b"another log's").unwrap();
    let (publish_every, resign_every) = (Duration::ZERO, Duration::from_millis(1));
    let config = Config { publish_every, resign_every, ..Config::one_shot() };
    let log = Log::open(&home.path(), config, keys(), clock(&home.now), tiles.clone()).unwrap();
    append_all(&log, (0..256).map(entry)).into_iter().for_each(drop);
    while log.fatal().is_none() {
        std::thread::yield_now();
    }
    // A signature that was being made may still come; after it, none does.
    std::thread::sleep(Duration::from_millis(100));
    home.now.fetch_add(60, Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(log.head().time, START, "and signs nothing more");
    log.close();
    let public = tiles.published().unwrap().map_or(0, |note| size(&String::from_utf8(note).unwrap()));
    assert!(public < 256, "{public}: the first bundle is full at 256, and it is another one");
}
