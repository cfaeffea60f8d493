//! Tiles and entry bundles: how a tree is cut into immutable files (C2SP tlog-tiles).
//!
//! A tile holds up to 256 neighbouring hashes of one level; levels are eight tree levels apart. A partial tile is a
//! byte prefix of the later full one and a partial bundle an entry-wise prefix, so a server may slice what it has and
//! a client that misses a partial may read the full file instead ([`TileHashes`] does).

use std::fmt;

use crate::merkle::{Hash, HashReader, MAX_SIZE, ProveError, node_hash};

pub mod bundle;

/// Hashes in a full tile and entries in a full bundle.
pub const FULL_WIDTH: u16 = 256;

/// The highest tile level the path grammar allows.
pub const MAX_LEVEL: u8 = 63;

/// Tree levels from one tile level to the next.
const HEIGHT: u8 = 8;

/// What a path names: hashes of a level, or the entries themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Content {
    /// `tile/<L>/...`: hashes of subtrees of 256^L leaves; at most [`MAX_LEVEL`].
    Hashes(u8),
    /// `tile/entries/...`: entry bundles.
    Entries,
}

/// The path of one tile or entry bundle. Exists only in range; prints in the one spelling the grammar has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TilePath {
    content: Content,
    index: u64,
    width: u16,
}

/// The text is not the path of a tile or an entry bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It does not begin with `tile/`.
    #[error("a tile path begins with `tile/`")]
    NotATile,
    /// The level is not `entries` or 0 to 63 without a leading zero.
    #[error("the level is not `entries` or a number from 0 to 63 in shortest form")]
    Level,
    /// The index is not the shortest row of three-digit groups, all but the last marked with `x`, or exceeds 64 bits.
    #[error("the index is not in the shortest form of three-digit groups")]
    Index,
    /// The width after `.p/` is not 1 to 255 without a leading zero.
    #[error("the width of a partial tile is not a number from 1 to 255 in shortest form")]
    Width,
}

impl PathError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotATile => "not_a_tile",
            Self::Level => "tile_level",
            Self::Index => "tile_index",
            Self::Width => "tile_width",
        }
    }
}

impl TilePath {
    /// The tile `index` of `content` as it is in a tree of `size` leaves; `None` when it would be empty.
    pub fn at(content: Content, index: u64, size: u64) -> Option<Self> {
        if matches!(content, Content::Hashes(level) if level > MAX_LEVEL) {
            return None;
        }
        let stored = hashes_at(content, size);
        let first = index.checked_mul(u64::from(FULL_WIDTH))?;
        let width = stored.checked_sub(first)?.min(u64::from(FULL_WIDTH)) as u16;
        (width > 0).then_some(Self { content, index, width })
    }

    /// The full form of tile `index`; a hash level beyond [`MAX_LEVEL`] is read as that level.
    pub fn full_at(content: Content, index: u64) -> Self {
        let content = match content {
            Content::Hashes(level) => Content::Hashes(level.min(MAX_LEVEL)),
            Content::Entries => Content::Entries,
        };
        Self { content, index, width: FULL_WIDTH }
    }

    /// Reads `tile/<L>/<N>[.p/<W>]` or `tile/entries/<N>[.p/<W>]`, without a leading slash.
    pub fn parse(path: &str) -> Result<Self, PathError> {
        let rest = path.strip_prefix("tile/").ok_or(PathError::NotATile)?;
        let (level, rest) = rest.split_once('/').ok_or(PathError::Level)?;
        let content = parse_content(level)?;
        let (index, width) = match rest.split_once(".p/") {
            Some((index, width)) => (index, parse_width(width)?),
            None => (rest, FULL_WIDTH),
        };
        let index = parse_index(index).ok_or(PathError::Index)?;
        Ok(Self { content, index, width })
    }

    /// What the file holds.
    pub fn content(&self) -> Content {
        self.content
    }

    /// The number of the tile within its level.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Hashes or entries in the file: 1 to 256.
    pub fn width(&self) -> u16 {
        self.width
    }

    /// Whether no later tree changes this file.
    pub fn is_full(&self) -> bool {
        self.width == FULL_WIDTH
    }

