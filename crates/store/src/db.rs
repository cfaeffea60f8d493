//! One way to run a statement on either engine.
//!
//! A statement is one `&'static str` with `$1` placeholders that both engines read; the few that differ stand side
//! by side where they are used. Arguments carry their type even when NULL, because PostgreSQL needs it.

use sqlx::postgres::{PgArguments, PgPool, PgRow};
use sqlx::sqlite::{SqliteArguments, SqlitePool, SqliteRow};
use sqlx::{Arguments as _, Row as _};

use crate::StoreError;

type Result<T> = std::result::Result<T, StoreError>;

/// The engine. SQLite has one writer, so that writers queue here and not in the file, and readers apart.
#[derive(Clone, Debug)]
pub(crate) enum Db {
    Lite { write: SqlitePool, read: SqlitePool },
    Pg(PgPool),
}

/// A transaction; undone unless committed.
pub(crate) enum Tx {
    Lite(sqlx::Transaction<'static, sqlx::Sqlite>),
    Pg(sqlx::Transaction<'static, sqlx::Postgres>),
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

impl Db {
    /// Runs a statement that answers no rows; how many rows it changed.
    pub(crate) async fn run(&self, sql: &'static str, args: &[Arg<'_>]) -> Result<u64> {
        check(sql, args)?;
        Ok(match self {
            Self::Lite { write, .. } => sqlx::query_with(sql, lite(args)?).execute(write).await?.rows_affected(),
            Self::Pg(pool) => sqlx::query_with(sql, pg(args)?).execute(pool).await?.rows_affected(),
        })
    }

    /// The first row, if any. A statement that begins with SELECT goes to the readers.
    pub(crate) async fn one<T>(
        &self,
        sql: &'static str,
        args: &[Arg<'_>],
        map: fn(&Row) -> Result<T>,
    ) -> Result<Option<T>> {
        check(sql, args)?;
        let row = match self {
            Self::Lite { write, read } => {
                let pool = if sql.starts_with("SELECT") { read } else { write };
                sqlx::query_with(sql, lite(args)?).fetch_optional(pool).await?.map(Row::Lite)
            }
            Self::Pg(pool) => sqlx::query_with(sql, pg(args)?).fetch_optional(pool).await?.map(Row::Pg),
        };
        row.as_ref().map(map).transpose()
    }

    /// Every row of a SELECT. The statement bounds itself with LIMIT.
    pub(crate) async fn all<T>(
        &self,
        sql: &'static str,
        args: &[Arg<'_>],
        map: fn(&Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        check(sql, args)?;
        let rows: Vec<Row> = match self {
            Self::Lite { read, .. } => {
                sqlx::query_with(sql, lite(args)?).fetch_all(read).await?.into_iter().map(Row::Lite).collect()
            }
            Self::Pg(pool) => {
                sqlx::query_with(sql, pg(args)?).fetch_all(pool).await?.into_iter().map(Row::Pg).collect()
            }
        };
        rows.iter().map(map).collect()
    }

    /// Begins a transaction. On SQLite it takes the write lock at once, so it cannot fail half way for want of it.
    pub(crate) async fn begin(&self) -> Result<Tx> {
        Ok(match self {
            Self::Lite { write, .. } => Tx::Lite(write.begin_with("BEGIN IMMEDIATE").await?),
            Self::Pg(pool) => Tx::Pg(pool.begin().await?),
        })
    }

    /// Closes every connection after the statements under way.
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

impl Tx {
    /// The first row, if any.
    pub(crate) async fn one<T>(
        &mut self,
        sql: &'static str,
        args: &[Arg<'_>],
        map: fn(&Row) -> Result<T>,
    ) -> Result<Option<T>> {
        check(sql, args)?;
        let row = match self {
            Self::Lite(tx) => sqlx::query_with(sql, lite(args)?).fetch_optional(&mut **tx).await?.map(Row::Lite),
            Self::Pg(tx) => sqlx::query_with(sql, pg(args)?).fetch_optional(&mut **tx).await?.map(Row::Pg),
        };
        row.as_ref().map(map).transpose()
    }

    /// Makes the changes last.
    pub(crate) async fn commit(self) -> Result<()> {
        match self {
            Self::Lite(tx) => tx.commit().await?,
            Self::Pg(tx) => tx.commit().await?,
        }
        Ok(())
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
    use super::*;
    use crate::Store;

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
