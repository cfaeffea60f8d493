//! The data directory's disk: no room on it, and files that others can read.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{Server, append, mode, run};
use crate::log::witness::{eventually, policy};

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

/// The folder was there before and is open to all, and the process takes no right away from what it makes.
#[test]
fn what_is_kept_is_its_owners_alone_but_for_what_the_log_shows_to_everybody() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path();
    std::fs::set_permissions(data, std::fs::Permissions::from_mode(0o755)).expect("opened");
    let open_handed = |args: &[&str]| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "umask 0; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_countersign")]).args(args);
        shell.current_dir(data).env("COUNTERSIGN_DATA", data).output().expect("the binary starts").status.code()
    };
    assert_eq!(open_handed(&[CHECK, &["--log-misses", "--receipt", "r.json"]].concat()), Some(4));
    assert_eq!(open_handed(&["keys", "rotate"]), Some(0));
    // A full tile has 256 entries.
    let leaves: Vec<String> = (0..256).map(|turn| format!("{{\"a\":{turn}}}")).collect();
    append(data, &leaves.iter().map(String::as_str).collect::<Vec<_>>());
    let witness = ["log", "witness", "--state", "w/w", "--trust", "log/trust", "--name", "witness.example.test/w1"];
    let witness = Server::start_under(data, "umask 0", &witness);
    let policy = policy(data, &witness, &witness.address);
    let log = ["log", "serve", "--witnesses", policy.to_str().expect("text")];
    let log = Server::start_under(data, "umask 0", &log);
    eventually("cosigned", || data.join("log/cosigned").exists());
    let url = format!("http://{}/log", log.address);
    assert_eq!(open_handed(&["log", "monitor", &url, "--trust", "log/trust", "--state", "seen"]), Some(0));
    assert_eq!(mode(&data.join("log/log.sock")), 0o600);
    // From here on nothing changes.
    assert_eq!((log.stop(), witness.stop()), (Some(0), Some(0)));

    let (mut shown, mut kept) = (BTreeSet::new(), BTreeSet::new());
    each_below(data, &mut |path| {
        let name = path.strip_prefix(data).expect("below").to_str().expect("text").to_owned();
        let public = name == "log/tile" || name.starts_with("log/tile/");
        let wanted = match (path.is_dir(), name.as_str()) {
            (true, _) if public => 0o755,
            (true, _) => 0o700,
            (false, _) if public => 0o444,
            (false, "log/checkpoint" | "log/cosigned" | "log/trust") => 0o644,
            // Of the test.
            (false, "policy") => return,
            (false, name) if name.starts_with("talk-") => return,
            (false, _) => 0o600,
        };
        assert_eq!(format!("{:o}", mode(path)), format!("{wanted:o}"), "{name}");
        let _new = if wanted & 0o077 == 0 { kept.insert(name) } else { shown.insert(name) };
    });
    let shows = ["log/checkpoint", "log/cosigned", "log/tile/0/000", "log/tile/entries/000", "log/trust"];
    assert!(shows.iter().all(|name| shown.contains(*name)), "the positive control: {shown:?}");
    let keeps = ["log-head", "log/head", "log/identity", "log/keys", "log/lock", "log/wal", "r.json"];
    let states = ["seen", "seen.commitments", "seen.lock", "w", "w/w/lock", "w/w/witness.begun", "w/w/witness.seeds"];
    assert!(keeps.iter().chain(&states).all(|name| kept.contains(*name)), "{kept:?}");
}

fn each_below(folder: &Path, look: &mut impl FnMut(&Path)) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        look(&path);
        if path.is_dir() {
            each_below(&path, look);
        }
    }
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
