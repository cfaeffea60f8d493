//! Opening: where the database is, and that nothing is written over a file that is not one.

use std::fs::{File, TryLockError};
use std::io::Read as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::time::{Duration, Instant};

use sqlx::Connection as _;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

use crate::db::{Db, Pool};
use crate::migrate::migrate;
use crate::{Store, StoreError};

/// The first bytes of every SQLite 3 file (the format's documentation, section 1.3).
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// The smallest page, and so the smallest file that is not empty (same section).
const SMALLEST: u64 = 512;
const READERS: u32 = 4;
const CONNECTIONS: u32 = 8;
/// How long a statement waits for another process's write lock, and a caller whose turn it is for a connection.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// How long an open waits for others that open: each looks and makes tables, which takes long for a large database only.
const TURN: Duration = Duration::from_secs(60);
/// Between two tries for the lock.
const PAUSE: Duration = Duration::from_millis(5);

/// Where the database is.
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// A SQLite file, made when absent, together with its directory.
    Sqlite(PathBuf),
    /// A PostgreSQL address, `postgres://user@host/database`; may hold a password, so it is never printed.
    Postgres(String),
}

impl std::fmt::Debug for Location {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => out.debug_tuple("Sqlite").field(path).finish(),
            Self::Postgres(_) => out.write_str("Postgres(..)"),
        }
    }
}

/// What was there before the open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// No file or one without a byte, or no tables: the database was made new.
    Nothing,
    /// A database.
    Database,
}

impl Store {
    /// Opens the database and brings its tables up to date. Any number of processes may do so at once.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when the file is not a sound database (it is left as it is),
    /// [`StoreError::Newer`] when a later version made its tables, [`StoreError::File`] and
    /// [`StoreError::Engine`] when it cannot be reached.
    pub async fn open(location: Location) -> Result<Self, StoreError> {
        Self::open_within(location, PATIENCE).await
    }

    /// As [`Store::open`], with another patience than [`PATIENCE`].
    pub(crate) async fn open_within(location: Location, patience: Duration) -> Result<Self, StoreError> {
        let (db, before) = match location {
            Location::Sqlite(path) => sqlite(&path, patience).await.map_err(|error| error.at(&path))?,
            Location::Postgres(address) => postgres(&address, patience).await?,
        };
        Ok(Self { db, before })
    }

    /// An empty database that lives in memory and ends with the last clone. For tests and throw-away runs.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when SQLite cannot start.
    pub async fn in_memory() -> Result<Self, StoreError> {
        // One connection that is never given up: the database is the connection.
        let pool = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
        let only = Pool::new(pool.connect_with(SqliteConnectOptions::new().in_memory(true)).await?);
        let db = Db::Lite { write: only.clone(), read: only };
        migrate(&db).await?;
        Ok(Self { db, before: Before::Nothing })
    }

    /// What this open found. A database that is made new remembers no recipient.
    pub fn before(&self) -> Before {
        self.before
    }

    /// Closes every connection once the statements under way are done. Clones are closed with it.
    pub async fn close(&self) {
        self.db.close().await;
    }
}

async fn postgres(address: &str, patience: Duration) -> Result<(Db, Before), StoreError> {
    let options = PgConnectOptions::from_str(address)?;
    let mut first = reach(&options, patience).await?;
    let before = if has_tables(&mut first).await? { Before::Database } else { Before::Nothing };
    first.close().await?;
    let pool = PgPoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(patience);
    let db = Db::Pg(Pool::new(pool.connect_with(options).await?));
    migrate(&db).await?;
    Ok((db, before))
}

/// Whether PostgreSQL holds our tables.
pub(crate) async fn has_tables(connection: &mut PgConnection) -> Result<bool, StoreError> {
    let there = "SELECT to_regclass('_sqlx_migrations') IS NOT NULL";
    Ok(sqlx::query_scalar(there).fetch_one(connection).await?)
}

/// One connection ahead of the pool, which asks a closed port again and again and then says only that it gave up.
pub(crate) async fn reach(options: &PgConnectOptions, patience: Duration) -> Result<PgConnection, StoreError> {
    let unreachable = |why: String| {
        let place = format!("{}:{}", options.get_host(), options.get_port());
        StoreError::Unreachable { place, why }
    };
    match tokio::time::timeout(patience, PgConnection::connect_with(options)).await {
        Ok(Ok(connection)) => Ok(connection),
        Ok(Err(sqlx::Error::Io(error))) => Err(unreachable(error.to_string())),
        Ok(Err(error)) => Err(error.into()),
        Err(_) => Err(unreachable(format!("nothing came within {} s", patience.as_secs_f32()))),
    }
}

