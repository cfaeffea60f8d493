//! The verifiers in other languages: Python, Node and headless Chromium judge files of cases as the binary does.

#![allow(clippy::print_stdout, reason = "a test that skips says so")]

mod python;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::time::Timestamp;
use serde_json::{Value, json};

use crate::common::{self, Lab, Server};
use crate::log::witness;

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The cases that every verifier of this repository judges.
const SHARED: &str = "crates/engine/tests/data/receipts.json";

/// A verifier, and what it verifies ML-DSA-44 with, by their words in `COUNTERSIGN_REQUIRE_VERIFIERS`.
struct Verifier {
    name: &'static str,
    ml_dsa: &'static str,
    program: &'static [&'static str],
}

const VERIFIERS: [Verifier; 3] = [
    Verifier { name: "python", ml_dsa: "python_ml_dsa", program: &["python3", "tests/receipts/judge_cases.py"] },
    Verifier { name: "node", ml_dsa: "node_ml_dsa", program: &["node", "sdk/js/browser/node.mjs"] },
    Verifier { name: "chromium", ml_dsa: "node_ml_dsa", program: &["node", "sdk/js/browser/run.mjs"] },
];

/// What is missing on a machine is said in one line; where the environment names it, or says `1`, the test fails instead.
fn skipped(what: &str, why: &str) {
    let required = std::env::var("COUNTERSIGN_REQUIRE_VERIFIERS").unwrap_or_default();
    assert!(!required.split_whitespace().any(|word| word == what || word == "1"), "{what} is required here: {why}");
    println!("skipped: {what} ({why})");
}

fn node_major() -> Option<u32> {
    let out = Command::new("node").arg("--version").output().ok()?;
    String::from_utf8(out.stdout).ok()?.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

impl Verifier {
    /// Judges a file of `count` cases. Nothing where it is not here.
    fn judge(&self, file: &Path, count: usize) -> Option<Judged> {
        let [program, args @ ..] = self.program else { return None };
        if *program == "node" && node_major() < Some(20) {
            skipped(self.name, "no Node 20 or newer");
            return None;
        }
        match Command::new(program).args(args).arg(file).current_dir(repository()).output() {
            Ok(out) => self.read(&out, count),
            Err(error) => {
                skipped(self.name, &error.to_string());
                None
            }
        }
    }

    /// Each case that it finds wrong is a line `  CASE: …`, and the last line is
    /// `NAME judged N receipts, also with ML-DSA…; N wrong`, or `skipped: …`.
    fn read(&self, out: &Output, count: usize) -> Option<Judged> {
        let text = String::from_utf8_lossy(&out.stdout);
        let last = text.lines().last().unwrap_or_default();
        if let (Some(4), Some(why)) = (out.status.code(), last.strip_prefix("skipped: ")) {
            skipped(self.name, why);
            return None;
        }
        println!("{text}");
        let case = |line: &str| Some(line.strip_prefix("  ")?.split_once(": ")?.0.to_owned());
        let judged =
            Judged { wrong: text.lines().filter_map(case).collect(), ml_dsa: last.contains("also with ML-DSA") };
        let told =
            last.contains(&format!(" judged {count} receipts, ")) && out.status.success() == judged.wrong.is_empty();
        assert!(told && last.ends_with("; 0 wrong") == judged.wrong.is_empty(), "{}: {out:?}", self.name);
        if !judged.ml_dsa {
            skipped(self.ml_dsa, "no package has ML-DSA-44");
        }
        Some(judged)
    }
}

/// What a verifier made of a file of cases.
struct Judged {
    /// The cases that do not come to what their maker says.
    wrong: BTreeSet<String>,
    /// Whether it looked at ML-DSA-44 signatures too.
    ml_dsa: bool,
}

/// A verifier without the means to verify has judged nothing, and must not read as one that found everything right.
#[test]
fn the_verifier_in_python_does_not_say_yes_without_its_cryptography() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("cryptography.py"), "raise ImportError").expect("written");
    let mut python = Command::new("python3");
    python.args(["tests/receipts/judge_cases.py", SHARED]);
    python.current_dir(repository()).env("PYTHONPATH", folder.path()).env("PYTHONDONTWRITEBYTECODE", "1");
    let Ok(out) = python.output() else { return skipped("python", "there is none") };
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.code() == Some(4) && text.starts_with("skipped: "), "{text}");
}

/// Rust judges the same in `receipts::every_case_ends_in_its_documented_exit_code`.
#[test]
fn other_languages_judge_the_same_cases_alike() {
    let file = repository().join(SHARED);
    let shared: Value = serde_json::from_slice(&std::fs::read(&file).expect("the cases")).expect("JSON");
    let count = shared["cases"].as_array().expect("cases").len();
    for verifier in &VERIFIERS {
        let judged = verifier.judge(&file, count);
        assert!(judged.is_none_or(|judged| judged.wrong.is_empty()), "{}", verifier.name);
    }
    if node_major() >= Some(20) {
        let out = Command::new("node").arg("--test").current_dir(repository().join("sdk/js")).output().expect("Node");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
    }
}

