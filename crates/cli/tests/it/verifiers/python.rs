//! The verifier in Python as a person runs it: what it is given that cannot be used is told in a sentence, and ends with
//! the number that `countersign verify` ends with.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{SHARED, repository, skipped};

/// The exit code and the words of the script on a receipt and a trust policy; nothing where there is no Python.
fn verify(folder: &Path, args: &[&str]) -> Option<(i32, String)> {
    let mut python = Command::new("python3");
    python.arg(repository().join("tests/receipts/verify_receipts.py")).args(args).args(["--now", "1788253320"]);
    python.current_dir(folder).env("PYTHONDONTWRITEBYTECODE", "1");
    let Ok(out) = python.output() else {
        skipped("python", "there is none");
        return None;
    };
    let words = [out.stdout, out.stderr].concat();
    let words = String::from_utf8_lossy(&words).into_owned();
    if words.starts_with("skipped: ") {
        skipped("python", words.trim());
        return None;
    }
    Some((out.status.code().expect("a code"), words))
}

#[test]
fn a_file_that_cannot_be_used_is_told_in_a_sentence() {
    let shared = std::fs::read(repository().join(SHARED)).expect("the cases");
    let shared: Value = serde_json::from_slice(&shared).expect("JSON");
    let good = shared["cases"].as_array().expect("cases").iter().find(|case| case["name"] == "leaf 3 of 7");
    let receipt = good.expect("the case")["receipt"].as_str().expect("text");
    let trust = shared["trust"]["log"].as_str().expect("text");
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).expect("written");
    write("good", receipt.as_bytes());
    write("trust", trust.as_bytes());
    // A policy is read octet by octet (C2SP tlog-policy), so a comment need not be UTF-8, and a line ends in one octet.
    write("latin", &[b"# caf\xe9\n", trust.as_bytes()].concat());
    write("returns", trust.replace('\n', "\r\n").as_bytes());
    write("bytes", &[0xff, b'\n']);
    write("list", b"[1,");
    let mut bare: Value = serde_json::from_str(receipt).expect("JSON");
    bare.as_object_mut().expect("an object").remove("reveal");
    write("bare", bare.to_string().as_bytes());
    write("key", b"log x\nquorum none\n");
    let key = shared["document_key"].as_str().expect("a key");
    for (args, code, word) in [
        (&["good", "trust", "--key", key][..], 0, "valid: entry 3 of 7"),
        (&["good", "latin", "--key", key], 0, "valid: entry 3 of 7"),
        (&["bare", "trust"], 0, "valid: entry 3 of 7"),
        (&["bare", "trust", "--key", key], 5, "trust_policy_not_met: a signer is named"),
        (&["none", "trust"], 3, "cannot read the receipt none: "),
        (&[".", "trust"], 3, "cannot read the receipt .: "),
        (&["bytes", "trust"], 3, "malformed: "),
        (&["list", "trust"], 3, "malformed: "),
        (&["good", "none"], 2, "cannot read the trust policy none: "),
        (&["good", "."], 2, "cannot read the trust policy .: "),
        (&["good", "bytes"], 2, "bytes is no trust policy: "),
        (&["good", "returns"], 2, "returns is no trust policy: "),
        (&["good", "good"], 2, "good is no trust policy: "),
        (&["good", "key"], 2, "key is no trust policy: "),
        (&["good", "trust", "--key", "hello"], 2, "not an Ed25519 public key in base64"),
        (&["good"], 2, "required: trust"),
        (&["--help"], 0, "judge at this Unix time"),
    ] {
        let Some((ended, words)) = verify(folder.path(), args) else { return };
        assert_eq!(ended, code, "{args:?}: {words}");
        assert!(words.contains(word) && !words.contains("Traceback"), "{args:?}: {words}");
    }
}
