//! Receipts through the real binary, over the cases that the verifiers in other languages judge too.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::common::{self, Server};
use crate::verifiers::repository;

pub(crate) fn vectors() -> Value {
    let path = repository().join("crates/engine/tests/data/receipts.json");
    serde_json::from_slice(&std::fs::read(path).expect("the cases")).expect("JSON")
}

/// A long case stands in the file with a mark for what repeats; `#` in it counts from 0.
fn whole(case: &Value) -> Value {
    let Some(fill) = case.get("fill") else { return case["receipt"].clone() };
    let (with, times) = (fill["with"].as_str().expect("text"), fill["times"].as_u64().expect("a number"));
    let all: String = (0..times).map(|turn| with.replace('#', &turn.to_string())).collect();
    case["receipt"].as_str().expect("text").replacen('\u{25a0}', &all, 1).into()
}

/// `countersign verify` on one case: its receipt and trust policy as files, in a folder without keys.
fn verify(vectors: &Value, case: &Value, more: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &Value| {
        std::fs::write(folder.path().join(name), text.as_str().expect("text")).expect("written");
    };
    write("receipt.json", &whole(case));
    write("trust", &vectors["trust"][case["trust"].as_str().expect("a policy")]);
    let at = countersign_core::time::Timestamp::from_seconds(case["now"].as_i64().expect("a time")).to_string();
    let age = case["max_age_s"].as_i64().map(|seconds| format!("{seconds}s"));
    let mut command =
        common::command(folder.path(), &["verify", "receipt.json", "--trust", "trust", "--json", "--at", &at]);
    command.args(more);
    if let Some(age) = &age {
        command.args(["--max-age", age]);
    }
    if case["require_pq"] == true {
        command.arg("--require-pq");
    }
    command.output().expect("the binary starts")
}

/// By a reader who names the keys of the case, or else the one that signed every document of the cases.
fn verify_named(vectors: &Value, case: &Value) -> Output {
    let one = [vectors["document_key"].clone()];
    let keys = case["keys"].as_array().map_or(&one[..], Vec::as_slice);
    let named: Vec<&str> = keys.iter().flat_map(|key| ["--key", key.as_str().expect("a key")]).collect();
    verify(vectors, case, &named)
}

fn told(out: &Output) -> Value {
    serde_json::from_slice(&out.stdout).unwrap_or(Value::Null)
}

pub(crate) fn find<'v>(vectors: &'v Value, name: &str) -> &'v Value {
    let cases = vectors["cases"].as_array().expect("cases");
    cases.iter().find(|case| case["name"] == name).expect("the case")
}

/// The exit codes of the documents, in the vectors' words.
#[test]
fn every_case_ends_in_its_documented_exit_code() {
    let vectors = vectors();
    for case in vectors["cases"].as_array().expect("cases") {
        let out = verify_named(&vectors, case);
        let wanted = match case["expect"].as_str() {
            Some("proved") => 0,
            Some("invalid" | "refused") => 1,
            Some("malformed") => 3,
            Some("stale" | "not_evaluated") => 4,
            Some("trust_policy_not_met") => 5,
            other => panic!("an unknown expectation {other:?}"),
        };
        let (said, name) = (told(&out), &case["name"]);
        assert_eq!(out.status.code(), Some(wanted), "{name}: {said}");
        let word = case["expect"].as_str().filter(|word| *word != "proved").unwrap_or("valid");
        // The file itself is too large to be read.
        if case["code"] == "json_size" && word == "malformed" {
            assert_eq!(said["code"], "cannot_read", "{name}");
            continue;
        }
        assert_eq!(said["result"], word, "{name}");
        // What does not say that it is a receipt is judged as a signed document, and is none either.
        let says_so = case["receipt"].as_str().expect("text").contains("countersign/receipt/");
        let code =
            if case["code"] == "receipt_member" && !says_so { "member_missing".into() } else { case["code"].clone() };
        assert_eq!(said["code"], code, "{name}");
        assert!(word != "not_evaluated" || said["index"] == case["index"], "{name}: what is proved is told");
    }
}

