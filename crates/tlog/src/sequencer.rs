//! The one writer of a log: it takes leaves, makes them durable, signs the tree, and only then hands out receipts.
//!
//! The order of steps is the whole argument and stands in one function, `batch::Sequencer::commit`. Around it:
//! write-ahead segments (`wal`), the directory and its guards (`home`), the start (`recover`), the right edge of the
//! tree (`edge`), and a second thread that stores full tiles and publishes checkpoints behind the receipts (`keeper`).
//!
//! Threads and blocking files, no runtime: a batch is one write and one sync, so there is nothing to wait for
//! concurrently. Any doubt about a write or a sync ends the log: it signs nothing more, and the next start decides
//! from what is on disk. The trade-off is one writer per log, and a process that must be restarted after a disk error.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::checkpoint::{Checkpoint, Origin};
use crate::merkle::{Hash, consistency_proof, inclusion_proof, leaf_hash};
use crate::note::Note;
use crate::proof::TlogProof;
use crate::tile::bundle::{self, MAX_ENTRY};
use crate::tile::{Content, TilePath};
use crate::witness::AddCheckpoint;

mod batch;
pub mod disk;
mod edge;
mod home;
mod inspect;
mod keeper;
mod keys;
mod queue;
mod records;
mod recover;
mod shared;
pub mod tiles;
mod tree;
mod types;
mod wal;

use disk::Disk;
use home::Run;
use queue::{Message, Reply, Waiting};
use shared::Shared;
use tiles::{Tiles, Witnesses};

pub use inspect::{Signed, Written, is_copy, is_held};
pub use keys::{Keys, KeysError};
pub use types::{
    AppendError, Appended, Entry, Fatal, Flush, Head, InitError, Logged, OpenError, ReadError, Seen, Step,
};

/// Gives the time in seconds since the Unix epoch. It may go back; signed times do not.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// How a log runs. [`Config::default`] suits a server, [`Config::one_shot`] a command.
#[derive(Clone)]
pub struct Config {
    /// When a batch is written.
    pub flush: Flush,
    /// The most leaves of one batch.
    pub batch: usize,
    /// The most leaves that wait; beyond, [`AppendError::Busy`].
    pub queue: usize,
    /// The most leaves whose tiles may wait for a storage that is away; beyond, [`AppendError::Busy`].
    pub backlog: u64,
    /// How long the head may stay unsigned while nothing is appended.
    pub resign_every: Duration,
    /// How often the public checkpoint is replaced, at most.
    pub publish_every: Duration,
    /// The room of a write-ahead segment in bytes.
    pub segment_bytes: u64,
    /// For how many following leaves an idempotency key is remembered, at least; and `remember_for`.
    pub remember: u64,
    /// For how long an idempotency key is remembered, at least, by the signed time: longer than anybody retries, at
    /// whatever rate other leaves come. Every thousand leaves a second cost about two megabytes of memory.
    pub remember_for: Duration,
    /// A file outside the log's directory that remembers the head as well, so that a directory restored from an older
    /// copy is noticed.
    pub second_record: Option<PathBuf>,
    /// What others know of this log; a start refuses to fall behind any of it, before it signs.
    pub seen: Vec<Seen>,
    /// Called at a start when nothing speaks against the log and its keys, before anything is signed. An error ends the
    /// start.
    pub before_signing: Arc<dyn Fn() -> io::Result<()> + Send + Sync>,
    /// Who hears of published checkpoints.
    pub witnesses: Option<Arc<dyn Witnesses>>,
    /// Called once when the log ends in doubt. The process should then end.
    pub fatal: Arc<dyn Fn(&Fatal) + Send + Sync>,
    /// Called after every step; for measurements, and for tests that end the process there.
    pub observe: Arc<dyn Fn(Step) + Send + Sync>,
    /// Called when the tile storage stops working, with the reason, and with `None` when it works again. The log goes on
    /// either way: what could not be stored stays in the write-ahead segments.
    pub storage: tiles::Turned,
    /// Writing and syncing.
    pub disk: Arc<dyn Disk>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            flush: Flush::Window(Duration::from_millis(20)),
            batch: 1024,
            queue: 4096,
            backlog: 1 << 20,
            resign_every: Duration::from_secs(60),
            publish_every: Duration::from_secs(1),
            segment_bytes: 2 << 20,
            remember: 16_384,
            remember_for: Duration::from_secs(15),
            second_record: None,
            seen: Vec::new(),
            before_signing: Arc::new(|| Ok(())),
            witnesses: None,
            fatal: Arc::new(|_| ()),
            observe: Arc::new(|_| ()),
            storage: Arc::new(|_| ()),
            disk: Arc::new(disk::RealDisk),
        }
    }
}

