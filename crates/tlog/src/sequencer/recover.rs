//! How a log starts: from its segments alone, and only if nobody remembers more of it than they do.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::TryLockError;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::batch::{Marked, Sequencer};
use super::disk::{Disk, at, private, private_dir};
use super::edge::Edge;
use super::home::{self, Lock, Mark, Marks, Run};
use super::keeper::Keeper;
use super::records::{PUBLIC, read_public, read_record};
use super::shared::{Live, SegmentStart, Shared};
use super::tiles::Tiles;
use super::tree::{Cache, Tree};
use super::wal::header::{Header, origin_hash};
use super::wal::record::{Commit, Entry};
use super::wal::{self, BeginError, Contents, Damage, Segment, Tail};
use super::{Clock, Config, Head, InitError, Keys, OpenError, ReadError, Seen};
use crate::checkpoint::Origin;
use crate::merkle::{Hash, ProveError, empty_root, leaf_hash, root};
use crate::policy::is_ahead;
use crate::tile::{Content, FULL_WIDTH, TilePath};

const WIDTH: u64 = FULL_WIDTH as u64;

pub(super) fn init(dir: &Path, origin: &Origin, disk: &Arc<dyn Disk>) -> Result<(), InitError> {
    let wal = dir.join("wal");
    private_dir(&wal).map_err(at(&wal))?;
    let path = dir.join("lock");
    let file = private().create(true).truncate(false).open(&path).map_err(at(&path))?;
    // Two processes may arrive here together: one of them makes the log. The other is told and not made to wait, since
    // whoever has the lock may keep it for as long as it runs.
    let _lock = home::Lock::alone(file).map_err(|refused| match refused {
        TryLockError::WouldBlock => InitError::Held(dir.to_owned()),
        TryLockError::Error(error) => error.into(),
    })?;
    if dir.join("identity").exists() {
        return Err(InitError::Exists(dir.to_owned()));
    }
    let header = Header {
        origin: origin_hash(origin),
        number: 1,
        size: 0,
        root: empty_root(),
        time: 0,
        rows: vec![Vec::new(); 8],
    };
    Segment::begin(disk, &wal, &header, &[], 64 << 10).map_err(|error| match error {
        BeginError::Clean(error) | BeginError::InDoubt(error) => error,
    })?;
    // The identity comes last: without it the directory holds no log, and making it can begin again.
    Ok(home::write_identity(dir, origin)?)
}

/// What the segments say.
pub(super) struct Replayed {
    pub(super) live: Live,
    pub(super) size: u64,
    pub(super) root: Hash,
    time: u64,
    known: HashMap<[u8; 32], u64>,
    order: VecDeque<(u64, [u8; 32])>,
    /// Where the first segment begins.
    first: u64,
    /// Leaves below this are in stored bundles, by the rule under which segments are dropped.
    pub(super) stored: u64,
}

/// Reads the segments in `dir` and changes nothing.
pub(super) fn written(dir: &Path, origin: &Origin) -> Result<Replayed, OpenError> {
    replay(dir, origin).map(|(replayed, ..)| replayed)
}

/// A log that may start.
pub(super) struct Start {
    lock: Lock,
    replayed: Replayed,
    segments: Vec<SegmentStart>,
    segment: Segment,
    marked: Marked,
    head: Arc<Head>,
}

/// A log with its threads to be.
pub(super) struct Recovered {
    pub(super) lock: Lock,
    pub(super) shared: Arc<Shared>,
    pub(super) sequencer: Sequencer,
    pub(super) keeper: Keeper,
}

