//! `doctor` finds what is wrong, and leaves no trace.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use countersign_probe::testkit::dns::{NameServer, Reply, a};
use countersign_store::{Location, Store};
use serde_json::Value;

use crate::common::{command, copy, run, told};

/// Size, time of change, mode and content of everything below a folder, and of the folder.
type Tree = BTreeMap<PathBuf, (u64, SystemTime, u32, Vec<u8>)>;

fn tree(path: &Path, into: &mut Tree) {
    let Ok(meta) = fs::metadata(path) else { return };
    let content = if meta.is_file() { fs::read(path).expect("ours") } else { Vec::new() };
    into.insert(path.to_owned(), (meta.len(), meta.modified().expect("a time"), meta.permissions().mode(), content));
    if meta.is_dir() {
        let entries = fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
        entries.for_each(|entry| tree(&entry, into));
    }
}

fn tree_of(path: &Path) -> Tree {
    let mut found = Tree::new();
    tree(path, &mut found);
    found
}

/// Exit code, and each row's state and whole row.
type Told = (Option<i32>, BTreeMap<String, (String, Value)>);

/// Runs it over `data`, from a folder of its own, and sees that nothing changed.
fn doctor(data: &Path, args: &[&str], variables: &[(&str, &str)]) -> Told {
    let elsewhere = tempfile::tempdir().expect("a folder");
    let before = tree_of(data);
    let named = [&["doctor", "--json", "--data", data.to_str().expect("text")], args].concat();
    let named =
        if args.contains(&"--name-server") { named } else { [&named[..], &["--name-server", "192.0.2.53"]].concat() };
    let out = command(elsewhere.path(), &named).envs(variables.iter().copied()).output().expect("the binary starts");
    assert_eq!(tree_of(data), before, "a look leaves no trace");
    assert_eq!(fs::read_dir(elsewhere.path()).expect("a folder").count(), 0, "nor elsewhere");
    let rows: Vec<Value> = serde_json::from_slice(&out.stdout).expect("one JSON value");
    assert_eq!(rows.len(), 10);
    let text = |row: &Value, name: &str| row[name].as_str().expect("text").to_owned();
    (out.status.code(), rows.into_iter().map(|row| (text(&row, "what"), (text(&row, "state"), row))).collect())
}

/// The state of one row, its code, and the exit code.
fn state(told: &Told, what: &str) -> (String, Option<String>, Option<i32>) {
    let (state, row) = &told.1[what];
    (state.clone(), row["code"].as_str().map(str::to_owned), told.0)
}

fn is(state: &str, code: Option<&str>, exit: i32) -> (String, Option<String>, Option<i32>) {
    (state.to_owned(), code.map(str::to_owned), Some(exit))
}

/// After one check: keys, database, log. Nobody else may write to it, whatever the mask of whoever runs the tests.
fn full() -> tempfile::TempDir {
    let data = tempfile::tempdir().expect("a folder");
    fs::set_permissions(data.path(), fs::Permissions::from_mode(0o700)).expect("ours");
    let out = run(data.path(), &["check", "https://one.localhost/", "--log-misses"]);
    assert_eq!(out.status.code(), Some(4), "decided");
    data
}

#[test]
fn nothing_is_made_where_there_is_nothing_and_where_there_is_everything() {
    let folder = tempfile::tempdir().expect("a folder");
    for data in [folder.path().join("absent/deeper"), folder.path().to_owned()] {
        let told = doctor(&data, &[], &[]);
        let failed: Vec<_> = told.1.iter().filter(|(_, (state, _))| state == "failed").collect();
        assert!(told.0 == Some(0) && failed.is_empty(), "{failed:?}");
        assert!(told.1["database"].1["says"].as_str().is_some_and(|says| says.contains("nothing yet")));
    }
    let data = full();
    let told = doctor(data.path(), &[], &[]);
    let states: Vec<_> = told.1.values().map(|(state, _)| state.as_str()).filter(|state| *state != "ok").collect();
    assert_eq!((told.0, states), (Some(0), vec!["not_looked_at"]), "all but the names: {:?}", told.1);
    assert!(told.1["database"].1["says"].as_str().is_some_and(|says| says.contains(", version ")));
}

