//! A copy of a data directory that the user may read and not write.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::common::{append, command, copy};

/// Who owns nothing here.
const NOBODY: u32 = 65_534;

/// Name → size and time of change, of everything below `dir`.
fn listing(dir: &Path, into: &mut BTreeMap<PathBuf, (u64, SystemTime)>) {
    for entry in fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("an entry")) {
        let meta = entry.metadata().expect("there");
        into.insert(entry.path(), (meta.len(), meta.modified().expect("a time")));
        if meta.is_dir() {
            listing(&entry.path(), into);
        }
    }
}

fn set_modes(path: &Path, folder: u32, file: u32) {
    let is_dir = path.is_dir();
    if is_dir {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("ours");
        let entries = fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
        entries.for_each(|entry| set_modes(&entry, folder, file));
    }
    fs::set_permissions(path, fs::Permissions::from_mode(if is_dir { folder } else { file })).expect("ours");
}

/// Exit code and both outputs, of a user who may not write; `None` when such a user cannot start the binary.
fn run(data: &Path, args: &[&str]) -> Option<(Option<i32>, String)> {
    let mut command = command(data, args);
    if fs::metadata(data).expect("there").uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    let out = command.output().ok()?;
    let said = [out.stdout, out.stderr].concat();
    Some((out.status.code(), String::from_utf8_lossy(&said).into_owned()))
}

#[test]
fn status_and_fsck_only_read() {
    let [data, shut] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    append(data.path(), &["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"]);
    ["log", "keys"].iter().for_each(|name| copy(&data.path().join(name), &shut.path().join(name)));
    fs::copy(data.path().join("log-head"), shut.path().join("log-head")).expect("copied");
    set_modes(shut.path(), 0o555, 0o444);
    // Whoever looks at a log needs none of its private keys.
    set_modes(&shut.path().join("keys"), 0o000, 0o000);
    let mut before = BTreeMap::new();
    listing(&shut.path().join("log"), &mut before);

    let ran = run(shut.path(), &["log", "status"]).zip(run(shut.path(), &["log", "fsck"]));
    match ran {
        None => println!("skipped: another user cannot start {}", env!("CARGO_BIN_EXE_countersign")),
        Some(((status, said), (fsck, whole))) => {
            assert_eq!(status, Some(0), "{said}");
            assert!(said.contains(": 3 entries, root "), "{said}");
            assert_eq!(fsck, Some(0), "{whole}");
            assert!(whole.starts_with("whole: 3 entries "), "{whole}");
            let adopted = run(shut.path(), &["log", "adopt"]).expect("as before");
            assert_eq!(adopted.0, Some(4), "the control: this user writes nothing, {}", adopted.1);
        }
    }
    let mut after = BTreeMap::new();
    listing(&shut.path().join("log"), &mut after);
    assert_eq!(after, before);
    set_modes(shut.path(), 0o755, 0o644);
}
