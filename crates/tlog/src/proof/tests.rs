use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::key::{Algorithm, KeyName, SignerKey};
use crate::merkle::leaf_hash;

fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/proof.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn key(name: &str, algorithm: Algorithm, first: u8) -> String {
    let seed = std::array::from_fn(|i| first + i as u8);
    SignerKey::from_seed(KeyName::parse(name).unwrap(), algorithm, &seed).unwrap().verifier().to_string()
}

/// Trusts the log of the vectors with both keys and asks for its one witness.
fn policy(quorum: &str) -> Policy {
    let log = "log.example.test/verdicts/2026";
    let (ed, pq) = (key(log, Algorithm::Ed25519, 0), key(log, Algorithm::MlDsa44, 0x40));
    let witness = key("witness.example.test/w1", Algorithm::Ed25519Cosignature, 0x20);
    Policy::parse(format!("log {ed}\nlog {pq}\nwitness w1 {witness}\nquorum {quorum}\n").as_bytes()).unwrap()
}

#[test]
fn every_published_proof_verifies() {
    for (name, row) in vectors().as_object().unwrap() {
        let leaf = leaf_hash(row["entry"].as_str().unwrap().as_bytes());
        assert_eq!(leaf.to_string(), row["leaf_hash"].as_str().unwrap());
        for form in ["ed_only", "full"] {
            let text = row[form].as_str().unwrap();
            assert_eq!(text.len() as u64, row[format!("{form}_len")].as_u64().unwrap());
            let proof = TlogProof::parse(text.as_bytes()).unwrap();
            assert_eq!(proof.to_string(), text);
            let accepted = proof
                .verify(&leaf, &policy("none"), PostQuantum::Optional)
                .map(|accepted| format!("{}_{}", proof.index, accepted.checkpoint.size));
            assert_eq!(accepted.as_ref(), Ok(name));
            let strict = proof.verify(&leaf, &policy("w1"), PostQuantum::Required).map(drop).map_err(|e| e.code());
            assert_eq!(strict, if form == "full" { Ok(()) } else { Err("pq_missing") });
            let cosigned = proof.verify(&leaf, &policy("w1"), PostQuantum::Optional).map(drop).map_err(|e| e.code());
            assert_eq!(cosigned, if form == "full" { Ok(()) } else { Err("quorum_missing") });
            let stranger = leaf_hash(b"entry-x");
            let other = proof.verify(&stranger, &policy("none"), PostQuantum::Optional).map(drop);
            assert_eq!(other.map_err(|e| e.code()), Err("wrong_root"));
        }
    }
}

#[test]
fn the_extra_line_is_carried_and_proves_nothing() {
    let text = vectors()["2_3"]["full"].as_str().unwrap().to_owned();
    let proof = TlogProof::parse(text.as_bytes()).unwrap();
    assert_eq!(proof.extra.as_deref(), Some(b"app extra".as_slice()));
    let changed = TlogProof::parse(text.replace("YXBwIGV4dHJh", "").as_bytes()).unwrap();
    assert_eq!(changed.extra.as_deref(), Some(b"".as_slice()));
    assert!(changed.verify(&leaf_hash(b"entry-2"), &policy("w1"), PostQuantum::Required).is_ok());
}

#[test]
fn a_changed_proof_is_refused() {
    let text = vectors()["1000_70000"]["full"].as_str().unwrap().to_owned();
    let leaf = leaf_hash(b"entry-1000");
    let verdict = |proof: &TlogProof| {
        proof.verify(&leaf, &policy("w1"), PostQuantum::Required).map(drop).map_err(|error| error.code())
    };
    let good = TlogProof::parse(text.as_bytes()).unwrap();
    assert_eq!(verdict(&good), Ok(()));
    assert_eq!(verdict(&TlogProof { index: 1001, ..good.clone() }), Err("wrong_root"));
    assert_eq!(verdict(&TlogProof { index: 70_000, ..good.clone() }), Err("index_outside"));
    let short = TlogProof { path: good.path[..16].to_vec(), ..good.clone() };
    assert_eq!(verdict(&short), Err("wrong_length"));
    let mut swapped = good.clone();
    swapped.path.swap(0, 1);
    assert_eq!(verdict(&swapped), Err("wrong_root"));
    let elsewhere = text.replace("verdicts/2026\n70000\n", "verdicts/2027\n70000\n");
    assert_eq!(verdict(&TlogProof::parse(elsewhere.as_bytes()).unwrap()), Err("log_unknown"));
    let larger = text.replace("\n70000\n", "\n70001\n");
    assert_eq!(verdict(&TlogProof::parse(larger.as_bytes()).unwrap()), Err("note_bad_signature"));
}

#[test]
fn the_grammar() {
    let good = vectors()["2_3"]["ed_only"].as_str().unwrap().to_owned();
    let hash = "LyelCCwdQq+kiKw1Cp/EOQwIT1T3Hs3/hZ6Y24QptHk=\n";
    let change = |from: &str, to: &str| good.replacen(from, to, 1);
    use ProofError::{Extra, Hash, Header, Index, TooLarge, TooManyHashes};
    let rows = [
        (String::new(), Header),
        (change("@v1", "@v2"), Header),
        (change("c2sp", " c2sp"), Header),
        (change("@v1\n", "@v1\r\n"), Header),
        (change("index", "extra A\nindex"), Extra),
        (change("index", "extra AA==\nextra AA==\nindex"), Index),
        (change("index 2\n", ""), Index),
        (change("index 2", "index 02"), Index),
        (change("index 2", "index  2"), Index),
        (change("index 2", "index -2"), Index),
        (change("index 2", "index 18446744073709551616"), Index),
        (change("index 2\n", "index 2\nextra AA==\n"), Hash),
        (change(hash, "AA==\n"), Hash),
        (change(hash, &hash.replace('=', "")), Hash),
        (change("\n\n", "\n"), Hash),
        (change(hash, &hash.repeat(64)), TooManyHashes),
        (format!("{good}{}", "x".repeat(MAX_PROOF_FILE)), TooLarge),
        (change("\u{2014}", "-"), ProofError::Note(NoteError::SignatureLine)),
    ];
    for (text, error) in rows {
        assert_eq!(TlogProof::parse(text.as_bytes()), Err(error), "{:?}", text.get(..60));
    }
    assert_eq!(TlogProof::parse(b"\xff"), Err(ProofError::NotText));
    let full = TlogProof::parse(change(hash, &hash.repeat(63)).as_bytes()).unwrap();
    let result = full.verify(&leaf_hash(b"entry-2"), &policy("none"), PostQuantum::Optional).map(drop);
    assert_eq!(result.map_err(|error| error.code()), Err("wrong_length"));
}

proptest! {
    #[test]
    fn no_flipped_bit_proves_another_thing(at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let text = vectors()["2_3"]["ed_only"].as_str().unwrap().to_owned();
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(proof) = TlogProof::parse(&bytes) {
            prop_assert_eq!(proof.to_string().into_bytes(), bytes);
            prop_assert!(proof.verify(&leaf_hash(b"entry-2"), &policy("none"), PostQuantum::Optional).is_err());
        }
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), tail in "(extra [A=]{0,6}\n)?(index [0-9]{0,3}\n)?([A=]{0,5}\n){0,3}") {
        let _ = TlogProof::parse(&bytes);
        let _ = TlogProof::parse(format!("{HEADER}\n{tail}").as_bytes());
    }
}