impl Config {
    /// For a process that appends once and ends: nothing is waited for, and segments are small.
    pub fn one_shot() -> Self {
        Self { flush: Flush::AtOnce, segment_bytes: 256 << 10, ..Self::default() }
    }
}

/// Makes an empty log in `dir`, which may exist but holds no log yet.
///
/// Apart from [`Log::open`], so that a lost directory is never silently replaced by an empty log with the same keys.
pub fn init(dir: &Path, origin: &Origin, disk: &Arc<dyn Disk>) -> Result<(), InitError> {
    recover::init(dir, origin, disk)
}

/// Declares a copied or moved directory to be the log, after the original is known to run nowhere.
///
/// Gives the origin it holds. Refuses while another process has the directory. What the copy lacks is found at the next start.
pub fn adopt(dir: &Path) -> Result<Origin, OpenError> {
    let _lock = home::lock(dir)?;
    let origin = home::read_origin(dir)?.ok_or_else(|| OpenError::OtherLog(dir.to_owned()))?;
    home::write_identity(dir, &origin)?;
    Ok(origin)
}

/// A running log. Dropping it closes it.
pub struct Log {
    shared: Arc<Shared>,
    queue: Option<SyncSender<Message>>,
    sequencer: Option<JoinHandle<Option<batch::Marked>>>,
    keeper: Option<JoinHandle<()>>,
    _lock: home::Lock,
}

impl Log {
    /// Recovers the log in `dir` and starts it.
    ///
    /// Refuses a directory another process holds, a copy, damage, and a log that has fallen behind any record of it:
    /// its own head, the second record, the published checkpoint, and `config.seen`.
    pub fn open(
        dir: &Path,
        config: Config,
        keys: Keys,
        clock: Clock,
        tiles: Arc<dyn Tiles>,
    ) -> Result<Self, OpenError> {
        let recovered = recover::open(dir, &config, &keys, &clock, &tiles)?;
        let (queue, messages) = mpsc::sync_channel(config.queue.max(1));
        let recover::Recovered { lock, shared, sequencer, keeper } = recovered.build(dir, config, keys, clock, tiles);
        let sequencer = std::thread::Builder::new().name("log".into()).spawn(move || sequencer.run(&messages))?;
        let keeper = std::thread::Builder::new().name("log-keeper".into()).spawn(move || keeper.run())?;
        Ok(Self { shared, queue: Some(queue), sequencer: Some(sequencer), keeper: Some(keeper), _lock: lock })
    }

    /// Queues a leaf of 1 to 65,535 bytes. `reply` is called exactly once, from the log's thread, and must not block:
    /// with the receipt once leaf and checkpoint are durable, or with the reason there is none.
    ///
    /// The same idempotency key with the same leaf gives the index it already has.
    pub fn append(&self, entry: Entry, reply: impl FnOnce(Result<Appended, AppendError>) + Send + 'static) {
        let reply = Reply::new(Box::new(reply));
        if !(1..=MAX_ENTRY).contains(&entry.leaf.len()) {
            return reply.send(Err(AppendError::LeafLength));
        }
        let hash = leaf_hash(&entry.leaf);
        let waiting = Waiting { key: entry.idempotency_key, leaf: entry.leaf.into(), hash, reply };
        // A log that has ended may not have let go of its queue yet, and what is put there now would read as in doubt.
        let running = self.queue.as_ref().filter(|_| self.shared.fatal().is_none());
        let Some(queue) = running else { return waiting.reply.send(Err(AppendError::Closed)) };
        match queue.try_send(Message::Append(waiting)) {
            Ok(()) => {}
            Err(TrySendError::Full(message)) => message.refuse(AppendError::Busy),
            Err(TrySendError::Disconnected(message)) => message.refuse(AppendError::Closed),
        }
    }

