//! One contract, run on SQLite always and on PostgreSQL when there is one: at `COUNTERSIGN_TEST_DATABASE`, or else
//! on loopback as user `postgres`, database `test`. Without one the PostgreSQL half is skipped and says so in one
//! line; with `COUNTERSIGN_REQUIRE_POSTGRES=1` it fails instead. Each test has a file or a schema of its own.

#![allow(clippy::unwrap_used, clippy::panic, reason = "all of this is tests, and a failed step should stop one")]

mod cases;
mod examine;
mod files;

use std::io::Write as _;
use std::sync::Once;

use countersign_store::{Location, Store};
use sqlx::Connection as _;

const LOOPBACK: &str = "postgres://postgres@127.0.0.1:5432/test";

macro_rules! contract {
    ($($case:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $case() {
                let directory = tempfile::tempdir().unwrap();
                let location = countersign_store::Location::Sqlite(directory.path().join("data/countersign.db"));
                super::cases::$case(&countersign_store::Store::open(location).await.unwrap()).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $case() {
                let Some(schema) = super::Schema::new().await else { return };
                super::cases::$case(&schema.open().await).await;
                schema.drop().await;
            })*
        }
    };
}

contract!(
    evidence_is_kept_once_under_its_hash,
    observations_come_back_as_they_went_in,
    observations_come_in_the_order_of_their_arrival,
    arrivals_are_numbered_without_a_gap_however_many_write,
    what_is_derived_is_kept_once_a_subject,
    an_observation_is_never_replaced,
    what_is_no_observation_is_refused,
    a_run_ends_once,
    a_document_is_the_bytes_that_were_put_in,
    the_same_document_twice_is_one_and_another_under_its_id_is_refused,
    what_is_due_is_the_longest_overdue_first,
    one_of_many_gets_the_lease,
    a_fence_rises_with_every_holder_and_a_stale_one_holds_nothing,
    a_key_is_done_once_and_answers_with_its_document,
    a_key_for_another_request_is_a_conflict,
    of_many_at_once_one_begins,
    the_writes_of_five_hundred_checks_at_once_are_all_there,
    the_memory_database_keeps_the_contract_too,
);

/// A schema of this test's own in the PostgreSQL that answers.
struct Schema {
    address: String,
    name: String,
}

impl Schema {
    async fn new() -> Option<Self> {
        let given = std::env::var("COUNTERSIGN_TEST_DATABASE").ok();
        let address = given.clone().unwrap_or_else(|| LOOPBACK.into());
        match sqlx::PgConnection::connect(&address).await {
            Ok(mut connection) => {
                let name = format!("t_{}", uuid::Uuid::now_v7().simple());
                statement(&mut connection, format!("CREATE SCHEMA {name}")).await;
                Some(Self { address, name })
            }
            Err(error) if given.is_some() || required() => panic!("PostgreSQL does not answer: {error}"),
            Err(_) => {
                say_skipped();
                None
            }
        }
    }

    fn location(&self) -> Location {
        let mark = if self.address.contains('?') { '&' } else { '?' };
        Location::Postgres(format!("{}{mark}options[search_path]={}", self.address, self.name))
    }

    async fn open(&self) -> Store {
        Store::open(self.location()).await.unwrap()
    }

    /// Only after success: what a failed test left can be looked at.
    async fn drop(self) {
        let mut connection = sqlx::PgConnection::connect(&self.address).await.unwrap();
        statement(&mut connection, format!("DROP SCHEMA {} CASCADE", self.name)).await;
    }
}

async fn statement(connection: &mut sqlx::PgConnection, sql: String) {
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(connection).await.unwrap();
}

fn required() -> bool {
    std::env::var("COUNTERSIGN_REQUIRE_POSTGRES").is_ok_and(|value| value == "1")
}

/// Straight to the stream, because the harness hides what passing tests print.
fn say_skipped() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let line = "countersign-store: no PostgreSQL answers, so its half of the contract was skipped";
        let written = writeln!(std::io::stderr(), "{line}");
        written.unwrap();
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn four_fresh_starts_at_once_all_succeed_on_postgres() {
    let Some(schema) = Schema::new().await else { return };
    files::four_at_once(schema.location()).await;
    schema.drop().await;
}

#[tokio::test]
async fn postgres_tables_from_a_newer_version_are_left_alone() {
    let Some(schema) = Schema::new().await else { return };
    schema.open().await.close().await;
    let mut connection = sqlx::PgConnection::connect(&schema.address).await.unwrap();
    let sql = format!(
        "INSERT INTO {}._sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (999, 'later', true, '', 0)",
        schema.name
    );
    statement(&mut connection, sql).await;
    let error = Store::open(schema.location()).await.unwrap_err();
    assert!(matches!(error, countersign_store::StoreError::Newer(999)), "{error}");
    schema.drop().await;
}

#[tokio::test]
async fn rows_from_before_they_were_numbered_get_numbers_on_postgres() {
    let Some(schema) = Schema::new().await else { return };
    let store = schema.open().await;
    cases::three_out_of_order(&store).await;
    store.close().await;
    let mut connection = sqlx::PgConnection::connect(&schema.address).await.unwrap();
    statement(&mut connection, format!("SET search_path TO {}; {}", schema.name, files::BEFORE_ARRIVALS)).await;
    cases::numbered_by_their_ids(&schema.open().await).await;
    schema.drop().await;
}

#[test]
fn an_address_is_never_printed() {
    let location = Location::Postgres("postgres://me:secret@db/test".into());
    assert_eq!(format!("{location:?}"), "Postgres(..)");
}
