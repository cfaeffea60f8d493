use serde_json::Value;

use super::*;
use crate::note::Note;

fn vectors(name: &str) -> Value {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn seed(text: &Value) -> [u8; 32] {
    hex::decode(text.as_str().unwrap()).unwrap().try_into().unwrap()
}

fn key(row: &Value, name: &str, algorithm: Algorithm, secret: &str) -> SignerKey {
    SignerKey::from_seed(KeyName::parse(name).unwrap(), algorithm, &seed(&row[secret])).unwrap()
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

#[test]
fn ids_and_vkeys_of_the_fixed_keys() {
    let data = vectors("checkpoint.json");
    let origin = data["origin"].as_str().unwrap();
    let log = key(&data["log"], origin, Algorithm::Ed25519, "seed_hex");
    assert_eq!(hex::encode(log.verifier().public_key()), data["log"]["pk_hex"].as_str().unwrap());
    assert_eq!(log.verifier().to_string(), data["log"]["vkey"].as_str().unwrap());
    assert_eq!(log.verifier().id().to_string(), "47aa6b7a");
    let same_secret = key(&data["log"], origin, Algorithm::Ed25519Cosignature, "seed_hex");
    assert_eq!(same_secret.verifier().id().to_string(), "5ddbf25e");
    let witness = &data["witness_ed25519"];
    let witness = key(witness, witness["name"].as_str().unwrap(), Algorithm::Ed25519Cosignature, "seed_hex");
    assert_eq!(witness.verifier().to_string(), data["witness_ed25519"]["vkey"].as_str().unwrap());
    let pq = key(&data["mldsa44"], origin, Algorithm::MlDsa44, "xi_hex");
    assert_eq!(sha256(pq.verifier().public_key()), data["mldsa44"]["pk_sha256"].as_str().unwrap());
    assert_eq!(pq.verifier().id().to_string(), "c8d47939");
    assert_eq!(pq.verifier().to_string().len() as u64, data["mldsa44"]["vkey_len"].as_u64().unwrap());
    let as_witness = key(&data["mldsa44"], "witness.example.test/w1", Algorithm::MlDsa44, "xi_hex");
    assert_eq!(as_witness.verifier().id().to_string(), "93649d3f");
    for signer in [log, witness, pq] {
        let vkey = signer.verifier().to_string();
        assert_eq!(&VerifierKey::parse(&vkey).unwrap(), signer.verifier());
        assert!(!format!("{signer:?}").contains("0001020304"));
    }
}

#[test]
fn ml_dsa_known_answer() {
    let data = vectors("mldsa.json");
    let key = key(&data, "kat", Algorithm::MlDsa44, "xi_hex");
    assert_eq!(hex::encode(key.verifier().public_key()), data["mldsa44"]["pk"].as_str().unwrap());
    let signature = key.sign_raw(b"mldsa kat").unwrap();
    assert_eq!(sha256(&signature), data["mldsa44"]["sig_det_sha256"].as_str().unwrap());
    assert!(key.verifier().verify_raw(b"mldsa kat", &signature));
    assert!(!key.verifier().verify_raw(b"mldsa kaT", &signature));
    assert!(!key.verifier().verify_raw(b"mldsa kat", &signature[1..]));
}

#[test]
fn a_vkey_that_is_not_one() {
    let good = "log.example.test/verdicts/2026+47aa6b7a+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4";
    assert!(VerifierKey::parse(good).is_ok());
    let vkey = |name: &str, public: &[u8]| {
        let id = KeyId::of(&KeyName::parse(name).unwrap(), Algorithm::Ed25519, public);
        format!("{name}+{id}+{}", to_base64(&[&[1], public].concat()))
    };
    let mut high_y = [0xff; 32];
    (high_y[0], high_y[31]) = (0xf0, 0x7f); // y = p + 3: a second encoding of y = 3.
    let mut identity = [0; 32];
    identity[0] = 1;
    let rows = [
        ("".to_owned(), KeyError::Malformed),
        ("name".to_owned(), KeyError::Malformed),
        ("name+00000000".to_owned(), KeyError::Malformed),
        ("name+00000000+".to_owned(), KeyError::Malformed),
        ("+00000000+AQ==".to_owned(), KeyError::Malformed),
        ("two words+00000000+AQ==".to_owned(), KeyError::Malformed),
        ("n+00000000+Ag==".to_owned(), KeyError::UnsupportedType(2)),
        ("n+00000000+BQ==".to_owned(), KeyError::UnsupportedType(5)),
        ("n+00000000+AQ==".to_owned(), KeyError::BadPublicKey),
        ("n+00000000+Bg==".to_owned(), KeyError::BadPublicKey),
        (good.replace("47aa6b7a", "47aa6b7b"), KeyError::WrongId),
        (good.replace("47aa6b7a", "47AA6B7A"), KeyError::WrongId),
        (good.replace("2026", "2027"), KeyError::WrongId),
        (vkey("weak", &identity), KeyError::BadPublicKey),
        (vkey("twice", &high_y), KeyError::BadPublicKey),
    ];
    for (text, error) in rows {
        assert_eq!(VerifierKey::parse(&text), Err(error), "{text}");
    }
}

/// C2SP tlog-cosignature: a time is at most 2^63 - 1, which is the largest that a reader takes.
#[test]
fn a_time_that_no_reader_takes_is_not_signed() {
    let text = format!("w\n1\n{}\n", to_base64(&[7; 32]));
    for algorithm in [Algorithm::Ed25519Cosignature, Algorithm::MlDsa44] {
        let signer = SignerKey::from_seed(KeyName::parse("w").unwrap(), algorithm, &[1; 32]).unwrap();
        let (last, beyond) = (9_223_372_036_854_775_807, 9_223_372_036_854_775_808);
        assert_eq!(signer.sign(&text, beyond), Err(NotSignable::Time), "{algorithm:?}");
        assert_eq!(signer.sign(&text, u64::MAX), Err(NotSignable::Time), "{algorithm:?}");
        let note = Note::new(&text, &[signer.sign(&text, last).unwrap()]).unwrap();
        let keys = [signer.verifier().clone()];
        assert_eq!(note.verify(&keys).unwrap()[0].time, Some(last), "the control: {algorithm:?}");
    }
}

#[test]
fn names() {
    assert!(KeyName::parse(&"n".repeat(255)).is_some());
    for bad in ["", "a b", "a+b", "a\u{a0}b", "a\u{3000}", "a\n", "a\u{7f}", &"n".repeat(256)] {
        assert_eq!(KeyName::parse(bad), None, "{bad:?}");
    }
}
