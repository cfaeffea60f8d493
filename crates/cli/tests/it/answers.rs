//! How an answer or a failure reaches whoever asked: as JSON, into files, into a full disk, past a progress bar.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{command, mode, run, told};

const URL: &str = "https://one.localhost/";

#[test]
fn a_program_that_asked_for_json_gets_failures_as_json() {
    let folder = tempfile::tempdir().expect("a folder");
    for (args, exit, code) in [
        (&["check", "http://a.example/"][..], 3, "url_not_https"),
        (&["check", "https://127.0.0.1/"], 3, "url_ip_literal"),
        (&["check", URL, "--max-price-usd", "cheap"], 2, "amount_not_digits"),
        (&["verify", "absent.json"], 3, "cannot_read"),
        (&["log", "status"], 4, "log_missing"),
    ] {
        let (code_seen, answer) = told(folder.path(), args);
        assert_eq!((code_seen, &answer["code"]), (Some(exit), &Value::from(code)), "{args:?} {answer}");
        assert!(answer["error"].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
    }
    let (_, answer) = told(folder.path(), &["check", "https://a.example/x/../y"]);
    assert!(answer["hint"].as_str().is_some_and(|hint| hint.contains("..")), "what to write instead: {answer}");
}

#[test]
fn a_password_in_a_url_is_not_repeated() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = "https://me:hunter2@one.localhost/";
    std::fs::write(folder.path().join("urls.txt"), url).expect("written");
    for args in [&["check", url][..], &["check", url, "--json"], &["check", "--from", "urls.txt"]] {
        let out = run(folder.path(), args);
        let all = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        assert!(all.contains("user name or password") && !all.contains("hunter2"), "{args:?} {all}");
        assert_eq!(out.status.code(), Some(3));
    }
}

#[test]
fn an_answer_that_could_not_be_written_is_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let ends = |out: Stdio| {
        let done = command(folder.path(), &["config"]).stdout(out).output().expect("the binary starts");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    assert_eq!(ends(Stdio::null()).0, Some(0), "the positive control");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device that is always full");
    let (code, said) = ends(full.into());
    assert_eq!((code, said.contains("cannot write the answer")), (Some(4), true), "{said}");
}

#[test]
fn a_file_nobody_can_write_to_is_found_before_anything_is_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    assert_eq!(run(folder.path(), &["check", URL, "--receipt", "absent/r.json"]).status.code(), Some(2));
    assert!(!path("countersign.db").exists(), "nothing was looked at");
    std::fs::write(path("old.json"), "kept").expect("written");
    let out = run(folder.path(), &["check", URL, "--out", "d.json", "--receipt", "old.json"]);
    assert_eq!(out.status.code(), Some(4), "the seller is not there");
    let talk = String::from_utf8_lossy(&out.stderr);
    assert!(talk.contains("no receipt: nothing was selected; old.json is unchanged\n"), "{talk}");
    assert_eq!(std::fs::read(path("old.json")).expect("a file"), b"kept", "there was no receipt to replace it");
    assert!(std::fs::read(path("d.json")).is_ok_and(|bytes| bytes.starts_with(b"{")), "the positive control");
    assert_eq!(mode(&path("d.json")), 0o600, "it says what somebody wanted to buy");
    std::fs::set_permissions(path("d.json"), Permissions::from_mode(0o640)).expect("ours");
    assert_eq!(run(folder.path(), &["check", URL, "--out", "d.json"]).status.code(), Some(4));
    assert_eq!(mode(&path("d.json")), 0o640, "what its owner opened to a group stays open to it");
    assert_eq!(run(folder.path(), &["check", URL, "--receipt", "new.json"]).status.code(), Some(4));
    assert!(!path("new.json").exists(), "an empty file is no receipt");
}

/// Its database is a server that takes the call and says nothing. By then the files have been tried.
#[test]
fn a_check_that_is_killed_leaves_no_empty_file_for_an_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("old.json"), "kept").expect("written");
    let database = std::net::TcpListener::bind("127.0.0.1:0").expect("a socket");
    let location = format!("postgres://127.0.0.1:{}/silent", database.local_addr().expect("an address").port());
    for files in [["--out", "new.json", "--receipt", "old.json"], ["--out", "old.json", "--receipt", "new.json"]] {
        let mut check = command(folder.path(), &["check", URL, "--database", &location]);
        let mut child = check.args(files).stderr(Stdio::null()).spawn().expect("the binary starts");
        let _silent = database.accept().expect("a call");
        child.kill().and_then(|()| child.wait()).expect("killed");
        let names =
            std::fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        assert!(names.into_iter().all(|name| !name.to_string_lossy().contains("new")), "{files:?}");
        assert_eq!(std::fs::read(path("old.json")).expect("a file"), b"kept");
    }
    let done = run(folder.path(), &["check", URL, "--out", "new.json"]);
    assert!(done.status.code() == Some(4) && path("new.json").exists(), "the positive control");
}

