//! Watching a log from outside: that it only grows, that what it adds is what its root says, and that its entries keep
//! the rules of leaves.
//!
//! A monitor trusts its own memory and nothing it is served. The subtrees under the checkpoint of last time are read
//! from tiles and must give that checkpoint's root; the new entries are hashed onto them and must give the new root.
//! That proves consistency and inclusion of every new entry at once, and costs one reading of what is new. A look that is
//! cut short is taken up where it was: what was read gave a root, and the tiles must still give it.

mod leaves;
mod memory;
mod shown;
mod source;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use countersign_core::time::Timestamp;
use countersign_tlog::checkpoint::Checkpoint;
use countersign_tlog::merkle::{
    Hash, HashReader, ProveError, consistency_proof, empty_root, leaf_hash, verify_consistency,
};
use countersign_tlog::range::Range;
use countersign_tlog::tile::bundle::{self, BundleError};
use countersign_tlog::tile::{Content, TileError, TileHashes, TilePath};

pub use leaves::BadLeaf;
pub use memory::{Memory, MemoryError};
pub use shown::Cosigned;
pub use source::{Source, Unreachable};

use crate::receipt::{Demands, Refusal, RefusalKind, Signed};
use leaves::Leaves;
use memory::{Last, Progress};
use shown::Shown;

const WIDTH: u64 = 256;

/// What was proved.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The newest checkpoint and who signed it.
    pub signed: Signed,
    /// The newest one that witnesses of the policy have cosigned, if any: the newest continues it.
    pub cosigned: Option<Cosigned>,
    /// The size up to which the log was verified before; none the first time.
    pub before: Option<u64>,
    /// How many entries of each kind are new.
    pub kinds: BTreeMap<String, u64>,
    /// New entries of kinds that this version does not know.
    pub unknown: u64,
}

/// What was found instead.
#[derive(Debug, thiserror::Error)]
pub enum Finding {
    /// The log does not show a checkpoint.
    #[error("the log shows no checkpoint")]
    NoCheckpoint,
    /// The checkpoint is not accepted.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It is of another log than the one watched.
    #[error("the checkpoint is of the log {found}, and {watched} is watched")]
    OtherLog {
        /// The log that answered.
        found: String,
        /// The log in the monitor's memory.
        watched: String,
    },
    /// A smaller log, signed before the one that was seen: an old answer.
    #[error("the log shows size {shown}, older than size {known} which was verified before")]
    Older {
        /// What it shows.
        shown: u64,
        /// What was seen.
        known: u64,
    },
    /// A smaller log, signed after the one that was seen.
    #[error("the log has shrunk: it signed size {shown} after it had signed size {known}")]
    Shrunk {
        /// What it shows.
        shown: u64,
        /// What was seen.
        known: u64,
    },
    /// Two roots for one size.
    #[error("the log has two histories: another root for size {0} was verified before")]
    Forked(u64),
    /// The tiles do not give the root that was seen.
    #[error("the log has rewritten its past: its tiles do not give the root of size {0} that was verified before")]
    Rewritten(u64),
    /// The new root commits to another history than witnesses have cosigned.
    #[error("the log has two histories: its witnesses have cosigned another root for size {0}")]
    Split(u64),
    /// The tiles give neither a root that was seen nor the new one, so it is the files that are wrong.
    #[error("the log's tiles do not give the root of size {0}, and not the root that it signed now either")]
    OtherTiles(u64),
    /// The entries do not give the new root.
    #[error("the log's entries do not give the root that it signed for size {0}")]
    OtherEntries(u64),
    /// A tile is not what the entries give.
    #[error("{0} is not what the entries give")]
    Tile(TilePath),
    /// An entry breaks a rule.
    #[error("entry {index}: {why}")]
    Leaf {
        /// Which.
        index: u64,
        /// The rule.
        why: BadLeaf,
    },
    /// A file of the log that the checkpoint implies is not there.
    #[error("{0} is missing")]
    Missing(TilePath),
    /// A file of the log does not read.
    #[error("{0} does not read: {1}")]
    Unreadable(TilePath, BundleError),
    /// The log could not be reached.
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    /// The monitor's own memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Finding {
    /// A stable word for the caller.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoCheckpoint => "log_no_checkpoint",
            Self::Refused(refusal) => refusal.code(),
            Self::OtherLog { .. } => "log_other",
            Self::Older { .. } => "log_older",
            Self::Shrunk { .. } => "log_shrunk",
            Self::Forked(_) => "log_forked",
            Self::Rewritten(_) => "log_rewritten",
            Self::Split(_) => "log_split",
            Self::OtherTiles(_) => "log_other_tiles",
            Self::OtherEntries(_) => "log_other_entries",
            Self::Tile(_) => "log_tile",
            Self::Leaf { why, .. } => why.code(),
            Self::Missing(_) => "log_file_missing",
            Self::Unreadable(..) => "log_bundle",
            Self::Unreachable(error) => error.code(),
            Self::Memory(error) => error.code(),
        }
    }

    /// What to make of it, in the words of a refused receipt.
    pub fn kind(&self) -> RefusalKind {
        match self {
            Self::Refused(refusal) => refusal.kind(),
            Self::OtherLog { .. } => RefusalKind::Trust,
            Self::NoCheckpoint | Self::Older { .. } | Self::Missing(_) | Self::Unreachable(_) => RefusalKind::Stale,
            Self::Memory(error) => error.kind(),
            _ => RefusalKind::Invalid,
        }
    }

    /// Whether the log itself signed what contradicts what it signed before: the two checkpoints together convict it.
    pub fn convicts(&self) -> bool {
        matches!(self, Self::Shrunk { .. } | Self::Forked(_) | Self::Rewritten(_) | Self::Split(_))
    }
}

