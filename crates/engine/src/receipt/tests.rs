//! Every case was made by a Python program that shares no code with ours: `tests/receipts/make_vectors.py`.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::sign::VerifyingKey;
use countersign_core::time::Timestamp;
use countersign_tlog::policy::{Policy, PostQuantum};
use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn vectors() -> &'static Value {
    static VECTORS: LazyLock<Value> =
        LazyLock::new(|| serde_json::from_str(include_str!("../../tests/data/receipts.json")).unwrap());
    &VECTORS
}

pub(super) fn case(name: &str) -> Value {
    vectors()["cases"].as_array().unwrap().iter().find(|case| case["name"] == name).unwrap().clone()
}

pub(super) fn policy(name: &str) -> Policy {
    Policy::parse(vectors()["trust"][name].as_str().unwrap().as_bytes()).unwrap()
}

fn judge(case: &Value, bytes: &[u8]) -> Result<Proved, Refusal> {
    let policy = policy(case["trust"].as_str().unwrap());
    let pq = if case["require_pq"] == true { PostQuantum::Required } else { PostQuantum::Optional };
    let max_age_ms = case["max_age_s"].as_i64().map(|seconds| seconds * 1000);
    let now = Timestamp::from_seconds(case["now"].as_i64().unwrap());
    verify(bytes, &Demands { policy: &policy, pq, max_age_ms, now })
}

fn document_key() -> VerifyingKey {
    let bytes = STANDARD.decode(vectors()["document_key"].as_str().unwrap()).unwrap();
    VerifyingKey::from_bytes(&bytes.try_into().unwrap()).unwrap()
}

const ABOUT_THE_DOCUMENT: [&str; 12] = [
    "no_document",
    "unknown_key",
    "signature_invalid",
    "member_missing",
    "json_syntax",
    "json_duplicate",
    "json_unsafe_integer",
    "json_depth",
    "json_members",
    "json_string",
    "json_size",
    "not_yet_valid",
];

/// A long case stands in the file with a mark for what repeats; `#` in it counts from 0.
fn whole(case: &Value) -> String {
    let receipt = case["receipt"].as_str().unwrap();
    let Some(fill) = case.get("fill") else { return receipt.to_owned() };
    let (with, times) = (fill["with"].as_str().unwrap(), fill["times"].as_u64().unwrap());
    let all: String = (0..times).map(|turn| with.replace('#', &turn.to_string())).collect();
    receipt.replacen('\u{25a0}', &all, 1)
}

#[test]
fn a_trust_policy_reads_or_not_as_its_maker_says() {
    let policies = vectors()["policies"].as_array().unwrap();
    for one in policies {
        let read = Policy::parse(one["policy"].as_str().unwrap().as_bytes());
        assert_eq!(Value::from(read.is_ok()), one["reads"], "{}: {:?}", one["name"], read.err());
    }
    assert!(policies.iter().filter(|one| one["reads"] == true).count() >= 10, "the controls");
}

#[test]
fn every_case_is_judged_as_its_maker_says() {
    for case in vectors()["cases"].as_array().unwrap() {
        match judge(case, whole(case).as_bytes()) {
            // What the log proves holds; who signed the document, and when, its reader judges.
            Ok(_) if ABOUT_THE_DOCUMENT.iter().any(|code| case["code"] == *code) => {}
            Ok(proved) => {
                assert_eq!(case["expect"], "proved", "{case}");
                assert_eq!(proved.receipt.index, case["index"], "{case}");
                assert_eq!(proved.signed.checkpoint.size, case["size"], "{case}");
                assert_eq!(proved.signed.pq.as_str(), case["pq"], "{case}");
                if let Some(at) = case.get("signed_at") {
                    let told = proved.signed.signed_at().map(Timestamp::seconds);
                    assert_eq!(told, at.as_i64(), "{case}");
                }
            }
            Err(refusal) => {
                assert_eq!(refusal.kind().as_str(), case["expect"], "{refusal}: {case}");
                assert_eq!(refusal.code(), case["code"], "{refusal}: {case}");
            }
        }
    }
}

