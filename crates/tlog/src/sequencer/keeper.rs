//! The second thread: it stores full tiles and bundles, publishes checkpoints, tells witnesses, and drops segments.
//!
//! Receipts do not wait for it, and everything it does can be done again from the write-ahead segments: a segment goes
//! only when all its leaves are in bundles that this run has put into the storage or seen there. The mark in the head
//! says how far an earlier run had come, and a storage may have lost files since, so what the segments still hold is
//! looked for once a run and stored again where it is gone. The trade-off is one look a file behind the start of a log,
//! for as many files as its segments hold leaves for, however long the log is. A storage that is away for a while costs memory and segments, and
//! witnesses hear of new checkpoints all the same: what they ask for is in memory.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, path::PathBuf};

use super::shared::{Entries, Orders, SegmentStart, Shared};
use super::tiles::TilesError;
use super::{Config, Fatal, Head, ReadError, Step, wal};
use crate::tile::{Content, TilePath, bundle, completed_by};

const WIDTH: u64 = 256;
/// How long a log that closes goes on storing what waits; a file that was begun is waited for. The rest stays in the segments.
const LAST_TURN: Duration = Duration::from_secs(5);

/// Whether full bundles are left that no turn has stored yet, or none has looked for.
enum Backlog {
    None,
    Some,
}

pub(super) struct Keeper {
    pub(super) config: Config,
    pub(super) shared: Arc<Shared>,
    pub(super) wal: PathBuf,
    /// The head that is public.
    pub(super) public: Option<Arc<Head>>,
    /// Bundles that an earlier run has stored by its own account, and this one has not seen in the storage.
    pub(super) unseen: Range<u64>,
    /// Their entries, as far as the segments hold them whole.
    pub(super) held: BTreeMap<u64, Entries>,
}

impl Keeper {
    /// Runs until the log closes, and then does once more what it can. A panic in here leaves tiles, segments or the
    /// public checkpoint nobody knows how, so it ends the log like any other doubt.
    pub(super) fn run(self) {
        let (shared, fatal) = (Arc::clone(&self.shared), Arc::clone(&self.config.fatal));
        if catch_unwind(AssertUnwindSafe(|| self.keep())).is_err() {
            let reason = Fatal::new("keeper", "a panic in the thread that stores tiles");
            if shared.end(reason.clone()) {
                fatal(&reason);
            }
        }
    }

    fn keep(mut self) {
        let mut seen = Orders::default();
        let (mut published, mut away) = (Instant::now(), None);
        loop {
            let head = self.shared.head();
            let turn = if seen.closing { LAST_TURN } else { self.config.publish_every };
            let until = Instant::now() + turn;
            let stored = self.store(&head, until);
            let due = seen.closing || published.elapsed() >= self.config.publish_every;
            let done = match stored {
                // Nothing more is shown of a log whose tiles say something else.
                Err(TilesError::Conflict(_)) => stored,
                _ if due => {
                    published = Instant::now();
                    self.publish(&head).and(stored)
                }
                _ => stored,
            };
            let done = match done {
                Ok(Backlog::None) => self.look(&head, until),
                more => more,
            };
            self.drop_segments(&head);
            self.tell(&mut away, done.as_ref().err());
            match done {
                Err(TilesError::Conflict(path)) => return self.end(&Fatal::new("store", TilesError::Conflict(path))),
                _ if seen.closing => return,
                Err(TilesError::Unavailable(_)) => seen = self.shared.wait(seen, self.config.publish_every),
                Ok(Backlog::Some) => seen = self.shared.wait(seen, Duration::ZERO),
                Ok(Backlog::None) => seen = self.shared.wait(seen, self.until_due(&published)),
            }
        }
    }

    /// Tells of a storage that is away, once, and once that it is back.
    fn tell(&self, away: &mut Option<TilesError>, now: Option<&TilesError>) {
        let before = std::mem::replace(away, now.cloned());
        if before.is_some() != now.is_some() {
            (self.config.storage)(now);
        }
    }

    /// Nothing to publish: sleep until told. Otherwise until the next time a checkpoint may be published.
    fn until_due(&self, published: &Instant) -> Duration {
        match &self.public {
            Some(public) if **public == *self.shared.head() => self.config.resign_every,
            _ => self.config.publish_every.saturating_sub(published.elapsed()).max(Duration::from_millis(1)),
        }
    }