/// Nothing is asked, signed or written.
#[test]
fn an_answer_goes_to_two_files_and_to_none_of_the_data_directorys_own() {
    let (folder, elsewhere) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let path = |name: &str| folder.path().join(name);
    assert_eq!(run(folder.path(), &["check", URL, "--log-misses", "--receipt", "r.json"]).status.code(), Some(4));
    let database = std::fs::read(path("countersign.db")).expect("a file");
    let key = std::fs::read_dir(path("keys")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let key = key.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "json")).expect("a key");
    let seed = std::fs::read(&key).expect("a file");
    std::fs::write(path("old.json"), "kept").expect("written");
    std::fs::hard_link(path("old.json"), path("again.json")).expect("linked");
    std::os::unix::fs::symlink(&key, elsewhere.path().join("link.json")).expect("linked");
    let (key, link) = (key.to_str().expect("text"), elsewhere.path().join("link.json"));
    let link = link.to_str().expect("text");
    for args in [
        &["check", URL, "--out", "x.json", "--receipt", "x.json"][..],
        &["check", URL, "--out", "x.json", "--receipt", "./x.json"],
        &["check", URL, "--out", "old.json", "--receipt", "again.json"],
        &["check", URL, "--out", key],
        &["check", URL, "--receipt", link],
        &["check", URL, "--out", "keys/new.json"],
        &["check", URL, "--out", "log/head"],
        &["check", URL, "--out", "log-head"],
        &["check", URL, "--out", "countersign.db"],
        &["check", URL, "--out", "countersign.db-wal"],
        &["receipt", "export", "r.json", "--out", key],
        &["receipt", "upgrade", "r.json", "--out", "log/head"],
    ] {
        let (code, answer) = told(folder.path(), args);
        assert_eq!((code, &answer["code"]), (Some(2), &"usage".into()), "{args:?} {answer}");
    }
    assert!(std::fs::read(key).expect("a file") == seed && !path("keys/new.json").exists());
    assert!(std::fs::read(path("countersign.db")).expect("a file") == database && !path("x.json").exists());
    assert_eq!(std::fs::read(path("old.json")).expect("a file"), b"kept");
    let two = ["check", URL, "--log-misses", "--out", "x.json", "--receipt", "old.json"];
    assert_eq!(run(folder.path(), &two).status.code(), Some(4), "the positive control");
    assert!(std::fs::read(path("x.json")).is_ok_and(|bytes| bytes != std::fs::read(path("old.json")).expect("a file")));
    assert_eq!(
        run(folder.path(), &["check", URL, "--out", "/dev/null", "--receipt", "/dev/null"]).status.code(),
        Some(4)
    );
}

/// 0x209693Bc6afc0C5328bA36FaF03C514EF312287C is right by EIP-55; its last letter in lower case is not.
#[test]
fn a_mistyped_recipient_is_no_bound() {
    let folder = tempfile::tempdir().expect("a folder");
    let ends = |payee: &str| run(folder.path(), &["check", URL, "--allow-pay-to", payee]).status.code();
    assert_eq!(ends("0x209693Bc6afc0C5328bA36FaF03C514EF312287C"), Some(4), "the positive control");
    assert_eq!(ends("0x209693bc6afc0c5328ba36faf03c514ef312287c"), Some(4), "no checksum, none wrong");
    assert_eq!(ends("0x209693Bc6afc0C5328bA36FaF03C514EF312287c"), Some(2));
}

#[test]
fn the_answers_to_a_list_stand_on_lines_of_their_own_beside_a_progress_bar() {
    if Command::new("script").arg("--version").output().is_err() {
        return skipped("there is no `script` to make a terminal");
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("urls.txt"), "https://one.localhost/\nhttps://two.localhost/\n")
        .expect("written");
    let line = format!("{} check --from urls.txt", env!("CARGO_BIN_EXE_countersign"));
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &line, "/dev/null"]).current_dir(folder.path()).env("COUNTERSIGN_DATA", folder.path());
    let out = terminal.stdin(Stdio::null()).output().expect("script runs");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("0/2"), "a bar is drawn: {text:?}");
    let answers: Vec<&str> = text.split(['\n', '\r']).filter(|line| line.contains("\"word\"")).collect();
    assert_eq!(answers.len(), 2, "{text:?}");
    for answer in answers {
        let plain = answer.rsplit("\u{1b}[2K").next().expect("one part");
        assert!(serde_json::from_str::<Value>(plain.trim()).is_ok(), "{answer:?}");
    }
}

/// The folder may be anybody's: an agent stands in the repository it works on.
#[test]
fn a_settings_file_that_lies_around_only_closes() {
    let folder = tempfile::tempdir().expect("a folder");
    let ends = |text: &str, more: &[&str]| {
        std::fs::write(folder.path().join("countersign.toml"), text).expect("written");
        run(folder.path(), &[&["config"], more].concat()).status.code()
    };
    assert_eq!(ends("log_misses = true\ndeny_addresses = [\"192.0.2.0/24\"]\n", &[]), Some(0), "positive control");
    for text in [
        "allow_loopback = true\n",
        "ca = \"evil.pem\"\n",
        "data = \"evil\"\n",
        "database = \"postgres://127.0.0.1:1/evil\"\n",
        "tiles = \"s3://evil\"\n",
        "nat64 = [\"64:ff9b::/96\"]\n",
        "name_server = \"192.0.2.53\"\n",
    ] {
        assert_eq!(ends(text, &[]), Some(2), "{text}");
        assert_eq!(ends(text, &["--config", "countersign.toml"]), Some(0), "named, and so meant");
    }
}

#[test]
fn a_variable_that_is_no_text_is_not_overlooked() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let name = std::ffi::OsStr::from_bytes(b"/tmp/\xff");
    let out = command(folder.path(), &["config"]).env("COUNTERSIGN_DATA", name).output().expect("the binary starts");
    assert_eq!(out.status.code(), Some(2), "another data directory would sign with another key");
}

#[allow(clippy::print_stdout, reason = "a test that skips says so")]
fn skipped(why: &str) {
    println!("skipped: {why}");
}
