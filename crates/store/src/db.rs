//! One way to run a statement on either engine.
//!
//! A statement is one `&'static str` with `$1` placeholders that both engines read; the few that differ stand side
//! by side where they are used. Arguments carry their type even when NULL, because PostgreSQL needs it.

use std::sync::Arc;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgConnection, PgRow};
use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::{Arguments as _, Database, Postgres, Row as _, Sqlite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::StoreError;

type Result<T> = std::result::Result<T, StoreError>;

/// The engine. SQLite has one writer, so that writers queue here and not in the file, and readers apart.
#[derive(Clone, Debug)]
pub(crate) enum Db {
    Lite { write: Arc<Pool<Sqlite>>, read: Arc<Pool<Sqlite>> },
    Pg(Arc<Pool<Postgres>>),
}

/// Connections and the queue for them, first come, first served. Waiting in the queue has no end, because every turn
/// before has one; the patience of the pool below is spent on making a connection alone, however long the queue is.
#[derive(Debug)]
pub(crate) struct Pool<D: Database> {
    connections: sqlx::Pool<D>,
    turns: Arc<Semaphore>,
}

/// Something of a pool's and the turn it is held in; it goes back before the next in the queue is called.
pub(crate) struct Held<T> {
    it: T,
    _turn: OwnedSemaphorePermit,
}

/// A connection for a turn.
pub(crate) enum Turn {
    Lite(Held<PoolConnection<Sqlite>>),
    Pg(Held<PoolConnection<Postgres>>),
}

/// A transaction in a turn of its own; undone unless committed.
pub(crate) enum Tx {
    Lite(Held<sqlx::Transaction<'static, Sqlite>>),
    Pg(Held<sqlx::Transaction<'static, Postgres>>),
}

/// What a statement runs on, in a transaction or outside one.
enum On<'c> {
    Lite(&'c mut SqliteConnection),
    Pg(&'c mut PgConnection),
}

/// A row of either engine, read by column name.
pub(crate) enum Row {
    Lite(SqliteRow),
    Pg(PgRow),
}

/// A typed argument, borrowed from the caller.
#[derive(Clone, Copy)]
pub(crate) enum Arg<'a> {
    Int(Option<i64>),
    Text(Option<&'a str>),
    Blob(Option<&'a [u8]>),
}

impl<D: Database> Pool<D> {
    /// The queue for these connections.
    pub(crate) fn new(connections: sqlx::Pool<D>) -> Arc<Self> {
        let turns = connections.options().get_max_connections() as usize;
        Arc::new(Self { connections, turns: Arc::new(Semaphore::new(turns)) })
    }

    /// The connections themselves, past the queue: for the tables' steps at the start.
    pub(crate) fn unqueued(&self) -> &sqlx::Pool<D> {
        &self.connections
    }

    /// Waits for a turn, then takes what `take` takes.
    async fn held<T>(&self, take: impl AsyncFnOnce(&sqlx::Pool<D>) -> sqlx::Result<T>) -> Result<Held<T>> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| sqlx::Error::PoolClosed)?;
        Ok(Held { it: take(&self.connections).await?, _turn: turn })
    }

    async fn connection(&self) -> Result<Held<PoolConnection<D>>> {
        self.held(async |pool| pool.acquire().await).await
    }

    /// After the statements under way.
    async fn close(&self) {
        self.turns.close();
        self.connections.close().await;
    }
}

impl Db {
    /// Runs a statement that answers no rows; how many rows it changed.
    pub(crate) async fn run(&self, sql: &'static str, args: &[Arg<'_>]) -> Result<u64> {
        self.writer().await?.run(sql, args).await
    }

    /// The row of a statement that answers one at most. One that begins with SELECT goes to the readers.
    pub(crate) async fn one<T>(
        &self,
        sql: &'static str,
        args: &[Arg<'_>],
        map: fn(&Row) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut turn = if sql.starts_with("SELECT") { self.reader().await? } else { self.writer().await? };
        turn.on().one(sql, args, map).await
    }

    /// Every row of a SELECT. The statement bounds itself with LIMIT.
    pub(crate) async fn all<T>(
        &self,
        sql: &'static str,
        args: &[Arg<'_>],
        map: fn(&Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.reader().await?.on().all(sql, args, map).await
    }

    /// A turn to write in.
    pub(crate) async fn writer(&self) -> Result<Turn> {
        Ok(match self {
            Self::Lite { write, .. } => Turn::Lite(write.connection().await?),
            Self::Pg(pool) => Turn::Pg(pool.connection().await?),
        })
    }

    async fn reader(&self) -> Result<Turn> {
        Ok(match self {
            Self::Lite { read, .. } => Turn::Lite(read.connection().await?),
            Self::Pg(pool) => Turn::Pg(pool.connection().await?),
        })
    }

    /// Begins a transaction. On SQLite it takes the write lock at once, so it cannot fail half way for want of it.
    pub(crate) async fn begin(&self) -> Result<Tx> {
        Ok(match self {
            Self::Lite { write, .. } => {
                Tx::Lite(write.held(async |pool| pool.begin_with("BEGIN IMMEDIATE").await).await?)
            }
            Self::Pg(pool) => Tx::Pg(pool.held(async |pool| pool.begin().await).await?),
        })
    }

    /// Closes every connection after the statements under way; whoever still waits for a turn is told so.
    pub(crate) async fn close(&self) {
        match self {
            Self::Lite { write, read } => {
                read.close().await;
                write.close().await;
            }
            Self::Pg(pool) => pool.close().await,
        }
    }
}

impl Turn {
    /// As [`Db::run`], in this turn.
    pub(crate) async fn run(&mut self, sql: &'static str, args: &[Arg<'_>]) -> Result<u64> {
        self.on().run(sql, args).await
    }

    fn on(&mut self) -> On<'_> {
        match self {
            Self::Lite(held) => On::Lite(&mut held.it),
            Self::Pg(held) => On::Pg(&mut held.it),
        }
    }
}

impl Tx {
    /// As [`Db::one`], in this transaction.
    pub(crate) async fn one<T>(
        &mut self,
        sql: &'static str,
        args: &[Arg<'_>],
        map: fn(&Row) -> Result<T>,
    ) -> Result<Option<T>> {
        let on = match self {
            Self::Lite(held) => On::Lite(&mut held.it),
            Self::Pg(held) => On::Pg(&mut held.it),
        };
        on.one(sql, args, map).await
    }

    /// As [`Db::run`], in this transaction.
    pub(crate) async fn run(&mut self, sql: &'static str, args: &[Arg<'_>]) -> Result<u64> {
        let on = match self {
            Self::Lite(held) => On::Lite(&mut held.it),
            Self::Pg(held) => On::Pg(&mut held.it),
        };
        on.run(sql, args).await
    }

    /// Makes the changes last.
    pub(crate) async fn commit(self) -> Result<()> {
        match self {
            Self::Lite(held) => held.it.commit().await?,
            Self::Pg(held) => held.it.commit().await?,
        }
        Ok(())
    }
}

impl On<'_> {
    async fn run(self, sql: &'static str, args: &[Arg<'_>]) -> Result<u64> {
        check(sql, args)?;
        Ok(match self {
            Self::Lite(on) => sqlx::query_with(sql, lite(args)?).execute(on).await?.rows_affected(),
            Self::Pg(on) => sqlx::query_with(sql, pg(args)?).execute(on).await?.rows_affected(),
        })
    }

    async fn all<T>(self, sql: &'static str, args: &[Arg<'_>], map: fn(&Row) -> Result<T>) -> Result<Vec<T>> {
        check(sql, args)?;
        let rows: Vec<Row> = match self {
            Self::Lite(on) => {
                sqlx::query_with(sql, lite(args)?).fetch_all(on).await?.into_iter().map(Row::Lite).collect()
            }
            Self::Pg(on) => sqlx::query_with(sql, pg(args)?).fetch_all(on).await?.into_iter().map(Row::Pg).collect(),
        };
        rows.iter().map(map).collect()
    }

    async fn one<T>(self, sql: &'static str, args: &[Arg<'_>], map: fn(&Row) -> Result<T>) -> Result<Option<T>> {
        Ok(self.all(sql, args, map).await?.into_iter().next())
    }
}

