//! What the storage gives back is held against the tree before a reader, a proof or a start believes it.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use countersign_tlog::sequencer::tiles::{MemoryTiles, Tiles};
use countersign_tlog::sequencer::{Config, Log, OpenError, ReadError, Seen};
use countersign_tlog::tile::TilePath;

use super::common::{Home, append_all, clock, entry, keys, leaf, verify};
use super::files::DirTiles;

/// Leaves of a log with one full tile at level 1, and enough behind it that no segment reaches back to it.
const SIZE: u64 = 69_000;

/// A log whose full tiles are in files, and what it had signed at 300 leaves.
struct Stored {
    home: Home,
    early: Vec<u8>,
}

impl Stored {
    fn new() -> Self {
        let mut stored = Self { home: Home::new(), early: Vec::new() };
        let log = stored.open(stored.files()).unwrap();
        append_all(&log, (0..300).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
        stored.early = log.head().note.to_string().into_bytes();
        append_all(&log, (300..SIZE).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
        while stored.files().get(&path("tile/0/268")) == Ok(None) {
            std::thread::yield_now();
        }
        log.close();
        stored
    }

    fn dir(&self) -> &Path {
        self.home.dir.path()
    }

    fn files(&self) -> Arc<dyn Tiles> {
        Arc::new(DirTiles::new(self.dir()))
    }

    /// What the folder holds, in memory.
    fn memory(&self) -> Arc<dyn Tiles> {
        let (files, memory) = (self.files(), MemoryTiles::default());
        let tiles = (0..269).flat_map(|n| [format!("tile/0/{n:03}"), format!("tile/entries/{n:03}")]);
        for name in tiles.chain(["tile/1/000".into()]) {
            memory.put(&path(&name), &files.get(&path(&name)).unwrap().unwrap()).unwrap();
        }
        Arc::new(memory)
    }

    fn open(&self, tiles: Arc<dyn Tiles>) -> Result<Log, OpenError> {
        self.open_seen(tiles, Vec::new())
    }

    fn open_seen(&self, tiles: Arc<dyn Tiles>, seen: Vec<Seen>) -> Result<Log, OpenError> {
        let (queue, remember_for) = (SIZE as usize, Duration::ZERO);
        let config = Config { segment_bytes: 4000, remember: 50, remember_for, queue, seen, ..Config::one_shot() };
        Log::open(&self.home.path(), config, keys(), clock(&self.home.now), tiles)
    }

    /// Does `work` while one bit of a file is another.
    fn spoilt(&self, name: &str, bit: usize, work: impl Fn(Arc<dyn Tiles>)) {
        let file = self.dir().join(name);
        let whole = fs::read(&file).unwrap();
        let mut spoilt = whole.clone();
        spoilt[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file, spoilt).unwrap();
        work(self.files());
        work(self.memory());
        fs::write(&file, whole).unwrap();
    }
}

fn path(name: &str) -> TilePath {
    TilePath::parse(name).unwrap()
}

#[test]
fn one_changed_bit_of_a_stored_file_reaches_no_reader() {
    let stored = Stored::new();
    let read = |log: &Log, name: &str| log.tile(&path(name)).map(Option::unwrap);
    // A bit in the length of an entry, in an entry, and in hashes. Leaf 800 is in the fourth bundle.
    for (name, bit, reads) in [
        ("tile/entries/003", 15, &["tile/entries/003", "tile/entries/003.p/7"][..]),
        ("tile/entries/003", 8 * 900, &["tile/entries/003", "tile/entries/003.p/7"]),
        ("tile/0/003", 0, &["tile/0/003", "tile/0/003.p/7"]),
        ("tile/1/000", 8 * 32 * 256 - 1, &["tile/1/000", "tile/1/000.p/1", "tile/0/003", "tile/entries/003.p/7"]),
    ] {
        let damaged = || ReadError::Damaged(path(name));
        stored.spoilt(name, bit, |tiles| {
            let log = stored.open(tiles).unwrap();
            for asked in reads {
                assert_eq!(read(&log, asked), Err(damaged()), "{asked}, bit {bit} of {name}");
                assert_eq!(read(&log, asked), Err(damaged()), "{asked} again");
            }
            if name == "tile/entries/003" {
                assert_eq!(log.leaf(800), Err(damaged()));
            } else {
                assert_eq!(log.receipt(800).map(drop), Err(damaged()), "bit {bit} of {name}");
                assert_eq!(log.consistency(801, SIZE), Err(damaged()));
            }
            assert!(log.receipt(SIZE - 1).is_ok(), "what is whole is given out");
            log.close();
        });
    }
    for tiles in [stored.files(), stored.memory()] {
        let log = stored.open(tiles).unwrap();
        for name in ["tile/entries/003", "tile/0/003", "tile/1/000"] {
            assert_eq!(read(&log, name), Ok(fs::read(stored.dir().join(name)).unwrap()), "the control");
        }
        assert_eq!(
            read(&log, "tile/0/003.p/7"),
            Ok(fs::read(stored.dir().join("tile/0/003")).unwrap()[..224].to_vec())
        );
        assert_eq!(log.leaf(800), Ok(leaf(800)));
        assert_eq!(verify(&log.receipt(800).unwrap(), &leaf(800), &log.trust()), SIZE);
        log.close();
    }
}

/// A damaged tile gave another root for what a witness had seen, which read as a second history.
#[test]
fn a_start_over_a_damaged_tile_accuses_nobody() {
    let stored = Stored::new();
    let open = |tiles| {
        let seen = Seen::Checkpoint { by: "w1".into(), note: stored.early.clone() };
        stored.open_seen(tiles, vec![seen]).map(|log| log.head().checkpoint.size)
    };
    for name in ["tile/0/001", "tile/1/000"] {
        stored.spoilt(name, 7, |tiles| {
            let refused = open(tiles).unwrap_err();
            assert!(matches!(&refused, OpenError::Damaged(why) if why.contains(name)), "{refused}");
        });
    }
    assert_eq!(open(stored.files()).unwrap(), SIZE, "the control");
}
