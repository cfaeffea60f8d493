//! A log under load, beside the bare minimum: the same clients, the same window, one write and one sync a batch, and
//! nothing else. Also one lonely client, and the bytes a million leaves take.
//!
//! The log is driven over tiles in files, as a data directory has them, and over tiles in memory, which shows what
//! storing them costs the receipts that do not wait for it. What a run leaves to store is stored before the next one
//! begins, so that nobody is measured against somebody else's disk.
//!
//! `cargo bench -p countersign-tlog --bench load` (seconds a run and leaves stored: `LOAD_SECONDS`, `LOAD_LEAVES`) ends
//! with exit code 1 when a goal is missed.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::float_arithmetic,
    reason = "a benchmark prints and may stop"
)]

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::{Duration, Instant};

use countersign_tlog::checkpoint::Origin;
use countersign_tlog::sequencer::disk::{Disk, RealDisk};
use countersign_tlog::sequencer::tiles::{MemoryTiles, Tiles};
use countersign_tlog::sequencer::{self, Config, Entry, Keys, Log};
use countersign_tlog::tile::{Content, TilePath};

#[path = "../tests/it/sequencer/files.rs"]
mod files;

const WINDOW: Duration = Duration::from_millis(20);
const BATCH: usize = 1024;

/// Least rate of the log under load, of that of the bare file.
const RATIO: f64 = 0.4;
/// Most bytes of stored leaves, of what the formula gives.
const STORED: f64 = 1.05;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// A leaf as the product writes it: 142 bytes.
fn leaf(n: u64) -> Vec<u8> {
    format!(r#"{{"commitment":"{n:064x}","ts":"2026-09-01T09:01:00Z","type":"countersign.decision.v1"}}"#).into_bytes()
}

fn key(n: u64) -> [u8; 32] {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&n.to_be_bytes());
    key
}

/// Tells a client that it may believe its leaf.
type Done = Box<dyn FnOnce() + Send>;

/// A leaf and who waits for it.
type Bytes = (Vec<u8>, Done);

/// Something that takes leaf `n` and calls back when the client may believe it.
trait Target {
    fn append(&self, n: u64, done: Done);
}

impl Target for Log {
    fn append(&self, n: u64, done: Done) {
        let entry = Entry { idempotency_key: key(n), leaf: leaf(n) };
        Self::append(self, entry, move |outcome| {
            let appended = outcome.unwrap();
            assert_eq!(appended.head.note.signatures().len(), 2);
            done();
        });
    }
}

/// A write-ahead file and nothing else: no tree, no signature, no receipt.
struct Bare(SyncSender<Bytes>);

impl Target for Bare {
    fn append(&self, n: u64, done: Done) {
        self.0.send(([key(n).as_slice(), &leaf(n)].concat(), done)).unwrap();
    }
}

impl Bare {
    fn start(dir: &Path) -> Self {
        let (queue, messages) = mpsc::sync_channel(4096);
        let file = preallocated(&dir.join("bare"), 256 << 20);
        std::thread::spawn(move || Self::run(&file, &messages));
        Self(queue)
    }

    fn run(file: &File, messages: &Receiver<Bytes>) {
        let mut at = 0;
        while let Ok(first) = messages.recv() {
            let began = Instant::now();
            let mut batch = vec![first];
            while batch.len() < BATCH {
                let left = WINDOW.saturating_sub(began.elapsed()).min(WINDOW / 4);
                let Ok(next) = messages.recv_timeout(left) else { break };
                batch.push(next);
            }
            let mut bytes = Vec::new();
            for (leaf, _) in &batch {
                bytes.extend_from_slice(&(leaf.len() as u64).to_be_bytes());
                bytes.extend_from_slice(leaf);
            }
            file.write_all_at(&bytes, at).unwrap();
            file.sync_data().unwrap();
            at = (at + bytes.len() as u64) % (200 << 20);
            batch.into_iter().for_each(|(_, done)| done());
        }
    }
}

fn preallocated(path: &Path, bytes: usize) -> File {
    fs::write(path, vec![0; bytes]).unwrap();
    let file = File::options().read(true).write(true).open(path).unwrap();
    file.sync_all().unwrap();
    file
}

/// Appends per second, and latencies at the middle and at 99 of 100.
struct Figures {
    rate: f64,
    p50: Duration,
    p99: Duration,
}

/// `clients` that each send their next leaf when they have the answer to the last.
fn drive(target: &dyn Target, clients: usize, first: &mut u64, time: Duration) -> Figures {
    let (tell, told) = mpsc::channel();
    let mut send = |client: usize| {
        let (n, tell, at) = (*first, tell.clone(), Instant::now());
        *first += 1;
        target.append(n, Box::new(move || tell.send((client, at.elapsed())).unwrap()));
    };
    (0..clients).for_each(&mut send);
    let began = Instant::now();
    let mut latencies = Vec::new();
    let mut flying = clients;
    while flying > 0 {
        let (client, latency) = told.recv().unwrap();
        if began.elapsed() < time {
            latencies.push(latency);
            send(client);
        } else {
            flying -= 1;
        }
    }
    latencies.sort_unstable();
    let at = |percent: usize| latencies[(latencies.len() - 1) * percent / 100];
    Figures { rate: latencies.len() as f64 / time.as_secs_f64(), p50: at(50), p99: at(99) }
}

