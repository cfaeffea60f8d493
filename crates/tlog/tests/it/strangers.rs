//! What a running log hands out, judged by implementations we did not write: `ct-merkle` on roots and proofs,
//! `signed_note` on notes and keys, and a Python program on everything at once.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "helpers of tests")]

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::{Arc, mpsc};

use countersign_tlog::checkpoint::Origin;
use countersign_tlog::merkle::Hash;
use countersign_tlog::sequencer::disk::{Disk, RealDisk};
use countersign_tlog::sequencer::tiles::MemoryTiles;
use countersign_tlog::sequencer::{self, Appended, Config, Entry, Keys, Log};
use ct_merkle::mem_backed_tree::MemoryBackedTree;
use ct_merkle::{ConsistencyProof, InclusionProof, RootHash};
use serde_json::json;
use sha2::Sha256;
use signed_note::{Note, StandardVerifier, VerifierList};

const ORIGIN: &str = "log.example.test/verdicts/2026";

fn leaf(n: u64) -> Vec<u8> {
    format!("entry-{n}").into_bytes()
}

/// A log of `size` leaves, one checkpoint each, and what each append was answered.
fn grown(size: u64) -> (tempfile::TempDir, Log, Vec<Appended>) {
    let dir = tempfile::tempdir().unwrap();
    let origin = Origin::parse(ORIGIN).unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    sequencer::init(dir.path(), &origin, &disk).unwrap();
    let keys = Keys::from_seeds(&origin, &[1; 32], &[2; 32]).unwrap();
    let tiles = Arc::new(MemoryTiles::default());
    let log = Log::open(dir.path(), Config::one_shot(), keys, Arc::new(|| 1_764_500_000), tiles).unwrap();
    let appended = (0..size).map(|n| {
        let (tell, told) = mpsc::channel();
        let mut key = [0; 32];
        key[..8].copy_from_slice(&n.to_be_bytes());
        log.append(Entry { idempotency_key: key, leaf: leaf(n) }, move |outcome| tell.send(outcome).unwrap());
        told.recv().unwrap().unwrap()
    });
    let appended = appended.collect();
    (dir, log, appended)
}

fn output(hash: &Hash) -> sha2::digest::Output<Sha256> {
    (*hash.as_bytes()).into()
}

#[test]
fn ct_merkle_agrees_on_roots_inclusion_and_growth() {
    let size = 40;
    let (_dir, log, appended) = grown(size);
    let mut theirs = MemoryBackedTree::<Sha256, Vec<u8>>::new();
    for (n, appended) in (0..).zip(&appended) {
        theirs.push(leaf(n));
        let root = &appended.head.checkpoint.root;
        assert_eq!(theirs.root().as_bytes(), &output(root), "root at {}", n + 1);
        let path: Vec<_> = appended.path.iter().map(output).collect();
        let proof = InclusionProof::<Sha256>::from_digests(path.iter());
        assert_eq!(proof.as_bytes(), theirs.prove_inclusion(n as usize).as_bytes());
        let root = RootHash::<Sha256>::new(output(root), n + 1);
        root.verify_inclusion(&leaf(n), n, &proof).unwrap();
        assert!(root.verify_inclusion(&leaf(n + 1), n, &proof).is_err(), "the control");
    }
    let newest = theirs.root();
    for old in 1..size {
        let hashes: Vec<_> = log.consistency(old, size).unwrap().iter().map(output).collect();
        let proof = ConsistencyProof::<Sha256>::from_digests(hashes.iter());
        assert_eq!(proof.as_bytes(), theirs.prove_consistency((size - old) as usize).as_bytes());
        let before = RootHash::<Sha256>::new(output(&appended[old as usize - 1].head.checkpoint.root), old);
        newest.verify_consistency(&before, &proof).unwrap();
    }
}