pub(super) fn open(
    dir: &Path,
    config: &Config,
    keys: &Keys,
    clock: &Clock,
    tiles: &Arc<dyn Tiles>,
) -> Result<Start, OpenError> {
    let lock = home::lock(dir)?;
    if !dir.join("identity").exists() {
        return Err(OpenError::Missing(dir.to_owned()));
    }
    home::check_identity(dir, keys.origin())?;

    // What is written: every committed batch, in order.
    let wal_dir = dir.join("wal");
    wal::remove_unfinished(&wal_dir)?;
    let (mut replayed, segments, last, tail) = replay(&wal_dir, keys.origin())?;

    // What is remembered: nobody may know a size we do not have, or another root for one we have.
    let (mut files, mark) = marks(dir, config, keys.origin())?;
    let cache = Cache::default();
    let tree = Tree { edge: &replayed.live.edge, tiles: &**tiles, cache: &cache };
    for (by, mark) in &mark {
        guard(&tree, replayed.size, by, mark.size, mark.root)?;
    }
    for seen in &config.seen {
        guard_seen(&tree, replayed.size, keys, seen)?;
    }
    let published = tiles.published()?;
    let public = read_public(keys, published.as_deref(), &mark)?;
    if let Some(public) = &public {
        guard(&tree, replayed.size, PUBLIC, public.size, public.root)?;
    }

    // When: a time that readers would refuse is not signed again. After it, nothing was written yet.
    let signed = mark.iter().map(|(_, mark)| mark.time).max().unwrap_or(0).max(replayed.time);
    let now = clock();
    if is_ahead(signed, now) {
        return Err(OpenError::ClockBehind { signed, now });
    }

    // Every batch but the last was followed by another, so its sync had succeeded. The last may stand in the page
    // cache only: unless the log was closed in good order, its segment is written anew before anything rests on it.
    let own = mark.first().map(|(_, mark)| *mark);
    let settled =
        matches!(tail, Tail::Clean(_)) && own.is_some_and(|m| m.run == Run::Closed && m.size == replayed.size);
    let segment = match (settled, tail) {
        (true, Tail::Clean(end)) => Segment::resume(&wal_dir, last.header.number, end as u64)?,
        (_, Tail::Clean(end) | Tail::Torn(end)) => renew(config, &wal_dir, &last, end)?,
    };

    let time = signed.max(now).max(1);
    (config.before_signing)()?;
    let head = keys.sign(replayed.size, replayed.root, time).map_err(|fatal| OpenError::Damaged(fatal.to_string()))?;
    replayed.stored = replayed.stored.max(own.map_or(0, |mark| mark.stored_of(replayed.size)));
    same_storage(&**tiles, &replayed)?;
    let now = Mark { size: replayed.size, root: replayed.root, time, stored: replayed.stored, run: Run::Open };
    files.iter_mut().try_for_each(|file| file.write(&now))?;
    Ok(Start { lock, replayed, segments, segment, marked: Marked { files, last: now }, head })
}

impl Start {
    pub(super) fn build(
        self,
        dir: &Path,
        config: Config,
        keys: Keys,
        clock: Clock,
        tiles: Arc<dyn Tiles>,
    ) -> Recovered {
        let Self { lock, mut replayed, segments, segment, marked, head } = self;
        // What the mark calls stored may be gone by now. As long as segments hold it, that can be made good.
        let unseen = replayed.first / WIDTH..replayed.stored / WIDTH;
        let waiting = replayed.live.bundles.split_off(&unseen.end);
        let held = std::mem::replace(&mut replayed.live.bundles, waiting);
        let wal: PathBuf = dir.join("wal");
        let number = segments.last().map_or(1, |segment| segment.number);
        let shared = Arc::new(Shared::new(keys, tiles, replayed.live, segments, head, replayed.stored));
        // Nothing is public yet of what this start has signed: without a new leaf too, readers are to see its time.
        let public = None;
        let keeper =
            Keeper { config: config.clone(), shared: Arc::clone(&shared), wal: wal.clone(), public, unseen, held };
        let (known, order) = (replayed.known, replayed.order);
        let sequencer =
            Sequencer { config, clock, shared: Arc::clone(&shared), wal, segment, number, marked, known, order };
        Recovered { lock, shared, sequencer, keeper }
    }
}

