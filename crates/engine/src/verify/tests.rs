use countersign_core::sign::{SigningKey, seal};
use serde_json::json;

use super::*;

const NOW: Timestamp = Timestamp::from_seconds(1_788_253_200);

#[test]
fn an_end_that_does_not_read_is_malformed_and_not_endless() {
    let key = SigningKey::from_seed([7; 32]);
    let signed = |end: Option<Value>| {
        let mut document = Map::from_iter([("schema".to_owned(), json!("countersign/decision/v1"))]);
        document.extend(end.map(|end| ("expiresAt".to_owned(), end)));
        verify(&seal(document, NOW, &key).unwrap(), &[key.verifying_key()], NOW)
    };
    assert_eq!(signed(None).unwrap().term, Term::Running, "no end is endless");
    assert_eq!(signed(Some(json!("2126-01-01T00:00:00Z"))).unwrap().term, Term::Running);
    assert_eq!(signed(Some(json!("2016-01-01T00:00:00Z"))).unwrap().term, Term::Over);
    for end in [json!("soon"), json!("2016-13-01T00:00:00Z"), json!(""), json!(1), json!(null), json!({})] {
        assert!(matches!(signed(Some(end.clone())), Err(OpenError::Member("expiresAt"))), "{end}");
    }
}

/// Clocks differ by minutes; a document from tomorrow is none.
#[test]
fn a_document_dated_ahead_is_not_yet_valid() {
    let at = |seconds: i64| NOW.plus_millis(seconds * 1000);
    let term = |seconds| Term::of(NOW, Some(at(600)), at(seconds));
    let wanted =
        [(-301, Term::NotYet), (-300, Term::Running), (0, Term::Running), (599, Term::Running), (600, Term::Over)];
    for (seconds, wanted) in wanted {
        assert_eq!(term(seconds), wanted, "{seconds}");
    }
}
