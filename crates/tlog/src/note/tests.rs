use proptest::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::*;
use crate::checkpoint::{Checkpoint, Origin};
use crate::cosign::{Subtree, cosignature_message};
use crate::key::{Algorithm, SignerKey};
use crate::merkle::Hash;

const TIME: u64 = 1_764_500_000;

struct Keys {
    log: SignerKey,
    pq: SignerKey,
    witness: SignerKey,
}

fn keys() -> Keys {
    let key = |name: &str, algorithm, first: u8| {
        let seed = std::array::from_fn(|i| first + i as u8);
        SignerKey::from_seed(KeyName::parse(name).unwrap(), algorithm, &seed).unwrap()
    };
    let log = "log.example.test/verdicts/2026";
    Keys {
        log: key(log, Algorithm::Ed25519, 0x00),
        pq: key(log, Algorithm::MlDsa44, 0x40),
        witness: key("witness.example.test/w1", Algorithm::Ed25519Cosignature, 0x20),
    }
}

fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/checkpoint.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn known(keys: &[&SignerKey]) -> Vec<VerifierKey> {
    keys.iter().map(|key| key.verifier().clone()).collect()
}

#[test]
fn we_write_every_published_note() {
    let keys = keys();
    for (size, row) in vectors()["checkpoints"].as_object().unwrap() {
        let text = row["text"].as_str().unwrap();
        let checkpoint = Checkpoint::parse(text).unwrap();
        assert_eq!(checkpoint.size.to_string(), *size);
        let (log, pq) = (keys.log.sign(text, TIME).unwrap(), keys.pq.sign(text, TIME).unwrap());
        let witness = keys.witness.sign(text, TIME).unwrap();
        let plain = Note::new(text, std::slice::from_ref(&log)).unwrap();
        assert_eq!(plain.to_string(), row["signed_note_ed25519_only"].as_str().unwrap());
        assert_eq!(cosignature_message(TIME, text), row["cosign_ed_message"].as_str().unwrap().as_bytes());
        assert_eq!(witness.to_string(), row["cosign_ed_line"].as_str().unwrap().trim_end());
        let Checkpoint { origin, size, root, .. } = checkpoint;
        let message = Subtree { origin, start: 0, end: size, hash: root }.message(keys.pq.verifier().name(), TIME);
        assert_eq!(hex::encode(message.unwrap()), row["mldsa_message_hex"].as_str().unwrap());
        assert_eq!(hex::encode(Sha256::digest(&pq.blob()[8..])), row["mldsa_sig_sha256"].as_str().unwrap());
        assert_eq!(pq.to_string(), row["mldsa_line"].as_str().unwrap().trim_end());
        let full = Note::new(text, &[log, pq, witness]).unwrap();
        assert_eq!(full.to_string(), row["full_note"].as_str().unwrap());
    }
}

#[test]
fn we_read_every_published_note() {
    let keys = keys();
    for row in vectors()["checkpoints"].as_object().unwrap().values() {
        let bytes = row["full_note"].as_str().unwrap();
        let note = Note::parse(bytes.as_bytes()).unwrap();
        assert_eq!(note.to_string(), bytes);
        assert_eq!(note.text(), row["text"].as_str().unwrap());
        let known = known(&[&keys.log, &keys.pq, &keys.witness]);
        let verified = note.verify(&known).unwrap();
        let times: Vec<_> = verified.iter().map(|verified| (verified.key.algorithm(), verified.time)).collect();
        let expected =
            [(Algorithm::Ed25519, None), (Algorithm::MlDsa44, Some(TIME)), (Algorithm::Ed25519Cosignature, Some(TIME))];
        assert_eq!(times, expected);
    }
}

#[test]
fn a_subtree_away_from_the_start_carries_no_time() {
    let (keys, data) = (keys(), vectors());
    let row = &data["subtree_256_257"];
    let hash: [u8; 32] = hex::decode(row["hash"].as_str().unwrap()).unwrap().try_into().unwrap();
    let origin = Origin::parse(data["origin"].as_str().unwrap()).unwrap();
    let subtree = Subtree { origin, start: 256, end: 257, hash: Hash::from_bytes(hash) };
    let message = subtree.message(keys.pq.verifier().name(), 0).unwrap();
    assert_eq!(hex::encode(message), row["message_hex"].as_str().unwrap());
    assert_eq!(subtree.message(keys.pq.verifier().name(), 1), None);
    let blob = subtree.sign(&keys.pq).unwrap();
    assert_eq!(hex::encode(Sha256::digest(&blob[8..])), row["sig_sha256"].as_str().unwrap());
    assert!(subtree.is_signed_by(keys.pq.verifier(), &blob));
    assert!(!Subtree { end: 258, ..subtree.clone() }.is_signed_by(keys.pq.verifier(), &blob));
    assert!(!subtree.is_signed_by(keys.pq.verifier(), &blob[1..]));
    assert!(!subtree.is_signed_by(keys.log.verifier(), &blob));
    assert!(subtree.sign(&keys.log).is_err());
}

