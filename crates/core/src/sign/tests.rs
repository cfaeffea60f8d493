use serde_json::{Map, Value, json};

use super::*;
use crate::json as strict;
use crate::time::Timestamp;

/// Made outside this project with Python's `cryptography`.
fn vectors() -> Value {
    serde_json::from_str(include_str!("../../tests/data/countersign.json")).unwrap()
}

fn key() -> SigningKey {
    SigningKey::from_seed([7; 32])
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => unreachable!("tests pass objects"),
    }
}

fn sealed() -> Vec<u8> {
    seal(
        object(json!({"schema": "countersign/decision/v1", "word": "payable"})),
        Timestamp::from_seconds(1_788_253_200),
        &key(),
    )
    .unwrap()
}

#[test]
fn keys_and_ids_match_the_outside_vectors() {
    let vectors = vectors();
    assert_eq!(key().verifying_key().to_base64(), vectors["key"]["public_key_base64"]);
    assert_eq!(key().id().to_string(), vectors["key"]["keyId"]);
}

#[test]
fn signatures_match_the_outside_vectors_and_open() {
    for verdict in vectors()["verdicts"].as_array().unwrap() {
        let mut document = object(verdict["document"].clone());
        let bytes = serde_json::to_vec(&document).unwrap();
        assert_eq!(open(&bytes, &[key().verifying_key()]).unwrap().schema, "endpoint-verdict/v0");
        for name in ["issuedAt", "keyId", "signature"] {
            document.remove(name);
        }
        let ours = seal(document, Timestamp::parse("2026-09-01T09:00:00Z").unwrap(), &key()).unwrap();
        let ours: Value = serde_json::from_slice(&ours).unwrap();
        assert_eq!(ours["signature"], verdict["signature"], "{}", verdict["name"]);
    }
}

#[test]
fn every_changed_byte_is_refused() {
    let bytes = sealed();
    assert!(open(&bytes, &[key().verifying_key()]).is_ok(), "positive control");
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(open(&changed, &[key().verifying_key()]).is_err(), "byte {at}");
    }
}

#[test]
fn unknown_malformed_and_invalid_are_told_apart() {
    let bytes = sealed();
    let other = SigningKey::from_seed([8; 32]).verifying_key();
    assert!(matches!(open(&bytes, &[other]), Err(OpenError::UnknownKey(id)) if id == "fe812c12f3ab4ce6"));
    assert!(matches!(open(b"{}", &[]), Err(OpenError::Member("schema"))));
    assert!(matches!(open(b"{\"a\":1,\"a\":1}", &[]), Err(OpenError::Json(error)) if error.code() == "json_duplicate"));
    let text = String::from_utf8(bytes).unwrap().replace("payable", "unknown");
    assert_eq!(open(text.as_bytes(), &[key().verifying_key()]).unwrap_err(), OpenError::BadSignature);
}

#[test]
fn sealing_refuses_what_it_sets_itself_and_what_it_cannot_write() {
    let at = Timestamp::from_seconds(0);
    assert_eq!(seal(Map::new(), at, &key()), Err(SealError::NoSchema));
    assert_eq!(seal(object(json!({"schema": "x", "keyId": "y"})), at, &key()), Err(SealError::Reserved("keyId")));
    let unsafe_integer = object(json!({"schema": "x", "n": 9_007_199_254_740_992_u64}));
    assert!(
        matches!(seal(unsafe_integer, at, &key()), Err(SealError::Json(error)) if error.code() == "json_unsafe_integer")
    );
}

/// 32 bytes: the first, thirty alike, the last.
fn encoding(first: u8, rest: u8, last: u8) -> [u8; 32] {
    let mut bytes = [rest; 32];
    (bytes[0], bytes[31]) = (first, last);
    bytes
}

/// y = 1, 0, p-1 and their unreduced forms, with either sign; y of the points of order 8 is not so regular.
#[test]
fn keys_of_small_order_do_not_load() {
    let mut all = vec![];
    for (first, rest, last) in [(0, 0, 0), (1, 0, 0), (0xec, 0xff, 0x7f), (0xed, 0xff, 0x7f), (0xee, 0xff, 0x7f)] {
        all.extend([encoding(first, rest, last), encoding(first, rest, last | 0x80)]);
    }
    for order_8 in [
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ] {
        let mut bytes: [u8; 32] = hex::decode(order_8).unwrap().try_into().unwrap();
        all.push(bytes);
        bytes[31] |= 0x80;
        all.push(bytes);
    }
    assert_eq!(all.len(), 14);
    for bytes in all {
        assert_eq!(VerifyingKey::from_bytes(&bytes).unwrap_err(), KeyError::Weak, "{}", hex::encode(bytes));
    }
    assert!(VerifyingKey::from_bytes(&key().verifying_key().to_bytes()).is_ok(), "positive control");
}

