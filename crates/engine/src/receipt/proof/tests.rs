//! The receipts of the vectors as proofs: what one proves with its entry, and what it does not prove without.

use countersign_tlog::policy::{Policy, PostQuantum};

use super::super::tests::{case, policy};
use super::*;

/// What was proved: how much of the entry there is, and where it stands; or the code.
fn judge(proof: &str, subject: Option<Subject>) -> Result<(Option<Known>, u64, u64), &'static str> {
    judge_by(&policy("log+pq"), proof, subject)
}

fn judge_by(policy: &Policy, proof: &str, subject: Option<Subject>) -> Result<(Option<Known>, u64, u64), &'static str> {
    let now = countersign_core::time::Timestamp::from_seconds(1_788_253_200);
    let demands = Demands { policy, pq: PostQuantum::Required, max_age_ms: None, now };
    match verify_proof(proof.as_bytes(), subject, &demands) {
        Ok(ProvedProof::Entry(proved)) => Ok((Some(proved.known), proved.receipt.index, proved.signed.checkpoint.size)),
        Ok(ProvedProof::Checkpoint { index, signed }) => Ok((None, index, signed.checkpoint.size)),
        Err(refusal) => Err(refusal.code()),
    }
}

fn receipt(name: &str) -> Receipt {
    Receipt::parse(case(name)["receipt"].as_str().unwrap().as_bytes()).unwrap()
}

fn subject(receipt: &Receipt) -> Option<Subject> {
    Some(Subject::Receipt(Box::new(receipt.clone())))
}

#[test]
fn a_proof_says_as_much_as_there_is_of_its_entry() {
    let receipt = receipt("with a post-quantum signature");
    let proof = receipt.proof();
    let leaf = proof.extra.clone().unwrap();
    let reveal = receipt.reveal.clone().unwrap();
    let wanted =
        format!(r#"{{"commitment":"{}","ts":"{}","type":"{}"}}"#, reveal.commitment, reveal.minute, reveal.leaf_type);
    assert_eq!(String::from_utf8(leaf.clone()).unwrap(), wanted, "the leaf, and neither salt nor document");
    let bare = TlogProof { extra: None, ..proof.clone() }.to_string();
    let at = (receipt.index, 7);
    let known = |known| Ok((Some(known), at.0, at.1));
    assert_eq!(judge(&proof.to_string(), None), known(Known::Leaf));
    assert_eq!(judge(&bare, Some(Subject::Entry(leaf))), known(Known::Leaf));
    assert_eq!(judge(&bare, subject(&receipt)), known(Known::Reveal));
    let public = Receipt { reveal: None, ..receipt.clone() };
    assert_eq!(judge(&bare, subject(&public)), known(Known::Hash));
    assert_eq!(public.proof().to_string(), bare, "without a reveal there is no leaf to carry");
    assert_eq!(judge(&bare, None), Ok((None, at.0, at.1)), "the checkpoint, and nothing under it");
}

#[test]
fn another_entry_is_not_the_one_of_the_proof() {
    let (one, other) = (receipt("with a post-quantum signature"), receipt("a document beyond ASCII"));
    assert_ne!(one.leaf_hash, other.leaf_hash);
    let proof = one.proof();
    let text = proof.to_string();
    let leaf = other.proof().extra;
    assert_eq!(judge(&text, leaf.clone().map(Subject::Entry)), Err("wrong_root"));
    assert_eq!(judge(&text, subject(&other)), Err("wrong_root"));
    assert_eq!(judge(&TlogProof { extra: leaf, ..proof.clone() }.to_string(), None), Err("wrong_root"));
    let mut changed = proof.extra.clone().unwrap();
    changed.push(b' ');
    assert_eq!(judge(&text, Some(Subject::Entry(changed.clone()))), Err("wrong_root"));
    let of_another_program = TlogProof { extra: Some(changed), ..proof.clone() }.to_string();
    assert_eq!(judge(&of_another_program, None), Ok((None, one.index, 7)), "not ours to read");
    let mut lying = one.clone();
    lying.leaf_hash = other.leaf_hash;
    assert_eq!(judge(&text, subject(&lying)), Err("leaf_hash_mismatch"));
    let moved = TlogProof { index: one.index - 1, ..proof }.to_string();
    assert_eq!(judge(&moved, None), Err("wrong_root"));
    assert!(judge(&text, None).is_ok(), "the control");
}

#[test]
fn the_checkpoint_counts_with_and_without_an_entry() {
    let receipt = receipt("with a post-quantum signature");
    let text = receipt.proof().to_string();
    let bare = TlogProof { extra: None, ..receipt.proof() }.to_string();
    for proof in [&text, &bare] {
        assert_eq!(judge_by(&policy("other"), proof, None), Err("log_unknown"));
        assert_eq!(judge(&proof.replacen("\n7\n", "\n8\n", 1), None), Err("note_bad_signature"));
        assert_eq!(judge(&proof.replacen("@v1", "@v2", 1), None), Err("proof_header"));
    }
}
