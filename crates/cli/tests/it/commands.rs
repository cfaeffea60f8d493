//! The binary as a person runs it: what it prints matters less here than how it ends.

#![allow(clippy::panic, reason = "helpers of tests may end them")]

use std::process::Output;

use crate::common;

fn run(args: &[&str]) -> Output {
    common::run(tempfile::tempdir().expect("a folder").path(), args)
}

fn code(args: &[&str]) -> Option<i32> {
    run(args).status.code()
}

#[test]
fn the_demo_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = "database = \"postgres://127.0.0.1:1/never\"\n";
    std::fs::write(folder.path().join("countersign.toml"), own)
        .expect("settings of the user's, which a demo must not use");
    let out = common::run(folder.path(), &["demo", "--json", "--quiet"]);
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("one JSON value");
    assert_eq!(out.status.code(), Some(0), "{told:#}");
    assert_eq!(told["tampered_refused"], true);
    assert_eq!(told["checks"].as_array().map(Vec::len), Some(18));
}

#[test]
fn every_seller_of_the_lab_is_seen_for_what_it_is_and_every_twin_is_payable() {
    let value = |args: &[&str]| -> serde_json::Value {
        let out = run(args);
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stdout));
        serde_json::from_slice(&out.stdout).expect("one JSON value")
    };
    let (listed, told) = (value(&["lab", "--list", "--json"]), value(&["demo", "--all", "--json", "--quiet"]));
    let (listed, checks) = (listed.as_array().expect("a list"), told["checks"].as_array().expect("a list"));
    assert_eq!(listed.len(), checks.len());
    assert!(listed.len() >= 111, "{}", listed.len());
    let wrong: Vec<_> = checks.iter().filter(|check| check["held"] != true).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for seller in listed {
        let twin = checks.iter().find(|check| check["seller"] == seller["twin"]).expect("the twin was checked");
        let word = twin["said"].as_str().and_then(|said| said.split(' ').next());
        assert_eq!(word, Some("payable"), "{}", seller["name"]);
    }
}

/// A data directory of the test's own, and the program run in it.
fn run_in(folder: &std::path::Path, args: &[&str]) -> (Option<i32>, String, String) {
    let out = common::run(folder, args);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (out.status.code(), text(out.stdout), text(out.stderr))
}

#[test]
fn a_list_reports_a_bad_line_and_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = "# ours\n\nhttps://one.localhost/\nnot a url\nhttps://two.localhost/\n";
    std::fs::write(folder.path().join("urls.txt"), lines).expect("written");
    let (code, out, _) = run_in(folder.path(), &["check", "--from", "urls.txt"]);
    let rows: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("one JSON value a line")).collect();
    let about = |url: &str| rows.iter().find(|row| row["url"] == url).unwrap_or_else(|| panic!("{url} in {out}"));
    assert_eq!((rows.len(), code), (3, Some(4)), "the gravest exit counts");
    assert!(about("not a url")["error"].is_string());
    assert_eq!(about("not a url")["code"], "url_not_https");
    for url in ["https://one.localhost/", "https://two.localhost/"] {
        assert_eq!(about(url)["word"], "not_evaluated");
    }
}

/// Six looks a minute is what a domain gets: fifty lines that were fifty looks would wait eight minutes.
#[test]
fn a_url_that_stands_in_a_list_often_is_looked_at_once_and_every_line_is_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = "https://one.localhost/\n".repeat(49) + "https://ONE.localhost:443/\nnot a url\nnot a url\n";
    std::fs::write(folder.path().join("urls.txt"), lines).expect("written");
    let (code, out, _) = run_in(folder.path(), &["check", "--from", "urls.txt", "--log-misses"]);
    let rows: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("one JSON value a line")).collect();
    assert_eq!((rows.len(), code), (52, Some(4)));
    let (refused, answers): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row["url"] == "not a url");
    assert_eq!(refused.len(), 2);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "one decision");
    assert_eq!(answers[0]["pq_trust"]["transparency"]["index"], 1, "behind the leaf of the key");
    let (_, status) = common::told(folder.path(), &["log", "status"]);
    assert_eq!(status["size"], 2);
}

#[test]
fn a_list_goes_on_where_one_check_cannot_be_finished() {
    let folder = tempfile::tempdir().expect("a folder");
    let urls = "https://one.localhost/\nhttps://two.localhost/\n";
    std::fs::write(folder.path().join("urls.txt"), urls).expect("written");
    damage_history(folder.path(), "https://one.localhost/");
    let (code, out, _) = run_in(folder.path(), &["check", "--from", "urls.txt"]);
    let rows: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("one JSON value a line")).collect();
    let about = |url: &str| rows.iter().find(|row| row["url"] == url).unwrap_or_else(|| panic!("{url} in {out}"));
    assert_eq!((rows.len(), code), (2, Some(4)));
    let damaged = about("https://one.localhost/");
    assert_eq!(damaged["code"], "history_damaged", "{damaged}");
    assert!(damaged["hint"].as_str().is_some_and(|hint| hint.contains("backup")));
    assert_eq!(about("https://two.localhost/")["word"], "not_evaluated", "the positive control");
}

