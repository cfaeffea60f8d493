//! Where a watched log's files come from: its read API, or a folder in the same layout.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use countersign_probe::configured::{Call, ConfiguredUrl, Services};
use countersign_tlog::sequencer::Written;
use countersign_tlog::tile::TilePath;
use tokio::runtime::Handle;

use crate::env::Env;

/// A place to read a log from. Nothing it gives is believed before it is proved.
pub enum Source {
    /// A mirror on disk.
    Folder(PathBuf),
    /// A log's own folder, whose partial tiles exist in its write-ahead segments only.
    LogFolder(PathBuf, OnceLock<Result<Written, Unreachable>>),
    /// A read API.
    Api {
        /// The door it is reached through.
        services: Arc<Services>,
        /// What `checkpoint` and `tile/…` are below of.
        base: ConfiguredUrl,
        /// Where requests run while the monitor waits.
        runtime: Handle,
        /// The clock certificates are judged by.
        env: Arc<Env>,
    },
}

/// A file could not be had, which says nothing of whether it exists.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreachable(String);

impl Source {
    /// A folder: of a log itself, or a mirror.
    pub fn folder(path: PathBuf) -> Self {
        if path.join("wal").is_dir() { Self::LogFolder(path, OnceLock::new()) } else { Self::Folder(path) }
    }

    /// The bytes at `path`, or `None` when there is no such file.
    ///
    /// # Errors
    /// [`Unreachable`]
    pub fn file(&self, path: &str) -> Result<Option<Vec<u8>>, Unreachable> {
        match self {
            Self::Folder(folder) => read(&folder.join(path)),
            Self::LogFolder(folder, written) => match (read(&folder.join(path))?, TilePath::parse(path)) {
                // Read after the checkpoint was, so that they reach as far.
                (None, Ok(tile)) => match written.get_or_init(|| segments(folder)) {
                    Ok(written) => Ok(written.tile(&tile)),
                    Err(error) => Err(error.clone()),
                },
                (found, _) => Ok(found),
            },
            Self::Api { services, base, runtime, env } => {
                let url = base.below(path).map_err(|error| Unreachable(format!("{path}: {error}")))?;
                let call = Call::get("*/*");
                let reply = runtime.block_on(services.call(&url, &call, env.now()));
                let reply = reply.map_err(|error| Unreachable(error.to_string()))?;
                match reply.status {
                    200 => Ok(Some(reply.body)),
                    404 => Ok(None),
                    status => Err(Unreachable(format!("{} answered {status} for {path}", base.origin()))),
                }
            }
        }
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, Unreachable> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Unreachable(format!("{}: {error}", path.display()))),
    }
}

fn segments(folder: &Path) -> Result<Written, Unreachable> {
    Written::read(folder, None).map_err(|error| Unreachable(format!("{}: {error}", folder.display())))
}