/// A data directory with receipts that the binary made, and who may be trusted for them.
struct Made {
    folder: tempfile::TempDir,
    key: String,
    cases: Vec<Value>,
}

/// The trust files, by the names that cases call them. Those that begin so hold an ML-DSA-44 key of the log.
const TRUST: [(&str, &str); 2] = [("log+pq", "trust"), ("log+pq, both witnesses", "policy")];

impl Made {
    /// By `demo --keep`, by `check --receipt` and by `receipt export --key`, and one that a witness has cosigned.
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = folder.path().join("kept");
        assert!(common::run(folder.path(), &["demo", "--quiet", "--keep", "kept"]).status.success());
        let lab = Lab::start();
        let checked = lab.check(&kept, &["--receipt", "checked.receipt.json", &lab.url("honest-v2")]);
        assert!(checked.status.success(), "{checked:?}");
        let keys = common::told(&kept, &["keys", "list"]).1;
        let text = |member: &str| keys[0][member].as_str().expect("text").to_owned();
        let export = ["receipt", "export", "--key", &text("keyId"), "--out", "key.receipt.json"];
        assert!(common::run(&kept, &export).status.success());
        cosign(&kept);
        Self { folder, key: text("publicKey"), cases: Vec::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("kept").join(name)
    }

    fn receipt(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.path(name)).expect("a receipt")).expect("JSON")
    }

    /// What the binary says of a receipt.
    fn judge(&self, receipt: &Value, trust: usize, now: Timestamp) -> (Option<i32>, Value) {
        std::fs::write(self.path("case.json"), receipt.to_string()).expect("written");
        let (trust, now) = (TRUST[trust].1, now.to_string());
        let args = ["verify", "case.json", "--trust", trust, "--key", &self.key, "--at", &now];
        common::told(&self.path(""), &args)
    }

    /// A receipt that holds: every verifier must name the log, the place, the root and the time that the binary names.
    fn holds(&mut self, name: &str, trust: usize) {
        let (receipt, now) = (self.receipt(name), Timestamp::from_seconds(now()));
        let (code, told) = self.judge(&receipt, trust, now);
        assert_eq!(
            (code, &told["index"], &told["pq"]),
            (Some(0), &receipt["index"], &json!("valid")),
            "{name}: {told}"
        );
        let signed_at = Timestamp::parse(told["signed_at"].as_str().expect("a time")).expect("a time").seconds();
        assert!((now.seconds() - 300..=now.seconds()).contains(&signed_at), "{name}: {told}");
        let root = STANDARD.decode(receipt["checkpoint"].as_str().expect("a note").lines().nth(2).expect("a root"));
        let root: String = root.expect("base64").iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(told["root"], root, "{name}");
        // One of the witness's two keys is of ML-DSA-44, and the second policy asks for both.
        let without_pq = [None, Some("quorum_not_checked")][trust];
        let mut case = json!({
            "name": name, "receipt": receipt.to_string(), "trust": TRUST[trust].0, "now": now.seconds(),
            "max_age_s": null, "require_pq": false, "expect": "proved", "code": null, "pq": "valid",
            "log_origin": told["log_origin"], "index": told["index"], "size": told["size"], "root": root,
            "signed_at": signed_at,
        });
        if let Some(code) = without_pq {
            case["without_pq"] = json!(code);
        }
        self.cases.push(case);
    }

    /// A receipt of which something was changed: every verifier must say the same against it.
    fn refused(&mut self, name: &str, receipt: &Value, exit: i32, code: &str) {
        let now = Timestamp::from_seconds(now());
        let (ended, told) = self.judge(receipt, 0, now);
        assert_eq!((ended, &told["code"]), (Some(exit), &json!(code)), "{name}: {told}");
        self.cases.push(json!({
            "name": name, "receipt": receipt.to_string(), "trust": TRUST[0].0, "now": now.seconds(),
            "max_age_s": null, "require_pq": false, "expect": told["result"], "code": code,
        }));
    }

    /// The control: cases whose maker says otherwise of one member each, and every verifier must notice.
    fn lies(&self) -> Vec<Value> {
        let members =
            [("index", json!(5000)), ("size", json!(5000)), ("root", json!("00")), ("log_origin", json!("x"))];
        let mut lies = self.cases.clone();
        for (turn, lie) in lies.iter_mut().enumerate() {
            match members.get(turn) {
                Some((member, value)) => lie[*member] = value.clone(),
                None => lie["expect"] = json!("stale"),
            }
        }
        lies.push(with(&with(&self.cases[0], "/signed_at", 1), "/name", "another time"));
        lies
    }

    fn write(&self, name: &str, cases: &[Value]) -> PathBuf {
        let text = |file: &str| std::fs::read_to_string(self.path(file)).expect("a policy");
        let trust: Value = TRUST.iter().map(|(name, file)| ((*name).to_owned(), json!(text(file)))).collect();
        let all = json!({"trust": trust, "document_key": self.key, "cases": cases});
        std::fs::write(self.path(name), all.to_string()).expect("written");
        self.path(name)
    }
}