    /// Stores bundles that are full at this head and the tiles they complete, lowest first, at least one of them and no
    /// more after `until`: whoever waits for a checkpoint is not kept waiting by a long backlog.
    fn store(&self, head: &Head, until: Instant) -> Result<Backlog, TilesError> {
        let mut stored = self.shared.stored();
        while stored + WIDTH <= head.checkpoint.size {
            let bundle = stored / WIDTH;
            completed_by(bundle).try_for_each(|path| self.put(path))?;
            stored += WIDTH;
            self.shared.set_stored(stored);
            (self.config.observe)(Step::Stored);
            if Instant::now() >= until && stored + WIDTH <= head.checkpoint.size {
                return Ok(Backlog::Some);
            }
        }
        Ok(Backlog::None)
    }

    fn put(&self, path: TilePath) -> Result<(), TilesError> {
        let bytes = self.shared.tile(&path).map_err(|error| match error {
            ReadError::Tiles(error) => error,
            ReadError::Outside | ReadError::Missing(_) | ReadError::Damaged(_) => TilesError::Conflict(path),
        })?;
        self.shared.tiles.put(&path, &bytes)
    }

    /// Looks for what an earlier run has stored, lowest first, at least one bundle and no more after `until`. What is gone
    /// is stored again from memory; of a bundle that no segment holds whole, that is the tiles alone.
    ///
    /// A log that closes looks only at what stands between it and the dropping of a segment: a command that appends one
    /// leaf is not kept waiting by a storage that is far away.
    fn look(&mut self, head: &Head, until: Instant) -> Result<Backlog, TilesError> {
        while let Some(bundle) = self.unseen.clone().next() {
            if self.shared.orders().closing && bundle * WIDTH >= self.unneeded(head) {
                break;
            }
            completed_by(bundle).try_for_each(|path| self.restore(path))?;
            self.held.remove(&bundle);
            self.unseen.start += 1;
            if Instant::now() >= until && !self.unseen.is_empty() {
                return Ok(Backlog::Some);
            }
        }
        Ok(Backlog::None)
    }

    fn restore(&self, path: TilePath) -> Result<(), TilesError> {
        if self.shared.tiles.holds(&path)? {
            return Ok(());
        }
        let bytes = match path.content() {
            Content::Entries => self.held.get(&path.index()).and_then(|entries| bundle::encode(entries).ok()),
            Content::Hashes(_) => self.shared.tile_in_memory(&path),
        };
        bytes.map_or(Ok(()), |bytes| self.shared.tiles.put(&path, &bytes))
    }

    fn publish(&mut self, head: &Arc<Head>) -> Result<(), TilesError> {
        if self.public.as_ref() == Some(head) {
            return Ok(());
        }
        let note = head.note.to_string();
        self.shared.tiles.publish(note.as_bytes())?;
        if let Some(witnesses) = &self.config.witnesses {
            witnesses.offer(note.as_bytes());
        }
        self.public = Some(Arc::clone(head));
        (self.config.observe)(Step::Published);
        Ok(())
    }

    /// Where the segments end whose leaves are all stored and whose keys need not be remembered, neither by count nor by
    /// time.
    fn unneeded(&self, head: &Head) -> u64 {
        let needed = self.shared.stored().min(head.checkpoint.size.saturating_sub(self.config.remember));
        let recent = head.time.saturating_sub(self.config.remember_for.as_secs());
        let segments = self.shared.segments.lock().unwrap_or_else(PoisonError::into_inner);
        let follow = segments.iter().zip(segments.iter().skip(1));
        let kept = |first: &SegmentStart, next: &SegmentStart| {
            next.size > needed || (next.size > first.size && next.time > recent)
        };
        follow.take_while(|(first, next)| !kept(first, next)).map(|(_, next)| next.size).last().unwrap_or(0)
    }

    /// Below this many leaves, all that the segments hold was put into the storage by this run or seen there.
    fn seen(&self) -> u64 {
        if self.unseen.is_empty() { self.shared.stored() } else { self.unseen.start * WIDTH }
    }

    /// Drops segments that nobody needs and whose leaves are all in the storage, by more than the word of an earlier run:
    /// they may hold the last copy. Failing to is no harm.
    fn drop_segments(&self, head: &Head) {
        let end = self.unneeded(head).min(self.seen());
        let mut segments = self.shared.segments.lock().unwrap_or_else(PoisonError::into_inner);
        while let [first, next, ..] = segments.as_slice() {
            if next.size > end || fs::remove_file(wal::path(&self.wal, first.number)).is_err() {
                return;
            }
            segments.remove(0);
            (self.config.observe)(Step::Dropped);
        }
    }

    fn end(&self, fatal: &Fatal) {
        if self.shared.end(fatal.clone()) {
            (self.config.fatal)(fatal);
        }
    }
}
