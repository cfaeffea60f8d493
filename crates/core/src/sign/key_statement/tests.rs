use serde_json::{Map, Value};

use super::*;

/// Made outside this project with Python's `json`, `hashlib` and `cryptography`.
const OPENING: &str = r#"{"from":"2026-09-01T09:00:00Z","issuedAt":"2026-09-01T09:00:00Z","keyId":"fe812c12f3ab4ce6","publicKey":"6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=","purpose":"decision","schema":"countersign/key/v1","signature":"h0gEMfdZJ3tnesJslvAY+5niXfAc4PRTm6Y5BzH0C5EyiMRNC/ddxlrWYL4WjlZ7fSc9oeXR1O1PAM9XIAQSCA==","until":null}"#;
const CLOSING: &str = r#"{"from":"2026-09-01T09:00:00Z","issuedAt":"2026-09-08T10:30:05Z","keyId":"fe812c12f3ab4ce6","publicKey":"6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=","purpose":"decision","schema":"countersign/key/v1","signature":"AeSq7swQG4JQgwMBgQcGFrAl9l18qFlJNTr2Ip0yVevSRdjLjXcdCJCvlikfWnqcDnuD0KAbKdckm3+6YgYZAA==","until":"2026-09-08T10:30:05Z"}"#;

fn key() -> SigningKey {
    SigningKey::from_seed([7; 32])
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn validity(until: Option<&str>) -> Validity {
    Validity { from: at("2026-09-01T09:00:00Z"), until: until.map(at) }
}

#[test]
fn what_a_key_says_matches_the_outside_vectors_and_reads_back() {
    for (text, until) in [(OPENING, None), (CLOSING, Some("2026-09-08T10:30:05Z"))] {
        let bytes = KeyStatement::seal(&key(), Purpose::Decision, validity(until)).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), text);
        let statement = KeyStatement::open(text.as_bytes()).unwrap();
        assert_eq!(
            statement,
            KeyStatement { key: key().verifying_key(), purpose: Purpose::Decision, validity: validity(until) }
        );
    }
}

/// The statement with some members changed, signed again by `signer` at `issued_at`.
fn signed(changes: &[(&str, Value)], issued_at: &str, signer: &SigningKey) -> Vec<u8> {
    let mut members: Map<String, Value> = serde_json::from_str(CLOSING).unwrap();
    for name in ["issuedAt", "keyId", "signature"] {
        members.remove(name);
    }
    members.extend(changes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    seal(members, at(issued_at), signer).unwrap()
}

#[test]
fn a_statement_in_any_other_form_is_refused_though_its_signature_holds() {
    let end = "2026-09-08T10:30:05Z";
    assert_eq!(signed(&[], end, &key()), CLOSING.as_bytes(), "the control");
    let refused = |changes: &[(&str, Value)], issued_at| KeyStatement::open(&signed(changes, issued_at, &key()));
    for (name, value) in [
        ("schema", json!("countersign/key/v2")),
        ("publicKey", json!("6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw")),
        ("publicKey", json!("AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")),
        ("purpose", json!("everything")),
        ("purpose", json!(null)),
        ("from", json!("2026-09-01T09:00:00.000Z")),
        ("from", json!(null)),
        ("until", json!("2026-09-08")),
        ("until", json!(0)),
    ] {
        assert_eq!(refused(&[(name, value.clone())], end), Err(KeyStatementError::Member(name)), "{name} {value}");
    }
    let another = refused(&[("successor", json!("x"))], end);
    assert_eq!(another, Err(KeyStatementError::Member("another member")));
    let early = [("until", json!("2026-09-01T08:59:59Z"))];
    assert_eq!(refused(&early, "2026-09-01T08:59:59Z"), Err(KeyStatementError::Member("until")));
    assert_eq!(refused(&[], "2026-09-01T09:00:00Z"), Err(KeyStatementError::Member("issuedAt")));
    assert_eq!(refused(&[("until", json!(null))], end), Err(KeyStatementError::Member("issuedAt")));
    let open = CLOSING.replace("\"until\":\"2026-09-08T10:30:05Z\"", "\"x\":1");
    assert_eq!(KeyStatement::open(open.as_bytes()), Err(KeyStatementError::Member("another member")));
    assert!(matches!(KeyStatement::open(b"{"), Err(KeyStatementError::Json(_))));
}

#[test]
fn nobody_speaks_for_another_key() {
    let other = SigningKey::from_seed([8; 32]);
    let theirs = signed(&[], "2026-09-08T10:30:05Z", &other);
    assert_eq!(KeyStatement::open(&theirs), Err(KeyStatementError::Member("keyId")));
    let posing = String::from_utf8(theirs).unwrap().replace(&other.id().to_string(), &key().id().to_string());
    assert_eq!(KeyStatement::open(posing.as_bytes()), Err(KeyStatementError::Signature));
    let later = CLOSING.replace("2026-09-08T10:30:05Z", "2026-09-09T10:30:05Z");
    assert_eq!(KeyStatement::open(later.as_bytes()), Err(KeyStatementError::Signature));
}

#[test]
fn both_ends_of_an_interval_count_as_inside() {
    let (closed, open) = (validity(Some("2026-09-08T10:30:05Z")), validity(None));
    for (time, in_closed, in_open) in [
        ("2026-09-01T08:59:59Z", false, false),
        ("2026-09-01T09:00:00Z", true, true),
        ("2026-09-08T10:30:05Z", true, true),
        ("2026-09-08T10:30:06Z", false, true),
    ] {
        assert_eq!((closed.covers(at(time)), open.covers(at(time))), (in_closed, in_open), "{time}");
    }
    assert!(closed.covers(at("2026-09-08T10:30:05Z").plus_millis(999)), "a part of a second is never written down");
}

#[test]
fn a_key_file_and_a_statement_are_never_taken_for_each_other() {
    use crate::sign::{KeyFile, KeyState};
    let file = KeyFile {
        purpose: Purpose::Decision,
        state: KeyState::Current,
        created: at("2026-09-01T09:00:00Z"),
        key: key(),
    };
    assert!(KeyFile::parse(CLOSING.as_bytes()).is_err());
    assert!(KeyStatement::open(&file.to_bytes()).is_err());
    let old = String::from_utf8(file.to_bytes().to_vec()).unwrap().replace("key-file/v1", "key/v1");
    assert!(KeyFile::parse(old.as_bytes()).is_ok(), "a file of the first days");
    assert!(KeyStatement::open(old.as_bytes()).is_err());
}