/// Nothing that the reader brings, or does not bring, makes a file read.
#[test]
fn what_does_not_read_is_malformed_whatever_was_demanded_of_it() {
    let vectors = vectors();
    let good = find(&vectors, "with a post-quantum signature");
    let receipt = good["receipt"].as_str().expect("text");
    let later = receipt.replacen("receipt/v1", "receipt/v2", 1);
    let cut = receipt.replacen("\\n\\n\u{2014} ", "\\n\\n\u{2014}  ", 1);
    assert!(later != receipt && cut != receipt, "the control");
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("trust", vectors["trust"]["log+pq"].as_str().expect("a policy"));
    let key = vectors["document_key"].as_str().expect("a key");
    let files = [
        ("later", later.as_str(), "receipt_member"),
        ("cut", &cut, "note_signature_line"),
        ("list", "[]", "member_missing"),
        ("other", "{\"schema\":\"somebody/else/v1\"}", "member_missing"),
        ("text", "hello", "json_syntax"),
        ("proof", "c2sp.org/tlog-proof@v1\nindex 3\n", "proof_hash"),
        ("note", "log.example.test\n\n\u{2014} x\n", "note_signature_line"),
    ];
    for (name, text, code) in files {
        write(name, text);
        let demands: [&[&str]; 4] =
            [&[], &["--key", key], &["--trust", "trust"], &["--trust", "trust", "--require-pq", "--max-age", "1h"]];
        for more in demands {
            let (exit, said) = common::told(folder.path(), &[&["verify", name], more].concat());
            assert_eq!(
                (exit, &said["result"], &said["code"]),
                (Some(3), &"malformed".into(), &code.into()),
                "{name} {more:?}"
            );
        }
    }
}

#[test]
fn an_accepted_receipt_says_what_it_proves_and_what_not() {
    let vectors = vectors();
    let case = find(&vectors, "with a post-quantum signature");
    let (anonymous, named) = (told(&verify(&vectors, case, &[])), told(&verify_named(&vectors, case)));
    let first = |told: &Value| told["not_proved"][0]["what"].clone();
    assert_eq!(anonymous["document"]["signature"], "not_checked");
    assert_eq!(first(&anonymous), "who signed the document");
    assert_eq!(named["document"]["signature"], "valid");
    assert_eq!(first(&named), "that everybody is shown the same log");
    assert_eq!(named["pq"], "valid");
    assert_eq!(named["leaf"]["type"], "countersign.decision.v1");
    let newer = told(&verify_named(&vectors, find(&vectors, "a newer kind of leaf")));
    assert_eq!((&newer["result"], &newer["leaf"]["known"]), (&Value::from("valid"), &Value::from(false)));
}

/// Whoever brings no measure has proved nothing: neither a yes nor a no, whatever the kind of file.
#[test]
fn what_there_is_no_measure_for_is_not_evaluated() {
    let vectors = vectors();
    let case = find(&vectors, "with a post-quantum signature");
    let receipt: Value = serde_json::from_str(case["receipt"].as_str().expect("text")).expect("JSON");
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("receipt", &receipt.to_string());
    write("checkpoint", receipt["checkpoint"].as_str().expect("a note"));
    write("proof", &format!("c2sp.org/tlog-proof@v1\nindex 3\n\n{}", receipt["checkpoint"].as_str().expect("a note")));
    write("decision", receipt["reveal"]["document"].as_str().expect("a document"));
    let mut answer: Value =
        serde_json::from_str(receipt["reveal"]["document"].as_str().expect("a document")).expect("JSON");
    answer["pq_trust"] = serde_json::json!({});
    write("answer", &answer.to_string());
    write("trust", vectors["trust"]["log+pq"].as_str().expect("a policy"));
    let ends = |file: &str, more: &[&str]| {
        let (code, said) =
            common::told(folder.path(), &[&["verify", file, "--at", "2026-09-01T09:05:00Z"], more].concat());
        assert!(said["hint"].is_string() || code != Some(4), "{file} {said}");
        (code, said["result"].as_str().map(str::to_owned), said["code"].as_str().map(str::to_owned))
    };
    let open = |code: &str| (Some(4), Some("not_evaluated".to_owned()), Some(code.to_owned()));
    for file in ["receipt", "checkpoint", "proof"] {
        assert_eq!(ends(file, &[]), open("no_trust_policy"), "{file}");
    }
    for (file, more) in [("decision", &[][..]), ("answer", &[]), ("receipt", &["--trust", "trust"])] {
        assert_eq!(ends(file, more), open("unknown_key"), "{file}");
        let other = ends(file, &[more, &["--key", "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="]].concat());
        assert_eq!((other.0, other.2.as_deref()), (Some(1), Some("unknown_key")), "{file}: another signer was named");
        let key = vectors["document_key"].as_str().expect("a key");
        assert_eq!(ends(file, &[more, &["--key", key]].concat()).0, Some(0), "{file}: the control");
    }
    assert_eq!(ends("proof", &["--trust", "trust"]), open("no_leaf"));
    assert_eq!(ends("checkpoint", &["--trust", "trust"]).0, Some(0), "the control");

    // A log of one's own is no word against another's.
    assert_eq!(run(folder.path(), &["log", "init"]), Some(0));
    for file in ["receipt", "checkpoint", "proof"] {
        assert_eq!(ends(file, &[]), open("log_unknown"), "{file}");
    }
}

