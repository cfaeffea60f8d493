//! Where a watched log's files come from: its read API, or a folder in the same layout.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use countersign_probe::configured::{Call, ConfiguredUrl, Services};
use tokio::runtime::Handle;

use crate::env::Env;

/// A place to read a log from. Nothing it gives is believed before it is proved.
#[derive(Debug)]
pub enum Source {
    /// A mirror on disk, or a log's own folder.
    Folder(PathBuf),
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
    /// The bytes at `path`, or `None` when there is no such file.
    ///
    /// # Errors
    /// [`Unreachable`]
    pub fn file(&self, path: &str) -> Result<Option<Vec<u8>>, Unreachable> {
        match self {
            Self::Folder(folder) => match std::fs::read(folder.join(path)) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(Unreachable(format!("{}: {error}", folder.join(path).display()))),
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