/// As a crash leaves it, and as somebody copies it without the file that looks unimportant.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_was_not_closed_is_read_without_a_trace_or_not_at_all() {
    let (open, left) = (full(), tempfile::tempdir().expect("a folder"));
    let file = "countersign.db";
    let store = Store::open(Location::Sqlite(open.path().join(file))).await.expect("it opens");
    store.put_evidence(b"in the -wal").await.expect("kept");
    let said = doctor(open.path(), &[], &[]);
    assert_eq!(state(&said, "database"), is("ok", None, 0), "beside a process that has it open");
    copy(open.path(), left.path());
    assert_eq!(told(left.path(), &["log", "adopt"]).0, Some(0));
    let said = doctor(left.path(), &[], &[]);
    assert_eq!(state(&said, "database"), is("ok", None, 0), "with both files: {:?}", said.1["database"]);
    fs::remove_file(left.path().join(format!("{file}-shm"))).expect("it was there");
    let said = doctor(left.path(), &[], &[]);
    assert_eq!(state(&said, "database"), is("not_looked_at", None, 0));
}

#[test]
fn what_stops_a_check_fails_under_its_code_and_what_does_not_is_a_warning() {
    let hurt = |file: &str, hurt: &dyn Fn(&Path)| {
        let data = full();
        hurt(&if file.is_empty() { data.path().to_owned() } else { data.path().join(file) });
        doctor(data.path(), &[], &[])
    };
    let mode =
        |mode: u32| move |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
    let garbled = |path: &Path| fs::write(path, "garbled").expect("written");
    let told = hurt("keys/log.seeds", &garbled);
    assert_eq!(state(&told, "log keys"), is("failed", Some("log_seeds_damaged"), 1), "{:?}", told.1);
    let lost = |path: &Path| fs::remove_file(path).expect("it was there");
    assert_eq!(state(&hurt("keys/log.seeds", &lost), "log keys"), is("failed", Some("log_keys_lost"), 1));
    assert_eq!(state(&hurt("log/head", &garbled), "log"), is("failed", Some("log_record"), 1));
    let others = |path: &Path| {
        let other = full();
        fs::copy(other.path().join("keys/log.seeds"), path).expect("copied");
    };
    assert_eq!(
        state(&hurt("keys/log.seeds", &others), "log keys"),
        is("failed", Some("log_seeds"), 1),
        "another log's"
    );
    let told = hurt("countersign.db", &garbled);
    assert_eq!(state(&told, "database").0, "failed");
    assert_eq!(state(&hurt("", &mode(0o777)), "data directory"), is("warning", None, 0));
    assert_eq!(state(&hurt("keys", &mode(0o770)), "signing keys"), is("warning", None, 0));
    assert_eq!(state(&hurt("countersign.db", &mode(0o644)), "database"), is("warning", None, 0));
    let opened = |path: &Path| {
        let file = fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
        let key = file.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "json"));
        mode(0o644)(&key.expect("a key"));
    };
    assert_eq!(state(&hurt("keys", &opened), "signing keys").0, "failed");
}