/// An outside implementation of inclusion proofs is shown the receipts that the demo made.
#[test]
fn scitt_cose_proves_the_entries_of_receipts_made_here() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(common::run(folder.path(), &["demo", "--quiet", "--keep", "kept"]).status.success());
    let mut python = Command::new("python3");
    python.arg("tests/receipts/judge_inclusion.py").arg(folder.path().join("kept")).current_dir(repository());
    let Ok(out) = python.output() else { return skipped("python_scitt_cose", "there is no Python") };
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    match out.status.code() {
        Some(4) => skipped("python_scitt_cose", text.trim()),
        code => assert!(code == Some(0) && text.starts_with("scitt-cose proved 6 of 6 entries and 0 "), "{out:?}"),
    }
}

fn now() -> i64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("after 1970").as_secs();
    i64::try_from(since).expect("a time")
}

/// Renews a receipt under a checkpoint that both keys of a witness have cosigned, and leaves the policy that asks so.
fn cosign(kept: &Path) {
    let witness = witness::start_witness(kept);
    let policy = witness::policy(kept, &witness, &witness.address);
    let server = Server::start(kept, &["log", "serve", "--witnesses", policy.to_str().expect("text")]);
    witness::eventually("cosigned", || server.get("/log/cosigned").0 == 200);
    let upgrade = ["receipt", "upgrade", "checked.receipt.json", "--out", "cosigned.receipt.json"];
    assert!(common::run(kept, &upgrade).status.success());
}

/// `receipt` with another value for one member, by JSON pointer.
fn with(receipt: &Value, member: &str, value: impl Into<Value>) -> Value {
    let mut changed = receipt.clone();
    *changed.pointer_mut(member).expect("a member") = value.into();
    changed
}

/// `receipt` with another word in a text, where `at` stands first.
fn touched(receipt: &Value, member: &str, at: &str, to: &str) -> Value {
    let text = receipt.pointer(member).and_then(Value::as_str).expect("text");
    assert!(text.contains(at), "{member} has no {at}");
    with(receipt, member, text.replacen(at, to, 1))
}

/// What this binary made is what Python, Node and Chromium prove from, and what was changed none of them takes.
#[test]
fn receipts_made_here_verify_in_every_language_and_changed_ones_in_none() {
    let mut made = Made::new();
    for (name, trust) in [("honest-v2", 0), ("checked", 0), ("key", 0), ("cosigned", 1)] {
        made.holds(&format!("{name}.receipt.json"), trust);
    }
    let good = made.receipt("checked.receipt.json");
    let first = good["leaf_hash"].as_str().expect("text").chars().next().expect("a digit");
    let other = if first == '0' { "1" } else { "0" };
    let size = made.cases[1]["size"].as_u64().expect("a size");
    let origin = good["log_origin"].as_str().expect("text");
    let renamed = with(&good, "/log_origin", "log.example.test/other");
    let both = touched(&renamed, "/checkpoint", origin, "log.example.test/other");
    let rows = [
        ("a byte of the leaf hash", touched(&good, "/leaf_hash", &first.to_string(), other), 1, "leaf_hash_mismatch"),
        ("a byte of the document", touched(&good, "/reveal/document", "payable", "Payable"), 1, "commitment_mismatch"),
        ("another proof hash", with(&good, "/inclusion_path/0", STANDARD.encode([7; 32])), 1, "wrong_root"),
        ("another origin", renamed, 1, "origin_mismatch"),
        ("another origin in the checkpoint too", both, 5, "log_unknown"),
        (
            "another size",
            touched(&good, "/checkpoint", &format!("\n{size}\n"), &format!("\n{}\n", size + 1)),
            1,
            "note_bad_signature",
        ),
    ];
    for (name, receipt, exit, code) in rows {
        made.refused(name, &receipt, exit, code);
    }
    let lies = made.lies();
    let (file, false_file) = (made.write("made.json", &made.cases), made.write("lies.json", &lies));
    let names: BTreeSet<&str> = lies.iter().filter_map(|lie| lie["name"].as_str()).collect();
    for verifier in &VERIFIERS {
        let judged = verifier.judge(&file, made.cases.len());
        assert!(judged.is_none_or(|judged| judged.wrong.is_empty()), "{}", verifier.name);
        if let Some(Judged { wrong, ml_dsa }) = verifier.judge(&false_file, lies.len()) {
            let missed: Vec<&&str> = names.iter().filter(|name| !wrong.contains(**name)).collect();
            // Without ML-DSA no time is known, no quorum of the witness is met, and neither case can be told.
            let open = if ml_dsa { 0 } else { 3 };
            assert!(missed.len() <= open, "{}: {missed:?}", verifier.name);
        }
    }
}
