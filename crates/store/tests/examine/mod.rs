//! A look finds what an open would, and makes nothing.

use std::path::Path;

use countersign_core::time::Timestamp;
use countersign_store::{Before, Examined, Location, Store, StoreError};
use sha2::{Digest as _, Sha256};

use crate::{NEWER, Schema};

fn tables(writable: bool, readers: &[&str]) -> Examined {
    let readers = readers.iter().map(|role| (*role).to_owned()).collect();
    Examined::Tables { version: Examined::LATEST, writable, readers, newest: Vec::new() }
}

fn names(directory: &Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

/// What is looked at, and the files that lie there afterwards.
async fn look(path: &Path) -> (Result<Examined, StoreError>, usize) {
    let found = Store::examine(Location::Sqlite(path.to_owned())).await;
    (found, names(path.parent().unwrap()).len())
}

#[tokio::test]
async fn a_file_is_read_as_it_lies_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("countersign.db");
    assert!(matches!(look(&path).await, (Ok(Examined::Empty), 0)));
    let store = Store::open(Location::Sqlite(path.clone())).await.unwrap();
    store.put_evidence(b"abc").await.unwrap();
    let (open, files) = look(&path).await;
    assert_eq!((open.unwrap(), files), (tables(true, &[]), 4), "beside a process that has it open");
    let copied = tempfile::tempdir().unwrap();
    let copy = copied.path().join("countersign.db");
    for ending in ["", "-wal"] {
        std::fs::copy(format!("{}{ending}", path.display()), format!("{}{ending}", copy.display())).unwrap();
    }
    assert!(matches!(look(&copy).await, (Ok(Examined::Unindexed), 2)));
    store.close().await;
    let (closed, files) = look(&path).await;
    assert_eq!((closed.unwrap(), files), (tables(true, &[]), 2), "the database and its lock");
}

/// The page of a table's tree, deep inside a file whose header is sound.
#[tokio::test]
async fn damage_anywhere_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("countersign.db");
    let mut bytes = crate::files::sound(&path).await;
    let last = bytes.len() - 4096;
    bytes[last..].fill(0xAA);
    std::fs::write(&path, &bytes).unwrap();
    let error = look(&path).await.0.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(error.to_string().starts_with(path.to_str().unwrap()), "{error}");
    assert!(std::fs::read(&path).unwrap() == bytes, "left as it is");
    std::fs::write(&path, "These are my notes, please keep them.").unwrap();
    assert!(matches!(look(&path).await.0, Err(StoreError::Damaged { .. })));
}

/// The decisions that a look takes along: the newest first, and nothing of another kind.
async fn newest_of(location: Location, store: &Store) {
    let put = async |id: &str, kind: &str, bytes: &[u8]| {
        let sha256 = hex::encode(Sha256::digest(bytes));
        store.put_document(id, kind, &sha256, bytes, Timestamp::from_seconds(1)).await.unwrap();
    };
    for id in 0..=Examined::NEWEST {
        put(&format!("{id:04}"), "decision", format!("{id}").as_bytes()).await;
    }
    put("9999", "receipt", b"r").await;
    let Examined::Tables { newest, .. } = Store::examine(location).await.unwrap() else { panic!("tables") };
    let wanted: Vec<Vec<u8>> = (1..=Examined::NEWEST).rev().map(|id| id.to_string().into_bytes()).collect();
    assert_eq!(newest, wanted, "all but the first");
}

#[tokio::test]
async fn the_newest_decisions_are_taken_along() {
    let directory = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(directory.path().join("countersign.db"));
    newest_of(location.clone(), &Store::open(location).await.unwrap()).await;
    let Some(schema) = Schema::new().await.unwrap() else { return };
    let store = schema.open().await.unwrap();
    newest_of(schema.location(), &store).await;
    store.close().await;
    schema.drop().await.unwrap();
}

#[tokio::test]
async fn the_same_is_said_of_postgres_and_who_may_read() {
    let Some(schema) = Schema::new().await.unwrap() else { return };
    let look = async || Store::examine(schema.location()).await;
    assert_eq!(look().await.unwrap(), Examined::Empty);
    assert_eq!(look().await.unwrap(), Examined::Empty, "the first look made nothing");
    for before in [Before::Nothing, Before::Database] {
        let store = schema.open().await.unwrap();
        assert_eq!(store.before(), before);
        store.close().await;
    }
    assert_eq!(look().await.unwrap(), tables(true, &[]));
    schema.run("GRANT SELECT ON document TO PUBLIC").await.unwrap();
    assert_eq!(look().await.unwrap(), tables(true, &["PUBLIC"]));
    schema.run(NEWER).await.unwrap();
    assert!(matches!(look().await, Err(StoreError::Newer(999))));
    schema.drop().await.unwrap();
}