    /// The full tile this one is a prefix of.
    pub fn full(&self) -> Self {
        Self { width: FULL_WIDTH, ..*self }
    }

    /// Whether a checkpoint of `size` leaves implies this very file or, for a partial, a wider form of it.
    pub fn exists_in(&self, size: u64) -> bool {
        Self::at(self.content, self.index, size).is_some_and(|there| there.width >= self.width)
    }

    /// One past the last leaf the full form of this file covers; `None` beyond 64 bits. Retention compares it with
    /// the log's minimum index.
    pub fn end_leaf(&self) -> Option<u64> {
        let level = match self.content {
            Content::Entries => 0,
            Content::Hashes(level) => level,
        };
        let span = 1u64.checked_shl(u32::from(level + 1) * u32::from(HEIGHT))?;
        self.index.checked_add(1)?.checked_mul(span)
    }
}

/// The right-most bundle and the right-most tile of each level in a tree of `size` leaves, lowest level first.
///
/// Each is partial unless `size` ends exactly there; every file to its left is full.
pub fn edge(size: u64) -> Vec<TilePath> {
    let levels = (0..HEIGHT).map(Content::Hashes);
    let contents = std::iter::once(Content::Entries).chain(levels);
    contents
        .filter_map(|content| {
            let last = hashes_at(content, size).checked_sub(1)? / u64::from(FULL_WIDTH);
            TilePath::at(content, last, size)
        })
        .collect()
}

/// The full files that a tree gains when entry bundle `bundle` is full, lowest level first: the bundle, its tile of
/// hashes, and every tile above that ends there too.
pub fn completed_by(bundle: u64) -> impl Iterator<Item = TilePath> {
    let entries = TilePath::full_at(Content::Entries, bundle);
    let mut next = Some(bundle);
    let tiles = (0..HEIGHT).map_while(move |level| {
        let index = next?;
        next = (index % u64::from(FULL_WIDTH) == u64::from(FULL_WIDTH) - 1).then(|| index / u64::from(FULL_WIDTH));
        Some(TilePath::full_at(Content::Hashes(level), index))
    });
    std::iter::once(entries).chain(tiles)
}

/// How many hashes (or entries) of this kind a tree of `size` leaves has.
fn hashes_at(content: Content, size: u64) -> u64 {
    match content {
        Content::Entries => size,
        Content::Hashes(level) => size.checked_shr(u32::from(level) * u32::from(HEIGHT)).unwrap_or(0),
    }
}

fn parse_content(level: &str) -> Result<Content, PathError> {
    if level == "entries" {
        return Ok(Content::Entries);
    }
    match crate::text::decimal(level) {
        Some(number) if number <= u64::from(MAX_LEVEL) => Ok(Content::Hashes(number as u8)),
        _ => Err(PathError::Level),
    }
}

fn parse_width(width: &str) -> Result<u16, PathError> {
    match crate::text::decimal(width) {
        Some(number @ 1..=255) => Ok(number as u16),
        _ => Err(PathError::Width),
    }
}

/// `x001/x234/067` is 1234067. The first group is never `x000`: that would be a second spelling.
fn parse_index(text: &str) -> Option<u64> {
    if text.starts_with("x000") {
        return None;
    }
    let (groups, last) = text.rsplit_once('/').map_or((None, text), |(groups, last)| (Some(groups), last));
    let mut index = 0u64;
    for group in groups.into_iter().flat_map(|groups| groups.split('/')) {
        index = index.checked_mul(1000)?.checked_add(three_digits(group.strip_prefix('x')?)?)?;
    }
    index.checked_mul(1000)?.checked_add(three_digits(last)?)
}

fn three_digits(text: &str) -> Option<u64> {
    let right = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    right.then(|| text.parse().ok()).flatten()
}

