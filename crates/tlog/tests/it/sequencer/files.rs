//! Tiles in a directory, each durable when it is put, for tests in which a process dies and another goes on, and for
//! measurements.

use std::fs::{self, File};
use std::io::{self, Write as _};
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
        let folder = path.parent().unwrap();
        fs::create_dir_all(folder)?;
        let temporary = self.dir.join("new");
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(temporary, &path)?;
        File::open(folder)?.sync_all()
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
