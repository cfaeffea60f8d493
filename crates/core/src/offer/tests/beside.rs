//! A second story beside the graded header, in every shape that it can have.

use super::*;

const STRANGER: &str = "0x3131313131313131313131313131313131313131";

/// The honest entry with these members changed; null removes one.
fn entry(changes: &[(&str, Value)]) -> Value {
    let mut entry = honest()["accepts"][0].clone();
    for (member, to) in changes {
        match to {
            Value::Null => drop(entry.as_object_mut().unwrap().remove(*member)),
            to => entry[member] = to.clone(),
        }
    }
    entry
}

fn old(payee: &str) -> Value {
    entry(&[
        ("amount", Value::Null),
        ("network", json!("base")),
        ("maxAmountRequired", json!("10000")),
        ("payTo", json!(payee)),
        ("resource", json!(URL)),
        ("description", json!("weather")),
    ])
}

/// Every shape that `one` entry can stand in.
fn shapes(one: &Value) -> Vec<Value> {
    vec![
        json!({"x402Version": 2, "accepts": [one]}),
        json!({"x402Version": 1, "accepts": [one]}),
        json!({"x402Version": 2, "accepts": one}),
        json!({"x402Version": 1, "accepts": one}),
        json!({"accepts": one}),
        json!([one]),
        one.clone(),
        json!({"paymentRequirements": [one]}),
        json!({"data": {"accepts": one}}),
        json!([{"data": [[one]]}]),
        json!({"accepts": [], "payment": one}),
        json!({"accepts": [], "more": {"accepts": [one]}}),
    ]
}

/// The word and what was told of `text`, in the body beside the honest header.
fn body(text: &str) -> (Word, Vec<&'static str>) {
    told(exchange(402, &headers(STANDARD.encode(honest().to_string()).into_bytes()), text.as_bytes()))
}

/// Likewise in a second header.
fn alias(text: &str) -> (Word, Vec<&'static str>) {
    let mut all = headers(STANDARD.encode(honest().to_string()).into_bytes());
    all.push(("X-PAYMENT-REQUIREMENTS".to_owned(), STANDARD.encode(text).into_bytes()));
    told(exchange(402, &all, b"{}"))
}

fn told(reading: Reading) -> (Word, Vec<&'static str>) {
    let second = ["channel.disagree", "body.unreadable", "header.alias_unreadable"];
    (reading.word, rules(&reading).into_iter().filter(|rule| second.contains(rule)).collect())
}

#[test]
fn a_stranger_is_seen_in_every_shape() {
    let seen = (Word::Mismatch, vec!["channel.disagree"]);
    for one in [entry(&[("payTo", json!(STRANGER))]), old(STRANGER), entry(&[("amount", json!("90000000"))])] {
        for shape in shapes(&one) {
            assert_eq!(body(&shape.to_string()), seen, "{shape}");
            assert_eq!(alias(&shape.to_string()), seen, "{shape}");
        }
    }
}

#[test]
fn the_same_terms_are_no_second_story_in_any_shape() {
    let payee = honest()["accepts"][0]["payTo"].as_str().unwrap().to_owned();
    for one in [entry(&[]), old(&payee)] {
        for shape in shapes(&one).into_iter().chain([json!({"accepts": [one], "data": [one, one]})]) {
            assert_eq!(body(&shape.to_string()), (Word::Payable, vec![]), "{shape}");
            assert_eq!(alias(&shape.to_string()), (Word::Payable, vec![]), "{shape}");
        }
    }
}

/// What may be terms and cannot be compared, because something that tells one option from another is not there to read.
#[test]
fn terms_that_cannot_be_compared_are_told() {
    let stranger = ("payTo", json!(STRANGER));
    for one in [
        entry(&[stranger.clone(), ("amount", Value::Null), ("price", json!("$0.01"))]),
        entry(&[stranger.clone(), ("asset", Value::Null)]),
        entry(&[stranger.clone(), ("asset", json!("USDC"))]),
        entry(&[stranger.clone(), ("network", Value::Null)]),
        entry(&[stranger.clone(), ("network", json!("Base"))]),
        entry(&[stranger, ("scheme", json!(7))]),
    ] {
        for shape in shapes(&one) {
            let shape = shape.to_string();
            assert_eq!(body(&shape), (Word::PayableWithWarnings, vec!["body.unreadable"]), "{shape}");
            assert_eq!(alias(&shape), (Word::PayableWithWarnings, vec!["header.alias_unreadable"]), "{shape}");
        }
    }
    for text in [
        r#"{"accepts":"[{}]"}"#.to_owned(),
        r#"{"accepts":[{"price":"$90","recipient":"0x1"}]}"#.to_owned(),
        r#"[{"payTo":"0x1","amount":1]"#.to_owned(),
        format!(r#"{{"accepts":[{}]}}"#, vec![entry(&[]).to_string(); 33].join(",")),
    ] {
        assert!(body(&text).1.contains(&"body.unreadable"), "{text:.60}");
        assert!(alias(&text).1.contains(&"header.alias_unreadable"), "{text:.60}");
    }
    for text in [r#"{"a":1}"#, "[1]", r#"{"accept":[{"to":"0x1"}]}"#] {
        assert_eq!(alias(text).1, ["header.alias_unreadable"], "{text}: nothing else is sent under this name");
    }
}

/// A summary for people, an empty answer and what describes a call are no terms.
#[test]
fn words_about_the_same_payee_are_no_second_story() {
    let payee = honest()["accepts"][0]["payTo"].clone();
    for shape in [
        json!({"error": "payment required", "payTo": payee, "price": "$0.01", "network": "Base"}),
        json!({"error": "payment required", "payment": {"payTo": payee, "amount": "0.01", "currency": "USDC"}}),
        json!({"error": "payment required", "amount": "0.01", "address": "see the header"}),
        json!({"accepts": [{"scheme": "exact", "payTo": payee, "price": "$0.01"}]}),
        json!({"accepts": null}),
        json!({"inputSchema": {"payTo": STRANGER, "amount": "1"}, "extensions": {"x": {"payTo": STRANGER}}}),
        json!({"properties": {"payTo": {"type": "string"}, "amount": {"type": "string"}}}),
    ] {
        assert_eq!(body(&shape.to_string()), (Word::Payable, vec![]), "{shape}");
    }
    for empty in ["{}", "[]", r#"{"accepts":[]}"#] {
        assert_eq!((body(empty).1, alias(empty).1), (vec![], vec![]), "{empty}");
    }
}