#[test]
fn signed_note_reads_our_notes_and_accepts_our_ed25519_line() {
    let (_dir, log, appended) = grown(3);
    let trust = log.trust();
    let vkey = trust.lines().next().unwrap().strip_prefix("log ").unwrap();
    let known = VerifierList::new(vec![Box::new(StandardVerifier::new(vkey).unwrap())]);
    for appended in &appended {
        let text = appended.head.note.to_string();
        let note = Note::from_bytes(text.as_bytes()).unwrap();
        assert_eq!(note.text(), appended.head.note.text().as_bytes());
        assert_eq!(note.to_bytes(), text.as_bytes());
        let (verified, unknown) = note.verify(&known).unwrap();
        // It knows no type 0x06, and ignores that line as it must.
        assert_eq!((verified.len(), unknown.len()), (1, 1));
        let changed = text.replacen(&format!("\n{}\n", appended.index + 1), "\n99\n", 1);
        assert!(Note::from_bytes(changed.as_bytes()).unwrap().verify(&known).is_err(), "the control");
    }
}

/// Whether `words`, as `COUNTERSIGN_REQUIRE_VERIFIERS` has them, name `what` or all.
fn requires(words: &str, what: &str) -> bool {
    words.split_whitespace().any(|word| word == what || word == "1")
}

/// What is missing on a machine is said in one line, and fails the test where it is required.
fn skipped(what: &str, why: &str) {
    let words = std::env::var("COUNTERSIGN_REQUIRE_VERIFIERS").unwrap_or_default();
    assert!(!requires(&words, what), "{what} is required here: {why}");
    println!("skipped: {what} ({why})");
}

#[test]
fn a_verifier_is_required_by_its_word_or_with_all() {
    assert!(requires("node python", "python") && requires("1", "python_ml_dsa"));
    assert!(!requires("", "python") && !requires("python_ml_dsa", "python"));
}

/// Runs the Python check over `given`: whether it is satisfied, or `None` where Python cannot check.
fn python(given: &serde_json::Value) -> Option<bool> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/check_log.py");
    let child = Command::new("python3").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        skipped("python", "python3 is not installed");
        return None;
    };
    // A program that stops reading because it has nothing to check says so in its status.
    let _ = child.stdin.take().unwrap().write_all(given.to_string().as_bytes());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    if said.contains(" without ML-DSA-44") {
        skipped("python_ml_dsa", "the Python package cryptography has no ML-DSA-44");
    }
    match output.status.code() {
        Some(0) => Some(true),
        Some(1) => Some(false),
        Some(2) => {
            skipped("python", "the Python package cryptography is not installed");
            None
        }
        other => panic!("the check ended with {other:?}"),
    }
}

#[test]
fn a_python_program_from_the_specifications_accepts_what_we_wrote() {
    let (_dir, log, appended) = grown(23);
    let trust = log.trust();
    let vkeys: Vec<&str> = trust.lines().filter_map(|line| line.strip_prefix("log ")).collect();
    let hex_leaf = |n: u64| hex::encode(leaf(n));
    let at_once = appended.iter().map(|a| json!({"leaf": hex_leaf(a.index), "proof": a.proof().to_string()}));
    let later = (0..23).map(|n| json!({"leaf": hex_leaf(n), "proof": log.receipt(n).unwrap().to_string()}));
    let receipts: Vec<_> = at_once.chain(later).collect();
    let growth = |old: u64, new: u64| {
        let proof: Vec<String> = log.consistency(old, new).unwrap().iter().map(ToString::to_string).collect();
        let note = |size: u64| appended[size as usize - 1].head.note.to_string();
        json!({"old": note(old), "new": note(new), "proof": proof})
    };
    let growths: Vec<_> = (1..=23).map(|old| growth(old, 23)).chain((1..=16).map(|old| growth(old, 16))).collect();
    let given = |receipts, growth| json!({"vkeys": vkeys, "receipts": receipts, "growth": growth});
    if python(&given(receipts.clone(), growths.clone())).is_none() {
        return;
    }
    assert_eq!(python(&given(receipts.clone(), growths)), Some(true));
    // The controls: another leaf, and a growth from a root that never was.
    let swapped = vec![json!({"leaf": hex_leaf(6), "proof": receipts[5]["proof"]})];
    assert_eq!(python(&given(swapped, vec![])), Some(false));
    let mut forked = growth(5, 23);
    forked["old"] = growth(6, 23)["old"].clone();
    assert_eq!(python(&given(vec![], vec![forked])), Some(false));
}
