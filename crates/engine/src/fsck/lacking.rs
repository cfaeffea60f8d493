//! What a storage lacks of a log that has put it there, and where a copy of it still is.

use std::fmt;

use countersign_tlog::sequencer::Written;
use countersign_tlog::sequencer::tiles::{Tiles, TilesError};
use countersign_tlog::tile::{TilePath, completed_by};

/// How many files are named. An empty bucket lacks thousands, and is not asked for all of them.
const NAMED: usize = 8;

/// The first files that are lacking, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking {
    files: Vec<(TilePath, Copy)>,
    rest: Rest,
}

/// Where a file still is that the storage lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copy {
    /// In the folder that the storage reads too, since the log began there.
    Folder,
    /// In write-ahead segments, which a start stores again.
    Segments,
    /// In neither.
    Nowhere,
}

/// Whether all that is lacking is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Named,
    More,
}

impl Lacking {
    /// Looks for every file that was stored, until enough are found that are not there. None when all are.
    pub(super) fn list(tiles: &dyn Tiles, written: &Written) -> Result<Option<Self>, TilesError> {
        let mut files = Vec::new();
        for path in (0..written.stored / 256).flat_map(completed_by) {
            if tiles.holds(&path)? {
                continue;
            }
            if files.len() == NAMED {
                return Ok(Some(Self { files, rest: Rest::More }));
            }
            files.push((path, Copy::of(&path, tiles, written)?));
        }
        Ok((!files.is_empty()).then_some(Self { files, rest: Rest::Named }))
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        let any = |copy: Copy| self.files.iter().any(|(_, there)| *there == copy);
        if any(Copy::Nowhere) {
            "name the bucket that holds them with `--tiles`, or put them back from a copy; receipts already given still show \
             what was logged"
        } else if any(Copy::Folder) {
            "copy `log/tile/` of the data directory to that place, and keep the folder until this says `whole`"
        } else {
            "start the log, as with `countersign log serve`: it stores again what its segments hold"
        }
    }
}

impl Copy {
    fn of(path: &TilePath, tiles: &dyn Tiles, written: &Written) -> Result<Self, TilesError> {
        Ok(match (tiles.get(path)?, written.tile(path)) {
            (Some(_), _) => Self::Folder,
            (None, Some(_)) => Self::Segments,
            (None, None) => Self::Nowhere,
        })
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Folder => "only in the data directory's log/tile/",
            Self::Segments => "only in write-ahead segments",
            Self::Nowhere => "in no write-ahead segment either",
        }
    }
}

impl fmt::Display for Lacking {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the tile storage lacks what the log has stored: ")?;
        for (n, (path, copy)) in self.files.iter().enumerate() {
            let between = if n == 0 { "" } else { "; " };
            write!(out, "{between}{path}, {}", copy.words())?;
        }
        if self.rest == Rest::More { out.write_str("; and more") } else { Ok(()) }
    }
}
