//! For tests: a PostgreSQL schema of a test's own.
//!
//! The server is the one at `COUNTERSIGN_TEST_DATABASE`, or else the one on loopback as user `postgres`, database `test`.
//! Where none answers there is no schema, which is said in one line; with `COUNTERSIGN_REQUIRE_POSTGRES=1`, or an address
//! that was given, that is an error instead.

use std::io::Write as _;
use std::sync::Once;

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::{Location, Store, StoreError};

const LOOPBACK: &str = "postgres://postgres@127.0.0.1:5432/test";

/// An empty schema in the PostgreSQL that answers. What a failed test left in it can be looked at.
#[derive(Debug)]
pub struct Schema {
    address: String,
    name: String,
}

impl Schema {
    /// A new one; none where no PostgreSQL answers and none is required.
    ///
    /// # Errors
    /// [`StoreError`] when one is required, or the schema cannot be made.
    pub async fn new() -> Result<Option<Self>, StoreError> {
        let given = std::env::var("COUNTERSIGN_TEST_DATABASE").ok();
        let address = given.clone().unwrap_or_else(|| LOOPBACK.into());
        if let Err(error) = PgConnection::connect(&address).await {
            return if given.is_some() || required() { Err(error.into()) } else { Ok(say_skipped()) };
        }
        let schema = Self { address, name: format!("t_{}", uuid::Uuid::now_v7().simple()) };
        schema.run(&format!("CREATE SCHEMA {}", schema.name)).await?;
        Ok(Some(schema))
    }

    /// Where a store finds it.
    pub fn location(&self) -> Location {
        Location::Postgres(self.address())
    }

    fn address(&self) -> String {
        let mark = if self.address.contains('?') { '&' } else { '?' };
        format!("{}{mark}options[search_path]={}", self.address, self.name)
    }

    /// Its store, open.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub async fn open(&self) -> Result<Store, StoreError> {
        Store::open(self.location()).await
    }

    /// Runs statements in it, past the store.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when one is refused.
    pub async fn run(&self, sql: &str) -> Result<(), StoreError> {
        let mut connection = PgConnection::connect(&self.address()).await?;
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await?;
        Ok(connection.close().await?)
    }

    /// To be called after success only.
    ///
    /// # Errors
    /// As [`Schema::run`].
    pub async fn drop(self) -> Result<(), StoreError> {
        self.run(&format!("DROP SCHEMA {} CASCADE", self.name)).await
    }
}

fn required() -> bool {
    std::env::var("COUNTERSIGN_REQUIRE_POSTGRES").is_ok_and(|value| value == "1")
}

/// Straight to the stream, because the harness hides what passing tests print.
fn say_skipped() -> Option<Schema> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let line = "no PostgreSQL answers, so what is tested on it was skipped";
        let _unheard = writeln!(std::io::stderr(), "{line}");
    });
    None
}
