use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::json::{Limits, Profile, parse};

/// Made outside this project with Python's `hmac` and `hashlib`.
fn vectors() -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../../tests/data/countersign.json")).unwrap();
    all["log_leaves"].as_array().unwrap().clone()
}

fn reveal_of(vector: &Value) -> Reveal {
    let text = |name: &str| vector[name].as_str().unwrap();
    Reveal::new(
        LeafType::parse(text("type")).unwrap(),
        Minute::parse("2026-09-01T09:00:00Z").unwrap(),
        Salt::parse(text("salt")).unwrap(),
        text("document").to_owned(),
    )
}

fn read(value: &Value) -> Result<Reveal, RevealError> {
    Reveal::read(parse(value.to_string().as_bytes(), Profile::Signed, &Limits::default()).unwrap().root())
}

#[test]
fn leaves_match_the_outside_vectors() {
    for vector in vectors() {
        let reveal = reveal_of(&vector);
        assert_eq!(reveal.commitment.to_string(), vector["commitment"]);
        assert_eq!(String::from_utf8(reveal.leaf().unwrap().to_bytes().unwrap()).unwrap(), vector["leaf"]);
    }
}

#[test]
fn a_reveal_reads_back_and_opens_only_its_own_document() {
    for vector in vectors() {
        let reveal = reveal_of(&vector);
        assert_eq!(read(&reveal.to_value()), Ok(reveal.clone()));
        let others = [
            Reveal { document: format!("{} ", reveal.document), ..reveal.clone() },
            Reveal { salt: Salt::from_bytes([0xa4; 32]), ..reveal.clone() },
            Reveal { leaf_type: LeafType::parse("countersign.key.v1").unwrap(), ..reveal.clone() },
        ];
        for other in others {
            assert_eq!(other.leaf(), Err(RevealError::Commitment));
        }
    }
}

#[test]
fn a_reveal_with_anything_else_in_it_is_refused() {
    let good = reveal_of(&vectors()[0]).to_value();
    for (name, value) in [
        ("type", json!("402signal.verdict.v1")),
        ("ts", json!("2026-09-01T09:00:30Z")),
        ("ts", json!("2026-09-01T09:00:00.000Z")),
        ("commitment", json!("AA")),
        ("salt", json!("A5".repeat(32))),
        ("salt", json!("a5".repeat(31))),
        ("document", json!({})),
    ] {
        let mut bad = good.clone();
        bad[name] = value;
        assert_eq!(read(&bad), Err(RevealError::Member(name)));
    }
    let mut more = good.clone();
    more["nonce"] = json!("00");
    assert_eq!(read(&more), Err(RevealError::Unknown));
}

#[test]
fn a_minute_is_the_one_an_instant_falls_into() {
    let at = |text| Minute::of(Timestamp::parse(text).unwrap()).to_string();
    assert_eq!(at("2026-09-01T09:00:59Z"), "2026-09-01T09:00:00Z");
    assert_eq!(at("2026-09-01T09:01:00Z"), "2026-09-01T09:01:00Z");
    assert_eq!(Minute::of(Timestamp::from_millis(-1)).to_string(), "1969-12-31T23:59:00Z");
}

#[test]
fn kinds_are_known_kept_or_unknown_and_strangers_are_none() {
    let meaning = |text| LeafType::parse(text).map(|one| one.meaning());
    assert!(matches!(meaning("countersign.decision.v1"), Some(Meaning::Known(row)) if row.written));
    assert!(matches!(meaning("countersign.settlement.v1"), Some(Meaning::Known(row)) if !row.written));
    for newer in ["countersign.decision.v2", "countersign.weather.v1", "countersign.x"] {
        assert_eq!(meaning(newer), Some(Meaning::Unknown), "{newer}");
    }
    let long = format!("countersign.{}", "a".repeat(117));
    for none in ["", "decision", "countersign.", "countersign.A", "countersign.a b", "x.countersign.a", &long] {
        assert_eq!(meaning(none), None, "{none}");
    }
    assert_eq!(LeafType::decision().as_str(), "countersign.decision.v1");
}

#[test]
fn a_salt_is_not_printed() {
    assert_eq!(format!("{:?}", Salt::from_bytes([7; 32])), "Salt(hidden)");
}

proptest! {
    #[test]
    fn every_type_has_one_reading(text in "\\PC{0,140}") {
        if let Some(read) = LeafType::parse(&text) {
            prop_assert_eq!(read.as_str(), text);
        }
    }

    #[test]
    fn any_document_opens_its_own_leaf(document in "\\PC{0,200}", salt in any::<[u8; 32]>(), at in -1i64 << 40..1i64 << 42) {
        let minute = Minute::of(Timestamp::from_millis(at));
        let reveal = Reveal::new(LeafType::decision(), minute, Salt::from_bytes(salt), document);
        prop_assert!(reveal.leaf().is_ok());
        prop_assert_eq!(read(&reveal.to_value()), Ok(reveal));
    }
}

proptest! {
    #[test]
    fn a_leaf_reads_back_and_no_other_bytes_read_as_it(
        kind in "countersign\\.[a-z]{1,9}\\.v[1-9]",
        minute in 0i64..4_000_000_000,
        commitment in any::<[u8; 32]>(),
        at in any::<prop::sample::Index>(),
        flip in 1u8..,
    ) {
        let leaf = Leaf {
            leaf_type: LeafType::parse(&kind).unwrap(),
            minute: Minute::of(Timestamp::from_seconds(minute)),
            commitment: Commitment(commitment),
        };
        let mut bytes = leaf.to_bytes().unwrap();
        prop_assert_eq!(Leaf::parse(&bytes), Some(leaf.clone()));
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        prop_assert_ne!(Leaf::parse(&bytes), Some(leaf));
    }

    #[test]
    fn any_bytes_are_a_leaf_or_not(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Leaf::parse(&bytes);
    }
}
