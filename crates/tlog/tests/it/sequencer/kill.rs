//! `kill -9` at every step, through a real child process that hands its receipts to the parent over a pipe.
//!
//! After each death the parent starts the log itself and holds it to every receipt that ever left.
//! `COUNTERSIGN_LOG_KILL_ROUNDS=200 cargo test -p countersign-tlog --test it sequencer::kill` is the long form.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_tlog::checkpoint::Checkpoint;
use countersign_tlog::merkle::leaf_hash;
use countersign_tlog::merkle::{Hash, verify_consistency, verify_inclusion};
use countersign_tlog::note::Note;
use countersign_tlog::sequencer::disk::Disk;
use countersign_tlog::sequencer::{self, Config, Flush, Log, Step};

use super::common::*;
use super::files::DirTiles;

/// Where a child dies: at the n-th time it passes a step, or in the middle of its n-th write to a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Death {
    At(Step, u64),
    InWrite(u64),
}

const STEPS: [Step; 11] = [
    Step::Assigned,
    Step::Written,
    Step::Synced,
    Step::Signed,
    Step::Marked,
    Step::Swapped,
    Step::Replied,
    Step::Stored,
    Step::Published,
    Step::Dropped,
    Step::Rotated,
];

impl Death {
    fn to_env(self) -> String {
        match self {
            Self::At(step, n) => format!("{} {n}", STEPS.iter().position(|other| *other == step).unwrap()),
            Self::InWrite(n) => format!("write {n}"),
        }
    }

    fn from_env(text: &str) -> Self {
        let (step, n) = text.split_once(' ').unwrap();
        let n = n.parse().unwrap();
        step.parse::<usize>().map_or(Self::InWrite(n), |step| Self::At(STEPS[step], n))
    }
}

fn die() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    loop {
        std::thread::park();
    }
}

/// Writes half of the n-th write and dies.
struct TornDisk {
    left: AtomicU64,
}

impl Disk for TornDisk {
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            file.write_all_at(&bytes[..bytes.len() / 2], offset)?;
            die();
        }
        file.write_all_at(bytes, offset)
    }
}

/// Writes to one file: offsets and bytes.
type Writes = Vec<(u64, Vec<u8>)>;

/// A disk that keeps nothing it was not told to sync: what a power cut leaves. Writes reach the file with its sync.
#[derive(Default)]
struct PowerCutDisk {
    unsynced: Mutex<HashMap<u64, Writes>>,
}

impl Disk for PowerCutDisk {
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        let inode = file.metadata()?.ino();
        self.unsynced.lock().unwrap().entry(inode).or_default().push((offset, bytes.to_vec()));
        Ok(())
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        let inode = file.metadata()?.ino();
        for (offset, bytes) in self.unsynced.lock().unwrap().remove(&inode).unwrap_or_default() {
            file.write_all_at(&bytes, offset)?;
        }
        file.sync_data()
    }
}

fn config() -> Config {
    Config {
        flush: Flush::Window(Duration::from_millis(2)),
        batch: 16,
        segment_bytes: 3000,
        remember: 600,
        remember_for: Duration::ZERO,
        publish_every: Duration::from_millis(5),
        ..Config::default()
    }
}

fn open(dir: &Path, config: Config) -> Log {
    let tiles = Arc::new(DirTiles::new(&dir.join("tiles")));
    let second = Some(dir.join("second"));
    let now = Arc::new(AtomicU64::new(START));
    Log::open(&dir.join("log"), Config { second_record: second, ..config }, keys(), clock(&now), tiles).unwrap()
}