/// Looks at a log once. Blocks; `memory` is this look's alone, and moves on only when everything held.
///
/// # Errors
/// [`Finding`], the first one.
pub fn watch(source: &Source, demands: &Demands<'_>, memory: &Memory) -> Result<Watched, Finding> {
    // 1. What we saw last, and what is shown now. Signatures and age before anything is made of it.
    let _alone = memory.lock()?;
    let last = memory.last(demands.policy)?;
    let shown = Shown::read(source, demands)?;
    let signed = &shown.newest;

    // 2. The past: the tiles give the roots that we and the witnesses saw, or the log told two stories.
    let grown = compare(last.as_ref(), signed)
        .and_then(|()| follow(source, last.as_ref(), signed, memory))
        .and_then(|leaves| Ok((leaves, cosigned(source, &shown)?)));
    if let Err(finding) = &grown
        && finding.convicts()
    {
        memory.keep_evidence(&shown.note, matches!(finding, Finding::Split(_)).then_some(&shown.cosigned_note))?;
    }
    let (leaves, cosigned) = grown?;

    // 3. Only now is this what we saw last.
    memory.save(leaves.first, &leaves.new, &shown.note)?;
    let before = last.map(|last| last.size());
    Ok(Watched { signed: shown.newest, cosigned, before, kinds: leaves.kinds, unknown: leaves.unknown })
}

/// Shows that the newest checkpoint continues the cosigned one.
fn cosigned(source: &Source, shown: &Shown) -> Result<Option<Cosigned>, Finding> {
    let Some(signed) = &shown.cosigned else { return Ok(None) };
    let (old, new) = (&signed.checkpoint, &shown.newest.checkpoint);
    let tiles = TileHashes::new(new.size, |path: &TilePath| source.file(&path.to_string()));
    match committed(&tiles, old.size, new).map_err(|error| tile_finding(error, old.size))? {
        Some(root) if root == old.root => Ok(Some(Cosigned { signed: signed.clone(), lag: new.size - old.size })),
        Some(_) => Err(Finding::Split(old.size)),
        None => Err(Finding::OtherTiles(old.size)),
    }
}

/// The root at `size` that `new` commits to, shown by tiles; `None` when they show nothing. A log is convicted by what
/// it signed alone: tiles that give neither root may have been spoilt on the way.
fn committed<R: HashReader>(tiles: &R, size: u64, new: &Checkpoint) -> Result<Option<Hash>, ProveError<R::Error>> {
    if size == 0 || size == new.size {
        return Ok(Some(if size == 0 { empty_root() } else { new.root }));
    }
    let root = Range::read(tiles, size)?.root();
    let proof = consistency_proof(tiles, size, new.size)?;
    Ok(verify_consistency(size, new.size, &proof, &root, &new.root).is_ok().then_some(root))
}

/// What two checkpoints say by themselves.
fn compare(last: Option<&Last>, now: &Signed) -> Result<(), Finding> {
    let Some(last) = last else { return Ok(()) };
    let (old, new) = (&last.checkpoint, &now.checkpoint);
    if old.origin != new.origin {
        return Err(Finding::OtherLog { found: new.origin.to_string(), watched: old.origin.to_string() });
    }
    if new.size < old.size {
        let (shown, known) = (new.size, old.size);
        let later = log_time(now).zip(last.signed_at).is_some_and(|(now, then)| now > then);
        return Err(if later { Finding::Shrunk { shown, known } } else { Finding::Older { shown, known } });
    }
    if new.size == old.size && new.root != old.root {
        return Err(Finding::Forked(old.size));
    }
    Ok(())
}

/// When the log itself signed.
fn log_time(signed: &Signed) -> Option<Timestamp> {
    signed.log.iter().filter_map(|one| one.at).max()
}

