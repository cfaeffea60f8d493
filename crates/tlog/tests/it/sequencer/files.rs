//! Tiles in a directory, for tests in which a process dies and another goes on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use countersign_tlog::sequencer::tiles::{Tiles, TilesError};
use countersign_tlog::tile::TilePath;

pub(crate) struct DirTiles {
    dir: PathBuf,
    one_writer: Mutex<()>,
}

impl DirTiles {
    pub(crate) fn new(dir: &Path) -> Self {
        fs::create_dir_all(dir).unwrap();
        Self { dir: dir.to_owned(), one_writer: Mutex::new(()) }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let _one = self.one_writer.lock().unwrap();
        let path = self.dir.join(name);
        fs::create_dir_all(path.parent().unwrap())?;
        let temporary = self.dir.join("new");
        fs::write(&temporary, bytes)?;
        fs::rename(temporary, path)
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, TilesError> {
        match fs::read(self.dir.join(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(TilesError::Unavailable(error.to_string())),
        }
    }
}

impl Tiles for DirTiles {
    fn put(&self, path: &TilePath, bytes: &[u8]) -> Result<(), TilesError> {
        match self.read(&path.to_string())? {
            Some(there) if there == bytes => Ok(()),
            Some(_) => Err(TilesError::Conflict(*path)),
            None => self.write(&path.to_string(), bytes).map_err(|error| TilesError::Unavailable(error.to_string())),
        }
    }

    fn get(&self, path: &TilePath) -> Result<Option<Vec<u8>>, TilesError> {
        self.read(&path.to_string())
    }

    fn publish(&self, checkpoint: &[u8]) -> Result<(), TilesError> {
        self.write("checkpoint", checkpoint).map_err(|error| TilesError::Unavailable(error.to_string()))
    }

    fn published(&self) -> Result<Option<Vec<u8>>, TilesError> {
        self.read("checkpoint")
    }
}
