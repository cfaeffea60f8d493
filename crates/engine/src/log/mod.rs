//! The log of one data directory: opening it, and appending a signed document to it.
//!
//! One process at a time writes the log. [`LogBook::append`] works in any of them: it takes the log when nobody has it,
//! and hands its leaf to the holder over a Unix socket when somebody does. Either way the caller gets a receipt that has
//! been verified against the log's own keys, or the reason why there is none; a check never waits longer than
//! [`PATIENCE`] for other processes, whatever it has to try meanwhile.

mod bucket;
mod deadline;
mod error;
mod holding;
mod place;
mod seeds;
mod socket;
mod status;
mod tiles;
mod upgrade;

#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use countersign_core::leaf::{Leaf, LeafType, Minute, Reveal, Salt};
use countersign_tlog::checkpoint::Checkpoint;
use countersign_tlog::merkle::leaf_hash;
use countersign_tlog::note::Note;
use countersign_tlog::policy::{Policy, PostQuantum};
use countersign_tlog::sequencer::tiles::{Tiles, TilesError, Witnesses};
use countersign_tlog::sequencer::{
    self, AppendError, Appended, Clock, Config, Entry, Fatal, Log, OpenError, Seen, Written,
};
use sha2::{Digest, Sha256};

pub use bucket::{AccountError, Asked, Bucket, BucketError, BucketTiles};
pub use deadline::Deadline;
pub use error::LogError;
use holding::{Hands, Holding};
pub use place::Place;
pub(crate) use seeds::{Seeds, SeedsOf};
pub use status::{Held, Home, Standing, Status};
pub use tiles::DirTiles;
pub use upgrade::{Stays, Upgraded};

use crate::env::Env;
use crate::receipt::{Demands, Receipt, Signed, verify};

/// How long a leaf waits for a log that another process holds.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// The newest checkpoint with cosignatures, kept by [`crate::cosigners`].
const COSIGNED: &str = "cosigned";

/// Between two tries: the holder is about to let go, or about to listen.
const PAUSE: Duration = Duration::from_millis(20);

/// The log of a data directory, held or not.
pub struct LogBook {
    place: Place,
    env: Arc<Env>,
    config: Config,
    tiles: Arc<dyn Tiles>,
    reach: Reach,
    patience: Duration,
    hands: Hands,
}

/// Whether others must be able to hand their leaves to this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// It ends soon; whoever cannot reach it waits for that.
    Wanted,
    /// It holds the log for long.
    Needed,
}

impl LogBook {
    /// For a command that appends a little and ends.
    pub fn one_shot(data: &Path, env: Arc<Env>) -> Self {
        Self::with(data, env, Config::one_shot(), Reach::Wanted)
    }

    /// For a server: batches are collected for 20 ms.
    pub fn serving(data: &Path, env: Arc<Env>) -> Self {
        Self::with(data, env, Config::default(), Reach::Needed)
    }

    /// Tells these of every checkpoint that is published.
    #[must_use]
    pub fn witnessed_by(mut self, witnesses: Arc<dyn Witnesses>) -> Self {
        self.config.witnesses = Some(witnesses);
        self
    }

    /// What others know of the log; a start that has fallen behind it is refused before anything is signed.
    #[must_use]
    pub fn not_behind(mut self, seen: Vec<Seen>) -> Self {
        self.config.seen = seen;
        self
    }

    /// Keeps full tiles and entry bundles there, in place of the log's own folder.
    #[must_use]
    pub fn stored_in(mut self, tiles: Arc<dyn Tiles>) -> Self {
        self.tiles = tiles;
        self
    }

    /// Calls this when the place of the full tiles stops working, with the reason, and with `None` when it works again.
    #[must_use]
    pub fn when_storage_turns(mut self, tell: impl Fn(Option<&TilesError>) + Send + Sync + 'static) -> Self {
        self.config.storage = Arc::new(tell);
        self
    }

