//! Where a watched log's files come from: its read API, or a folder in the same layout.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use countersign_probe::TransportFlag;
use countersign_probe::configured::{Call, ConfiguredUrl, Fault, ServiceError, Services};
use countersign_tlog::sequencer::Written;
use countersign_tlog::tile::TilePath;
use countersign_tlog::tile::bundle::MAX_BUNDLE;
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
pub enum Unreachable {
    /// Nobody answered, or not in whole, or the system refused.
    #[error("{0}")]
    Failed(String),
    /// It is served packed, which C2SP tlog-tiles lets a log do with entry bundles. It is not unpacked: a few bytes can
    /// hold gigabytes, and our logs serve files as they are.
    #[error("{0} is served with a Content-Encoding, and a monitor reads files as they are")]
    Packed(String),
    /// It is longer than any file of a log.
    #[error("{0} is longer than the {MAX_BUNDLE} bytes that a file of a log can have")]
    TooLong(String),
}

impl Unreachable {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Failed(_) => "log_unreachable",
            Self::Packed(_) => "log_packed",
            Self::TooLong(_) => "log_file_too_long",
        }
    }
}

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
                let url = base.below(path).map_err(|error| Unreachable::Failed(format!("{path}: {error}")))?;
                let call = Call::get("*/*");
                let reply = runtime.block_on(services.call(&url, &call, env.now()));
                let reply = reply.map_err(|error| unanswered(path, &error))?;
                match reply.status {
                    200 => Ok(Some(reply.body)),
                    404 => Ok(None),
                    status => Err(Unreachable::Failed(format!("{} answered {status} for {path}", base.origin()))),
                }
            }
        }
    }
}

fn unanswered(path: &str, error: &ServiceError) -> Unreachable {
    let file = format!("{path} at {}", error.origin);
    match error.fault {
        Fault::Body(TransportFlag::ContentEncoding) => Unreachable::Packed(file),
        Fault::Body(TransportFlag::BodyCapped) => Unreachable::TooLong(file),
        Fault::Body(_) => Unreachable::Failed(format!("{path}: {error}")),
        Fault::Refused(_) => Unreachable::Failed(error.to_string()),
    }
}

/// As much of a file as one of a log can have: a folder that somebody else fills is no better than a server.
fn read(path: &Path) -> Result<Option<Vec<u8>>, Unreachable> {
    let shown = path.display();
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(MAX_BUNDLE as u64 + 1).read_to_end(&mut bytes)) {
        Ok(length) if length > MAX_BUNDLE => Err(Unreachable::TooLong(shown.to_string())),
        Ok(_) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Unreachable::Failed(format!("{shown}: {error}"))),
    }
}

fn segments(folder: &Path) -> Result<Written, Unreachable> {
    Written::read(folder, None).map_err(|error| Unreachable::Failed(error.to_string()))
}

#[cfg(test)]
mod tests;