/// Under the file lock from the first look to the last table, so that of several fresh starts one makes the
/// tables and the others find them. The lock ends with the process, however it ends.
async fn sqlite(path: &Path, patience: Duration) -> Result<(Db, Before), StoreError> {
    let lock = lock(path.to_owned()).await?;
    let before = refuse_what_is_not_ours(path)?;
    make_private(path).map_err(|source| StoreError::File { path: path.into(), source })?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(patience)
        .foreign_keys(true);
    let one = SqlitePoolOptions::new().max_connections(1).acquire_timeout(patience);
    let many = SqlitePoolOptions::new().max_connections(READERS).acquire_timeout(patience);
    let write = Pool::new(one.connect_with(options.clone()).await?);
    let read = Pool::new(many.connect_lazy_with(options.read_only(true).create_if_missing(false)));
    let db = Db::Lite { write, read };
    migrate(&db).await?;
    drop(lock);
    Ok((db, before))
}

/// The file whose name is the database's and this ending.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(ending);
    PathBuf::from(name)
}

/// Waits for the lock on `NAME.lock` beside the database, but not for ever; off the runtime's threads, because it blocks.
async fn lock(path: PathBuf) -> Result<File, StoreError> {
    let name = beside(&path, ".lock");
    let work = {
        let name = name.clone();
        move || lock_within(&path, &name, TURN)
    };
    let locked = tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    locked.map_err(|source| StoreError::File { path: name, source })
}

fn lock_within(path: &Path, name: &Path, patience: Duration) -> std::io::Result<File> {
    if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let file = File::options().create(true).truncate(false).write(true).mode(0o600).open(name)?;
    let until = Instant::now() + patience;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                let held = "another process keeps it locked; it may be stopped in the middle";
                return Err(std::io::Error::new(std::io::ErrorKind::TimedOut, held));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
        }
    }
}

/// The database names every URL that was checked, which is its owner's business alone. SQLite takes an empty file for
/// an empty database, and gives -wal and -shm the mode of the file; a mode that somebody set is left as it is.
fn make_private(path: &Path) -> std::io::Result<()> {
    match File::options().create_new(true).write(true).mode(0o600).open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// SQLite takes a file shorter than a page for an empty database and would write over it; we do not. A `-wal` beside no
/// database or an empty one is what is left of a database: whoever makes one writes its first page before the first
/// byte of the `-wal`, so the `-wal` is looked at first. SQLite would remove it.
pub(crate) fn refuse_what_is_not_ours(path: &Path) -> Result<Before, StoreError> {
    let unread = |source| StoreError::File { path: path.into(), source };
    let left = length(&beside(path, "-wal"))? > 0;
    let defect = match File::open(path) {
        Ok(file) if file.metadata().map_err(unread)?.len() > 0 => header_defect(file).map_err(unread)?,
        Ok(_) if left => Some("it is empty, and the -wal file beside it is not"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && left => {
            Some("it is gone, and the -wal file that belongs to it is not")
        }
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(unread(error)),
        Ok(_) | Err(_) => return Ok(Before::Nothing),
    };
    match defect {
        Some(defect) => Err(StoreError::Damaged { place: String::new(), detail: defect.into() }),
        None => Ok(Before::Database),
    }
}

/// In bytes; 0 where there is no such file.
fn length(path: &Path) -> Result<u64, StoreError> {
    match std::fs::metadata(path) {
        Ok(file) => Ok(file.len()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(source) => Err(StoreError::File { path: path.into(), source }),
    }
}

fn header_defect(file: File) -> std::io::Result<Option<&'static str>> {
    let length = file.metadata()?.len();
    let mut head = Vec::with_capacity(MAGIC.len());
    file.take(MAGIC.len() as u64).read_to_end(&mut head)?;
    Ok(match length {
        _ if head != MAGIC => Some("it does not begin as a SQLite file does"),
        _ if length < SMALLEST => Some("it is cut off before the end of its first page"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_another_process_keeps_is_waited_for_and_not_for_ever() {
        let directory = tempfile::tempdir().unwrap();
        let (path, name) = (directory.path().join("a.db"), directory.path().join("a.db.lock"));
        let held = lock_within(&path, &name, Duration::ZERO).unwrap();
        let refused = lock_within(&path, &name, Duration::ZERO).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::TimedOut, "{refused}");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| lock_within(&path, &name, TURN));
            drop(held);
            waiting.join().unwrap().unwrap();
        });
    }

    /// A port that nobody listens on, and one where nobody answers. Neither the password nor the pool is named.
    #[tokio::test]
    async fn a_database_that_is_not_there_is_named_by_host_and_port() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap();
        let address = format!("postgres://me:secret@{place}/d");
        let said = async |patience| {
            let opened = Store::open_within(Location::Postgres(address.clone()), patience).await;
            opened.err().map(|error| error.to_string()).unwrap()
        };
        let silent = said(Duration::from_millis(500)).await;
        assert_eq!(silent, format!("no database answers at {place}: nothing came within 0.5 s"));
        drop(listener);
        // No patience is spent: an hour of it would outlast the test.
        let closed = said(Duration::from_secs(3600)).await;
        assert!(
            closed.starts_with(&format!("no database answers at {place}: ")) && closed.contains("refused"),
            "{closed}"
        );
    }
}