/// The child: appends from four threads, prints each receipt, and dies where it was told to.
#[test]
#[ignore = "started by the test below"]
fn child() {
    let Ok(dir) = std::env::var("COUNTERSIGN_TEST_LOG") else { return };
    let death = Death::from_env(&std::env::var("COUNTERSIGN_TEST_DEATH").unwrap());
    let first: u64 = std::env::var("COUNTERSIGN_TEST_FIRST").unwrap().parse().unwrap();
    let passed = AtomicU64::new(0);
    let mut config = config();
    if std::env::var_os("COUNTERSIGN_TEST_POWER_CUT").is_some() {
        config.disk = Arc::new(PowerCutDisk::default());
    }
    match death {
        Death::At(at, n) => {
            config.observe = Arc::new(move |step| {
                if step == at && passed.fetch_add(1, Ordering::SeqCst) + 1 == n {
                    die();
                }
            });
        }
        Death::InWrite(n) => config.disk = Arc::new(TornDisk { left: AtomicU64::new(n) }),
    }
    let log = Arc::new(open(&PathBuf::from(dir), config));
    let out = Arc::new(Mutex::new(io::stdout()));
    let threads: Vec<_> = (0..8)
        .map(|lane| {
            let (log, out) = (Arc::clone(&log), Arc::clone(&out));
            std::thread::spawn(move || {
                for n in (first + lane..first + 400).step_by(8) {
                    let appended = append(&log, entry(n)).unwrap();
                    let path: Vec<String> = appended.path.iter().map(ToString::to_string).collect();
                    let note = hex::encode(appended.head.note.to_string());
                    let line = format!("receipt {n} {} {} {note}\n", appended.index, path.join(","));
                    out.lock().unwrap().write_all(line.as_bytes()).unwrap();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    // It did not come to that step often enough; the parent counts this.
    out.lock().unwrap().write_all(b"survived\n").unwrap();
}

/// What the parent knows of one receipt.
struct Held {
    index: u64,
    checkpoint: Checkpoint,
    path: Vec<Hash>,
}

struct Ledger {
    dir: tempfile::TempDir,
    held: BTreeMap<u64, Held>,
    /// Which leaf each index was answered with.
    answered: BTreeMap<u64, u64>,
    /// Checkpoints whose signatures and consistency are still to be looked at.
    fresh: Vec<(Checkpoint, Note)>,
    deaths: u64,
}

impl Ledger {
    fn round(&mut self, first: u64, death: Death, power_cut: bool) {
        let mut command = Command::new(std::env::current_exe().unwrap());
        if power_cut {
            command.env("COUNTERSIGN_TEST_POWER_CUT", "1");
        }
        let mut child = command
            .args(["sequencer::kill::child", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
            .env("COUNTERSIGN_TEST_LOG", self.dir.path())
            .env("COUNTERSIGN_TEST_DEATH", death.to_env())
            .env("COUNTERSIGN_TEST_FIRST", first.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut survived = false;
        for line in BufReader::new(child.stdout.take().unwrap()).split(b'\n') {
            let line = String::from_utf8(line.unwrap()).unwrap();
            survived |= line.ends_with("survived");
            if let Some(at) = line.find("receipt ") {
                self.take(&line[at..]);
            }
        }
        let status = child.wait().unwrap();
        assert_eq!(status.success(), survived, "{death:?}: it died, or it came to its end");
        self.deaths += u64::from(!survived);
    }

    /// A line that the death cut short was not received.
    fn take(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, n, index, path, note] = words.as_slice() else { return };
        let Ok(note) = hex::decode(note) else { return };
        let Ok(note) = Note::parse(&note) else { return };
        let (n, index) = (n.parse().unwrap(), index.parse().unwrap());
        let checkpoint = Checkpoint::parse(note.text()).unwrap();
        let hash = |text: &str| Hash::from_bytes(hex::decode(text).unwrap().try_into().unwrap());
        let path = path.split(',').filter(|text| !text.is_empty()).map(hash).collect();
        if let Some(other) = self.answered.insert(index, n) {
            assert_eq!(other, n, "index {index} was answered with two leaves");
        }
        self.fresh.push((checkpoint.clone(), note));
        self.held.insert(n, Held { index, checkpoint, path });
    }

    /// The restarted log owns up to everything.
    fn examine(&mut self, first: u64) {
        let log = open(self.dir.path(), config());
        let verifiers = keys();
        let head = log.head().checkpoint.clone();
        self.fresh.dedup_by(|a, b| a.0 == b.0);
        for (old, note) in self.fresh.drain(..) {
            assert_eq!(note.verify(verifiers.verifiers()).unwrap().len(), 2, "both signatures");
            let proof = log.consistency(old.size, head.size).unwrap();
            verify_consistency(old.size, head.size, &proof, &old.root, &head.root).unwrap();
        }
        for (n, Held { index, checkpoint, path }) in self.held.range(first..) {
            let hash = leaf_hash(&leaf(*n));
            verify_inclusion(&hash, *index, checkpoint.size, path, &checkpoint.root).unwrap();
            assert_eq!(log.leaf(*index).unwrap(), leaf(*n));
        }
        // Every leaf of the round once more: answered ones keep their index, the others get one that is free.
        let again: Vec<u64> = (first..first + 40).collect();
        for (n, outcome) in again.iter().zip(append_all(&log, again.iter().map(|n| entry(*n)))) {
            let index = outcome.unwrap().index;
            assert_eq!(log.leaf(index).unwrap(), leaf(*n));
            if let Some(held) = self.held.get(n) {
                assert_eq!(held.index, index, "a retry of {n}");
            }
            if let Some(other) = self.answered.insert(index, *n) {
                assert_eq!(other, *n, "index {index} was answered with two leaves");
            }
        }
        log.close();
    }
}

#[test]
fn every_receipt_that_ever_left_survives_kill_9_at_every_step() {
    let rounds: u64 = std::env::var("COUNTERSIGN_LOG_KILL_ROUNDS").map_or(20, |text| text.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    sequencer::init(&dir.path().join("log"), &origin(), &real_disk()).unwrap();
    let mut ledger = Ledger { dir, held: BTreeMap::new(), answered: BTreeMap::new(), fresh: Vec::new(), deaths: 0 };
    let mut random: u64 = 2026;
    for round in 0..rounds {
        // A linear congruential generator (Knuth's MMIX constants): the same deaths in every run.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let n = 1 + (random >> 33) % 6;
        let death = match round as usize % (STEPS.len() + 1) {
            at if at < STEPS.len() => Death::At(STEPS[at], if at < 7 { n } else { 1 }),
            _ => Death::InWrite(n + 4),
        };
        let first = round * 1000;
        let power_cut = (round + round / 12) % 2 == 1;
        ledger.round(first, death, power_cut);
        ledger.examine(first);
    }
    println!("{} deaths, {} receipts, {} indices", ledger.deaths, ledger.held.len(), ledger.answered.len());
    assert!(ledger.deaths * 10 >= rounds * 9, "almost every round must have ended in a death: {}", ledger.deaths);
    assert!(ledger.held.len() as u64 > rounds, "receipts were returned before the deaths");
}

/// Stays until it is killed.
#[test]
#[ignore = "started by the test below"]
fn holder() {
    let Ok(dir) = std::env::var("COUNTERSIGN_TEST_LOG") else { return };
    let _log = open(&PathBuf::from(dir), config());
    println!("holding");
    loop {
        std::thread::park();
    }
}

#[test]
fn another_process_holds_the_log_until_it_dies() {
    let dir = tempfile::tempdir().unwrap();
    sequencer::init(&dir.path().join("log"), &origin(), &real_disk()).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["sequencer::kill::holder", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env("COUNTERSIGN_TEST_LOG", dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.ends_with("holding")));
    let tiles = Arc::new(DirTiles::new(&dir.path().join("tiles")));
    let now = Arc::new(AtomicU64::new(START));
    let refused = Log::open(&dir.path().join("log"), config(), keys(), clock(&now), tiles);
    assert_eq!(refused.map(drop).map_err(|error| error.code()), Err("log_held"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(append(&open(dir.path(), config()), entry(0)).unwrap().index, 0);
}
