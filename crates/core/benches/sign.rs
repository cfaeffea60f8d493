//! Sealing and opening a signed document of about 2 kB, beside the bare signature over the same bytes: the
//! difference is what reading and writing costs.
//!
//! `cargo bench -p countersign-core --bench sign`

use countersign_core::sign::{SigningKey, open, seal};
use countersign_core::time::Timestamp;
use divan::{Bencher, black_box};
use serde_json::{Map, Value, json};

fn main() {
    divan::main();
}

fn key() -> SigningKey {
    SigningKey::from_seed([7; 32])
}

/// A decision with ten findings.
fn document() -> Map<String, Value> {
    let finding = |n: u32| {
        json!({"rule": "amount.form", "severity": "medium", "subject": format!("accepts[{n}].amount"),
            "observed": "$0.01", "expected": "an integer of atomic units", "hint": "Write 10000 for one cent of USDC."})
    };
    let findings: Vec<Value> = (0..10).map(finding).collect();
    let value = json!({"schema": "countersign/decision/v1", "word": "not_payable", "findings": findings,
        "url": "https://api.example.com/paid", "expiresAt": "2026-09-01T09:05:00Z"});
    if let Value::Object(map) = value { map } else { Map::new() }
}

fn sealed() -> Vec<u8> {
    seal(document(), Timestamp::from_seconds(1_788_253_200), &key()).unwrap_or_default()
}

#[divan::bench]
fn seal_a_decision(bencher: Bencher<'_, '_>) {
    let (document, key) = (document(), key());
    let at = Timestamp::from_seconds(1_788_253_200);
    bencher.with_inputs(|| document.clone()).bench_values(|document| seal(document, at, &key));
}

#[divan::bench]
fn open_a_decision(bencher: Bencher<'_, '_>) {
    let (bytes, keys) = (sealed(), [key().verifying_key()]);
    assert!(open(&bytes, &keys).is_ok());
    bencher.bench(|| open(black_box(&bytes), &keys));
}

#[divan::bench]
fn sign_the_bytes(bencher: Bencher<'_, '_>) {
    let (bytes, key) = (sealed(), key());
    bencher.bench(|| key.sign(black_box(&bytes)));
}

#[divan::bench]
fn verify_the_bytes(bencher: Bencher<'_, '_>) {
    let (bytes, key) = (sealed(), key());
    let (signature, key) = (key.sign(&bytes), key.verifying_key());
    assert!(key.verifies(&bytes, &signature));
    bencher.bench(|| key.verifies(black_box(&bytes), &signature));
}