#[test]
fn a_named_key_that_did_not_sign_the_document_is_a_no() {
    let vectors = vectors();
    let other = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
    let out = verify(&vectors, find(&vectors, "leaf 3 of 7"), &["--key", other]);
    assert_eq!((out.status.code(), &told(&out)["code"]), (Some(1), &Value::from("unknown_key")));
}

fn run(folder: &Path, args: &[&str]) -> Option<i32> {
    common::run(folder, args).status.code()
}

#[test]
fn a_checkpoint_and_a_bare_document_end_as_documented() {
    let vectors = vectors();
    let folder = tempfile::tempdir().expect("a folder");
    let receipt: Value =
        serde_json::from_str(find(&vectors, "with a post-quantum signature")["receipt"].as_str().expect("text"))
            .expect("JSON");
    let checkpoint = receipt["checkpoint"].as_str().expect("a note");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("checkpoint", checkpoint);
    write("changed", &checkpoint.replacen("\n7\n", "\n8\n", 1));
    write("decision.json", receipt["reveal"]["document"].as_str().expect("a document"));
    for (name, file) in [("log+pq", "trust"), ("log", "plain"), ("other", "other")] {
        write(file, vectors["trust"][name].as_str().expect("a policy"));
    }
    write("damaged", "quorum\n");
    let code = |args: &[&str]| run(folder.path(), args);
    assert_eq!(code(&["verify", "checkpoint", "--trust", "trust", "--require-pq"]), Some(0));
    assert_eq!(code(&["verify", "changed", "--trust", "trust"]), Some(1));
    assert_eq!(code(&["verify", "checkpoint", "--trust", "absent"]), Some(2));
    assert_eq!(code(&["verify", "checkpoint", "--trust", "trust", "--max-age", "soon"]), Some(2));
    assert_eq!(code(&["verify", "checkpoint", "--trust", "damaged"]), Some(2));
    assert_eq!(code(&["verify", "checkpoint", "--trust", "trust", "--max-age", "1s"]), Some(4));
    let (_, old) = common::told(folder.path(), &["verify", "checkpoint", "--trust", "trust", "--max-age", "1s"]);
    let hint = old["hint"].as_str().expect("a hint");
    assert!(hint.contains("newest checkpoint") && !hint.contains("receipt upgrade"), "{hint}");
    assert_eq!(code(&["verify", "checkpoint", "--trust", "other"]), Some(5));
    assert_eq!(code(&["verify", "checkpoint", "--trust", "plain", "--require-pq"]), Some(5));
    let (key, at) = (vectors["document_key"].as_str().expect("a key"), "2026-09-01T09:05:00Z");
    assert_eq!(code(&["verify", "decision.json", "--key", key, "--at", at]), Some(0));
    assert_eq!(code(&["verify", "decision.json", "--key", key]), Some(4), "its terms have ended");
    assert_eq!(code(&["verify", "decision.json", "--key", key, "--at", at, "--trust", "trust"]), Some(5));
}

