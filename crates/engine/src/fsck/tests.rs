use std::fs;
use std::sync::Arc;

use countersign_core::leaf::LeafType;

use super::*;
use crate::env::Env;
use crate::log::{DirTiles, LogBook};
use crate::testing::copy_folder;

fn check(data: &Path) -> Result<Whole, Fault> {
    super::check(data, &DirTiles::new(&Place::new(data).log()))
}

/// A closed log of 300 leaves: one full bundle stored, the rest in the segments.
fn data() -> tempfile::TempDir {
    let data = tempfile::tempdir().unwrap();
    let book = LogBook::serving(data.path(), Arc::new(Env::Real));
    book.hold().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..20 {
            let book = &book;
            scope.spawn(move || {
                for n in 0..15 {
                    book.append(LeafType::decision(), format!("{{\"n\":{}}}", thread * 15 + n).as_bytes()).unwrap();
                }
            });
        }
    });
    data
}

fn flip(path: &Path, at: usize) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

fn only_segment(data: &Path) -> std::path::PathBuf {
    let mut found: Vec<_> = fs::read_dir(data.join("log/wal")).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found.pop().unwrap()
}

#[test]
fn a_whole_log_is_read_whole_and_each_difference_is_named() {
    let data = data();
    let log = data.path().join("log");
    let whole = check(data.path()).unwrap();
    assert_eq!((whole.checkpoint.size, whole.published), (300, Some(300)));
    // 256 entries make a full bundle and a full tile; 44 more a partial bundle and tile, and level 1 has one hash.
    assert_eq!(whole.report, Report { entries: 300, bundles: 2, tiles: 3 });

    let code = || check(data.path()).map(drop).map_err(|fault| (fault.code(), fault.kind()));
    for (file, at, expected) in [
        ("tile/entries/000", 200, "fsck_tile"),
        ("tile/0/000", 8000, "fsck_tile"),
        ("tile/entries/000", 0, "fsck_bundle"),
    ] {
        flip(&log.join(file), at);
        assert_eq!(code(), Err((expected, FaultKind::Differs)), "{file}");
        flip(&log.join(file), at);
        assert_eq!(code(), Ok(()), "{file} as it was");
    }

    let checkpoint = fs::read_to_string(log.join("checkpoint")).unwrap();
    fs::write(log.join("checkpoint"), checkpoint.replacen("\n300\n", "\n299\n", 1)).unwrap();
    assert_eq!(code(), Err(("fsck_checkpoint", FaultKind::Differs)));
    fs::write(log.join("checkpoint"), checkpoint).unwrap();

    let (tile, away) = (log.join("tile/entries/000"), log.join("away"));
    fs::rename(&tile, &away).unwrap();
    fs::rename(log.join("wal"), log.join("wal-away")).unwrap();
    fs::create_dir(log.join("wal")).unwrap();
    assert_eq!(code().map_err(|found| found.1), Err(FaultKind::Differs), "no segments");
    fs::remove_dir(log.join("wal")).unwrap();
    fs::rename(log.join("wal-away"), log.join("wal")).unwrap();
    fs::rename(&away, &tile).unwrap();
    assert_eq!(code(), Ok(()));

    flip(&only_segment(data.path()), 600);
    assert_eq!(code().map_err(|found| found.1), Err(FaultKind::Differs), "a segment");
}

#[test]
fn a_stored_file_that_is_gone_is_lacking_until_a_start_stores_it_again() {
    let data = data();
    let names = ["tile/entries/000", "tile/0/000"];
    let files = names.map(|name| data.path().join("log").join(name));
    let whole = files.each_ref().map(|file| fs::read(file).unwrap());
    for (n, file) in files.iter().enumerate() {
        fs::remove_file(file).unwrap();
        let fault = check(data.path()).unwrap_err();
        assert_eq!((fault.code(), fault.kind()), ("fsck_lacking", FaultKind::Lacks));
        let named = names[..=n].iter().map(|name| format!("{name}, only in write-ahead segments"));
        let said = format!("the tile storage lacks what the log has stored: {}", named.collect::<Vec<_>>().join("; "));
        assert_eq!(fault.to_string(), said);
    }
    let book = LogBook::one_shot(data.path(), Arc::new(Env::Real));
    book.hold().unwrap();
    while !files.iter().all(|file| file.exists()) {
        std::thread::yield_now();
    }
    drop(book);
    assert_eq!(check(data.path()).unwrap().checkpoint.size, 300, "the control");
    assert_eq!(files.map(|file| fs::read(file).unwrap()), whole);
}

