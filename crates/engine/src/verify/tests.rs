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
    assert!(!signed(None).unwrap().expired, "no end is endless");
    assert!(!signed(Some(json!("2126-01-01T00:00:00Z"))).unwrap().expired);
    assert!(signed(Some(json!("2016-01-01T00:00:00Z"))).unwrap().expired);
    for end in [json!("soon"), json!("2016-13-01T00:00:00Z"), json!(""), json!(1), json!(null), json!({})] {
        assert!(matches!(signed(Some(end.clone())), Err(OpenError::Member("expiresAt"))), "{end}");
    }
}