/// Reads the old tree's subtrees and the new entries, and holds both against the signed roots.
fn follow(source: &Source, last: Option<&Last>, now: &Signed, memory: &Memory) -> Result<Leaves, Finding> {
    let nothing = Checkpoint::new(now.checkpoint.origin.clone(), 0, countersign_tlog::merkle::empty_root());
    let old = last.map_or(&nothing, |last| &last.checkpoint);
    let new = &now.checkpoint;
    let tiles = TileHashes::new(new.size, |path: &TilePath| source.file(&path.to_string()));
    let (mut range, mut leaves) = match taken_up(&tiles, old.size, new.size, memory)? {
        Some(begun) => begun,
        None => begin(&tiles, old, new, memory)?,
    };
    for number in range.size() / WIDTH..new.size.div_ceil(WIDTH) {
        add_bundle(source, new.size, number, &mut range, &mut leaves)?;
        if leaves.new.len() >= memory.every && range.size() < new.size {
            memory.save_progress(&Progress::of(old.size, &range, &leaves), &mut leaves)?;
        }
    }
    if range.root() == new.root {
        return Ok(leaves);
    }
    memory.drop_progress()?;
    Err(Finding::OtherEntries(new.size))
}

/// Behind the remembered checkpoint, whose root the tiles must give.
fn begin<R>(tiles: &R, old: &Checkpoint, new: &Checkpoint, memory: &Memory) -> Result<(Range, Leaves), Finding>
where
    R: HashReader<Error = TileError<Unreachable>>,
{
    let range = Range::read(tiles, old.size).map_err(|error| tile_finding(error, old.size))?;
    if range.root() != old.root {
        let told = committed(tiles, old.size, new).map_err(|error| tile_finding(error, old.size))?;
        return Err(if told.is_some() { Finding::Rewritten } else { Finding::OtherTiles }(old.size));
    }
    Ok((range, Leaves::after(old.size, memory.commitments(old.size)?)))
}

/// Where an earlier look has stopped, which began behind the same checkpoint. The root it had there continues that
/// checkpoint; tiles that do not give it are of another history, or are spoilt, and then it counts for nothing.
fn taken_up<R>(tiles: &R, old: u64, new: u64, memory: &Memory) -> Result<Option<(Range, Leaves)>, Finding>
where
    R: HashReader<Error = TileError<Unreachable>>,
{
    let Some(progress) = memory.progress(old).filter(|progress| progress.size <= new) else { return Ok(None) };
    let range = match Range::read(tiles, progress.size) {
        Ok(range) if range.root() == progress.root => range,
        Err(ProveError::Read(TileError::Source(error))) => return Err(error.into()),
        Ok(_) | Err(_) => return Ok(None),
    };
    let seen = memory.commitments(progress.size).ok();
    Ok(seen.map(|seen| (range, progress.leaves(seen))))
}

/// Hashes the new entries of one bundle, and holds the tile above them against all of its entries.
fn add_bundle(source: &Source, size: u64, number: u64, range: &mut Range, leaves: &mut Leaves) -> Result<(), Finding> {
    // The loop counts bundles that the size implies, so the path exists; a full one stands in for type's sake.
    let path = |content| TilePath::at(content, number, size).unwrap_or_else(|| TilePath::full_at(content, number));
    let (bundle, tile) = (path(Content::Entries), path(Content::Hashes(0)));
    let bytes = read(source, &bundle)?;
    let bytes = bundle::prefix(&bytes, bundle.width()).unwrap_or(&bytes);
    let entries = bundle::decode(bytes, bundle.width()).map_err(|error| Finding::Unreadable(bundle, error))?;
    let mut hashes = Vec::with_capacity(entries.len() * 32);
    for (entry, index) in entries.iter().zip(number * WIDTH..) {
        let hash = leaf_hash(entry);
        hashes.extend_from_slice(hash.as_bytes());
        if index >= range.size() {
            range.push(hash);
            leaves.add(entry).map_err(|why| Finding::Leaf { index, why })?;
        }
    }
    if read(source, &tile)?.get(..hashes.len()) == Some(hashes.as_slice()) { Ok(()) } else { Err(Finding::Tile(tile)) }
}

/// A file, partial or full.
fn read(source: &Source, path: &TilePath) -> Result<Vec<u8>, Finding> {
    if let Some(bytes) = source.file(&path.to_string())? {
        return Ok(bytes);
    }
    source.file(&path.full().to_string())?.ok_or(Finding::Missing(*path))
}

fn tile_finding(error: ProveError<TileError<Unreachable>>, size: u64) -> Finding {
    match error {
        ProveError::Read(TileError::Source(error)) => error.into(),
        ProveError::Read(TileError::Missing(path)) => Finding::Missing(path),
        ProveError::Read(TileError::WrongLength(path)) => Finding::Tile(path),
        // Nothing the log has signed: tiles that end too early convict nobody.
        ProveError::Read(TileError::Outside) | ProveError::OutOfRange => Finding::OtherTiles(size),
    }
}