impl fmt::Display for TilePath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.content {
            Content::Entries => out.write_str("tile/entries/")?,
            Content::Hashes(level) => write!(out, "tile/{level}/")?,
        }
        let mut divisor = 1u64;
        while self.index / divisor >= 1000 {
            divisor *= 1000;
        }
        while divisor > 1 {
            write!(out, "x{:03}/", self.index / divisor % 1000)?;
            divisor /= 1000;
        }
        write!(out, "{:03}", self.index % 1000)?;
        if self.is_full() { Ok(()) } else { write!(out, ".p/{}", self.width) }
    }
}

/// The bytes of a hash tile: its hashes one after another, 32 bytes each.
///
/// [`ProveError::OutOfRange`] for an entry bundle or a level no tree reaches.
pub fn tile_bytes<R: HashReader>(reader: &R, path: &TilePath) -> Result<Vec<u8>, ProveError<R::Error>> {
    let Content::Hashes(level @ 0..HEIGHT) = path.content else { return Err(ProveError::OutOfRange) };
    let first = path.index.checked_mul(u64::from(FULL_WIDTH)).ok_or(ProveError::OutOfRange)?;
    let mut bytes = Vec::with_capacity(usize::from(path.width) * 32);
    for offset in 0..u64::from(path.width) {
        let hash = reader.hash(level * HEIGHT, first + offset).map_err(ProveError::Read)?;
        bytes.extend_from_slice(hash.as_bytes());
    }
    Ok(bytes)
}

/// A tree of known size read from its tiles. The source gives a file's bytes, or `None` when the file is not there.
///
/// Nothing is cached and nothing is trusted: a proof made from these hashes is to be verified like any other.
pub struct TileHashes<F> {
    size: u64,
    source: F,
}

/// Why a hash could not be read from tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TileError<E> {
    /// The tree has no such complete subtree.
    #[error("the tree has no such complete subtree")]
    Outside,
    /// Neither the partial tile nor the full one is there.
    #[error("{0} is missing")]
    Missing(TilePath),
    /// The file is shorter or longer than its path says.
    #[error("{0} has the wrong length")]
    WrongLength(TilePath),
    /// The source failed.
    #[error("a tile could not be read")]
    Source(#[source] E),
}

impl<E, F: Fn(&TilePath) -> Result<Option<Vec<u8>>, E>> TileHashes<F> {
    /// Reads the tree of `size` leaves, at most [`MAX_SIZE`], through `source`.
    pub fn new(size: u64, source: F) -> Self {
        Self { size: size.min(MAX_SIZE), source }
    }

    fn read(&self, path: TilePath) -> Result<Vec<u8>, TileError<E>> {
        for candidate in [path, path.full()] {
            if let Some(bytes) = (self.source)(&candidate).map_err(TileError::Source)? {
                let right = bytes.len() == usize::from(candidate.width) * 32;
                return if right { Ok(bytes) } else { Err(TileError::WrongLength(candidate)) };
            }
        }
        Err(TileError::Missing(path))
    }
}

impl<E, F: Fn(&TilePath) -> Result<Option<Vec<u8>>, E>> HashReader for TileHashes<F> {
    type Error = TileError<E>;

    fn hash(&self, level: u8, n: u64) -> Result<Hash, TileError<E>> {
        let (tile_level, rise) = (level / HEIGHT, level % HEIGHT);
        let count = 1u64 << rise;
        let first = n.checked_mul(count).ok_or(TileError::Outside)?;
        let path = TilePath::at(Content::Hashes(tile_level), first / u64::from(FULL_WIDTH), self.size);
        let path = path.ok_or(TileError::Outside)?;
        let start = first % u64::from(FULL_WIDTH);
        if start + count > u64::from(path.width) {
            return Err(TileError::Outside);
        }
        let bytes = self.read(path)?;
        let (hashes, _) = bytes.as_chunks::<32>();
        let run = hashes.iter().skip(start as usize).take(count as usize);
        fold(run.map(|bytes| Hash::from_bytes(*bytes)).collect()).ok_or(TileError::Outside)
    }
}

/// The root over a power of two of hashes.
fn fold(mut row: Vec<Hash>) -> Option<Hash> {
    while row.len() > 1 {
        row = row.as_chunks::<2>().0.iter().map(|[left, right]| node_hash(left, right)).collect();
    }
    row.pop()
}

#[cfg(test)]
mod tests;