    /// Calls this once when the log ends in doubt, after everybody who waited for a receipt was told that there is none.
    /// A server should end its process there: nothing in it signs any more, and only a start knows what is on disk. The
    /// book lets go of the directory by itself.
    #[must_use]
    pub fn when_in_doubt(mut self, end: impl Fn(&Fatal) + Send + Sync + 'static) -> Self {
        self.config.fatal = Arc::new(end);
        self
    }

    fn with(data: &Path, env: Arc<Env>, config: Config, reach: Reach) -> Self {
        let place = Place::new(data);
        let config = Config { second_record: Some(place.second_record()), ..config };
        let tiles = Arc::new(DirTiles::new(&place.log()));
        Self { place, env, config, tiles, reach, patience: PATIENCE, hands: Hands::empty() }
    }

    /// Logs a signed document that is offered once: it is prepared, and what was prepared is appended.
    ///
    /// # Errors
    /// As [`LogBook::append_revealed`]; `Append(Conflict)` when the document is in the log already, under another salt.
    pub fn append(&self, leaf_type: LeafType, document: &[u8]) -> Result<Receipt, LogError> {
        self.append_revealed(self.prepare(leaf_type, document)?)
    }

    /// Draws the salt of a document and gives what its leaf is made of. It belongs to the document: whoever keeps it can
    /// append it again when the outcome of a try is not known.
    ///
    /// # Errors
    /// [`LogError::NotText`] and [`LogError::NoRandomness`].
    pub fn prepare(&self, leaf_type: LeafType, document: &[u8]) -> Result<Reveal, LogError> {
        let text = String::from_utf8(document.to_vec()).map_err(|_| LogError::NotText)?;
        let salt = Salt::from_bytes(self.env.random()?);
        Ok(Reveal::new(leaf_type, Minute::of(self.env.now()), salt, text))
    }

    /// Appends what was prepared and gives its receipt with the reveal. Blocks until the log has signed. The same again
    /// gets the index it already has, for at least the 16,384 entries behind it.
    ///
    /// # Errors
    /// [`LogError`]: there is no receipt, which does not always mean that nothing was appended.
    pub fn append_revealed(&self, reveal: Reveal) -> Result<Receipt, LogError> {
        self.append_until(self.deadline(), reveal)
    }

    /// [`PATIENCE`] from now on, for several appends that are one wait.
    pub fn deadline(&self) -> Deadline {
        Deadline::after(self.patience)
    }

    /// As [`LogBook::append_revealed`], with a part of a longer wait.
    ///
    /// # Errors
    /// As [`LogBook::append_revealed`].
    pub fn append_until(&self, until: Deadline, reveal: Reveal) -> Result<Receipt, LogError> {
        let (leaf_type, document) = (reveal.leaf_type.as_str(), reveal.document.as_bytes());
        let key = Sha256::new().chain_update(leaf_type).chain_update([0]).chain_update(document).finalize();
        let leaf = reveal.leaf().map_err(|_| LogError::LeafForm)?;
        // Key and leaf stay the same over every try, so that a try whose outcome is unknown is never logged twice.
        let receipt = Receipt { reveal: Some(reveal), ..self.enter(&Ask::Append { key: key.into(), leaf }, until)? };
        let _signed = self.confirm(&receipt)?;
        Ok(receipt)
    }

    /// Where it lies.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What was signed last, by which keys, and whether a process holds the log. Only reads, so it works on a copy that
    /// nobody may write, and needs no private key where the log has left its trust policy.
    ///
    /// # Errors
    /// [`LogError`]; `NoLog` when there is none, and none is made, `Lost` when there was one; `Open(Behind)` when more was signed than is here.
    pub fn status(&self) -> Result<Status, LogError> {
        let dir = self.place.log();
        let record = self.place.second_record();
        let written = match Written::read(&dir, Some(&record)) {
            Err(OpenError::Missing(_)) => return Err(self.place.absent()),
            read => read?,
        };
        let Checkpoint { origin, size: ours, .. } = written.checkpoint.clone();
        for (by, signed) in [(dir.join("head"), written.signed), (record, written.second)] {
            if let Some(signed) = signed.filter(|signed| signed.size > ours) {
                return Err(OpenError::Behind { by: by.display().to_string(), ours, theirs: signed.size }.into());
            }
        }
        let (size, root) = written.signed.map_or((ours, written.checkpoint.root), |signed| (signed.size, signed.root));
        let signed_at = written.signed.into_iter().chain(written.second).map(|signed| signed.time).max();
        let clock = Standing::of(signed_at, self.env.now());
        let held = if sequencer::is_held(&dir).map_err(OpenError::Io)? { Held::Taken } else { Held::Free };
        let home = if sequencer::is_copy(&dir, &origin)? { Home::Copy } else { Home::Own };
        let trust = self.place.shown_trust()?;
        Ok(Status { checkpoint: Checkpoint::new(origin, size, root), clock, trust, held, home })
    }

