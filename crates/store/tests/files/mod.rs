//! What holds of SQLite files: fresh starts at once, and damage that is left as it is.

use std::path::Path;

use countersign_store::{Before, Location, Store, StoreError};

/// Four starts on nothing, each on a thread of its own as four processes would be.
pub(crate) async fn four_at_once(location: Location) {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..4 {
        tasks.spawn(Store::open(location.clone()));
    }
    for opened in tasks.join_all().await {
        opened.unwrap().put_evidence(b"abc").await.unwrap();
    }
}

fn at(path: &Path) -> Location {
    Location::Sqlite(path.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn four_fresh_starts_at_once_all_succeed() {
    for _ in 0..5 {
        let directory = tempfile::tempdir().unwrap();
        four_at_once(at(&directory.path().join("countersign.db"))).await;
    }
}

#[tokio::test]
async fn what_was_stored_is_there_after_a_new_start() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("countersign.db");
    let store = Store::open(at(&path)).await.unwrap();
    let sha256 = store.put_evidence(b"abc").await.unwrap();
    store.close().await;
    let again = Store::open(at(&path)).await.unwrap();
    assert_eq!(again.evidence(&sha256).await.unwrap().as_deref(), Some(&b"abc"[..]));
}

#[cfg(unix)]
#[tokio::test]
async fn a_fresh_database_and_what_lies_beside_it_are_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let path = data.join("countersign.db");
    let store = Store::open(at(&path)).await.unwrap();
    store.put_evidence(b"abc").await.unwrap();
    assert_eq!(mode(&data), 0o700);
    for ending in ["", "-wal", "-shm", ".lock"] {
        assert_eq!(mode(&data.join(format!("countersign.db{ending}"))), 0o600, "{ending}");
    }
    store.close().await;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    Store::open(at(&path)).await.unwrap();
    assert_eq!(mode(&path), 0o640, "what the owner opened to a group stays open to it");
}

/// A sound database of ours with one document, closed, as bytes.
pub(crate) async fn sound(path: &Path) -> Vec<u8> {
    let store = Store::open(at(path)).await.unwrap();
    store.put_evidence(&vec![7; 50_000]).await.unwrap();
    store.close().await;
    std::fs::read(path).unwrap()
}

async fn refused(path: &Path, bytes: &[u8], case: &str) {
    std::fs::write(path, bytes).unwrap();
    let error = Store::open(at(path)).await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{case}: {error:?}");
    let said = error.to_string();
    assert!(said.starts_with(path.to_str().unwrap()) && said.contains("damaged"), "{case}: {said}");
    assert!(std::fs::read(path).unwrap() == bytes, "{case}: the file was written to");
}

#[tokio::test]
async fn a_damaged_file_stops_the_start_and_is_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let good = sound(&directory.path().join("good.db")).await;
    let mut first_page = good.clone();
    first_page[100..4096].fill(0xAA);
    let cases: [(&str, &[u8]); 5] = [
        ("no database at all", b"These are my notes, please keep them."),
        ("cut off inside the header", &good[..60]),
        ("cut off after the first page", &good[..4096]),
        ("cut off in the middle", &good[..good.len() / 2]),
        ("first page overwritten", &first_page),
    ];
    for (n, (case, bytes)) in cases.into_iter().enumerate() {
        refused(&directory.path().join(format!("{n}.db")), bytes, case).await;
    }
    // The control: the same bytes undamaged open.
    let path = directory.path().join("control.db");
    std::fs::write(&path, &good).unwrap();
    Store::open(at(&path)).await.unwrap();
}

/// A torn disk or copy: what was written last is in the `-wal`, which SQLite would remove.
#[tokio::test]
async fn a_wal_whose_database_is_empty_or_gone_is_no_new_database() {
    let directory = tempfile::tempdir().unwrap();
    let whole = directory.path().join("countersign.db");
    let store = Store::open(at(&whole)).await.unwrap();
    assert_eq!(store.before(), Before::Nothing);
    store.put_evidence(b"abc").await.unwrap();
    let wal = std::fs::read(format!("{}-wal", whole.display())).unwrap();
    assert!(wal.len() > 32, "the control: the frames are there, {} bytes", wal.len());
    for (case, database, wal, opens) in [
        ("empty", Some(&b""[..]), Some(&wal[..]), false),
        ("gone", None, Some(&wal), false),
        ("only the header of a -wal", Some(b""), Some(&wal[..32]), false),
        ("an empty -wal", Some(b""), Some(b""), true),
        ("no -wal", Some(b""), None, true),
        ("nothing", None, None, true),
    ] {
        let path = directory.path().join(format!("{case}.db"));
        let beside = directory.path().join(format!("{case}.db-wal"));
        for (path, bytes) in [(&path, database), (&beside, wal)] {
            bytes.into_iter().for_each(|bytes| std::fs::write(path, bytes).unwrap());
        }
        let looked = Store::examine(at(&path)).await;
        let opened = Store::open(at(&path)).await;
        if opens {
            assert!(looked.is_ok() && opened.unwrap().before() == Before::Nothing, "{case}");
            continue;
        }
        for error in [looked.unwrap_err(), opened.unwrap_err()] {
            assert!(
                matches!(error, StoreError::Damaged { .. }) && error.to_string().contains("-wal"),
                "{case}: {error}"
            );
        }
        assert!(std::fs::read(&path).ok().as_deref() == database, "{case}: the database was written to");
        assert!(std::fs::read(&beside).ok().as_deref() == wal, "{case}: the -wal was written to");
    }
    store.close().await;
    assert_eq!(Store::open(at(&whole)).await.unwrap().before(), Before::Database);
}

