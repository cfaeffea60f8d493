//! The data directory's disk: no room on it, and files that others can read.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::run;

/// Nothing is dialled for it, and the decision that says so is kept like any other.
const CHECK: &[&str] = &["check", "https://one.localhost/"];

fn said(out: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

/// A disk of two mebibytes, unmounted when dropped.
struct Disk(PathBuf);

impl Disk {
    fn mount(at: &Path) -> Option<Self> {
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"]).arg(at).output().ok()?;
        done.status.success().then(|| Self(at.to_owned()))
    }

    /// Writes until nothing more goes in.
    fn fill(&self) -> PathBuf {
        use std::io::Write as _;
        let path = self.0.join("filling");
        let mut file = std::fs::File::create(&path).expect("a file on an empty disk");
        while file.write_all(&[0; 512]).is_ok() {}
        path
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _gone = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_stops_a_check_with_what_to_do_and_room_is_all_it_needs() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(disk) = Disk::mount(folder.path()) else { return skipped("a disk may not be mounted here") };
    let data = folder.path().join("data");
    std::fs::create_dir(&data).expect("a data directory");
    let (healthy, answer, _) = said(&run(&data, CHECK));
    assert!(!answer.is_empty(), "the positive control: a decision, if only that nothing was asked");
    for fresh in [false, true] {
        if fresh {
            std::fs::remove_dir_all(&data).and_then(|()| std::fs::create_dir(&data)).expect("emptied");
        }
        let filling = disk.fill();
        let (code, answer, talk) = said(&run(&data, CHECK));
        assert_eq!((code, answer.as_str()), (Some(4), ""), "{talk}");
        assert!(talk.contains("disk that holds the database is full") && talk.contains("hint: make room"), "{talk}");
        std::fs::remove_file(filling).expect("room again");
        let (code, answer, talk) = said(&run(&data, CHECK));
        assert!(code == healthy && !answer.is_empty(), "{talk}");
    }
}

/// The limit is in blocks of 512 or 1024 bytes, as the shell counts them: above what an empty database takes either way,
/// and below what eighteen looks do.
#[test]
fn a_limit_on_the_size_of_files_is_told_and_kills_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    let under = |limit: &str, args: &[&str]| {
        let mut shell = Command::new("sh");
        let line = format!("ulimit -f {limit} && exec \"$@\"");
        shell.args(["-c", &line, "sh", env!("CARGO_BIN_EXE_countersign")]).args(args).current_dir(folder.path());
        said(&shell.env("COUNTERSIGN_DATA", folder.path()).output().expect("a shell"))
    };
    let (code, _, talk) = under("unlimited", &["demo", "--quiet"]);
    assert_eq!((code, talk.as_str()), (Some(0), ""), "the positive control");
    for limit in ["8", "60", "200"] {
        for args in [&["demo", "--quiet"][..], CHECK] {
            let (code, answer, talk) = under(limit, args);
            assert_eq!((code, answer.as_str()), (Some(4), ""), "{limit} {args:?}: {talk}");
            let why = talk.contains("error: the disk that holds the database is full")
                || talk.contains("error: the system refused to read or write the database file: ");
            assert!(why && talk.contains("hint: "), "{limit} {args:?}: {talk}");
        }
    }
}

#[test]
fn a_full_disk_leaves_the_receipt_that_was_to_be_renewed_in_its_place() {
    let (folder, data) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let Some(disk) = Disk::mount(folder.path()) else { return skipped("a disk may not be mounted here") };
    let path = folder.path().join("receipt.json");
    let file = path.to_str().expect("text");
    let (code, _, talk) = said(&run(data.path(), &[CHECK, &["--log-misses", "--receipt", file]].concat()));
    assert_eq!(code, Some(4), "{talk}");
    let receipt = std::fs::read(&path).expect("a receipt");
    let filling = disk.fill();
    let renew = ["receipt", "upgrade", file, "--out", file];
    let (code, _, talk) = said(&run(data.path(), &renew));
    assert!(code == Some(2) && talk.contains("cannot write"), "{talk}");
    let again = [CHECK, &["--log-misses", "--receipt", file]].concat();
    let (code, _, talk) = said(&run(data.path(), &again));
    assert!(code == Some(4) && talk.contains("cannot write"), "{talk}");
    assert!(std::fs::read(&path).expect("still there") == receipt, "as it was");
    std::fs::remove_file(filling).expect("room again");
    assert_eq!(said(&run(data.path(), &renew)).0, Some(0), "the positive control");
    let names = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(names, 1, "nothing is left beside it");
}

#[test]
fn a_database_that_others_can_read_is_said_in_one_line_and_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = |args: &[&str]| said(&run(folder.path(), args));
    let (code, _, talk) = told(CHECK);
    assert!(!talk.contains("chmod"), "the control: a fresh database is its owner's alone");
    let path = folder.path().join("countersign.db");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("opened to a group");
    let (again, _, talk) = told(CHECK);
    assert_eq!((again, talk.matches("chmod 600").count()), (code, 1), "{talk}");
    let (code, answer, _) = told(&["doctor", "--name-server", "127.0.0.1"]);
    let warned =
        answer.contains("warning        database: others on this machine can read the database\n  hint: chmod 600");
    assert!(code == Some(0) && warned, "{answer}");
    let mode = std::fs::metadata(&path).expect("still there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o640);
}

/// After a torn disk or copy: what was written last is in the `-wal`, and a new database in its place forgets every
/// recipient.
#[test]
fn a_wal_without_its_database_stops_a_check_and_a_new_database_beside_older_keys_is_said() {
    const NEW: &str = "the database is new, and keys/ in the data directory older: no recipient is known from before; \
                       if there was a database, restore it from a backup\n";
    let folder = tempfile::tempdir().expect("a folder");
    let (database, wal) = (folder.path().join("countersign.db"), folder.path().join("countersign.db-wal"));
    let told = |args: &[&str]| said(&run(folder.path(), args));
    let (healthy, _, talk) = told(CHECK);
    assert!(!talk.contains("database"), "the control: nothing is lost at the first check: {talk}");
    std::fs::write(&wal, [7; 4152]).expect("written");
    for case in ["empty", "gone"] {
        match case {
            "empty" => std::fs::write(&database, "").expect("emptied"),
            _ => std::fs::remove_file(&database).expect("removed"),
        }
        let (code, answer, talk) = told(CHECK);
        assert_eq!((code, answer.as_str()), (Some(4), ""), "{case}: {talk}");
        let damaged = talk.contains(&format!("{} is damaged: it is {case}, and the -wal", database.display()));
        assert!(damaged && talk.contains("hint: put a backup in its place"), "{case}: {talk}");
        let (code, answer, _) = told(&["doctor", "--name-server", "127.0.0.1"]);
        assert!(code == Some(1) && answer.contains("-wal file"), "{case}: {answer}");
        assert_eq!(std::fs::read(&wal).expect("still there"), [7; 4152], "{case}");
    }
    std::fs::remove_file(&wal).expect("moved aside");
    let (code, _, talk) = told(CHECK);
    assert_eq!((code, talk.matches(NEW).count()), (healthy, 1), "{talk}");
    assert!(!told(CHECK).2.contains("database"), "said once");
}

#[allow(clippy::print_stdout, reason = "a test that skips says so")]
fn skipped(why: &str) {
    println!("skipped: {why}");
}