#[test]
fn a_receipt_is_written_as_it_was_read() {
    for name in ["leaf 3 of 7", "with a post-quantum signature", "without its reveal", "a document beyond ASCII"] {
        let case = case(name);
        let text = case["receipt"].as_str().unwrap();
        let receipt = Receipt::parse(text.as_bytes()).unwrap();
        assert_eq!(receipt.to_value(), serde_json::from_str::<Value>(text).unwrap(), "{name}");
        assert_eq!(Receipt::parse(receipt.to_value().to_string().as_bytes()), Ok(receipt.clone()));
        assert_eq!(Receipt::parse(receipt.to_public_value().to_string().as_bytes()).unwrap().reveal, None);
    }
}

#[test]
fn what_is_left_open_is_said() {
    let open = |name: &str| {
        let case = case(name);
        let proved = judge(&case, case["receipt"].as_str().unwrap().as_bytes()).unwrap();
        proved.not_proved().into_iter().map(|row| row.what).collect::<Vec<_>>()
    };
    let (always, split) = ("that the document is right", "that everybody is shown the same log");
    let (quantum, time) = ("anything against a quantum computer", "when the checkpoint was signed");
    assert_eq!(open("leaf 3 of 7"), [split, quantum, time, always]);
    assert_eq!(open("with a post-quantum signature"), [split, always]);
    assert_eq!(open("cosigned by both witnesses"), [quantum, always]);
    assert_eq!(open("without its reveal"), ["what was logged", split, quantum, time, always]);
    let stripped = open("the post-quantum line stripped, unnoticed without the demand");
    assert_eq!(stripped, [split, "that the log's post-quantum key signed", time, always]);
}

#[test]
fn the_documents_signer_is_named_only_when_known() {
    let case = case("leaf 3 of 7");
    let proved = judge(&case, case["receipt"].as_str().unwrap().as_bytes()).unwrap();
    let id = document_key().id().to_string();
    assert_eq!(proved.signer(&[document_key()]), Some(Signer::Trusted(id.clone())));
    assert_eq!(proved.signer(&[]), Some(Signer::NotChecked(id)));
}

/// What a reader takes away from a receipt.
fn meaning(proved: &Proved) -> (u64, u64, String, Option<String>, Option<String>) {
    let leaf = proved.leaf.as_ref().map(|leaf| String::from_utf8(leaf.to_bytes().unwrap()).unwrap());
    let document = proved.receipt.reveal.as_ref().map(|reveal| reveal.document.clone());
    (proved.receipt.index, proved.signed.checkpoint.size, proved.signed.checkpoint.root.to_string(), leaf, document)
}

#[test]
fn no_single_changed_byte_changes_what_is_proved() {
    let case = case("leaf 3 of 7");
    let good = case["receipt"].as_str().unwrap().as_bytes();
    let meant = meaning(&judge(&case, good).unwrap());
    let mut refused = 0;
    for at in 0..good.len() {
        for mask in [0x01, 0x20, 0x80] {
            let mut bytes = good.to_vec();
            bytes[at] ^= mask;
            match judge(&case, &bytes) {
                Ok(proved) => assert_eq!(meaning(&proved), meant, "byte {at} ^ {mask}"),
                Err(_) => refused += 1,
            }
        }
    }
    // Spaces between members may change into other white space; nothing else may.
    assert!(refused > good.len() * 2, "{refused} of {}", good.len() * 3);
}

#[test]
fn every_cut_is_refused() {
    let case = case("leaf 3 of 7");
    let good = case["receipt"].as_str().unwrap().as_bytes();
    for end in 0..good.len() {
        assert!(judge(&case, &good[..end]).is_err(), "cut at {end}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Receipt::parse(&bytes).is_err());
    }

    #[test]
    fn a_splice_of_two_receipts_proves_nothing_new(from in 0usize..2200, to in 0usize..2200, length in 0usize..80) {
        let (one, two) = (case("leaf 3 of 7"), case("leaf 6 of 7"));
        let (mut bytes, donor) = (one["receipt"].as_str().unwrap().as_bytes().to_vec(), two["receipt"].as_str().unwrap().as_bytes());
        let (from, to) = (from.min(donor.len()), to.min(bytes.len()));
        let taken = &donor[from..(from + length).min(donor.len())];
        bytes.splice(to..(to + taken.len()).min(bytes.len()), taken.iter().copied());
        let allowed: Vec<_> = [&one, &two].iter().map(|case| meaning(&judge(case, case["receipt"].as_str().unwrap().as_bytes()).unwrap())).collect();
        if let Ok(proved) = judge(&one, &bytes) {
            prop_assert!(allowed.contains(&meaning(&proved)));
        }
    }
}
