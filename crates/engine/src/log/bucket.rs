//! Full tiles and entry bundles in a bucket that speaks S3, for a log whose history outgrows its machine.
//!
//! Only what is written once goes there. The public checkpoint, the write-ahead segments and the partial tiles change,
//! so they stay in the data directory. A tile that the bucket lacks is looked for in the data directory too: there it is
//! when the log began without a bucket.
//!
//! Requests leave by the door for configured services. Nothing that signs or answers waits for a bucket: the log's second
//! thread writes to it behind the receipts, and whatever it could not write stays in the segments.

use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use countersign_core::offer::clean;
use countersign_probe::configured::Services;
use countersign_tlog::sequencer::tiles::{Tiles, TilesError};
use countersign_tlog::tile::TilePath;
use object_store::aws::AmazonS3Builder;
use object_store::{Error, GetOptions, ObjectStore, PutMode, PutOptions, RetryConfig};
use tokio::sync::mpsc as queue;

use super::tiles::DirTiles;
use crate::env::Env;

mod connect;
#[cfg(test)]
mod tests;

/// How long one file may take, tries included. A bucket that does not answer holds a command that ends for no longer.
const DEADLINE: Duration = Duration::from_secs(5);

/// A bucket, and the folder in it: `s3://bucket` or `s3://bucket/folder/below`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    name: String,
    folder: Vec<String>,
}

/// Not the address of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a bucket is written s3://NAME or s3://NAME/FOLDER, in letters, digits and `-._`")]
pub struct BucketError;

impl FromStr for Bucket {
    type Err = BucketError;

    fn from_str(text: &str) -> Result<Self, BucketError> {
        let place = text.strip_prefix("s3://").ok_or(BucketError)?.trim_end_matches('/');
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let segment = |text: &&str| !matches!(*text, "" | "." | "..") && text.bytes().all(plain);
        let mut segments = place.split('/').map(|text| Some(text).filter(segment).map(str::to_owned));
        let name = segments.next().flatten().filter(|name| (3..=63).contains(&name.len())).ok_or(BucketError)?;
        let folder = segments.collect::<Option<Vec<_>>>().ok_or(BucketError)?;
        Ok(Self { name, folder })
    }
}

impl std::fmt::Display for Bucket {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "s3://{}", self.name)?;
        self.folder.iter().try_for_each(|segment| write!(out, "/{segment}"))
    }
}

/// Tiles in a bucket.
pub struct BucketTiles {
    store: Arc<dyn ObjectStore>,
    folder: String,
    local: DirTiles,
    work: queue::UnboundedSender<Job>,
}

type Job = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

impl BucketTiles {
    /// Tiles in `bucket`, of the log whose folder is `log`. Region, endpoint and credentials are what the `AWS_*`
    /// environment says, as every S3 client reads it.
    ///
    /// # Errors
    /// [`TilesError::Unavailable`] when the environment is contradictory; the bucket is not asked.
    pub fn open(bucket: &Bucket, log: &Path, services: Services, env: Arc<Env>) -> Result<Self, TilesError> {
        Self::configured(AmazonS3Builder::from_env(), bucket, log, services, env)
    }

    fn configured(
        account: AmazonS3Builder,
        bucket: &Bucket,
        log: &Path,
        services: Services,
        env: Arc<Env>,
    ) -> Result<Self, TilesError> {
        let retry = RetryConfig { max_retries: 2, retry_timeout: DEADLINE, ..RetryConfig::default() };
        let store = account
            .with_bucket_name(&bucket.name)
            .with_retry(retry)
            .with_http_connector(connect::Connector::new(services, env))
            .build()
            .map_err(|error| unavailable(&error))?;
        Self::over(Arc::new(store), bucket.folder.join("/"), log)
    }

    fn over(store: Arc<dyn ObjectStore>, folder: String, log: &Path) -> Result<Self, TilesError> {
        let (work, jobs) = queue::unbounded_channel();
        let thread = std::thread::Builder::new().name("bucket".to_owned());
        thread.spawn(|| run(jobs)).map_err(|error| TilesError::Unavailable(error.to_string()))?;
        Ok(Self { store, folder, local: DirTiles::new(log), work })
    }

    fn key(&self, path: &TilePath) -> object_store::path::Path {
        let between = if self.folder.is_empty() { "" } else { "/" };
        object_store::path::Path::from(format!("{}{between}{path}", self.folder))
    }

    /// Waits for `asked` on the bucket's own thread: callers may be on threads of a runtime, which must not run another.
    fn wait<T: Send + 'static>(
        &self,
        asked: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<Result<T, Error>, TilesError> {
        let (tell, told) = mpsc::sync_channel(1);
        let job: Job = Box::pin(async move { drop(tell.send(tokio::time::timeout(DEADLINE, asked).await)) });
        let away = |why: &str| TilesError::Unavailable(format!("the bucket: {why}"));
        self.work.send(job).map_err(|_| away("its thread has ended"))?;
        let outcome = told.recv().map_err(|_| away("its thread has ended"))?;
        outcome.map_err(|_| away(&format!("no answer within {} s", DEADLINE.as_secs())))
    }

    fn fetch(&self, path: &TilePath) -> Result<Option<Vec<u8>>, TilesError> {
        let (store, key) = (Arc::clone(&self.store), self.key(path));
        let asked = async move { store.get_opts(&key, GetOptions::default()).await?.bytes().await };
        match self.wait(asked)? {
            Ok(bytes) => Ok(Some(bytes.to_vec())),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(unavailable(&error)),
        }
    }
}

/// The bucket's own thread, until nobody can ask any more.
fn run(mut jobs: queue::UnboundedReceiver<Job>) {
    // Without a runtime every job is dropped unheard, which its caller is told as an ended thread.
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async move {
        while let Some(job) = jobs.recv().await {
            tokio::spawn(job);
        }
    });
}

impl Tiles for BucketTiles {
    fn put(&self, path: &TilePath, bytes: &[u8]) -> Result<(), TilesError> {
        let (store, key, payload) = (Arc::clone(&self.store), self.key(path), bytes.to_vec());
        let once = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match self.wait(async move { store.put_opts(&key, payload.into(), once).await })? {
            Ok(_) => Ok(()),
            // Also when an earlier try arrived and its answer did not.
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => match self.fetch(path)? {
                Some(there) if there == bytes => Ok(()),
                Some(_) => Err(TilesError::Conflict(*path)),
                None => Err(TilesError::Unavailable(format!("the bucket says that it has {path}, and gives none"))),
            },
            Err(error) => Err(unavailable(&error)),
        }
    }

    fn get(&self, path: &TilePath) -> Result<Option<Vec<u8>>, TilesError> {
        match self.fetch(path)? {
            Some(bytes) => Ok(Some(bytes)),
            None => self.local.get(path),
        }
    }

    fn publish(&self, checkpoint: &[u8]) -> Result<(), TilesError> {
        self.local.publish(checkpoint)
    }

    fn published(&self) -> Result<Option<Vec<u8>>, TilesError> {
        self.local.published()
    }
}

/// A bucket's own words, on one line and capped.
fn unavailable(error: &Error) -> TilesError {
    TilesError::Unavailable(clean::shown(&format!("the bucket: {error}").replace(['\n', '\r'], " ")))
}