impl From<Damage> for OpenError {
    fn from(damage: Damage) -> Self {
        Self::Damaged(match damage {
            Damage::Header => "the head of a write-ahead segment does not read".into(),
            Damage::Record(at) => {
                format!("a write-ahead record at byte {at} does not read, and a later batch follows it")
            }
        })
    }
}

fn damaged(what: &str, number: u64) -> OpenError {
    OpenError::Damaged(format!("write-ahead segment {number}: {what}"))
}

/// Refuses a storage that does not answer, or lacks what this log has stored and no segment holds: without its tiles the
/// past could not be shown. Looked at are the newest bundle of all, and the newest that could not be stored again.
fn same_storage(tiles: &dyn Tiles, replayed: &Replayed) -> Result<(), OpenError> {
    for end in [replayed.stored / WIDTH, replayed.first.div_ceil(WIDTH)] {
        let Some(last) = end.checked_sub(1) else { continue };
        let path = TilePath::full_at(Content::Entries, last);
        if tiles.get(&path)?.is_none() && !replayed.live.bundles.contains_key(&last) {
            return Err(OpenError::Lacking(path));
        }
    }
    Ok(())
}

type Replay = (Replayed, Vec<SegmentStart>, Contents, Tail);

fn replay(dir: &Path, origin: &Origin) -> Result<Replay, OpenError> {
    let mut so_far: Option<Replayed> = None;
    let mut segments = Vec::new();
    let mut last = None;
    for number in wal::list(dir)? {
        if matches!(last, Some((_, Tail::Torn(_)))) {
            return Err(damaged("it follows one with a broken end", number));
        }
        let contents = Contents::read(dir, number)??;
        let mut state = match so_far.take() {
            None => begin(&contents.header, origin)?,
            Some(state) => state,
        };
        let header = &contents.header;
        if header.origin != origin_hash(origin) || (header.size, header.root) != (state.size, state.root) {
            return Err(damaged("it does not follow the one before", number));
        }
        let tail = contents.batches(|entries, commit| state.apply(entries, commit))?;
        segments.push(SegmentStart::from(header));
        so_far = Some(state);
        last = Some((contents, tail));
    }
    let (Some(state), Some((contents, tail))) = (so_far, last) else {
        return Err(OpenError::Damaged("there is no write-ahead segment".into()));
    };
    state.check_root()?;
    Ok((state, segments, contents, tail))
}

/// The state at the beginning of the first segment, whose rows must give its root.
fn begin(header: &Header, origin: &Origin) -> Result<Replayed, OpenError> {
    if header.origin != origin_hash(origin) {
        return Err(damaged("it belongs to another log", header.number));
    }
    let edge = Edge::restore(header.size, &header.rows).ok_or_else(|| damaged("its rows are wrong", header.number))?;
    let state = Replayed {
        live: Live { edge, bundles: BTreeMap::new() },
        size: header.size,
        root: header.root,
        time: header.time,
        known: HashMap::new(),
        order: VecDeque::new(),
        first: header.size,
        stored: header.size.div_ceil(WIDTH) * WIDTH,
    };
    state.check_root()?;
    Ok(state)
}