#[test]
fn unknown_keys_say_nothing_and_known_keys_must_be_right() {
    let keys = keys();
    let text = vectors()["checkpoints"]["3"]["text"].as_str().unwrap().to_owned();
    let good = keys.log.sign(&text, 0).unwrap();
    let cosigned = keys.witness.sign(&text, TIME).unwrap();
    let other = text.replace("\n3\n", "\n4\n");
    let forged = keys.witness.sign(&other, TIME).unwrap();
    let both = known(&[&keys.log, &keys.witness]);
    let verify = |lines: &[NoteSignature], known: &[VerifierKey]| {
        Note::new(&text, lines).unwrap().verify(known).map(|verified| verified.len())
    };
    assert_eq!(verify(&[good.clone(), cosigned.clone()], &both), Ok(2));
    assert_eq!(verify(&[good.clone(), forged.clone()], &both[..1]), Ok(1));
    let bad = NoteError::BadSignature(forged.name().clone(), forged.id());
    assert_eq!(verify(&[good.clone(), forged], &both), Err(bad));
    assert_eq!(verify(&[cosigned], &both[..1]), Err(NoteError::NoKnownKey));
    assert_eq!(verify(std::slice::from_ref(&good), &[]), Err(NoteError::NoKnownKey));
    let twice = known(&[&keys.log, &keys.log]);
    assert_eq!(verify(&[good], &twice), Ok(1));
}

#[test]
fn of_a_note_that_is_passed_on_the_newest_line_of_each_known_key_is_left() {
    let keys = keys();
    let text = vectors()["checkpoints"]["3"]["text"].as_str().unwrap().to_owned();
    let at = |time| keys.witness.sign(&text, time).unwrap();
    let (log, pq) = (keys.log.sign(&text, 0).unwrap(), keys.pq.sign(&text, TIME).unwrap());
    let note = Note::new(&text, &[at(5), log.clone(), at(9), pq, at(7), log.clone()]).unwrap();
    let left = |known: &[VerifierKey]| note.signed_by(known).map(|note| note.signatures().to_vec());
    assert_eq!(left(&known(&[&keys.log, &keys.witness])), Ok(vec![at(9), log.clone()]));
    assert_eq!(left(&known(&[&keys.log])), Ok(vec![log.clone()]));
    assert_eq!(left(&[]), Err(NoteError::NoKnownKey));
    let forged = Note::new(&text, &[log, keys.witness.sign("another\n", TIME).unwrap()]).unwrap();
    assert!(matches!(forged.signed_by(&known(&[&keys.log, &keys.witness])), Err(NoteError::BadSignature(..))));
}

#[test]
fn a_known_keys_malformed_signature_refuses_the_note_and_an_unknown_ones_says_nothing() {
    let keys = keys();
    let text = vectors()["checkpoints"]["3"]["text"].as_str().unwrap().to_owned();
    let good = keys.log.sign(&text, 0).unwrap();
    for signer in [&keys.witness, &keys.pq] {
        let verify = |blob: Vec<u8>, known: &[VerifierKey]| {
            let line = NoteSignature::new(signer.verifier().name().clone(), signer.verifier().id(), blob);
            Note::new(&text, &[good.clone(), line]).unwrap().verify(known).map(|verified| verified.len())
        };
        let signed_at = |time| signer.sign_at(&text, time).unwrap().blob().to_vec();
        let (both, log) = (known(&[&keys.log, signer]), known(&[&keys.log]));
        let malformed = NoteError::MalformedSignature(signer.verifier().name().clone(), signer.verifier().id());
        assert_eq!(verify(signed_at((1 << 63) - 1), &both), Ok(2), "the last time that may be stated");
        let whole = signed_at(TIME);
        let cut = |end: usize| whole[..end].to_vec();
        let long = [whole.as_slice(), &[0]].concat();
        for blob in [signed_at(1 << 63), signed_at(u64::MAX), cut(1), cut(7), cut(8), cut(whole.len() - 1), long] {
            assert_eq!(verify(blob.clone(), &both), Err(malformed.clone()), "{} bytes", blob.len());
            assert_eq!(verify(blob, &log), Ok(1), "nobody knows the key");
        }
    }
}

#[test]
fn the_same_name_with_another_id_or_the_same_id_with_another_name_is_unknown() {
    let keys = keys();
    let text = "any text\n";
    let line = keys.log.sign(text, 0).unwrap().to_string();
    let renamed = NoteSignature::parse(&line.replace("2026", "2027")).unwrap();
    let known = known(&[&keys.log]);
    assert_eq!(Note::new(text, &[renamed]).unwrap().verify(&known), Err(NoteError::NoKnownKey));
    let blob = keys.log.sign(text, 0).unwrap();
    let other_id = NoteSignature::new(blob.name().clone(), KeyId::from_bytes([0; 4]), blob.blob().to_vec());
    assert_eq!(Note::new(text, &[other_id]).unwrap().verify(&known), Err(NoteError::NoKnownKey));
}

