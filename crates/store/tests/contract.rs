//! One contract, run on SQLite always and on PostgreSQL when there is one (`testkit`). Each test has a file or a schema of
//! its own.

#![allow(clippy::unwrap_used, clippy::panic, reason = "all of this is tests, and a failed step should stop one")]

mod cases;
mod examine;
mod files;

use countersign_store::testkit::Schema;
use countersign_store::{Location, Store};

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
                let Some(schema) = super::Schema::new().await.unwrap() else { return };
                super::cases::$case(&schema.open().await.unwrap()).await;
                schema.drop().await.unwrap();
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
    a_turn_is_judged_by_all_there_were_and_taken_with_its_run,
    of_twenty_that_ask_at_once_as_many_get_a_turn_as_may,
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

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn four_fresh_starts_at_once_all_succeed_on_postgres() {
    let Some(schema) = Schema::new().await.unwrap() else { return };
    files::four_at_once(schema.location()).await;
    schema.drop().await.unwrap();
}

/// A step of a later version.
pub(crate) const NEWER: &str = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
     VALUES (999, 'later', true, '', 0)";

#[tokio::test]
async fn postgres_tables_from_a_newer_version_are_left_alone() {
    let Some(schema) = Schema::new().await.unwrap() else { return };
    schema.open().await.unwrap().close().await;
    schema.run(NEWER).await.unwrap();
    let error = Store::open(schema.location()).await.unwrap_err();
    assert!(matches!(error, countersign_store::StoreError::Newer(999)), "{error}");
    schema.drop().await.unwrap();
}

#[tokio::test]
async fn rows_from_before_they_were_numbered_get_numbers_on_postgres() {
    let Some(schema) = Schema::new().await.unwrap() else { return };
    let store = schema.open().await.unwrap();
    cases::three_out_of_order(&store).await;
    store.close().await;
    schema.run(files::BEFORE_ARRIVALS).await.unwrap();
    cases::numbered_by_their_ids(&schema.open().await.unwrap()).await;
    schema.drop().await.unwrap();
}

#[test]
fn an_address_is_never_printed() {
    let location = Location::Postgres("postgres://me:secret@db/test".into());
    assert_eq!(format!("{location:?}"), "Postgres(..)");
}