    fn seeds(&self) -> Result<Seeds, LogError> {
        self.place.seeds()?.ok_or(LogError::NoLog)
    }

    /// Takes the log, or asks its holder, until one of them works or patience ends.
    fn enter(&self, ask: &Ask, until: Deadline) -> Result<Receipt, LogError> {
        loop {
            let failure = match self.hold() {
                Ok(log) => return ask.answer(&log, &self.place.log()),
                Err(LogError::Open(OpenError::Held(_))) => match socket::hand_over(&self.place.socket(), ask, until) {
                    // A holder that is ending; the leaf carries its key, so another try is safe.
                    Ok(Err(error)) if is_ending(&error) => error,
                    Ok(answer) => return answer,
                    Err(unreachable) => LogError::Unreachable(silence(&unreachable)),
                },
                Err(error) => return Err(error),
            };
            let Some(left) = until.left() else { return Err(failure) };
            thread::sleep(PAUSE.min(left));
        }
    }

    /// As [`LogBook::hold`], and waits up to [`PATIENCE`] for a process that has the log now and may let go of it: a
    /// command has it for an instant, and a server that starts then should not end for that.
    ///
    /// # Errors
    /// As [`LogBook::hold`]; `Open(Held)` when it is still held in the end.
    pub fn take(&self) -> Result<Arc<Log>, LogError> {
        let until = self.deadline();
        loop {
            match (self.hold(), until.left()) {
                (Err(LogError::Open(OpenError::Held(_))), Some(left)) => thread::sleep(PAUSE.min(left)),
                (done, _) => return done,
            }
        }
    }

    /// Opens the log, makes it when there never was one, and keeps it until this book is dropped.
    ///
    /// # Errors
    /// [`LogError`]; `Open(Held)` when another process has it, `InDoubt` for good once a write or a sync went wrong: a
    /// log that may have lost something is not opened a second time by the process that lost it.
    pub fn hold(&self) -> Result<Arc<Log>, LogError> {
        self.hands.log_or(|| {
            let log = Arc::new(self.open()?);
            let door = match (socket::Door::open(&self.place.socket(), Arc::clone(&log)), self.reach) {
                (Ok(door), _) => Some(door),
                (Err(source), Reach::Needed) => return Err(LogError::Door { path: self.place.socket(), source }),
                // Without a door the log still works for us; others wait until it is free.
                (Err(_), Reach::Wanted) => None,
            };
            Ok(Holding::new(log, door))
        })
    }

    fn open(&self) -> Result<Log, LogError> {
        let seeds = self.place.seeds_or_new(&self.env)?;
        self.place.vouched(&seeds, &*self.tiles)?;
        let (place, name) = (self.place.clone(), seeds.name());
        let fatal = self.hands.letting_go(Arc::clone(&self.config.fatal));
        let config = Config { before_signing: Arc::new(move || place.begin(&name)), fatal, ..self.config.clone() };
        let env = Arc::clone(&self.env);
        let clock: Clock = Arc::new(move || env.seconds());
        let tiles = Arc::clone(&self.tiles);
        let log = Log::open(&self.place.log(), config, seeds.keys()?, clock, tiles)?;
        self.place.write_trust(&log.trust())?;
        Ok(log)
    }

