//! Full tiles, entry bundles and the public checkpoint as files under `log/`, in the layout the read API serves.
//!
//! The default: one process writes, and nothing else is needed. The other place is [`super::bucket`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use countersign_tlog::sequencer::tiles::{Tiles, TilesError};
use countersign_tlog::tile::TilePath;

use crate::files::{Readers, public_dir, replace, sync_parent};

/// Tiles in a folder.
#[derive(Clone, Debug)]
pub struct DirTiles {
    dir: PathBuf,
}

impl DirTiles {
    /// Tiles below `dir`.
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    fn read(path: &Path) -> Result<Option<Vec<u8>>, TilesError> {
        match fs::read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unavailable(path, &error)),
        }
    }

    /// Makes the folders on the way, each durable before something is put into it.
    fn folders(&self, path: &Path) -> io::Result<()> {
        let mut missing: Vec<&Path> = path.ancestors().skip(1).take_while(|folder| !folder.exists()).collect();
        while let Some(folder) = missing.pop() {
            match public_dir(folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => sync_parent(folder)?,
            }
        }
        Ok(())
    }
}

impl Tiles for DirTiles {
    fn put(&self, path: &TilePath, bytes: &[u8]) -> Result<(), TilesError> {
        let file = self.dir.join(path.to_string());
        match Self::read(&file)? {
            Some(there) if there == bytes => return Ok(()),
            Some(_) => return Err(TilesError::Conflict(*path)),
            None => {}
        }
        self.folders(&file)
            .and_then(|()| replace(&file, bytes, Readers::AllForGood))
            .map_err(|error| unavailable(&file, &error))
    }

    fn get(&self, path: &TilePath) -> Result<Option<Vec<u8>>, TilesError> {
        Self::read(&self.dir.join(path.to_string()))
    }

    fn holds(&self, path: &TilePath) -> Result<bool, TilesError> {
        let file = self.dir.join(path.to_string());
        match fs::metadata(&file) {
            Ok(there) => Ok(there.is_file()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(unavailable(&file, &error)),
        }
    }

    fn publish(&self, checkpoint: &[u8]) -> Result<(), TilesError> {
        let file = self.dir.join("checkpoint");
        replace(&file, checkpoint, Readers::All).map_err(|error| unavailable(&file, &error))
    }

    fn published(&self) -> Result<Option<Vec<u8>>, TilesError> {
        Self::read(&self.dir.join("checkpoint"))
    }
}

fn unavailable(path: &Path, error: &io::Error) -> TilesError {
    TilesError::Unavailable(format!("{}: {error}", path.display()))
}
