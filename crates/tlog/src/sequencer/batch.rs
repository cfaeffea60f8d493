//! The sequencer: one thread, one batch at a time, and the order of steps that makes a receipt safe.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::home::{Mark, Marks, Run};
use super::queue::{Message, Reply, Waiting};
use super::shared::{SegmentStart, Shared};
use super::tiles::MemoryTiles;
use super::tree::Tree;
use super::wal::header::{Header, origin_hash};
use super::wal::record::{COMMIT_BYTES, Commit, Entry as Record, entry_length, push_commit, push_entry};
use super::wal::{BeginError, Segment};
use super::{AppendError, Appended, Clock, Config, Fatal, Flush, Head, Logged, ReadError, Step};
use crate::merkle::{self, Hash, HashReader as _, Paths};
use crate::policy::is_ahead;

/// Whose receipt is for which leaf.
struct Answer {
    index: u64,
    hash: Hash,
    logged: Logged,
    reply: Reply,
}

/// A leaf that has an index and is in no tree yet.
struct Fresh {
    key: [u8; 32],
    leaf: Arc<[u8]>,
    hash: Hash,
}

/// A batch after the idempotency check: new leaves, and everybody who waits for one, new or old.
#[derive(Default)]
struct Sorted {
    new: Vec<Fresh>,
    answers: Vec<Answer>,
}

/// The head files and the last mark in them.
pub(super) struct Marked {
    pub(super) files: Vec<Marks>,
    pub(super) last: Mark,
}

impl Marked {
    /// Writes the last head again with another state of the run. A failure costs only a slower next start.
    pub(super) fn write(&mut self, run: Run, stored: u64) {
        self.last = Mark { run, stored, ..self.last };
        for file in &mut self.files {
            let _ = file.write(&self.last);
        }
    }
}

pub(super) struct Sequencer {
    pub(super) config: Config,
    pub(super) clock: Clock,
    pub(super) shared: Arc<Shared>,
    pub(super) wal: PathBuf,
    pub(super) segment: Segment,
    pub(super) number: u64,
    pub(super) marked: Marked,
    /// Keys of all leaves in segments that are still there.
    pub(super) known: HashMap<[u8; 32], u64>,
    /// The same keys, oldest first.
    pub(super) order: VecDeque<(u64, [u8; 32])>,
}