macro_rules! readers {
    ($($name:ident: $kind:ty),*) => {
        impl Row {
            $(pub(crate) fn $name(&self, column: &str) -> Result<$kind> {
                Ok(match self {
                    Self::Lite(row) => row.try_get(column)?,
                    Self::Pg(row) => row.try_get(column)?,
                })
            })*
        }
    };
}
readers!(int: i64, int_opt: Option<i64>, text: String, text_opt: Option<String>, blob: Vec<u8>);

impl Row {
    /// Text that a stranger may have chosen: stored as bytes, always written from a `str`.
    pub(crate) fn foreign(&self, column: &'static str) -> Result<String> {
        String::from_utf8(self.blob(column)?).map_err(|_| StoreError::Altered(column.into()))
    }
}

macro_rules! bind {
    ($name:ident, $kind:ty) => {
        fn $name(args: &[Arg<'_>]) -> Result<$kind> {
            let mut bound = <$kind>::default();
            for arg in args {
                match *arg {
                    Arg::Int(value) => bound.add(value),
                    Arg::Text(value) => bound.add(value),
                    Arg::Blob(value) => bound.add(value),
                }
                .map_err(sqlx::Error::Encode)?;
            }
            Ok(bound)
        }
    };
}
bind!(lite, SqliteArguments);
bind!(pg, PgArguments);

/// Refuses what only one engine would take: a wrong count of arguments (SQLite reads a missing one as NULL) and a
/// NUL inside text (PostgreSQL has no such text).
fn check(sql: &'static str, args: &[Arg<'_>]) -> Result<()> {
    let (wanted, given) = (highest_placeholder(sql), args.len());
    if wanted != given {
        return Err(StoreError::Arguments { sql, wanted, given });
    }
    let nul = |arg: &Arg<'_>| matches!(arg, Arg::Text(Some(text)) if text.contains('\0'));
    match args.iter().any(nul) {
        true => Err(StoreError::Invalid { field: "text", why: "it contains a NUL character" }),
        false => Ok(()),
    }
}

