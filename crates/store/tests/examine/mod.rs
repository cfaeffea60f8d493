//! A look finds what an open would, and makes nothing.

use std::path::Path;

use countersign_store::{Before, Examined, Location, Store, StoreError};

use crate::{NEWER, Schema};

fn tables(writable: bool, readers: &[&str]) -> Examined {
    let readers = readers.iter().map(|role| (*role).to_owned()).collect();
    Examined::Tables { version: Examined::LATEST, writable, readers }
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
