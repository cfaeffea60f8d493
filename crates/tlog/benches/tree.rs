//! What a log does per leaf, without a disk: hashing into the tree, proving, verifying.
//!
//! `cargo bench -p countersign-tlog --bench tree`

#![allow(clippy::unwrap_used, reason = "a benchmark may stop")]

use countersign_tlog::checkpoint::{Checkpoint, Origin};
use countersign_tlog::key::{Algorithm, KeyName, SignerKey};
use countersign_tlog::merkle::{Hash, MemoryTree, inclusion_proof, leaf_hash, verify_inclusion};
use countersign_tlog::note::Note;
use countersign_tlog::policy::{Policy, PostQuantum};
use countersign_tlog::proof::TlogProof;
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

const MILLION: u64 = 1_000_000;
const ORIGIN: &str = "log.example.test/verdicts/2026";

fn main() {
    divan::main();
}

fn leaf(n: u64) -> Vec<u8> {
    format!("entry-{n}").into_bytes()
}

fn tree() -> MemoryTree {
    let mut tree = MemoryTree::new();
    for n in 0..MILLION {
        tree.push(leaf_hash(&leaf(n)));
    }
    tree
}

/// A million hashed leaves into a growing tree.
#[divan::bench(sample_count = 10)]
fn append_hashed_leaves(bencher: Bencher<'_, '_>) {
    let leaves: Vec<Hash> = (0..MILLION).map(|n| leaf_hash(&leaf(n))).collect();
    bencher.counter(ItemsCount::new(MILLION)).bench_local(|| {
        let mut tree = MemoryTree::new();
        for leaf in &leaves {
            tree.push(*leaf);
        }
        tree.root()
    });
}

/// A path in a tree of a million leaves, a different leaf each time.
#[divan::bench]
fn inclusion_proof_of_a_million(bencher: Bencher<'_, '_>) {
    let tree = tree();
    let mut index = 0;
    bencher.bench_local(|| {
        index = (index + 7919 * 127) % MILLION;
        inclusion_proof(black_box(&tree), index, MILLION).unwrap()
    });
}

/// The same path, verified.
#[divan::bench]
fn verify_inclusion_in_a_million(bencher: Bencher<'_, '_>) {
    let tree = tree();
    let (proof, root, leaf) =
        (inclusion_proof(&tree, 700_001, MILLION).unwrap(), tree.root(), leaf_hash(&leaf(700_001)));
    bencher.bench_local(|| verify_inclusion(black_box(&leaf), 700_001, MILLION, &proof, &root).unwrap());
}

fn signer(algorithm: Algorithm, seed: u8) -> SignerKey {
    SignerKey::from_seed(KeyName::parse(ORIGIN).unwrap(), algorithm, &[seed; 32]).unwrap()
}

/// A receipt at a million leaves and a policy that knows these of the log's keys.
fn receipt(known: &[Algorithm]) -> (Hash, Vec<u8>, Policy) {
    let tree = tree();
    let text = Checkpoint::new(Origin::parse(ORIGIN).unwrap(), MILLION, tree.root()).to_string();
    let signers = [signer(Algorithm::Ed25519, 1), signer(Algorithm::MlDsa44, 2)];
    let lines: Vec<_> = signers.iter().map(|signer| signer.sign(&text, 1_764_500_000).unwrap()).collect();
    let path = inclusion_proof(&tree, 700_001, MILLION).unwrap();
    let proof = TlogProof { extra: None, index: 700_001, path, checkpoint: Note::new(&text, &lines).unwrap() };
    let trusted = signers.iter().filter(|signer| known.contains(&signer.verifier().algorithm()));
    let trust: String = trusted.map(|signer| format!("log {}\n", signer.verifier())).collect();
    let policy = Policy::parse(format!("{trust}quorum none\n").as_bytes()).unwrap();
    (leaf_hash(&leaf(700_001)), proof.to_string().into_bytes(), policy)
}

/// From the file's bytes to a verdict, by a reader without ML-DSA.
#[divan::bench]
fn verify_receipt_ed25519(bencher: Bencher<'_, '_>) {
    let (leaf, file, policy) = receipt(&[Algorithm::Ed25519]);
    bencher.bench_local(|| {
        TlogProof::parse(black_box(&file)).unwrap().verify(&leaf, &policy, PostQuantum::Optional).map(drop).unwrap();
    });
}

/// The same, by a reader that demands it.
#[divan::bench]
fn verify_receipt_ed25519_and_ml_dsa(bencher: Bencher<'_, '_>) {
    let (leaf, file, policy) = receipt(&[Algorithm::Ed25519, Algorithm::MlDsa44]);
    bencher.bench_local(|| {
        TlogProof::parse(black_box(&file)).unwrap().verify(&leaf, &policy, PostQuantum::Required).map(drop).unwrap();
    });
}