/// y + p for y of 2..=18: the same point as y, spelled a second time.
#[test]
fn a_second_spelling_of_a_good_key_does_not_load() {
    let mut seen = 0;
    for y in 2..=18 {
        if VerifyingKey::from_bytes(&encoding(y, 0, 0)).is_ok() {
            let twin = encoding(0xed + y, 0xff, 0x7f);
            assert_eq!(VerifyingKey::from_bytes(&twin).unwrap_err(), KeyError::NotCanonical, "y = {y}");
            seen += 1;
        }
    }
    assert!(seen > 0, "half of all y are on the curve");
}

/// "Taming the many EdDSAs": strict verification accepts row 3 only, and a key that is weak never loads.
#[test]
fn speccheck() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/third-party/ed25519/speccheck.json");
    let Ok(text) = std::fs::read_to_string(path) else {
        return crate::testing::say_skipped("the Ed25519 edge cases of speccheck");
    };
    let cases: Value = serde_json::from_str(&text).unwrap();
    let bytes = |case: &Value, name: &str| hex::decode(case[name].as_str().unwrap()).unwrap();
    let accepted = |case: &Value| {
        let public: [u8; 32] = bytes(case, "pub_key").try_into().unwrap();
        VerifyingKey::from_bytes(&public)
            .is_ok_and(|key| key.verifies(&bytes(case, "message"), &bytes(case, "signature")))
    };
    let rows: Vec<usize> = (0..12).filter(|row| accepted(&cases[row])).collect();
    assert_eq!(rows, [3]);
}

#[test]
fn key_files_round_trip_and_hide_their_seed() {
    let file = KeyFile {
        purpose: Purpose::Decision,
        state: KeyState::Current,
        created: Timestamp::from_seconds(5),
        key: key(),
    };
    let read = KeyFile::parse(&file.to_bytes()).unwrap();
    assert_eq!((read.purpose, read.state, read.created), (file.purpose, file.state, file.created));
    assert_eq!(read.key.id(), key().id());
    assert!(!format!("{file:?}").contains("0707"), "{file:?}");
}

#[test]
fn damaged_key_files_say_what_is_wrong_and_nothing_secret() {
    let good =
        KeyFile { purpose: Purpose::Log, state: KeyState::Previous, created: Timestamp::from_seconds(5), key: key() }
            .to_bytes();
    let text = String::from_utf8(good.to_vec()).unwrap();
    let wrong = |from: &str, to: &str| KeyFile::parse(text.replace(from, to).as_bytes()).unwrap_err();
    assert_eq!(wrong("\"log\"", "\"lgo\""), KeyFileError::Member("purpose"));
    assert_eq!(wrong("\"seed\": \"07", "\"seed\": \"08"), KeyFileError::Mismatch);
    assert_eq!(wrong("\"seed\": \"07", "\"seed\": \"7"), KeyFileError::Member("seed"));
    assert!(matches!(KeyFile::parse(b"not json"), Err(KeyFileError::Json(strict::Error { at: 0, .. }))));
}

/// Each limit of a reader, a byte or a level beyond it and at it.
#[test]
fn nothing_is_sealed_that_cannot_be_opened() {
    let nested = |levels: usize| (1..levels).fold(json!([]), |inner, _| json!([inner]));
    let text = |length: usize| json!("x".repeat(length));
    // The other members take less than a kilobyte.
    let pages = |count: usize| Value::Array(vec![text(60 << 10); count]);
    for (within, beyond) in [
        (nested(31), nested(32)),
        (text(64 << 10), text((64 << 10) + 1)),
        (json!({"a": 1}), Value::Object((0..10_001).map(|at| (at.to_string(), json!(at))).collect())),
        (pages(17), pages(18)),
    ] {
        let seal = |value| {
            seal(object(json!({"schema": "countersign/decision/v1", "x": value})), Timestamp::from_seconds(0), &key())
        };
        assert!(open(&seal(within).unwrap(), &[key().verifying_key()]).is_ok());
        assert!(matches!(seal(beyond), Err(SealError::Json(_))));
    }
}
