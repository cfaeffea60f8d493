use countersign_core::sign::SigningKey;

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(seconds)
}

fn statement(seed: u8, purpose: Purpose, until: Option<i64>) -> KeyStatement {
    let validity = Validity { from: at(100), until: until.map(at) };
    KeyStatement { key: SigningKey::from_seed([seed; 32]).verifying_key(), purpose, validity }
}

#[test]
fn a_date_is_judged_by_everything_that_is_known_of_its_key() {
    let (open, closed) = (statement(1, Purpose::Decision, None), statement(1, Purpose::Decision, Some(200)));
    let id = open.key.id().to_string();
    let mut known = Validities::default();
    assert_eq!(known.judge(&id, at(150)), Dated::Unknown);
    known.add(&open);
    assert_eq!(known.judge(&id, at(99)), Dated::Outside(open.validity));
    assert_eq!(known.judge(&id, at(201)), Dated::Within(open.validity), "nobody has shown an end");
    known.add(&closed);
    assert_eq!(known.judge(&id, at(200)), Dated::Within(closed.validity));
    assert_eq!(known.judge(&id, at(201)), Dated::Outside(closed.validity), "in whatever order they are shown");
    assert_eq!(known.judge("0011223344556677", at(150)), Dated::Unknown);
}

#[test]
fn a_key_for_something_else_says_nothing_of_decisions() {
    let other = statement(2, Purpose::Verdict, Some(200));
    let mut known = Validities::default();
    known.add(&other);
    assert_eq!(known.judge(&other.key.id().to_string(), at(999)), Dated::Unknown);
}