#[test]
fn the_demo_leaves_receipts_that_verify_with_its_trust_file_and_key_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join("kept");
    let demo = common::run(folder.path(), &["demo", "--quiet", "--keep", "kept"]);
    assert_eq!(demo.status.code(), Some(0));
    let shown = String::from_utf8_lossy(&demo.stdout).into_owned();
    let typed = shown.lines().last().and_then(|line| line.strip_prefix("  countersign ")).expect("a command");
    assert_eq!(run(folder.path(), &typed.split(' ').collect::<Vec<_>>()), Some(0), "as the demo says: {typed}");
    let receipt = kept.join("honest-v2.receipt.json");
    let receipt = receipt.to_str().expect("text");
    let code = |args: &[&str]| run(folder.path(), &[&["verify", receipt], args].concat());
    let (_, keys) = common::told(folder.path(), &["keys", "list", "--data", "kept"]);
    let (key, policy) = (keys[0]["publicKey"].as_str().expect("a key"), ["--trust", "kept/trust", "--require-pq"]);
    assert_eq!(code(&[&policy[..], &["--max-age", "1h", "--key", key]].concat()), Some(0));
    assert_eq!(code(&policy), Some(4), "in the log, and nobody says who signed it");
    assert_eq!(code(&["--data", "kept"]), Some(0), "the data directory trusts its own log");
    let vectors = vectors();
    std::fs::write(kept.join("other"), vectors["trust"]["log+pq"].as_str().expect("text")).expect("written");
    assert_eq!(code(&["--trust", "kept/other"]), Some(5));
    let changed =
        std::fs::read_to_string(receipt).expect("the receipt").replacen("\\\"payable\\\"", "\\\"mismatch\\\"", 1);
    std::fs::write(kept.join("changed.json"), changed).expect("written");
    let private = |name: &str| common::mode(&folder.path().join(name)) == 0o600;
    assert!(private("kept/honest-v2.receipt.json") && private("kept/honest-v2.decision.json"), "they open the log");
    assert_eq!(
        (common::mode(&kept), private("kept/lab-ca.pem")),
        (0o700, true),
        "it is a data directory like any other"
    );
    let from_kept = |args: &[&str]| run(folder.path(), &[args, &["--data", "kept", "--quiet"]].concat());
    let decision = kept.join("honest-v2.decision.json");
    let decision = decision.to_str().expect("text");
    assert_eq!(from_kept(&["receipt", "export", decision, "--out", "again.json"]), Some(0));
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("a file");
    assert_eq!(read("again.json"), read("kept/honest-v2.receipt.json"));
    assert_eq!(from_kept(&["receipt", "export", decision, "--proof", "--out", "again.tlog-proof"]), Some(0));
    assert!(read("again.tlog-proof").starts_with(b"c2sp.org/tlog-proof@v1\nextra "));
    assert_eq!(run(folder.path(), &["verify", "again.tlog-proof", "--trust", "kept/trust", "--require-pq"]), Some(0));
    let renew = |file: &str| {
        let args = ["receipt", "upgrade", file, "--out", "newer.json", "--data", "kept"];
        let (code, said) = common::told(folder.path(), &args);
        assert_eq!((code, &said["out"], &said["what"]), (Some(0), &"newer.json".into(), &"receipt".into()), "{said}");
        (said["state"].clone(), said["reason"].is_null())
    };
    // One process holds the log meanwhile: each start would sign it anew.
    let holder = Server::start(&kept, &["log", "serve"]);
    assert_eq!(renew("again.json"), ("renewed".into(), true));
    assert_eq!(renew("newer.json"), ("stays".into(), false));
    assert_eq!(holder.stop(), Some(0));
    assert!(["again.json", "again.tlog-proof", "newer.json"].into_iter().all(private));
    assert_ne!(read("newer.json"), read("again.json"), "the log has grown since");
    assert_eq!(from_kept(&["verify", "newer.json", "--require-pq"]), Some(0));
    std::fs::write(folder.path().join("theirs"), find(&vectors, "leaf 3 of 7")["receipt"].as_str().expect("text"))
        .expect("written");
    let (code, said) = common::told(folder.path(), &["receipt", "upgrade", "theirs", "--data", "kept"]);
    let both = ["log.example.test/countersign/2026", "countersign.local/log/"];
    assert!(
        code == Some(4) && both.iter().all(|log| said["error"].as_str().is_some_and(|said| said.contains(log))),
        "{said}"
    );
    assert_eq!(from_kept(&["receipt", "upgrade", decision]), Some(3), "a decision is no receipt");
    let missed = kept.join("fake-usdc.decision.json");
    assert_eq!(from_kept(&["receipt", "export", missed.to_str().expect("text")]), Some(4), "a miss leaves no leaf");
    assert_eq!(from_kept(&["log", "status"]), Some(0));
    assert_eq!(from_kept(&["log", "init"]), Some(4), "there is a log");
    assert_eq!(run(folder.path(), &["verify", "kept/changed.json", "--trust", "kept/trust"]), Some(1));
}