/// Leaves an observation of `url` that no check can read.
#[tokio::main(flavor = "current_thread")]
async fn damage_history(folder: &std::path::Path, url: &str) {
    use countersign_store::{Location, NewObservation, Store};
    let now = std::time::UNIX_EPOCH.elapsed().expect("after 1970").as_secs();
    let store = Store::open(Location::Sqlite(folder.join("countersign.db"))).await.expect("a database");
    let damaged = NewObservation {
        id: "01890000-0000-7000-8000-000000000000",
        subject_kind: "endpoint",
        subject_key: url,
        source: "challenge",
        observed_at: countersign_core::time::Timestamp::from_seconds(i64::try_from(now).expect("this century") - 60),
        trust_class: "independent",
        run_id: None,
        outcome: "challenge",
        latency_ms: None,
        evidence_sha256: None,
        facts: "[]",
    };
    store.append_observation(&damaged).await.expect("kept");
    store.close().await;
}

#[test]
fn a_list_is_told_apart_from_one_check_and_from_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("urls.txt"), "https://one.localhost/\n").expect("written");
    std::fs::write(folder.path().join("empty.txt"), "# none\n\n").expect("written");
    let ends = |args: &[&str]| run_in(folder.path(), &[&["check", "--from"], args].concat());
    assert_eq!(ends(&["urls.txt"]).0, Some(4), "the positive control");
    for more in [["--out", "d.json"], ["--receipt", "r.json"]] {
        assert_eq!(ends(&["urls.txt", more[0], more[1]]).0, Some(2), "{more:?}");
    }
    let (code, _, told) = ends(&["empty.txt"]);
    assert_eq!((code, told.contains("names no URL")), (Some(2), true), "{told}");
    assert_eq!(ends(&["absent.txt"]).0, Some(3));
    assert_eq!(ends(&["urls.txt", "--max-price-usd", "cheap"]).0, Some(2), "a flag is not the fault of a line");
}

/// Six looks a minute at one domain: those that wait must not keep other domains waiting with them.
#[test]
fn a_domain_that_must_wait_holds_no_slot() {
    use std::io::BufRead as _;
    let folder = tempfile::tempdir().expect("a folder");
    let busy: String = (0..30).map(|n| format!("https://busy.localhost/{n}\n")).collect();
    std::fs::write(folder.path().join("urls.txt"), busy + "https://quiet.localhost/\n").expect("written");
    let mut child = common::command(folder.path(), &["check", "--from", "urls.txt"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let out = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let first: Vec<String> = out.lines().take(7).map(|line| line.expect("text")).collect();
    child.kill().expect("ended");
    child.wait().expect("ended");
    assert!(first.iter().any(|line| line.contains("https://quiet.localhost/")), "{first:#?}");
}

#[test]
fn what_an_error_repeats_cannot_steer_the_terminal() {
    let (code, _, told) = run_in(std::path::Path::new("."), &["check", "https://a.example/\u{1b}[31m\nhint: pay"]);
    assert_eq!(code, Some(3));
    assert!(told.contains("\\u{1b}[31m") && !told.contains('\u{1b}') && !told.contains("\nhint: pay"), "{told}");
}

#[test]
fn a_decision_is_too_old_after_its_end_and_not_yet_valid_before_its_date() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, _, _) = run_in(folder.path(), &["check", "https://one.localhost/", "--out", "d.json", "--quiet"]);
    assert_eq!(code, Some(4));
    let verified = |at: &[&str]| run_in(folder.path(), &[&["verify", "d.json"], at].concat());
    assert_eq!(verified(&[]).0, Some(0));
    let (code, out, _) = verified(&["--at", "2126-01-01T00:00:00Z"]);
    assert_eq!((code, out.starts_with("expired")), (Some(4), true), "{out}");
    let (code, out, _) = verified(&["--at", "2016-01-01T00:00:00Z", "--json"]);
    assert_eq!((code, out.contains("\"not_yet_valid\"")), (Some(1), true), "{out}");
}