impl Sequencer {
    /// Runs until the queue is closed or the log ends. Gives the head files back after a good end.
    pub(super) fn run(mut self, messages: &Receiver<Message>) -> Option<Marked> {
        let shared = Arc::clone(&self.shared);
        let fatal = Arc::clone(&self.config.fatal);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let ended = self.serve(messages);
            (self, ended)
        }));
        let reason = match ended {
            Ok((this, Ok(()))) => return Some(this.marked),
            Ok((_, Err(reason))) => reason,
            Err(_) => Fatal::new("sequencer", "a panic in the log's thread"),
        };
        // Nothing in the queue was written: these callers may be told so.
        messages.try_iter().for_each(|message| message.refuse(AppendError::Closed));
        if shared.end(reason.clone()) {
            fatal(&reason);
        }
        None
    }

    fn serve(&mut self, messages: &Receiver<Message>) -> Result<(), Fatal> {
        let mut signed = Instant::now();
        loop {
            // Counted from the last signature and looked at before anything is taken: batches may sign nothing, as when
            // all their leaves are known, and a queue that is never empty must not keep the signed time old.
            if signed.elapsed() >= self.config.resign_every {
                self.sign_again()?;
                signed = Instant::now();
            }
            let idle = self.config.resign_every.saturating_sub(signed.elapsed());
            match messages.recv_timeout(idle) {
                Ok(Message::Flush(done)) => tell(&done),
                Ok(Message::Append(first)) => {
                    let before = self.shared.head();
                    let (batch, flushed) = self.gather(first, messages);
                    self.commit(batch)?;
                    if !Arc::ptr_eq(&before, &self.shared.head()) {
                        signed = Instant::now();
                    }
                    flushed.iter().for_each(tell);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    /// The batch that begins with `first`, and who asked for it to be written at once.
    fn gather(&self, first: Waiting, messages: &Receiver<Message>) -> (Vec<Waiting>, Option<SyncSender<()>>) {
        let began = Instant::now();
        let mut batch = vec![first];
        while batch.len() < self.config.batch.max(1) {
            let next = match self.config.flush {
                Flush::AtOnce => messages.try_recv().ok(),
                Flush::Window(window) => {
                    let left = window.saturating_sub(began.elapsed());
                    messages.recv_timeout(left.min(window / 4)).ok()
                }
            };
            match next {
                Some(Message::Append(waiting)) => batch.push(waiting),
                Some(Message::Flush(done)) => return (batch, Some(done)),
                None => break,
            }
        }
        (batch, None)
    }

    /// Makes a batch durable, signs it, and answers. This order is the safety of the log.
    ///
    /// One process writes one log (the directory's lock), so there is no step that claims the head from other nodes.
    fn commit(&mut self, batch: Vec<Waiting>) -> Result<(), Fatal> {
        // A conflict in the tile storage ends the log between two batches: nothing of this one is written.
        if let Some(fatal) = self.shared.fatal() {
            batch.into_iter().for_each(|waiting| waiting.reply.send(Err(AppendError::Closed)));
            return Err(fatal);
        }
        // No time that readers would refuse. Dies here: nothing has happened.
        let (now, signed) = ((self.clock)(), self.shared.head().time);
        if is_ahead(signed, now) {
            batch.into_iter().for_each(|waiting| waiting.reply.send(Err(AppendError::ClockBehind { signed, now })));
            return Ok(());
        }
        // Room first. Dies here: an empty segment more or less. A full disk refuses the batch and the log lives on.
        if let Err(refused) = self.make_room(&batch)? {
            batch.into_iter().for_each(|waiting| waiting.reply.send(Err(refused)));
            return Ok(());
        }
        let Sorted { new, answers } = self.sort(batch)?;
        if new.is_empty() {
            return self.answer(answers, &self.shared.head());
        }

        // 1. Indices and the new root, in memory. Dies here: nothing was written, nobody has an answer.
        let before = self.shared.head();
        let first = before.checkpoint.size;
        let root = self.assign(first, &new)?;
        let size = first + new.len() as u64;
        let time = now.max(before.time).max(1);
        (self.config.observe)(Step::Assigned);

        // 2. One write, one sync. Dies during the write: a torn tail without a commit, which a start discards; nobody
        //    has an answer. Dies between write and sync: the batch may survive or not; nobody has an answer, and a
        //    retry with the same key gets the same index if it did. An error of either is never retried: the page
        //    cache may no longer say what the disk holds.
        let bytes = encode(first, &new, &Commit { size, root, before: before.checkpoint.root, time });
        self.segment.write(&self.config.disk, &bytes).map_err(|error| Fatal::new("write", error))?;
        (self.config.observe)(Step::Written);
        self.segment.sync(&self.config.disk).map_err(|error| Fatal::new("sync", error))?;
        (self.config.observe)(Step::Synced);

        // 3. Sign. Only now, because a signed size with this root must be impossible to forget. Dies here: the leaves
        //    are in, the next start signs the same root.
        let head = self.shared.keys.sign(size, root, time)?;
        (self.config.observe)(Step::Signed);

        // 4. Say in the head files that this size is signed, before anybody can hold it. Dies here: as above. From
        //    here on a write-ahead file that lost this batch is noticed instead of being continued differently.
        self.mark(&head)?;
        (self.config.observe)(Step::Marked);

        // 5. Show the head to readers. Dies here: they saw a checkpoint that a start finds again.
        self.shared.swap(Arc::clone(&head));
        (self.config.observe)(Step::Swapped);

        // 6. Answer. Dies in between: some have receipts, which verify after the start; the others retry.
        //    Storing full tiles and publishing follow in the keeper: both can be redone from the segments.
        self.answer(answers, &head)?;
        (self.config.observe)(Step::Replied);
        Ok(())
    }

    /// Begins a new segment when the batch would not fit. `Ok(Err(_))` when there is no room for one, or when too much
    /// waits for the tile storage.
    fn make_room(&mut self, batch: &[Waiting]) -> Result<Result<(), AppendError>, Fatal> {
        let unstored = self.shared.head().checkpoint.size.saturating_sub(self.shared.stored());
        if unstored >= self.config.backlog.max(256) {
            return Ok(Err(AppendError::Busy));
        }
        let leaves: usize = batch.iter().map(|waiting| entry_length(waiting.leaf.len())).sum();
        let needed = (leaves + COMMIT_BYTES) as u64;
        if self.segment.has_room(needed) {
            return Ok(Ok(()));
        }
        let header = self.header();
        let room = self.config.segment_bytes.max(needed);
        match Segment::begin(&self.config.disk, &self.wal, &header, &[], room) {
            Ok(segment) => {
                self.segment = segment;
                self.number = header.number;
                let start = SegmentStart::from(&header);
                self.shared.segments.lock().unwrap_or_else(PoisonError::into_inner).push(start);
                self.forget_keys();
                (self.config.observe)(Step::Rotated);
                Ok(Ok(()))
            }
            Err(BeginError::Clean(_)) => Ok(Err(AppendError::NoSpace)),
            Err(BeginError::InDoubt(error)) => Err(Fatal::new("segment", error)),
        }
    }

    fn header(&self) -> Header {
        let head = self.shared.head();
        let live = self.shared.live.read().unwrap_or_else(PoisonError::into_inner);
        Header {
            origin: origin_hash(self.shared.keys.origin()),
            number: self.number + 1,
            size: head.checkpoint.size,
            root: head.checkpoint.root,
            time: head.time,
            rows: live.edge.rows(),
        }
    }

    /// Keys whose segments the keeper has dropped are gone after the next start; they go now as well, and with them
    /// the tiles that only a retry of theirs would have asked for. A segment is dropped when all of it is stored.
    fn forget_keys(&mut self) {
        let first = self.shared.segments.lock().unwrap_or_else(PoisonError::into_inner).first().copied();
        let from = first.map_or(0, |segment| segment.size);
        self.shared.live.write().unwrap_or_else(PoisonError::into_inner).edge.forget(from);
        while let Some((_, key)) = self.order.front().copied().filter(|(index, _)| *index < from) {
            self.known.remove(&key);
            self.order.pop_front();
        }
    }

    /// Parts a batch into new leaves and waiters. Conflicts are answered at once.
    fn sort(&mut self, batch: Vec<Waiting>) -> Result<Sorted, Fatal> {
        let first = self.shared.head().checkpoint.size;
        let mut sorted = Sorted::default();
        for Waiting { key, leaf, hash, reply } in batch {
            let next = first + sorted.new.len() as u64;
            let (index, logged) = match self.known.get(&key) {
                Some(index) => (*index, Logged::Before),
                None => (next, Logged::Now),
            };
            if logged == Logged::Now {
                self.known.insert(key, index);
                self.order.push_back((index, key));
                sorted.new.push(Fresh { key, leaf, hash });
            } else if self.leaf_hash(index, first, &sorted).map_err(|error| Fatal::new("read", error))? != hash {
                reply.send(Err(AppendError::Conflict(index)));
                continue;
            }
            sorted.answers.push(Answer { index, hash, logged, reply });
        }
        Ok(sorted)
    }

    /// The hash of a known leaf, which may be in the batch at hand.
    fn leaf_hash(&self, index: u64, first: u64, sorted: &Sorted) -> Result<Hash, ReadError> {
        let staged = index.checked_sub(first).and_then(|at| sorted.new.get(at as usize));
        match staged {
            Some(fresh) => Ok(fresh.hash),
            None => self.shared.with_edge(|tree| tree.hash(0, index).map_err(merkle::ProveError::Read)),
        }
    }

    /// Puts the leaves into the tree, where readers do not look beyond the head, and gives the root.
    fn assign(&self, first: u64, new: &[Fresh]) -> Result<Hash, Fatal> {
        let mut live = self.shared.live.write().unwrap_or_else(PoisonError::into_inner);
        if live.edge.size() != first || first + new.len() as u64 > merkle::MAX_SIZE {
            return Err(Fatal::new("assign", "the tree and the head differ in size"));
        }
        for Fresh { leaf, hash, .. } in new {
            let bundle = live.edge.size() / 256;
            live.edge.push(*hash);
            live.bundles.entry(bundle).or_default().push(Arc::clone(leaf));
        }
        let tree = Tree { edge: &live.edge, tiles: &MemoryTiles::default(), cache: &self.shared.cache };
        merkle::root(&tree, live.edge.size()).map_err(|error| Fatal::new("assign", format!("{error:?}")))
    }

    fn mark(&mut self, head: &Head) -> Result<(), Fatal> {
        let Head { checkpoint, time, .. } = head;
        let stored = self.shared.stored();
        self.marked.last = Mark { size: checkpoint.size, root: checkpoint.root, time: *time, stored, run: Run::Open };
        for file in &mut self.marked.files {
            file.write(&self.marked.last).map_err(|error| Fatal::new("head", error))?;
        }
        Ok(())
    }

    fn answer(&self, answers: Vec<Answer>, head: &Arc<Head>) -> Result<(), Fatal> {
        let paths = self.shared.with_edge(|tree| {
            let paths = Paths::new(tree, head.checkpoint.size)?;
            answers.iter().map(|answer| paths.path(answer.index)).collect::<Result<Vec<_>, _>>()
        });
        let paths = paths.map_err(|error| Fatal::new("prove", error))?;
        for (Answer { index, hash, logged, reply }, path) in answers.into_iter().zip(paths) {
            reply.send(Ok(Appended { index, leaf_hash: hash, path, head: Arc::clone(head), logged }));
        }
        Ok(())
    }

    /// Signs the head anew, so that a reader sees a time that is not old. Size and root stay: nothing to write ahead.
    fn sign_again(&mut self) -> Result<(), Fatal> {
        // A log that has ended signs nothing more.
        if let Some(fatal) = self.shared.fatal() {
            return Err(fatal);
        }
        let (now, head) = ((self.clock)(), self.shared.head());
        if is_ahead(head.time, now) {
            return Ok(());
        }
        let time = now.max(head.time).max(1);
        let head = self.shared.keys.sign(head.checkpoint.size, head.checkpoint.root, time)?;
        self.mark(&head)?;
        self.shared.swap(head);
        Ok(())
    }
}

/// Whoever waited for a flush may have gone; that is theirs to decide.
fn tell(done: &SyncSender<()>) {
    let _ = done.send(());
}

fn encode(first: u64, new: &[Fresh], commit: &Commit) -> Vec<u8> {
    let length: usize = new.iter().map(|fresh| entry_length(fresh.leaf.len())).sum();
    let mut bytes = Vec::with_capacity(length + COMMIT_BYTES);
    for (index, Fresh { key, leaf, .. }) in (first..).zip(new) {
        push_entry(&mut bytes, &Record { index, key: *key, leaf });
    }
    push_commit(&mut bytes, commit);
    bytes
}