    /// The trust policy of this log: its keys and no witness.
    ///
    /// # Errors
    /// [`LogError`] when there is no log yet.
    pub fn trust(&self) -> Result<String, LogError> {
        Ok(self.seeds()?.keys()?.trust())
    }

    /// A receipt that does not verify is none, whoever gave it.
    fn confirm(&self, receipt: &Receipt) -> Result<Signed, LogError> {
        let trust = self.trust()?;
        let policy = Policy::parse(trust.as_bytes()).map_err(|error| LogError::Wrong(error.to_string()))?;
        let demands = Demands { policy: &policy, pq: PostQuantum::Required, max_age_ms: None, now: self.env.now() };
        let bytes = receipt.to_value().to_string();
        let proved = verify(bytes.as_bytes(), &demands).map_err(|refusal| LogError::Wrong(refusal.to_string()))?;
        Ok(proved.signed)
    }
}

/// Why the holder gave no answer. The system's words for one that let a limit pass say nothing to a reader.
fn silence(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => format!("no answer within {} s", PATIENCE.as_secs()),
        _ => error.to_string(),
    }
}

/// What one wants of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Ask {
    /// A new entry. Whoever asks, and however, nothing but a leaf gets here, because what is appended is never undone.
    Append {
        /// Its idempotency key.
        key: [u8; 32],
        /// What is logged.
        leaf: Leaf,
    },
    /// The receipt of an entry that is there, under a checkpoint of at least `from` entries.
    Receipt { index: u64, from: u64 },
}

impl Ask {
    fn answer(&self, log: &Log, dir: &Path) -> Result<Receipt, LogError> {
        match self {
            Self::Append { key, leaf } => append_held(log, *key, leaf),
            Self::Receipt { index, from } => {
                let (checkpoint, note) = best_checkpoint(log, dir, (*index).saturating_add(1).max(*from));
                Ok(Receipt {
                    log_origin: checkpoint.origin,
                    index: *index,
                    leaf_hash: leaf_hash(&log.leaf(*index)?),
                    path: log.inclusion(*index, checkpoint.size)?,
                    checkpoint: note,
                    reveal: None,
                })
            }
        }
    }
}

/// The newest checkpoint that witnesses have cosigned when it has that many entries, else the newest: others vouch for
/// the first one.
fn best_checkpoint(log: &Log, dir: &Path, least: u64) -> (Checkpoint, Note) {
    let head = log.head();
    let cosigned = std::fs::read(dir.join(COSIGNED)).ok().and_then(|bytes| Note::parse(&bytes).ok());
    let read = |note: Note| Some((Checkpoint::parse(note.text()).ok()?, note));
    let covers = |(point, _): &(Checkpoint, Note)| point.size >= least && point.size <= head.checkpoint.size;
    let best = cosigned.and_then(read).filter(covers);
    best.unwrap_or_else(|| (head.checkpoint.clone(), head.note.clone()))
}

/// Whether the holder's answer says that it holds no longer.
fn is_ending(error: &LogError) -> bool {
    let codes = [AppendError::Closed.code(), AppendError::Unknown.code(), LogError::Ended.code()];
    matches!(error, LogError::Holder { code, .. } if codes.contains(&code.as_str()))
}

/// Appends to a log in our hands and waits for the outcome.
fn append_held(log: &Log, key: [u8; 32], leaf: &Leaf) -> Result<Receipt, LogError> {
    let entry = Entry { idempotency_key: key, leaf: leaf.to_bytes().map_err(|_| LogError::LeafForm)? };
    let (tell, told) = mpsc::sync_channel(1);
    log.append(entry, move |outcome| drop(tell.send(outcome)));
    Ok(receipt(&told.recv().map_err(|_| LogError::Ended)??))
}

fn receipt(appended: &Appended) -> Receipt {
    Receipt {
        log_origin: appended.head.checkpoint.origin.clone(),
        index: appended.index,
        leaf_hash: appended.leaf_hash,
        path: appended.path.clone(),
        checkpoint: appended.head.note.clone(),
        reveal: None,
    }
}
