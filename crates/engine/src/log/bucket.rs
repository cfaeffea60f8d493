//! Full tiles and entry bundles in a bucket that speaks S3, for a log whose history outgrows its machine.
//!
//! Only what is written once goes there. The public checkpoint, the write-ahead segments and the partial tiles change,
//! so they stay in the data directory. A tile that the bucket lacks is looked for in the data directory too: there it is
//! when the log began without a bucket. What the bucket itself holds is asked for apart (`Tiles::stored`), by whoever must
//! know whether the data directory can do without it.
//!
//! Requests leave by the door for configured services. Nothing that signs or answers waits for a bucket: the log's second
//! thread writes to it behind the receipts, and whatever it could not write stays in the segments.

use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use countersign_probe::configured::Services;
use countersign_tlog::sequencer::tiles::{Tiles, TilesError};
use countersign_tlog::tile::{Content, TilePath};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::{Error, GetOptions, ObjectStore, PutMode, PutOptions, RetryConfig};
use tokio::sync::mpsc as queue;

use super::tiles::DirTiles;
use crate::env::Env;

mod connect;
mod fault;
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

/// Why a bucket cannot be asked for anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccountError {
    /// The environment names no credentials. The client would then ask 169.254.169.254, where a cloud hands out those of
    /// the machine: on another network that is a stranger, and in a cloud they are more than a log needs.
    #[error("there are no credentials for {0}")]
    NoCredentials(Bucket),
    /// The environment contradicts itself.
    #[error("the AWS_* settings for {bucket} cannot be used: {why}")]
    Settings {
        /// The bucket.
        bucket: Bucket,
        /// What is wrong.
        why: String,
    },
}

impl AccountError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoCredentials(_) => "tiles_no_credentials",
            Self::Settings { .. } => "tiles_settings",
        }
    }

    /// What to do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoCredentials(_) => {
                "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; to use the role of this machine in a cloud, set \
                 AWS_METADATA_ENDPOINT=http://169.254.169.254"
            }
            Self::Settings { .. } => {
                "region, endpoint and credentials come from AWS_REGION, AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            }
        }
    }
}

/// What a bucket says when it is asked for the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It can be read.
    There,
    /// It says that it does not exist.
    NoBucket(TilesError),
    /// It does not answer, or refuses.
    Away(TilesError),
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
    /// environment says, as every S3 client reads it, except that the machine's own role is used only when
    /// `AWS_METADATA_ENDPOINT` says where.
    ///
    /// # Errors
    /// [`AccountError`]; the bucket is not asked.
    pub fn open(bucket: &Bucket, log: &Path, services: Services, env: Arc<Env>) -> Result<Self, AccountError> {
        Self::configured(AmazonS3Builder::from_env(), bucket, log, services, env)
    }

    /// Asks the bucket once, by its first bundle, which may well not be there.
    pub fn ask(&self) -> Asked {
        let path = TilePath::full_at(Content::Entries, 0);
        let there = |_| Asked::There;
        match self.answer(&path) {
            Ok(Err(error)) if fault::word(&error).as_deref() == Some(fault::NO_BUCKET) => {
                Asked::NoBucket(fault::away(&error))
            }
            Ok(Err(Error::NotFound { .. })) => Asked::There,
            Ok(answer) => answer.map_or_else(|error| Asked::Away(fault::away(&error)), there),
            Err(error) => Asked::Away(error),
        }
    }

    fn configured(
        account: AmazonS3Builder,
        bucket: &Bucket,
        log: &Path,
        services: Services,
        env: Arc<Env>,
    ) -> Result<Self, AccountError> {
        let settings = |why: String| AccountError::Settings { bucket: bucket.clone(), why };
        if !has_credentials(&account) {
            return Err(AccountError::NoCredentials(bucket.clone()));
        }
        let retry = RetryConfig { max_retries: 2, retry_timeout: DEADLINE, ..RetryConfig::default() };
        let store = account
            .with_bucket_name(&bucket.name)
            .with_retry(retry)
            .with_http_connector(connect::Connector::new(services, env))
            .build()
            .map_err(|error| settings(error.to_string()))?;
        Self::over(Arc::new(store), bucket.folder.join("/"), log).map_err(|error| settings(error.to_string()))
    }

    fn over(store: Arc<dyn ObjectStore>, folder: String, log: &Path) -> std::io::Result<Self> {
        let (work, jobs) = queue::unbounded_channel();
        std::thread::Builder::new().name("bucket".to_owned()).spawn(|| run(jobs))?;
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

    fn answer(&self, path: &TilePath) -> Result<Result<Vec<u8>, Error>, TilesError> {
        let (store, key) = (Arc::clone(&self.store), self.key(path));
        self.wait(async move { Ok(store.get_opts(&key, GetOptions::default()).await?.bytes().await?.to_vec()) })
    }

    /// A bucket that does not exist answers 404 as well, and says nothing of what it would hold.
    fn fetch(&self, path: &TilePath) -> Result<Option<Vec<u8>>, TilesError> {
        match self.answer(path)? {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error @ Error::NotFound { .. }) if fault::word(&error).as_deref() != Some(fault::NO_BUCKET) => Ok(None),
            Err(error) => Err(fault::away(&error)),
        }
    }
}

/// Whether the environment says who we are. What is empty says nothing.
fn has_credentials(account: &AmazonS3Builder) -> bool {
    use AmazonS3ConfigKey as K;
    let says = |key: &K| account.get_config_value(key).is_some_and(|value| !value.is_empty() && value != "false");
    let sources = [
        K::AccessKeyId,
        K::SecretAccessKey,
        K::WebIdentityTokenFile,
        K::ContainerCredentialsRelativeUri,
        K::ContainerCredentialsFullUri,
        K::MetadataEndpoint,
        K::SkipSignature,
    ];
    sources.iter().any(says)
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
            Err(error) => Err(fault::away(&error)),
        }
    }

    fn get(&self, path: &TilePath) -> Result<Option<Vec<u8>>, TilesError> {
        match self.fetch(path)? {
            Some(bytes) => Ok(Some(bytes)),
            None => self.local.get(path),
        }
    }

    fn stored(&self, path: &TilePath) -> Result<Option<Vec<u8>>, TilesError> {
        self.fetch(path)
    }

    /// The answer to such a question has no body and so no word of S3: a bucket that does not exist holds nothing either,
    /// and says its name when something is put there.
    fn holds(&self, path: &TilePath) -> Result<bool, TilesError> {
        let (store, key) = (Arc::clone(&self.store), self.key(path));
        let head = GetOptions { head: true, ..GetOptions::default() };
        match self.wait(async move { store.get_opts(&key, head).await })? {
            Ok(_) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(fault::away(&error)),
        }
    }

    fn publish(&self, checkpoint: &[u8]) -> Result<(), TilesError> {
        self.local.publish(checkpoint)
    }

    fn published(&self) -> Result<Option<Vec<u8>>, TilesError> {
        self.local.published()
    }
}