impl Replayed {
    fn apply(&mut self, entries: &[Entry<'_>], commit: &Commit) -> Result<(), OpenError> {
        let continues = commit.before == self.root && commit.size == self.size + entries.len() as u64;
        if !continues || entries.iter().zip(self.size..).any(|(entry, index)| entry.index != index) {
            return Err(OpenError::Damaged(format!("the batch behind leaf {} does not follow", self.size)));
        }
        for entry in entries {
            self.live.edge.push(leaf_hash(entry.leaf));
            // A bundle that the first segment begins inside of is stored already.
            if entry.index >= self.stored {
                self.live.bundles.entry(entry.index / WIDTH).or_default().push(entry.leaf.into());
            }
            self.known.insert(entry.key, entry.index);
            self.order.push_back((entry.index, entry.key));
        }
        (self.size, self.root, self.time) = (commit.size, commit.root, commit.time.max(self.time));
        Ok(())
    }

    /// Every root in between is behind this one: commits name the root before them, and the last covers all leaves.
    fn check_root(&self) -> Result<(), OpenError> {
        let no_tiles = super::tiles::MemoryTiles::default();
        let tree = Tree { edge: &self.live.edge, tiles: &no_tiles, cache: &Cache::default() };
        match root(&tree, self.size) {
            Ok(root) if root == self.root => Ok(()),
            _ => Err(OpenError::Damaged(format!("the leaves do not give the root at {}", self.size))),
        }
    }
}

type Remembered = (Vec<Marks>, Vec<(String, Mark)>);

/// The log's own head first, then the second record.
fn marks(dir: &Path, config: &Config, origin: &Origin) -> Result<Remembered, OpenError> {
    let own = dir.join("head");
    let (mut files, mut found) = (Vec::new(), Vec::new());
    for path in std::iter::once(&own).chain(&config.second_record) {
        let (file, mark) = Marks::open(&config.disk, path, origin).map_err(|error| match error {
            Some(error) => OpenError::Io(error),
            None => OpenError::Record(path.display().to_string()),
        })?;
        found.extend(mark.map(|mark| (file.path().display().to_string(), mark)));
        files.push(file);
    }
    Ok((files, found))
}

/// Refuses when what somebody knows is ahead of the log or another history. The word of a witness is enough, though it
/// has not signed it: the operator chose whom to ask, and a log that does not start has not lost anything.
fn guard_seen(tree: &Tree<'_>, ours: u64, keys: &Keys, seen: &Seen) -> Result<(), OpenError> {
    match seen {
        Seen::Checkpoint { by, note } => {
            let checkpoint = read_record(keys, by, note)?;
            guard(tree, ours, by, checkpoint.size, checkpoint.root)
        }
        Seen::Size { by, size } if *size > ours => Err(OpenError::Behind { by: by.clone(), ours, theirs: *size }),
        Seen::Size { .. } => Ok(()),
        Seen::OtherHistory { by, size } => Err(OpenError::Forked { by: by.clone(), size: *size }),
    }
}

/// Refuses when a record is ahead of the log or on another history.
fn guard(tree: &Tree<'_>, ours: u64, by: &str, theirs: u64, their_root: Hash) -> Result<(), OpenError> {
    if theirs > ours {
        return Err(OpenError::Behind { by: by.to_owned(), ours, theirs });
    }
    match root(tree, theirs) {
        Ok(root) if root == their_root => Ok(()),
        Ok(_) => Err(OpenError::Forked { by: by.to_owned(), size: theirs }),
        Err(error) => Err(unread(theirs, error)),
    }
}

/// A storage that is away, or is another one, says nothing about the log: only what it holds and the tree has not is damage.
fn unread(size: u64, error: ProveError<ReadError>) -> OpenError {
    match error {
        ProveError::Read(ReadError::Tiles(error)) => OpenError::Tiles(error),
        ProveError::Read(ReadError::Missing(path)) => OpenError::Lacking(path),
        ProveError::Read(ReadError::Damaged(path)) => {
            OpenError::Damaged(format!("{path} is not what the tree has there"))
        }
        ProveError::Read(ReadError::Outside) | ProveError::OutOfRange => {
            OpenError::Damaged(format!("the leaves do not reach the root at {size}"))
        }
    }
}

/// Writes the last segment anew up to its last commit.
fn renew(config: &Config, dir: &Path, last: &Contents, end: usize) -> Result<Segment, OpenError> {
    let records = last.records(end);
    let room = config.segment_bytes.saturating_sub(records.len() as u64);
    Segment::begin(&config.disk, dir, &last.header, records, room).map_err(|error| match error {
        BeginError::Clean(error) | BeginError::InDoubt(error) => OpenError::Io(error),
    })
}
