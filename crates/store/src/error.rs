//! Everything that can go wrong with the database, each with what to do about it.

use std::path::{Path, PathBuf};

/// Why the store did not do what was asked. No case carries a password: addresses are never repeated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file is not a database, or parts of it cannot be read.
    #[error("{place} is damaged: {detail}. Nothing was overwritten")]
    Damaged {
        /// The file, or a plain name for the database when the file is not known.
        place: String,
        /// What the engine or the header check saw.
        detail: String,
    },
    /// A later version of this program has already changed the tables.
    #[error("the database has table version {0}, which this program does not know. Nothing was changed")]
    Newer(i64),
    /// The tables could not be brought up to date for a reason that is neither damage nor a newer version.
    #[error("the tables could not be brought up to date: {0}. The step was undone")]
    Migration(#[source] Box<sqlx::migrate::MigrateError>),
    /// The file or its lock could not be opened.
    #[error("cannot open {}: {source}", path.display())]
    File {
        /// The file in question.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// Stored bytes no longer have the hash they are stored under.
    #[error("the bytes stored for {0} have another hash, and are not served as they are")]
    Altered(String),
    /// The id is taken by other content; what is there stays.
    #[error("{what} {id} is already there with other content")]
    Taken {
        /// Which kind of row.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// An argument that cannot be stored; `field` names it.
    #[error("{field} cannot be stored: {why}")]
    Invalid {
        /// Name of the argument.
        field: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A statement of ours was given the wrong number of arguments. A mistake in this program.
    #[error("a statement wants {wanted} arguments and was given {given}: {sql}")]
    Arguments {
        /// The statement.
        sql: &'static str,
        /// The highest `$n` in it.
        wanted: usize,
        /// How many arguments came.
        given: usize,
    },
    /// No room for what was to be written; the statement was undone.
    #[error("the disk that holds the database is full. Nothing was written by halves")]
    Full,
    /// The system refused to read or write the database file; the statement was undone.
    #[error("the system refused to read or write the database file: {0}. Nothing was written by halves")]
    Disk(String),
    /// No database answers at the address. Names host and port alone, never the address with its password.
    #[error("no database answers at {place}: {why}")]
    Unreachable {
        /// `host:port`.
        place: String,
        /// What the system said, or for how long nothing came.
        why: String,
    },
    /// Anything else the engine refused: no connection, time out.
    #[error("the database did not answer as expected: {0}")]
    Engine(#[source] sqlx::Error),
}

impl StoreError {
    /// Stable code for callers.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Damaged { .. } => "store_damaged",
            Self::Newer(_) => "store_newer",
            Self::Migration(_) => "store_migration",
            Self::File { .. } => "store_file",
            Self::Altered(_) => "store_altered",
            Self::Taken { .. } => "store_taken",
            Self::Invalid { .. } => "store_invalid",
            Self::Arguments { .. } => "store_arguments",
            Self::Full => "store_full",
            Self::Disk(_) => "store_disk",
            Self::Unreachable { .. } => "store_unreachable",
            Self::Engine(_) => "store_engine",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Damaged { .. } => {
                "put a backup in its place with no -wal and -shm but its own, or move the file aside with its -wal and \
                 -shm files and start again with an empty database"
            }
            Self::Newer(_) => "use the newer version of this program, or another database",
            Self::Migration(_) => "fix the cause and start again",
            Self::File { .. } => "check that the data directory exists and is yours, or name another with --data",
            Self::Altered(_) => "restore the database from a backup",
            Self::Taken { .. } => "nothing was changed; try again",
            Self::Invalid { .. } | Self::Arguments { .. } => "report this as a defect of this program",
            Self::Full => "make room on it and run the command again",
            Self::Disk(_) => {
                "see that the disk is whole and that files on it may grow (`ulimit -f`), and run the command again"
            }
            Self::Unreachable { .. } | Self::Engine(_) => {
                "check that the database answers; `countersign config` says which one is in force"
            }
        }
    }

    /// Names the file a damage was found in.
    pub(crate) fn at(self, path: &Path) -> Self {
        match self {
            Self::Damaged { detail, .. } => Self::Damaged { place: path.display().to_string(), detail },
            other => other,
        }
    }

    /// Whether an INSERT met a row with the same key.
    pub(crate) fn is_taken(&self) -> bool {
        matches!(self, Self::Engine(sqlx::Error::Database(error)) if error.is_unique_violation())
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match (damage(&error), disk(&error)) {
            (Some(detail), _) => Self::Damaged { place: "the database".into(), detail },
            (None, _) if full(&error) => Self::Full,
            (None, Some(detail)) => Self::Disk(detail),
            (None, None) => Self::Engine(error),
        }
    }
}

impl From<sqlx::migrate::MigrateError> for StoreError {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        use sqlx::migrate::MigrateError as E;
        match error {
            E::VersionMissing(version) => Self::Newer(version),
            E::Execute(inner) => inner.into(),
            other => Self::Migration(Box::new(other)),
        }
    }
}

/// The engine's words when it says the file is damaged. SQLite: primary code 11 (corrupt) or 26 (not a
/// database). PostgreSQL: class XX001 and XX002 (data and index corrupted).
fn damage(error: &sqlx::Error) -> Option<String> {
    let sqlx::Error::Database(error) = error else { return None };
    let damaged = match Code::of(&**error)? {
        Code::Lite(code) => matches!(code & 0xff, 11 | 26),
        Code::Pg(code) => matches!(&*code, "XX001" | "XX002"),
    };
    damaged.then(|| error.message().to_owned())
}

/// Whether there is no room. SQLite: primary code 13 (full), or 4874 where the shared memory beside the file cannot
/// grow. PostgreSQL: 53100 (disk full).
fn full(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else { return false };
    match Code::of(&**error) {
        Some(Code::Lite(code)) => code & 0xff == 13 || code == 4874,
        Some(Code::Pg(code)) => code == "53100",
        None => false,
    }
}

/// The engine's words when the system refused a file of it. SQLite: primary code 10 (input or output), which a limit on
/// the size of files gives as well. PostgreSQL: 58030 (io_error), of its own machine.
fn disk(error: &sqlx::Error) -> Option<String> {
    let sqlx::Error::Database(error) = error else { return None };
    let refused = match Code::of(&**error)? {
        Code::Lite(code) => code & 0xff == 10,
        Code::Pg(code) => code == "58030",
    };
    refused.then(|| error.message().to_owned())
}

/// What an engine calls an error: SQLite's extended result code, whose low byte is the primary one, or a SQLSTATE.
enum Code<'e> {
    Lite(u32),
    Pg(std::borrow::Cow<'e, str>),
}

impl<'e> Code<'e> {
    fn of(error: &'e dyn sqlx::error::DatabaseError) -> Option<Self> {
        let code = error.code()?;
        match error.try_downcast_ref::<sqlx::sqlite::SqliteError>() {
            Some(_) => code.parse().ok().map(Self::Lite),
            None => Some(Self::Pg(code)),
        }
    }
}