#[test]
fn an_ml_dsa_key_signs_checkpoints_only() {
    let keys = keys();
    assert!(keys.pq.sign("any text\n", TIME).is_err());
    let text = "log.example.test/verdicts/2026\n3\npkvybgkSj2/i/m+LLYyAHhZrV8BHp82bK4Ceepai8cs=\n";
    let line = keys.pq.sign(text, 0).unwrap();
    let known = known(&[&keys.pq]);
    let note = Note::new(text, std::slice::from_ref(&line)).unwrap();
    assert_eq!(note.verify(&known).unwrap()[0].time, None);
    let elsewhere = Note::new("any text\n", &[line]).unwrap();
    assert!(matches!(elsewhere.verify(&known), Err(NoteError::BadSignature(..))));
}

#[test]
fn the_grammar() {
    let line = "\u{2014} name AAAAAAA=";
    let read = |text: &str| Note::parse(text.as_bytes()).map(|note| note.text().to_owned());
    assert_eq!(read(&format!("a\n\n{line}\n")), Ok("a\n".into()));
    assert_eq!(read(&format!("a\n\nb\n\n{line}\n{line}\n")), Ok("a\n\nb\n".into()));
    assert_eq!(read(&format!("a\n\n\n{line}\n")), Ok("a\n\n".into()));
    use NoteError::{NoSignatures, NotText, SignatureLine, TooLarge, TooManySignatures};
    let rows = [
        ("".to_owned(), NoSignatures),
        (format!("a\n{line}\n"), NoSignatures),
        (format!("a\n\n{line}"), NoSignatures),
        ("a\n\n".to_owned(), NoSignatures),
        ("a\n\n\n".to_owned(), NoSignatures),
        (format!("a\t\n\n{line}\n"), NotText),
        (format!("a\r\n\n{line}\n"), NotText),
        (format!("a\0\n\n{line}\n"), NotText),
        ("a\n\n- name AAAAAAA=\n".to_owned(), SignatureLine),
        ("a\n\n\u{2014}name AAAAAAA=\n".to_owned(), SignatureLine),
        ("a\n\n\u{2014} name\n".to_owned(), SignatureLine),
        ("a\n\n\u{2014}  AAAAAAA=\n".to_owned(), SignatureLine),
        ("a\n\n\u{2014} na+me AAAAAAA=\n".to_owned(), SignatureLine),
        ("a\n\n\u{2014} na\u{a0}me AAAAAAA=\n".to_owned(), SignatureLine),
        ("a\n\n\u{2014} name AAAAAA==\n".to_owned(), SignatureLine),
        ("a\n\n\u{2014} name AAAAAAB=\n".to_owned(), SignatureLine),
        ("a\n\n\u{2014} name AAAAAAA= \n".to_owned(), SignatureLine),
        (format!("a\n\n{}", format!("{line}\n").repeat(65)), TooManySignatures),
        (format!("{}\n\n{line}\n", "a".repeat(MAX_NOTE)), TooLarge),
    ];
    for (text, error) in rows {
        assert_eq!(read(&text), Err(error), "{:?}", text.get(..40));
    }
    assert!(read(&format!("a\n\n{}", format!("{line}\n").repeat(64))).is_ok());
    assert_eq!(Note::parse(b"\xff\n\n"), Err(NotText));
    assert_eq!(Note::new("no line feed", &[NoteSignature::parse(line).unwrap()]), None);
    assert_eq!(Note::new("text\n", &[]), None);
}

proptest! {
    #[test]
    fn no_bytes_panic_and_what_reads_prints_back(text in "[a-z0-9\n +/=\u{2014}]{0,80}", tail in "(\u{2014} [a-z]{1,3} [A-Za-z0-9+/]{8}\n){0,3}") {
        let bytes = format!("{text}\n\n{tail}");
        if let Ok(note) = Note::parse(bytes.as_bytes()) {
            prop_assert_eq!(note.to_string(), bytes);
        }
    }

    #[test]
    fn one_flipped_bit_never_verifies_as_another_text(at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let keys = keys();
        let text = "log.example.test/verdicts/2026\n3\npkvybgkSj2/i/m+LLYyAHhZrV8BHp82bK4Ceepai8cs=\n";
        let lines = [keys.log.sign(text, 0).unwrap(), keys.witness.sign(text, TIME).unwrap()];
        let mut bytes = Note::new(text, &lines).unwrap().to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let known = known(&[&keys.log, &keys.witness]);
        // A flip in a signer's name or id leaves the other signature; one in the text or a signature leaves nothing.
        if let Ok(note) = Note::parse(&bytes)
            && let Ok(verified) = note.verify(&known)
        {
            prop_assert_eq!(note.text(), text);
            prop_assert_eq!(verified.len(), 1);
        }
    }
}