#[test]
fn an_answer_is_verified_with_the_receipt_inside_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let ask = |url: &str| -> serde_json::Value {
        let (_, out, told) = run_in(folder.path(), &["check", url, "--json", "--log-misses"]);
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{told}"))
    };
    let (answer, other) = (ask("https://one.localhost/"), ask("https://two.localhost/"));
    let verify = |answer: &serde_json::Value, more: &[&str]| {
        std::fs::write(folder.path().join("ans.json"), answer.to_string()).expect("written");
        run_in(folder.path(), &[&["verify", "ans.json"], more].concat())
    };
    let (code, out, told) = verify(&answer, &[]);
    assert_eq!(
        (code, out.contains("logged: entry 1 of 2"), out.contains("no receipt")),
        (Some(0), true, false),
        "{out}{told}"
    );
    assert_eq!(verify(&answer, &["--require-pq", "--max-age", "1h"]).0, Some(0));
    let (code, out, _) = verify(&answer, &["--json"]);
    let said: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        (code, &said["receipt"]["index"], said["not_checked"].as_array().map(Vec::len)),
        (Some(0), &1.into(), Some(0))
    );
    assert_eq!(verify(&answer, &["--at", "2126-01-01T00:00:00Z"]).0, Some(4), "genuine, logged and too old");

    let changed = |path: &str, to: serde_json::Value| {
        let mut changed = answer.clone();
        *changed.pointer_mut(path).expect(path) = to;
        verify(&changed, &[]).0
    };
    let swapped = other["pq_trust"].clone();
    assert_eq!(changed("/pq_trust", swapped), Some(1), "the receipt of another decision");
    assert_eq!(changed("/pq_trust/transparency/receipt/leaf_hash", "00".repeat(32).into()), Some(1));
    assert_eq!(changed("/pq_trust/transparency/reveal/salt", "00".repeat(32).into()), Some(1));
    assert_eq!(changed("/pq_trust/transparency/receipt/checkpoint", "x".into()), Some(3));
    assert_eq!(changed("/word", "payable".into()), Some(1), "the decision itself");
    assert_eq!(changed("/pq_trust/transparency", serde_json::json!({"state": "not_logged"})), Some(0));
    let mut stripped = answer;
    stripped["pq_trust"] = serde_json::json!({});
    assert_eq!(verify(&stripped, &["--require-pq"]).0, Some(5), "a demand for a log needs a receipt");
}

#[test]
fn damaged_state_stops_with_what_to_do_and_is_left_as_it_is() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let check = || run_in(folder.path(), &["check", "https://one.localhost/", "--quiet"]);
    let database = folder.path().join("countersign.db");
    std::fs::write(&database, b"this is no database").expect("written");
    let (code, _, told) = check();
    assert_eq!((code, told.contains("hint: put a backup") && told.contains("damaged")), (Some(4), true), "{told}");
    assert_eq!(told.to_lowercase().matches("put a backup").count(), 1, "the advice is given once: {told}");
    assert_eq!(std::fs::read(&database).expect("still there"), b"this is no database");
    std::fs::remove_file(&database).expect("removed");
    assert_eq!(run_in(folder.path(), &["keys", "new"]).0, Some(0), "the positive control");
    let keys = std::fs::read_dir(folder.path().join("keys")).expect("keys");
    let mut keys = keys.map(|entry| entry.expect("readable").path());
    let key = keys.find(|path| path.extension().is_some_and(|ending| ending == "json")).expect("one key");
    let good = std::fs::read(&key).expect("readable");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).expect("loosened");
    let (code, _, told) = check();
    assert_eq!((code, told.contains("hint:") && told.contains("chmod 600")), (Some(4), true), "{told}");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).expect("tightened");
    std::fs::write(&key, &good[..good.len() / 2]).expect("cut");
    let (code, _, told) = check();
    assert_eq!((code, told.contains("hint:") && told.contains("damaged")), (Some(4), true), "{told}");
    assert_eq!(std::fs::read(&key).expect("still there"), &good[..good.len() / 2], "nothing was overwritten");
}

#[test]
fn exit_codes_are_the_documented_ones() {
    assert_eq!(code(&["keys", "new"]), Some(0));
    assert_eq!(code(&["check"]), Some(2), "usage");
    assert_eq!(
        code(&["check", "https://a.example/", "--max-price-usd", "cheap"]),
        Some(2),
        "a bound that is no number"
    );
    let bounded = |flag: &str, value: &str| code(&["check", "https://nobody.localhost/", flag, value]);
    for (flag, good, bad) in [
        ("--allow-pay-to", "0x1111111111111111111111111111111111111111", "nonsense"),
        ("--allow-pay-to", "11111111111111111111111111111112", "0x111111111111111111111111111111111111111"),
        ("--prefer-network", "base", "basement"),
        ("--objective", "lowest_total_cost", "luckiest"),
        ("--min-reputation-score", "0.5", "1.5"),
        ("--min-reputation-confidence", "1", "sure"),
    ] {
        assert_eq!((bounded(flag, good), bounded(flag, bad)), (Some(4), Some(2)), "{flag}");
    }
    for url in ["http://a.example/", "https://127.0.0.1/", "https://u@a.example/", "not a url"] {
        assert_eq!(code(&["check", url]), Some(3), "{url}");
    }
    assert_eq!(code(&["check", "https://nobody.localhost/"]), Some(4), "loopback is closed unless a lab opens it");
    assert_eq!(code(&["verify", "absent.json"]), Some(3));
}

#[test]
fn the_readme_shows_what_the_demo_prints() {
    let out = run(&["demo", "--quiet"]);
    let printed = String::from_utf8(out.stdout).expect("text");
    assert_eq!(printed.lines().count(), 22, "a head, eighteen sellers, three lines about signatures: {printed}");
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(readme).expect("the README");
    assert!(readme.contains(&printed), "README.md shows another demo; this one printed:\n{printed}");
}
