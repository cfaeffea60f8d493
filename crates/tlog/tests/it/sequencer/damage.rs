//! A write-ahead file that was cut or changed: the log recovers to a commit it made, or refuses. It never shows another
//! root for a size it had.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use countersign_tlog::sequencer::tiles::MemoryTiles;
use countersign_tlog::sequencer::{Config, Log};

use super::common::*;

/// Three batches, of one leaf each, and the root at every size.
struct Victim {
    home: Home,
    wal: Vec<u8>,
    head: Vec<u8>,
    /// The end of the last record; zeros follow.
    end: usize,
    roots: Vec<String>,
}

impl Victim {
    fn new() -> Self {
        let home = Home::new();
        let log = home.open(Config::one_shot());
        let mut roots = vec![log.head().checkpoint.root.to_string()];
        for n in 0..3 {
            roots.push(append(&log, entry(n)).unwrap().head.checkpoint.root.to_string());
        }
        // Not closed in good order: the head file says that a run is under way.
        let (wal, head) = (fs::read(Self::wal_path(&home)).unwrap(), fs::read(home.path().join("head")).unwrap());
        log.close();
        let end = wal.iter().rposition(|byte| *byte != 0).unwrap() + 1;
        Self { home, wal, head, end, roots }
    }

    fn wal_path(home: &Home) -> PathBuf {
        home.path().join("wal/0000000000000001.wal")
    }

    /// Starts over these bytes; without the head file as after a power cut that took it. Gives the size it came up with.
    fn start(&self, wal: &[u8], head: bool) -> Result<u64, &'static str> {
        fs::write(Self::wal_path(&self.home), wal).unwrap();
        fs::write(self.home.path().join("head"), if head { self.head.as_slice() } else { &[] }).unwrap();
        let tiles = Arc::new(MemoryTiles::default());
        let log = Log::open(&self.home.path(), Config::one_shot(), keys(), clock(&self.home.now), tiles);
        let log = log.map_err(|error| error.code())?;
        let checkpoint = log.head().checkpoint.clone();
        assert_eq!(self.roots[checkpoint.size as usize], checkpoint.root.to_string(), "a root the log had");
        Ok(checkpoint.size)
    }
}

/// A record is 8 bytes and its payload: an entry 41 bytes and the leaf, a commit 81.
const ENTRY: usize = 8 + 41 + 7;
const COMMIT: usize = 8 + 81;

#[test]
fn cut_at_every_byte_of_the_last_two_records() {
    let victim = Victim::new();
    assert_eq!((victim.start(&victim.wal, true), victim.start(&victim.wal, false)), (Ok(3), Ok(3)));
    // The commit ends in the time; its last byte may be zero, so the end is found from the layout too.
    let header = 16 + 88 + 8 * 2;
    assert_eq!(victim.end, header + 3 * (ENTRY + COMMIT));
    for at in victim.end - ENTRY - COMMIT..victim.end {
        let cut = &victim.wal[..at];
        assert_eq!(victim.start(cut, true), Err("log_behind"), "the head remembers, cut at {at}");
        assert_eq!(victim.start(cut, false), Ok(2), "the last commit before, cut at {at}");
        let mut zeroed = victim.wal.clone();
        zeroed[at..].fill(0);
        assert_eq!(victim.start(&zeroed, true), Err("log_behind"), "zeros from {at}");
        assert_eq!(victim.start(&zeroed, false), Ok(2), "zeros from {at}");
    }
}

#[test]
fn one_changed_bit_anywhere() {
    let victim = Victim::new();
    let last = victim.end - ENTRY - COMMIT;
    for byte in 0..victim.end {
        let mut changed = victim.wal.clone();
        changed[byte] ^= 1 << (byte % 8);
        let expected = if byte < last { "log_damaged" } else { "log_behind" };
        assert_eq!(victim.start(&changed, true), Err(expected), "byte {byte}");
        let expected = if byte < last { Err("log_damaged") } else { Ok(2) };
        assert_eq!(victim.start(&changed, false), expected, "byte {byte}, no head");
    }
    for byte in [victim.end, victim.end + 1, victim.wal.len() - 1] {
        let mut changed = victim.wal.clone();
        changed[byte] ^= 1;
        assert_eq!(victim.start(&changed, true), Ok(3), "behind the last commit, byte {byte}");
    }
}

#[test]
fn a_write_whose_sectors_arrived_out_of_order_is_one_that_did_not_finish() {
    let victim = Victim::new();
    let mut torn = victim.wal.clone();
    torn[victim.end - ENTRY - COMMIT..victim.end - COMMIT].fill(0);
    assert_eq!(victim.start(&torn, false), Ok(2), "the commit is there and its entry is not");
    assert_eq!(victim.start(&torn, true), Err("log_behind"), "unless it was signed");
}

#[test]
fn a_lost_segment_is_noticed() {
    let home = Home::new();
    let config = || Config { segment_bytes: 200, remember: 1000, ..Config::one_shot() };
    let log = home.open(config());
    // The first segment has room for 64 KiB.
    let big = countersign_tlog::sequencer::Entry { idempotency_key: key(9), leaf: vec![7; 65_000] };
    append(&log, big).unwrap();
    (0..9).for_each(|n| drop(append(&log, entry(n)).unwrap()));
    log.close();
    let wal = home.path().join("wal");
    let mut names: Vec<_> = fs::read_dir(&wal).unwrap().map(|found| found.unwrap().path()).collect();
    names.sort();
    assert!(names.len() > 4, "{names:?}");
    for (at, name) in names.iter().enumerate() {
        let bytes = fs::read(name).unwrap();
        fs::remove_file(name).unwrap();
        let code = home.try_open(config()).map(drop).map_err(|error| error.code());
        let last = at + 1 == names.len();
        // Without the first segment the rest still proves itself, but the leaf in it is in no bundle either.
        let expected = if at == 0 {
            "log_tiles_lacking"
        } else if last {
            "log_behind"
        } else {
            "log_damaged"
        };
        assert_eq!(code, Err(expected), "{}", name.display());
        fs::write(name, bytes).unwrap();
    }
    assert_eq!(home.open(config()).head().checkpoint.size, 10);
}