fn highest_placeholder(sql: &str) -> usize {
    let number = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    sql.split('$').skip(1).filter_map(number).max().unwrap_or(0)
}

macro_rules! from {
    ($($kind:ty => $case:ident),*) => {
        $(impl<'a> From<$kind> for Arg<'a> {
            fn from(value: $kind) -> Self {
                Self::$case(Some(value))
            }
        }
        impl<'a> From<Option<$kind>> for Arg<'a> {
            fn from(value: Option<$kind>) -> Self {
                Self::$case(value)
            }
        })*
    };
}
from!(i64 => Int, &'a str => Text, &'a [u8] => Blob);

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Location, Store};

    const SQL: &str = "SELECT CAST($1 AS TEXT) AS a, CAST($2 AS TEXT) AS b";

    async fn ask(args: &[Arg<'_>]) -> Result<Option<String>> {
        let store = Store::in_memory().await?;
        store.db.one(SQL, args, |row| row.text("b")).await
    }

    #[tokio::test]
    async fn a_wrong_count_of_arguments_is_an_error_and_not_a_panic() {
        assert_eq!(ask(&["x".into(), "y".into()]).await.unwrap().as_deref(), Some("y"));
        for args in [&["x".into()][..], &["x".into(), "y".into(), "z".into()][..], &[]] {
            let error = ask(args).await.unwrap_err();
            assert!(matches!(error, StoreError::Arguments { wanted: 2, given, .. } if given == args.len()), "{error}");
        }
    }

    /// The first turn is held for longer than the pool would wait for a connection; the whole queue waits it out.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn waiting_for_a_turn_has_no_end() {
        let directory = tempfile::tempdir().unwrap();
        let patience = Duration::from_secs(1);
        let store = Store::open_within(Location::Sqlite(directory.path().join("a.db")), patience).await.unwrap();
        let held = store.db.begin().await.unwrap();
        let mut writers = tokio::task::JoinSet::new();
        for n in 0..500_u32 {
            let store = store.clone();
            writers.spawn(async move { store.put_evidence(&n.to_be_bytes()).await.map(drop) });
        }
        tokio::time::sleep(patience * 3 / 2).await;
        held.commit().await.unwrap();
        assert_eq!(writers.join_all().await.into_iter().filter_map(Result::err).map(|e| e.to_string()).next(), None);
        let count = store.db.one("SELECT count(*) AS n FROM evidence", &[], |row| row.int("n")).await.unwrap();
        assert_eq!(count, Some(500));
    }

    #[tokio::test]
    async fn nul_in_text_is_refused_alike_on_both_engines() {
        assert!(matches!(ask(&["x".into(), "a\0b".into()]).await, Err(StoreError::Invalid { .. })));
    }

    #[test]
    fn the_highest_placeholder_counts_however_it_is_placed() {
        for (sql, wanted) in [("SELECT 1", 0), ("a = $1 OR b = $1", 1), ("$10, $2", 10), ("cost in $", 0)] {
            assert_eq!(highest_placeholder(sql), wanted, "{sql}");
        }
    }
}