fn open(dir: &Path, config: Config, tiles: Arc<dyn Tiles>) -> Log {
    let origin = Origin::parse("log.example.test/verdicts/2026").unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    if !dir.exists() {
        sequencer::init(dir, &origin, &disk).unwrap();
    }
    let keys = Keys::from_seeds(&origin, &[1; 32], &[2; 32]).unwrap();
    Log::open(dir, config, keys, Arc::new(|| 1_764_500_000), tiles).unwrap()
}

/// Waits until the last tile that `leaves` leaves fill is stored.
fn wait_until_stored(tiles: &Arc<dyn Tiles>, leaves: u64) {
    let Some(last) = (leaves / 256).checked_sub(1) else { return };
    while tiles.get(&TilePath::full_at(Content::Hashes(0), last)).unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn bare_sync(dir: &Path) -> Duration {
    let file = preallocated(&dir.join("sync"), 1 << 20);
    middle((0..200).map(|n| {
        timed(|| {
            file.write_all_at(&[1; 300], n * 300).unwrap();
            file.sync_data().unwrap();
        })
    }))
}

fn total(dir: &Path) -> u64 {
    let sizes = fs::read_dir(dir).unwrap().map(|found| {
        let found = found.unwrap();
        if found.file_type().unwrap().is_dir() { total(&found.path()) } else { found.metadata().unwrap().len() }
    });
    sizes.sum()
}

fn main() {
    // Only `cargo bench` measures; `cargo test --benches` starts every bench program as well.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let time = Duration::from_secs(number("LOAD_SECONDS", 5));
    let sync = bare_sync(dir.path());
    println!("one bare write and sync: p50 {sync:?}");

    let files: Arc<dyn Tiles> = Arc::new(files::DirTiles::new(&dir.path().join("tiles")));
    let memory: Arc<dyn Tiles> = Arc::new(MemoryTiles::default());
    let over_files = open(&dir.path().join("log"), Config::default(), files.clone());
    let over_memory = open(&dir.path().join("log-over-memory"), Config::default(), memory.clone());
    let bare = Bare::start(dir.path());
    let (mut a, mut b, mut c, mut ratios) = (0, 0, 0, Vec::new());
    for _ in 0..3 {
        let ours = drive(&over_files, 1000, &mut a, time);
        wait_until_stored(&files, a);
        let in_memory = drive(&over_memory, 1000, &mut b, time);
        wait_until_stored(&memory, b);
        let theirs = drive(&bare, 1000, &mut c, time);
        ratios.push([ours.rate / theirs.rate, in_memory.rate / theirs.rate]);
        for (name, Figures { rate, p50, p99 }) in
            [("log over files", &ours), ("log over memory", &in_memory), ("bare", &theirs)]
        {
            println!("{name:15} 1000 clients: {rate:.0} a second, p50 {p50:?}, p99 {p99:?}");
        }
    }
    let mut held = true;
    for (name, at) in [("files", 0), ("memory", 1)] {
        let mut ratios: Vec<f64> = ratios.iter().map(|both| both[at]).collect();
        ratios.sort_by(f64::total_cmp);
        println!("log over {name} / bare, middle of three: {:.2} (goal {RATIO})", ratios[1]);
        held &= ratios[1] >= RATIO;
    }

    let lonely = drive(&over_files, 1, &mut a, time);
    let goal = WINDOW + 3 * sync;
    println!("log over files  1 client: p50 {:?}, p99 {:?} (goal {goal:?})", lonely.p50, lonely.p99);
    held &= lonely.p50 <= goal;
    drop((over_files, over_memory));

    let leaves = number("LOAD_LEAVES", 1_000_000);
    let home = dir.path().join("stored");
    let tiles: Arc<dyn Tiles> = Arc::new(files::DirTiles::new(&home.join("tiles")));
    // What lies there a while after the last leaf: the keys of the last seconds are forgotten.
    let config = Config { remember_for: Duration::ZERO, ..Config::default() };
    let log = open(&home.join("log"), config, tiles.clone());
    let began = Instant::now();
    let (tell, told) = mpsc::channel();
    for n in 0..leaves {
        let tell = tell.clone();
        Target::append(&log, n, Box::new(move || tell.send(()).unwrap()));
        if n >= 2000 {
            told.recv().unwrap();
        }
    }
    wait_until_stored(&tiles, leaves);
    log.close();
    let formula = leaves as f64 * (leaf(0).len() as f64 + 2.0 + 32.13);
    let stored = total(&home) as f64;
    println!(
        "{leaves} leaves of {} bytes stored in {:?}: {stored:.0} bytes, {:.3} of the formula's {formula:.0} (goal {STORED})",
        leaf(0).len(),
        began.elapsed(),
        stored / formula
    );
    held &= stored / formula <= STORED;
    let began = Instant::now();
    let log = open(&home.join("log"), Config::one_shot(), tiles);
    println!("started over them in {:?}", began.elapsed());
    // All over the log, so nearly every one is read from its file and held against the tree.
    let spread = || (0..1000).map(|n| n * 7919 * 127 % leaves);
    println!(
        "middle of a thousand: a receipt {:?}, the same again {:?}, a bundle {:?}",
        middle(spread().map(|leaf| timed(|| log.receipt(leaf).unwrap()))),
        middle((0..1000).map(|_| timed(|| log.receipt(leaves / 3).unwrap()))),
        middle(spread().map(|leaf| {
            let path = TilePath::full_at(Content::Entries, (leaf / 256).min(leaves / 256 - 1));
            timed(|| log.tile(&path).unwrap())
        })),
    );
    if !held {
        println!("a goal was missed");
        std::process::exit(1);
    }
}

fn middle(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}
