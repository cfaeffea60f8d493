//! What the reader of `verify` names: it must hold, it must be usable, and what to do where it does not hold is told alike
//! in the terminal and in `docs/refusals.md`.

use std::path::PathBuf;

use serde_json::Value;

use crate::common::told;
use crate::receipts::{find, vectors};
use crate::verifiers::repository;

/// Nobody who appears in the cases.
const OTHER: &str = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

/// A folder with files of the shared cases: what is judged, and what a flag names.
struct Desk {
    folder: tempfile::TempDir,
    key: String,
}

impl Desk {
    fn new() -> Self {
        let vectors = vectors();
        let folder = tempfile::tempdir().expect("a folder");
        let text = |name: &str| find(&vectors, name)["receipt"].as_str().expect("text").to_owned();
        let receipt: Value = serde_json::from_str(&text("leaf 3 of 7")).expect("JSON");
        let checkpoint = receipt["checkpoint"].as_str().expect("a note");
        let reveal = &receipt["reveal"];
        let leaf =
            format!(r#"{{"commitment":{},"ts":{},"type":{}}}"#, reveal["commitment"], reveal["ts"], reveal["type"]);
        let path: Vec<&str> =
            receipt["inclusion_path"].as_array().expect("a list").iter().flat_map(Value::as_str).collect();
        let mut bare = receipt.clone();
        bare.as_object_mut().expect("an object").remove("reveal");
        let desk = Self { folder, key: vectors["document_key"].as_str().expect("a key").to_owned() };
        desk.write("receipt", &receipt.to_string());
        desk.write("bare", &bare.to_string());
        desk.write("note", checkpoint);
        desk.write("proof", &format!("c2sp.org/tlog-proof@v1\nindex 3\n{}\n\n{checkpoint}", path.join("\n")));
        desk.write("leaf", &leaf);
        desk.write("decision", reveal["document"].as_str().expect("a document"));
        desk.write("key", &text("a key that signs"));
        desk.write("pq", &text("with a post-quantum signature"));
        desk.write("one", &text("one of two witnesses where both are asked for"));
        for (file, policy) in [("trust", "log"), ("trust-pq", "log+pq"), ("both", "two witnesses"), ("other", "other")]
        {
            desk.write(file, vectors["trust"][policy].as_str().expect("a policy"));
        }
        desk.write("empty", "");
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("written");
    }

    /// In the minute after all of it was made.
    fn verify(&self, args: &[&str]) -> (Option<i32>, Value) {
        told(self.folder.path(), &[&["verify"], args, &["--at", "2026-09-01T09:02:00Z"]].concat())
    }
}

/// A signer cannot have signed what is not there: no key that is named, the right one included, makes a yes of it.
#[test]
fn a_named_signer_is_not_met_where_there_is_no_document() {
    let desk = Desk::new();
    let trust = ["--trust", "trust"];
    for file in [&["bare"][..], &["note"], &["proof", "--leaf", "leaf"], &["proof", "--leaf", "bare"]] {
        let ends = |more: &[&str]| {
            let (exit, said) = desk.verify(&[file, &trust, more].concat());
            (exit, said["result"].clone(), said["code"].clone())
        };
        assert_eq!(ends(&[]).0, Some(0), "{file:?}: in the log, and nothing was asked of a signer");
        for demand in [&["--key", OTHER][..], &["--key", &desk.key], &["--key-receipt", "key"]] {
            let unmet = (Some(5), "trust_policy_not_met".into(), "no_document".into());
            assert_eq!(ends(demand), unmet, "{file:?} {demand:?}");
        }
    }
    let named = [&["receipt"][..], &["proof", "--leaf", "receipt"], &["decision"]];
    for file in named {
        let trust = if file == ["decision"] { &[][..] } else { &trust };
        let ends = |key: &str| desk.verify(&[file, trust, &["--key", key]].concat()).0;
        assert_eq!((ends(&desk.key), ends(OTHER)), (Some(0), Some(1)), "{file:?}: the control");
    }
}

/// `--key-receipt` asks whether the key signed at that date, and the receipt of another key does not tell.
#[test]
fn the_receipt_of_another_key_does_not_meet_the_demand_for_the_signers() {
    let desk = Desk::new();
    let folder = desk.folder.path();
    assert_eq!(crate::common::run(folder, &["log", "init", "--data", "theirs"]).status.code(), Some(0));
    let keys = told(folder, &["keys", "list", "--data", "theirs"]).1;
    assert!(keys.as_array().is_some_and(Vec::is_empty), "{keys}");
    assert_eq!(crate::common::run(folder, &["keys", "new", "--data", "theirs"]).status.code(), Some(0));
    let id = told(folder, &["keys", "list", "--data", "theirs"]).1[0]["keyId"].as_str().expect("text").to_owned();
    let export = ["receipt", "export", "--data", "theirs", "--key", &id, "--out", "their-key"];
    assert_eq!(crate::common::run(folder, &export).status.code(), Some(0));
    let policy =
        |file: &str| std::fs::read_to_string(folder.join(file)).expect("a policy").replace("quorum none\n", "");
    desk.write("logs", &format!("{}{}quorum none\n", policy("trust"), policy("theirs/log/trust")));
    // The log of the data directory stands in for a bare decision, of which `--trust` would demand its receipt.
    for (file, log) in [("decision", ["--data", "theirs"]), ("receipt", ["--trust", "logs"])] {
        let args = [&[file, "--key", &desk.key][..], &log].concat();
        assert_eq!(desk.verify(&args).0, Some(0), "{file}: nothing was asked of the key's time");
        let (exit, said) = desk.verify(&[&args[..], &["--key-receipt", "their-key"]].concat());
        assert_eq!((exit, &said["code"]), (Some(5), &"key_validity_unknown".into()), "{file} {said}");
    }
    let (exit, said) = desk.verify(&[
        "receipt",
        "--key",
        &desk.key,
        "--trust",
        "logs",
        "--key-receipt",
        "their-key",
        "--key-receipt",
        "key",
    ]);
    assert_eq!((exit, said["key_validity"].is_object()), (Some(0), true), "{said}");
}

/// Whatever the file to be judged is, a file that a flag names and that is not what the flag takes is a wrong command line.
#[test]
fn a_file_that_a_flag_names_and_cannot_be_used_is_usage() {
    let desk = Desk::new();
    let rows: [(&[&str], &str); 13] = [
        (&["receipt", "--trust", "absent"], "trust_unreadable"),
        (&["receipt", "--trust", "."], "trust_unreadable"),
        (&["receipt", "--trust", "empty"], "trust_malformed"),
        (&["receipt", "--trust", "/dev/null"], "trust_malformed"),
        (&["receipt", "--trust", "receipt"], "trust_malformed"),
        (&["proof", "--trust", "trust", "--leaf", "absent"], "leaf_unreadable"),
        (&["proof", "--trust", "trust", "--leaf", "decision"], "leaf_malformed"),
        (&["receipt", "--trust", "trust", "--key-receipt", "absent"], "key_receipt_unreadable"),
        (&["receipt", "--trust", "trust", "--key-receipt", "empty"], "key_receipt_malformed"),
        (&["receipt", "--trust", "trust", "--key-receipt", "decision"], "key_receipt_malformed"),
        (&["receipt", "--trust", "trust", "--key-receipt", "receipt"], "not_a_key_receipt"),
        (&["receipt", "--trust", "trust", "--key", "garbage"], "key_public_malformed"),
        (&["receipt", "--trust", "trust", "--key", "AAAA"], "key_public_malformed"),
    ];
    for (args, code) in rows {
        let (exit, said) = desk.verify(args);
        assert_eq!((exit, &said["code"]), (Some(2), &code.into()), "{args:?} {said}");
        assert_eq!(hint_on_the_page(code), said["hint"], "{code}");
    }
    let (exit, said) = told(desk.folder.path(), &["check", "https://one.localhost/", "--ca", "empty"]);
    assert_eq!((exit, &said["code"]), (Some(2), &"ca_malformed".into()), "{said}");
    for file in ["absent", "empty"] {
        assert_eq!(desk.verify(&[file, "--trust", "trust"]).0, Some(3), "{file}: the file that is judged");
    }
    let forged = find(&vectors(), "a key whose end was moved")["receipt"].as_str().expect("text").to_owned();
    desk.write("forged", &forged);
    let (exit, said) = desk.verify(&["receipt", "--trust", "trust", "--key-receipt", "forged"]);
    assert_eq!((exit, &said["code"]), (Some(1), &"signature_invalid".into()), "{said}");
    assert!(
        said["reason"].as_str().is_some_and(|said| said.starts_with("--key-receipt forged: ")),
        "which file: {said}"
    );
}

/// The last cell of a code's row in `docs/refusals.md`.
fn hint_on_the_page(code: &str) -> String {
    let page = std::fs::read_to_string(repository().join("docs/refusals.md")).expect("the page");
    let row = page.lines().find(|line| line.starts_with(&format!("| `{code}` |"))).expect("a row");
    row.trim_end_matches(" |").rsplit(" | ").next().expect("a cell").to_owned()
}

#[test]
fn what_to_do_is_the_same_in_the_terminal_and_on_the_page_of_codes() {
    let desk = Desk::new();
    let rows: [(&[&str], &str); 13] = [
        (&["one", "--trust", "both"], "quorum_missing"),
        (&["receipt", "--trust", "other"], "log_unknown"),
        (&["receipt"], "no_trust_policy"),
        (&["receipt", "--trust", "trust"], "unknown_key"),
        (&["receipt", "--trust", "trust", "--key", OTHER], "unknown_key"),
        (&["receipt", "--trust", "trust", "--require-pq"], "pq_missing"),
        (&["receipt", "--trust", "trust", "--max-age", "1h"], "checkpoint_time_unknown"),
        (&["bare", "--trust", "trust", "--key", OTHER], "no_document"),
        (&["decision", "--key", OTHER, "--require-pq"], "no_receipt"),
        (&["proof", "--trust", "trust"], "no_leaf"),
        (&["proof", "--trust", "trust", "--leaf", "trust"], "wrong_root"),
        (&["leaf"], "member_missing"),
        (&["trust"], "json_syntax"),
    ];
    for (args, code) in rows {
        let (_, said) = desk.verify(args);
        assert_eq!(said["code"], code, "{args:?} {said}");
        assert_eq!(hint_on_the_page(code), said["hint"], "{args:?}");
    }
    let old = |file: &str, more: &[&str]| {
        let args = [&["verify", file, "--trust", "trust-pq", "--max-age", "1s"][..], more].concat();
        let said = told(desk.folder.path(), &args).1;
        assert_eq!(said["code"], "checkpoint_too_old", "{said}");
        said["hint"].as_str().expect("a hint").to_owned()
    };
    let pq: Value =
        serde_json::from_str(&std::fs::read_to_string(desk.folder.path().join("pq")).expect("JSON")).expect("JSON");
    desk.write("note-pq", pq["checkpoint"].as_str().expect("a note"));
    let (of_receipt, of_note) = (old("pq", &[]), old("note-pq", &[]));
    assert_eq!(of_receipt, "get a newer one with `countersign receipt upgrade`");
    assert!(of_note.starts_with("fetch the log's newest checkpoint"), "{of_note}");
    assert!([of_receipt, of_note].iter().all(|hint| hint_on_the_page("checkpoint_too_old").contains(hint)));
    let advice = hint_on_the_page("no_receipt");
    assert!(["--trust", "--require-pq", "--max-age"].iter().all(|flag| advice.contains(flag)), "{advice}");
}

/// Who takes the wrong file is told which kind it is, and not what of it is no receipt.
#[test]
fn what_is_to_be_renewed_and_is_no_receipt_is_told_by_what_it_is() {
    let desk = Desk::new();
    let mut answer: Value =
        serde_json::from_str(&std::fs::read_to_string(desk.path("decision")).expect("text")).expect("JSON");
    answer["pq_trust"] = serde_json::json!({});
    desk.write("answer", &answer.to_string());
    let rows =
        [("answer", "an answer"), ("decision", "a document"), ("proof", "a .tlog-proof"), ("note", "a checkpoint")];
    for (file, what) in rows {
        let (exit, said) = told(desk.folder.path(), &["receipt", "upgrade", file]);
        assert_eq!((exit, &said["code"]), (Some(3), &"not_a_receipt".into()), "{said}");
        assert!(said["error"].as_str().is_some_and(|said| said.contains(&format!("{file} is {what}"))), "{said}");
        assert_eq!(hint_on_the_page("not_a_receipt"), said["hint"]);
    }
    desk.write("later", "{\"schema\":\"countersign/receipt/v2\"}");
    assert_eq!(told(desk.folder.path(), &["receipt", "upgrade", "later"]).1["code"], "receipt_member", "the control");
}