/// Each check in a copy decides and has no receipt, until somebody says that the copy is the log now.
#[test]
fn a_copy_of_the_log_that_was_not_adopted_is_named() {
    let (data, copied) = (full(), tempfile::tempdir().expect("a folder"));
    copy(data.path(), copied.path());
    fs::set_permissions(copied.path(), fs::Permissions::from_mode(0o700)).expect("ours");
    let log = |data: &Path| (state(&doctor(data, &[], &[]), "log"), told(data, &["log", "status"]).1["copied"].clone());
    assert_eq!(log(data.path()), (is("ok", None, 0), false.into()), "the original");
    assert_eq!(log(copied.path()), (is("failed", Some("log_copied"), 1), true.into()));
    let said = String::from_utf8(run(copied.path(), &["log", "status"]).stdout).expect("text");
    assert!(said.contains("\n  this directory is a copy of the log"), "{said}");
    assert_eq!(told(copied.path(), &["log", "adopt"]).0, Some(0));
    assert_eq!(log(copied.path()), (is("ok", None, 0), false.into()), "adopted");
}

/// The log and the database each remember by whom was signed; a check would make a new key and go on.
#[test]
fn a_signing_key_that_was_lost_is_named_with_what_to_do() {
    for forgotten in ["log", "countersign.db"] {
        let data = full();
        let path =
            fs::read_dir(data.path().join("keys")).expect("a folder").map(|entry| entry.expect("an entry").path());
        let key = path.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "json")).expect("a key");
        let id =
            key.file_stem().and_then(|name| name.to_str()?.split_once('-')).expect("a purpose and an id").1.to_owned();
        assert_eq!(state(&doctor(data.path(), &[], &[]), "signing keys"), is("ok", None, 0));
        fs::remove_file(&key).expect("ours");
        let gone = data.path().join(forgotten);
        if gone.is_dir() { fs::remove_dir_all(gone.join("keys")) } else { fs::remove_file(gone) }.expect("ours");
        let told = doctor(data.path(), &[], &[]);
        let (state, row) = &told.1["signing keys"];
        assert_eq!(state, "warning", "without {forgotten}: {:?}", told.1);
        assert!(row["says"].as_str().is_some_and(|says| says.contains(&id)), "{row}");
        assert!(row["hint"].as_str().is_some_and(|hint| hint.contains("restore")), "{row}");
    }
}

#[test]
fn settings_and_services_are_looked_at() {
    let data = full();
    let told = doctor(data.path(), &["--allow-loopback"], &[]);
    assert_eq!(state(&told, "settings"), is("warning", None, 0));
    let said = told.1["settings"].1["says"].as_str().expect("text");
    assert!(said.contains("allow_loopback from flag") && said.contains("data from flag"), "{said}");
    let away = [
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:1"),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"),
    ];
    let told = doctor(data.path(), &["--tiles", "s3://bucket/folder"], &away);
    assert_eq!(state(&told, "tile storage"), is("failed", Some("tiles_unavailable"), 1));
    let told = doctor(data.path(), &["--database", "postgres://me:secret@127.0.0.1:1/d"], &[]);
    let (state, row) = &told.1["database"];
    assert!(state == "failed" && !row.to_string().contains("secret"), "{row}");
    let told = doctor(&data.path().join("countersign.db"), &[], &[]);
    assert_eq!(told.1["data directory"].0, "failed", "a file is no directory");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_name_is_asked_for_unless_it_is_given() {
    let zone = [("paid.example", "8.8.8.8"), ("inside.example", "10.0.0.1")]
        .map(|(name, address)| (name.to_owned(), vec![Reply::records([a(address)])]));
    let names = NameServer::start(zone).await.expect("a free port");
    let (data, server) = (full(), names.address().to_string());
    let asked =
        |more: &[&str]| state(&doctor(data.path(), &[&["--name-server", &server], more].concat(), &[]), "names");
    assert_eq!(asked(&[]), is("not_looked_at", None, 0));
    assert_eq!(names.asked("paid.example") + names.asked("inside.example"), 0);
    assert_eq!(asked(&["--look-up", "paid.example"]), is("ok", None, 0));
    assert_eq!(asked(&["--look-up", "inside.example"]), is("failed", Some("address_refused"), 1));
    assert_eq!(asked(&["--look-up", "https://paid.example/"]), is("failed", Some("usage"), 1));
}