#[test]
fn a_log_is_made_named_and_taken_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let code = |args: &[&str]| run(folder.path(), args);
    assert_eq!(code(&["log", "status"]), Some(4), "there is none, and none is made");
    assert!(!folder.path().join("log").exists());
    assert_eq!(code(&["log", "init", "--origin", "two words"]), Some(2));
    assert_eq!(code(&["log", "init", "--origin", "log.example.test/mine"]), Some(0));
    let (_, status) = common::told(folder.path(), &["log", "status"]);
    assert_eq!((&status["origin"], &status["size"]), (&Value::from("log.example.test/mine"), &Value::from(0)));
    assert_eq!(status["keys"].as_array().map(Vec::len), Some(2), "Ed25519 and ML-DSA-44");
    let (exit, adopted) = common::told(folder.path(), &["log", "adopt"]);
    assert_eq!((exit, &adopted["origin"]), (Some(0), &"log.example.test/mine".into()), "{adopted}");
}

/// A proof from a log of another program, and the entry it is of.
#[test]
fn a_proof_of_another_log_is_verified_with_its_entry() {
    use countersign_tlog::key::{Algorithm, KeyName, SignerKey};
    let path = repository().join("crates/tlog/tests/data/proof.json");
    let vectors: Value = serde_json::from_slice(&std::fs::read(path).expect("the proofs")).expect("JSON");
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    let name = KeyName::parse("log.example.test/verdicts/2026").expect("a name");
    let key = SignerKey::from_seed(name, Algorithm::Ed25519, &std::array::from_fn::<u8, 32, _>(|i| i as u8));
    write("trust", &format!("log {}\nquorum none\n", key.expect("a key").verifier()));
    write("p.tlog-proof", vectors["2_3"]["ed_only"].as_str().expect("a proof"));
    write("extra.tlog-proof", vectors["2_3"]["full"].as_str().expect("a proof"));
    write("entry", "entry-2");
    write("neighbour", "entry-1");
    let ends = |args: &[&str]| {
        let (code, said) = common::told(folder.path(), &[&["verify", "--trust", "trust"], args].concat());
        (code, said["code"].as_str().map(str::to_owned), said["index"].as_u64())
    };
    assert_eq!(ends(&["p.tlog-proof", "--leaf", "entry"]), (Some(0), None, Some(2)));
    assert_eq!(ends(&["extra.tlog-proof", "--leaf", "entry"]), (Some(0), None, Some(2)));
    assert_eq!(ends(&["p.tlog-proof", "--leaf", "neighbour"]), (Some(1), Some("wrong_root".to_owned()), None));
    let nothing = |file: &str| assert_eq!(ends(&[file]), (Some(4), Some("no_leaf".to_owned()), Some(2)), "{file}");
    nothing("p.tlog-proof");
    nothing("extra.tlog-proof");
    write("cut.tlog-proof", "c2sp.org/tlog-proof@v1\nindex 2\n");
    assert_eq!(ends(&["cut.tlog-proof", "--leaf", "entry"]), (Some(3), Some("proof_hash".to_owned()), None));
    assert_eq!(ends(&["p.tlog-proof", "--leaf", "absent"]).0, Some(2));
    assert_eq!(ends(&["entry", "--leaf", "entry"]).0, Some(2), "--leaf goes with a proof");
}

/// The log of a copied data directory signs nothing until its owner says that it is the log now.
#[test]
fn the_demo_in_a_copied_data_directory_counts_no_receipt_that_it_has_not_and_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = |kept: &str, more: &[&str]| {
        let out = common::run(folder.path(), &[&["demo", "--quiet", "--keep", kept], more].concat());
        (out.status.code(), String::from_utf8(out.stdout).expect("text"))
    };
    let (code, told) = demo("kept", &[]);
    let all = "6 decisions with a selected offer are in the log; 6 receipts verified offline";
    assert!(code == Some(0) && told.contains(all), "the positive control: {told}");
    common::copy(&folder.path().join("kept"), &folder.path().join("copy"));
    let (code, told) = demo("copy", &[]);
    let none = "the log gave a receipt for 0 of 6 decisions with a selected offer; 0 receipts verified offline";
    assert!(code == Some(1) && told.contains(none) && !told.contains("are in the log"), "{told}");
    let says = |start: &str| told.lines().any(|line| line.trim_start().starts_with(start));
    assert!(says("no receipt: copy/log is a copy of a log") && says("hint: ") && told.contains("log adopt"), "{told}");
    assert!(!told.contains("countersign verify"), "there is nothing to verify: {told}");
    let (code, told) = demo("copy", &["--json"]);
    let told: serde_json::Value = serde_json::from_str(&told).expect("one JSON value");
    let counts = (&told["receipts_valid"], &told["receipts_missing"], &told["log"]["code"]);
    assert_eq!((code, counts), (Some(1), (&0.into(), &6.into(), &"log_copied".into())), "{told}");
}