/// The pages of the tables' own trees are overwritten, those of the list of tables are sound.
#[tokio::test]
async fn damage_found_while_reading_says_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("countersign.db");
    let mut bytes = sound(&path).await;
    let sha256 = Store::open(at(&path)).await.unwrap().put_evidence(b"abc").await.unwrap();
    let root = root_page(&path, "evidence").await;
    bytes[(root - 1) * 4096..root * 4096].fill(0xAA);
    let path = directory.path().join("hurt.db");
    std::fs::write(&path, &bytes).unwrap();
    let store = Store::open(at(&path)).await.unwrap();
    let error = store.evidence(&sha256).await.unwrap_err();
    let Err(again) = store.put_evidence(b"abc").await else { panic!("written into a damaged tree") };
    for error in [error, again] {
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
        assert!(error.hint().contains("backup") && !error.to_string().contains("backup"), "{error}");
    }
}

async fn root_page(path: &Path, table: &str) -> usize {
    use sqlx::{Connection as _, Row as _};
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    // The tree of the primary key is the one a lookup reads first.
    let sql = "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND tbl_name = $1";
    let row = sqlx::query(sql).bind(table).fetch_one(&mut connection).await.unwrap();
    usize::try_from(row.get::<i64, _>(0)).unwrap()
}

#[tokio::test]
async fn evidence_whose_bytes_changed_is_not_served() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("countersign.db");
    let store = Store::open(at(&path)).await.unwrap();
    let sha256 = store.put_evidence(b"abc").await.unwrap();
    store
        .put_document("d1", "decision", &sha256, b"abc", countersign_core::time::Timestamp::from_millis(1))
        .await
        .unwrap();
    store.close().await;
    behind_our_back(&path, "UPDATE evidence SET bytes = x'00'; UPDATE document SET bytes = x'00'").await;
    let store = Store::open(at(&path)).await.unwrap();
    assert!(matches!(store.evidence(&sha256).await, Err(StoreError::Altered(_))));
    assert!(matches!(store.document("d1").await, Err(StoreError::Altered(_))));
}

#[tokio::test]
async fn tables_from_a_newer_version_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("countersign.db");
    sound(&path).await;
    let sql = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
               VALUES (999, 'later', true, x'', 0)";
    behind_our_back(&path, sql).await;
    let error = Store::open(at(&path)).await.unwrap_err();
    assert!(matches!(error, StoreError::Newer(999)), "{error:?}");
}

#[tokio::test]
async fn a_place_that_cannot_be_made_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, b"x").unwrap();
    let error = Store::open(at(&file.join("countersign.db"))).await.unwrap_err();
    assert!(matches!(error, StoreError::File { .. }), "{error:?}");
}

/// Takes the third step back.
pub(crate) const BEFORE_ARRIVALS: &str = "DROP INDEX observation_by_arrival; \
    ALTER TABLE observation DROP COLUMN arrival; DROP TABLE derived; \
    CREATE INDEX observation_by_subject ON observation (subject_kind, subject_key, observed_at, id); \
    DELETE FROM _sqlx_migrations WHERE version = 3";

#[tokio::test]
async fn rows_from_before_they_were_numbered_get_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("countersign.db");
    let store = Store::open(at(&path)).await.unwrap();
    crate::cases::three_out_of_order(&store).await;
    store.close().await;
    behind_our_back(&path, BEFORE_ARRIVALS).await;
    crate::cases::numbered_by_their_ids(&Store::open(at(&path)).await.unwrap()).await;
}

async fn behind_our_back(path: &Path, sql: &'static str) {
    use sqlx::Connection as _;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}
