//! A look at a database that changes nothing, not even the files beside it: for whoever asks what is wrong here.
//!
//! SQLite reads a database with a write-ahead log through an index in shared memory, and makes both files where they are
//! absent. So a file without `-wal` is read as one that does not change, and looked at again if it did; one with both is
//! read without writing to the index; and a `-wal` without its index is left alone, because reading it would make one.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::time::SystemTime;

use sqlx::Connection as _;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use crate::migrate::LATEST;
use crate::open::{PATIENCE, beside, has_tables, reach, refuse_what_is_not_ours};
use crate::{Location, Store, StoreError};

/// What a look found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Examined {
    /// No database yet, or an empty one: the first open makes the tables.
    Empty,
    /// Tables of this program.
    Tables {
        /// Their version; the next open raises an older one to [`Examined::LATEST`].
        version: i64,
        /// Whether this process may write to them.
        writable: bool,
        /// PostgreSQL: roles beside the owner that may read what was checked. Who may read a file, its mode says.
        readers: Vec<String>,
        /// The newest decisions as they are stored, at most [`Examined::NEWEST`] of them.
        newest: Vec<Vec<u8>>,
    },
    /// There is a `-wal` whose index is missing: a process ended in the middle, or the file was copied without it. The
    /// next command that opens the database reads it.
    Unindexed,
    /// Another process wrote while the file was read.
    Busy,
}

impl Examined {
    /// The version of the tables that this program makes.
    pub const LATEST: i64 = LATEST;
    /// How many decisions a look takes along.
    pub const NEWEST: usize = 100;
}

/// How often a file that changes under the look is read.
const TRIES: usize = 3;

const VERSION: &str = "SELECT max(version) FROM _sqlx_migrations";

/// Ids of decisions are in the order in which they were made (UUID version 7), and have an index.
const DECISIONS: &str = "SELECT bytes FROM document WHERE kind = 'decision' ORDER BY id DESC LIMIT 100";

impl Store {
    /// Says what [`Store::open`] would find. A SQLite file is read whole, and nothing is made or written.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub async fn examine(location: Location) -> Result<Examined, StoreError> {
        match location {
            Location::Sqlite(path) => sqlite(&path).await.map_err(|error| error.at(&path)),
            Location::Postgres(address) => postgres(&address).await,
        }
    }
}

/// Tables of a version that this program knows.
fn known(found: Found, writable: bool, readers: Vec<String>) -> Result<Examined, StoreError> {
    let Found { version, newest } = found;
    match version > LATEST {
        true => Err(StoreError::Newer(version)),
        false => Ok(Examined::Tables { version, writable, readers, newest }),
    }
}

/// What our tables say.
struct Found {
    version: i64,
    newest: Vec<Vec<u8>>,
}

async fn sqlite(path: &Path) -> Result<Examined, StoreError> {
    refuse_what_is_not_ours(path)?;
    for _ in 0..TRIES {
        let before = State::of(path)?;
        let Some(options) = before.options(path)? else { return Ok(before.unread()) };
        let found = read(&options).await;
        if before == State::of(path)? {
            let writable = File::options().write(true).open(path).is_ok();
            return found?.map_or(Ok(Examined::Empty), |found| known(found, writable, Vec::new()));
        }
    }
    Ok(Examined::Busy)
}

/// What lies there, and by which a change is noticed while nobody keeps an index.
#[derive(PartialEq, Eq)]
enum State {
    /// No file, or one without a byte.
    Absent,
    /// The file holds everything: its length and when it was written.
    Alone(u64, Option<SystemTime>),
    /// A process has it open, or had: what was written last is in the `-wal`.
    Indexed,
    /// A `-wal` that holds something, and no index to it.
    Unindexed,
}

