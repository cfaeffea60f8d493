//! Verifying a receipt: from the file's bytes to who logged what, and who signed it.
//!
//! `cargo bench -p countersign-engine --bench receipt`. The document is a decision of 2 kB, the log has a million
//! leaves. Each call reads the JSON strictly, opens the commitment, verifies the checkpoint's signatures and the
//! inclusion path, and then the document's own signature.

#![allow(clippy::unwrap_used, reason = "a bench may end")]

use countersign_core::leaf::{LeafType, Minute, Reveal, Salt};
use countersign_core::sign::{SigningKey, seal};
use countersign_core::time::Timestamp;
use countersign_engine::receipt::{Demands, Receipt, Signer, verify};
use countersign_tlog::checkpoint::{Checkpoint, Origin};
use countersign_tlog::key::{Algorithm, KeyName, SignerKey};
use countersign_tlog::merkle::{MemoryTree, inclusion_proof, leaf_hash};
use countersign_tlog::note::Note;
use countersign_tlog::policy::{Policy, PostQuantum};
use divan::{Bencher, black_box};
use serde_json::json;

const ORIGIN: &str = "log.example.test/verdicts/2026";
const LEAVES: u64 = 1_000_000;
const INDEX: u64 = 700_001;
const NOW: Timestamp = Timestamp::from_seconds(1_788_253_200);

fn main() {
    divan::main();
}

fn document_key() -> SigningKey {
    SigningKey::from_seed([7; 32])
}

/// A decision with ten findings, opened by its salt.
fn reveal() -> Reveal {
    let finding = |n: u32| {
        json!({"rule": "amount.form", "severity": "medium", "subject": format!("accepts[{n}].amount"),
            "observed": "$0.01", "expected": "an integer of atomic units", "hint": "Write 10000 for one cent of USDC."})
    };
    let findings: Vec<_> = (0..10).map(finding).collect();
    let value = json!({"schema": "countersign/decision/v1", "word": "not_payable", "findings": findings,
        "url": "https://api.example.com/paid", "expiresAt": "2026-09-01T09:05:00Z"});
    let members = value.as_object().unwrap().clone();
    let document = String::from_utf8(seal(members, NOW, &document_key()).unwrap()).unwrap();
    Reveal::new(LeafType::decision(), Minute::of(NOW), Salt::from_bytes([9; 32]), document)
}

fn signer(algorithm: Algorithm, seed: u8) -> SignerKey {
    SignerKey::from_seed(KeyName::parse(ORIGIN).unwrap(), algorithm, &[seed; 32]).unwrap()
}

/// The bytes of a receipt, and a policy that knows these of the log's keys.
fn receipt(known: &[Algorithm]) -> (Vec<u8>, Policy) {
    let reveal = reveal();
    let ours = leaf_hash(&reveal.leaf().unwrap().to_bytes().unwrap());
    let mut tree = MemoryTree::new();
    for n in 0..LEAVES {
        tree.push(if n == INDEX { ours } else { leaf_hash(&n.to_be_bytes()) });
    }
    let log_origin = Origin::parse(ORIGIN).unwrap();
    let text = Checkpoint::new(log_origin.clone(), LEAVES, tree.root()).to_string();
    let signers = [signer(Algorithm::Ed25519, 1), signer(Algorithm::MlDsa44, 2)];
    let lines: Vec<_> = signers.iter().map(|signer| signer.sign(&text, NOW.seconds() as u64).unwrap()).collect();
    let (path, checkpoint) = (inclusion_proof(&tree, INDEX, LEAVES).unwrap(), Note::new(&text, &lines).unwrap());
    let receipt = Receipt { log_origin, index: INDEX, leaf_hash: ours, path, checkpoint, reveal: Some(reveal) };
    let trusted = signers.iter().filter(|signer| known.contains(&signer.verifier().algorithm()));
    let trust: String = trusted.map(|signer| format!("log {}\n", signer.verifier())).collect();
    (receipt.to_value().to_string().into_bytes(), Policy::parse(format!("{trust}quorum none\n").as_bytes()).unwrap())
}

fn verified(bencher: Bencher<'_, '_>, known: &[Algorithm], pq: PostQuantum) {
    let (file, policy) = receipt(known);
    let keys = [document_key().verifying_key()];
    let demands = Demands { policy: &policy, pq, max_age_ms: None, now: NOW };
    bencher.bench_local(|| {
        let proved = verify(black_box(&file), &demands).unwrap();
        assert!(matches!(proved.signer(&keys), Some(Signer::Trusted(_))));
    });
}

/// By a reader without ML-DSA.
#[divan::bench]
fn ed25519(bencher: Bencher<'_, '_>) {
    verified(bencher, &[Algorithm::Ed25519], PostQuantum::Optional);
}

/// By a reader that demands it.
#[divan::bench]
fn ed25519_and_ml_dsa(bencher: Bencher<'_, '_>) {
    verified(bencher, &[Algorithm::Ed25519, Algorithm::MlDsa44], PostQuantum::Required);
}