    /// Returns when everything queued before has been answered; a waiting batch is written at once.
    pub fn flush(&self) {
        let (done, wait) = mpsc::sync_channel(1);
        if self.queue.as_ref().is_some_and(|queue| queue.send(Message::Flush(done)).is_ok()) {
            // An error means the log has ended, and with it everything that waited.
            let _ = wait.recv();
        }
    }

    /// Answers what is queued, stores what is full, publishes, and lets go of the directory.
    pub fn close(mut self) {
        self.end();
    }

    /// Why the log has ended, if it has.
    pub fn fatal(&self) -> Option<Fatal> {
        self.shared.fatal()
    }

    /// The newest signed checkpoint.
    pub fn head(&self) -> Arc<Head> {
        self.shared.head()
    }

    /// The keys that verify this log, as `log` lines and an empty quorum: a C2SP policy to start from.
    pub fn trust(&self) -> String {
        self.shared.keys.trust()
    }

    /// The proof that leaf `index` is in the newest checkpoint.
    pub fn receipt(&self, index: u64) -> Result<TlogProof, ReadError> {
        let head = self.head();
        let path = self.shared.with_tree(|tree| inclusion_proof(tree, index, head.checkpoint.size))?;
        Ok(TlogProof { extra: None, index, path, checkpoint: head.note.clone() })
    }

    /// The proof that leaf `index` is in the tree of the first `size` leaves, which may be older than the newest.
    pub fn inclusion(&self, index: u64, size: u64) -> Result<Vec<Hash>, ReadError> {
        if size > self.head().checkpoint.size {
            return Err(ReadError::Outside);
        }
        self.shared.with_tree(|tree| inclusion_proof(tree, index, size))
    }

    /// The proof that the log of `old` leaves is a prefix of the log of `new` leaves; empty when `old` is 0.
    pub fn consistency(&self, old: u64, new: u64) -> Result<Vec<Hash>, ReadError> {
        if new > self.head().checkpoint.size || old > new {
            return Err(ReadError::Outside);
        }
        if old == 0 {
            return Ok(Vec::new());
        }
        self.shared.with_tree(|tree| consistency_proof(tree, old, new))
    }

    /// How to ask a witness whose newest size is `old` about a checkpoint of this log, the newest or an older one; it
    /// prints as the body of `add-checkpoint`.
    pub fn witness_request(&self, old: u64, note: &Note) -> Result<AddCheckpoint, ReadError> {
        let checkpoint = Checkpoint::parse(note.text()).map_err(|_| ReadError::Outside)?;
        let proof = self.consistency(old, checkpoint.size)?;
        Ok(AddCheckpoint { old, proof, checkpoint: note.clone() })
    }

    /// The bytes of a tile or bundle, partial or full; `None` when the newest checkpoint does not imply it.
    pub fn tile(&self, path: &TilePath) -> Result<Option<Vec<u8>>, ReadError> {
        if path.exists_in(self.head().checkpoint.size) { self.shared.tile(path).map(Some) } else { Ok(None) }
    }

    /// The bytes of leaf `index`.
    pub fn leaf(&self, index: u64) -> Result<Vec<u8>, ReadError> {
        let path = TilePath::at(Content::Entries, index / 256, self.head().checkpoint.size);
        let path = path.filter(|path| index % 256 < u64::from(path.width())).ok_or(ReadError::Outside)?;
        let bytes = self.shared.tile(&path)?;
        let leaves = bundle::decode(&bytes, path.width()).map_err(|_| ReadError::Damaged(path))?;
        leaves.get((index % 256) as usize).map(|leaf| leaf.to_vec()).ok_or(ReadError::Outside)
    }

    fn end(&mut self) {
        // Closing the queue lets the sequencer finish what is in it.
        drop(self.queue.take());
        let marked = self.sequencer.take().and_then(|thread| thread.join().ok()).flatten();
        self.shared.close_keeper();
        let stored = self.keeper.take().is_some_and(|thread| thread.join().is_ok());
        if let (Some(mut marked), true) = (marked, stored && self.shared.fatal().is_none()) {
            marked.write(Run::Closed, self.shared.stored());
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.end();
    }
}