impl State {
    fn of(path: &Path) -> Result<Self, StoreError> {
        let Some(file) = seen(path.to_owned())?.filter(|file| file.len() > 0) else { return Ok(Self::Absent) };
        let [wal, index] = ["-wal", "-shm"].map(|ending| seen(beside(path, ending)));
        Ok(match (wal?, index?) {
            (Some(_), Some(_)) => Self::Indexed,
            (Some(wal), None) if wal.len() > 0 => Self::Unindexed,
            _ => Self::Alone(file.len(), file.modified().ok()),
        })
    }

    fn unread(&self) -> Examined {
        if matches!(self, Self::Unindexed) { Examined::Unindexed } else { Examined::Empty }
    }

    /// How to read it without a trace; none where it is not read.
    fn options(&self, path: &Path) -> Result<Option<SqliteConnectOptions>, StoreError> {
        let options = SqliteConnectOptions::new().read_only(true).busy_timeout(PATIENCE);
        Ok(match self {
            Self::Absent | Self::Unindexed => None,
            Self::Alone(..) => Some(options.filename(path).immutable(true)),
            Self::Indexed => Some(options.filename(unwritten(path)?)),
        })
    }
}

fn seen(path: PathBuf) -> Result<Option<Metadata>, StoreError> {
    match std::fs::metadata(&path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::File { path, source }),
    }
}

/// The file as SQLite's URI, which alone can say that the index is not written to.
fn unwritten(path: &Path) -> Result<String, StoreError> {
    let why = "its path is not UTF-8, which SQLite needs";
    let text = path.to_str().ok_or(StoreError::Invalid { field: "the database file", why })?;
    let spelled = |byte: u8| match byte {
        b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => char::from(byte).to_string(),
        other => format!("%{other:02x}"),
    };
    Ok(format!("file:{}?readonly_shm=1", text.bytes().map(spelled).collect::<String>()))
}

/// What is in the tables of a sound file; none without our tables.
async fn read(options: &SqliteConnectOptions) -> Result<Option<Found>, StoreError> {
    let mut connection = SqliteConnection::connect_with(options).await?;
    let sound: String = sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(&mut connection).await?;
    if sound != "ok" {
        return Err(StoreError::Damaged { place: String::new(), detail: sound });
    }
    let there = "SELECT count(*) FROM sqlite_schema WHERE name = '_sqlx_migrations'";
    let there: i64 = sqlx::query_scalar(there).fetch_one(&mut connection).await?;
    let version: Option<i64> = match there {
        0 => None,
        _ => sqlx::query_scalar(VERSION).fetch_one(&mut connection).await?,
    };
    let newest = match version {
        Some(..=LATEST) => sqlx::query_scalar(DECISIONS).fetch_all(&mut connection).await?,
        _ => Vec::new(),
    };
    connection.close().await?;
    Ok(version.map(|version| Found { version, newest }))
}

async fn postgres(address: &str) -> Result<Examined, StoreError> {
    let mut connection = reach(&PgConnectOptions::from_str(address)?, PATIENCE).await?;
    let found = tables(&mut connection).await;
    connection.close().await?;
    found
}

async fn tables(connection: &mut PgConnection) -> Result<Examined, StoreError> {
    if !has_tables(connection).await? {
        return Ok(Examined::Empty);
    }
    let version: Option<i64> = sqlx::query_scalar(VERSION).fetch_one(&mut *connection).await?;
    let writable = "SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off' \
         AND has_table_privilege('observation', 'INSERT')";
    let readers = "SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(a.grantee)::text END \
         FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid IN (to_regclass('observation'), to_regclass('document')) \
         AND a.privilege_type = 'SELECT' AND a.grantee <> c.relowner ORDER BY 1";
    let writable: bool = sqlx::query_scalar(writable).fetch_one(&mut *connection).await?;
    let readers: Vec<String> = sqlx::query_scalar(readers).fetch_all(&mut *connection).await?;
    let newest = match version {
        Some(..=LATEST) => sqlx::query_scalar(DECISIONS).fetch_all(connection).await?,
        _ => Vec::new(),
    };
    version.map_or(Ok(Examined::Empty), |version| known(Found { version, newest }, writable, readers))
}