#[test]
fn what_no_segment_holds_is_named_and_not_all_of_a_long_log() {
    let data = data();
    let log = data.path().join("log");
    let mut written = Written::read(&log, None).unwrap();
    assert_eq!(written.stored, 256);
    assert_eq!(lacking::Lacking::list(&DirTiles::new(&log), &written).unwrap(), None, "the control");
    let empty = tempfile::tempdir().unwrap();
    let tiles = DirTiles::new(empty.path());
    // A log that has stored 300 bundles, of which its segments hold the first.
    written.stored = 300 * 256;
    let lacking = lacking::Lacking::list(&tiles, &written).unwrap().unwrap();
    let said = lacking.to_string();
    assert!(said.contains("tile/0/000, only in write-ahead segments; tile/entries/001, in no write-ahead"), "{said}");
    assert!(said.ends_with("tile/0/003, in no write-ahead segment either; and more"), "{said}");
    assert!(lacking.hint().contains("`--tiles`"), "{}", lacking.hint());
}

#[test]
fn an_older_log_under_a_newer_record_is_not_whole() {
    let data = tempfile::tempdir().unwrap();
    let append = |text: &str| {
        let book = LogBook::one_shot(data.path(), Arc::new(Env::Real));
        book.append(LeafType::decision(), text.as_bytes()).unwrap();
    };
    let [log, older, newest, record] = ["log", "older", "newest", "log-head"].map(|name| data.path().join(name));
    let put = |from: &Path| {
        fs::remove_dir_all(&log).unwrap();
        copy_folder(from, &log);
    };
    append("{\"n\":1}");
    copy_folder(&log, &older);
    append("{\"n\":2}");
    copy_folder(&log, &newest);
    assert_eq!(check(data.path()).unwrap().checkpoint.size, 2, "the control");

    put(&older);
    let fault = check(data.path()).unwrap_err();
    assert_eq!((fault.code(), fault.kind()), ("fsck_head", FaultKind::Differs));
    let said = format!("{} says that 2 leaves were signed, and the segments do not give that state", record.display());
    assert_eq!(fault.to_string(), said);

    let kept = fs::read(&record).unwrap();
    fs::remove_file(&record).unwrap();
    assert_eq!(check(data.path()).unwrap().checkpoint.size, 1, "nobody knows better");
    fs::write(&record, b"rubbish").unwrap();
    assert_eq!(check(data.path()).unwrap_err().code(), "log_record");
    fs::write(&record, kept).unwrap();
    put(&newest);
    assert_eq!(check(data.path()).unwrap().checkpoint.size, 2);
}

#[test]
fn a_log_in_use_is_checked_without_disturbing_it() {
    let data = tempfile::tempdir().unwrap();
    let book = LogBook::serving(data.path(), Arc::new(Env::Real));
    book.append(LeafType::decision(), b"{\"n\":1}").unwrap();
    assert_eq!(check(data.path()).unwrap().checkpoint.size, 1);
    assert_eq!(book.append(LeafType::decision(), b"{\"n\":2}").unwrap().index, 1);
    assert_eq!(check(data.path()).unwrap().checkpoint.size, 2);
}

#[test]
fn no_log_is_not_a_damaged_one() {
    let data = tempfile::tempdir().unwrap();
    let fault = check(data.path()).unwrap_err();
    assert_eq!((fault.code(), fault.kind()), ("log_missing", FaultKind::Unknown));
}

#[test]
fn a_file_that_does_not_read_is_named_with_the_reason_and_says_nothing_of_the_log() {
    let data = data();
    let tile = data.path().join("log/tile/entries/000");
    fs::remove_file(&tile).unwrap();
    fs::create_dir(&tile).unwrap();
    let fault = check(data.path()).unwrap_err();
    assert_eq!((fault.code(), fault.kind()), ("fsck_source", FaultKind::Unknown));
    let reason = format!("tile/entries/000 could not be read: tile storage: {}: Is a directory", tile.display());
    assert!(fault.to_string().starts_with(&reason), "{fault}");
}
