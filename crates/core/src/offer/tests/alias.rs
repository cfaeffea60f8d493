//! A second header of terms beside the one that standard clients read.

use super::*;

const ALIAS: &str = "X-Payment-Required";

/// The honest answer with further headers.
fn beside(more: &[(&str, String)]) -> Reading {
    let mut all = headers(STANDARD.encode(honest().to_string()).into_bytes());
    all.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone().into_bytes())));
    exchange(402, &all, b"{}")
}

/// The honest challenge with one member of its offer changed.
fn story(member: &str, value: Value) -> Value {
    let mut other = honest();
    other["accepts"][0][member] = value;
    other
}

fn encoded(value: &Value) -> String {
    STANDARD.encode(value.to_string())
}

/// What was told beside the absent signature, and where.
fn told(reading: &Reading) -> (Word, Vec<(&'static str, &str)>) {
    let all = reading.findings.iter().filter(|one| one.rule != "signature.absent");
    (reading.word, all.map(|one| (one.rule, one.subject.as_str())).collect())
}

const STANDS: (&str, &str) = ("header.alias_beside", "header:X-PAYMENT-REQUIRED");
const DIFFERS: (&str, &str) = ("channel.disagree", "channels");
const UNREAD: (&str, &str) = ("header.alias_unreadable", "header:X-PAYMENT-REQUIRED");

#[test]
fn the_same_terms_in_a_second_header_change_nothing() {
    let entry = honest()["accepts"][0].clone();
    for copy in [honest(), json!([entry]), entry.clone(), json!({"accepts": []}), json!("exact")] {
        for value in [encoded(&copy), copy.to_string()] {
            assert_eq!(told(&beside(&[(ALIAS, value)])), (Word::Payable, vec![STANDS]), "{copy}");
        }
    }
    assert_eq!(told(&beside(&[(ALIAS, "exact; base".to_owned())])), (Word::Payable, vec![STANDS]));
    assert_eq!(told(&beside(&[(ALIAS, "  ".to_owned())])), (Word::Payable, vec![]), "an empty one is none");
}

#[test]
fn other_terms_in_a_second_header_are_a_mismatch() {
    let other = json!("0x1111111111111111111111111111111111111111");
    let old = json!({"x402Version": 1, "accepts": [{"scheme": "exact", "network": "base", "payTo": other,
        "asset": honest()["accepts"][0]["asset"], "maxAmountRequired": "90000000"}]});
    let second = story("payTo", other.clone());
    for value in [second.clone(), story("amount", json!("90000000")), old, json!([second["accepts"][0]])] {
        let reading = beside(&[(ALIAS, encoded(&value))]);
        assert_eq!(told(&reading), (Word::Mismatch, vec![STANDS, DIFFERS]), "{value}");
        let seen = &reading.findings.iter().find(|one| one.rule == "channel.disagree").unwrap().observed;
        assert_eq!(seen, "X-PAYMENT-REQUIRED's accepts[0] has no equal in PAYMENT-REQUIRED");
    }
}

#[test]
fn what_opens_like_json_and_cannot_be_read_one_way_is_told() {
    let twice = honest().to_string().replacen("\"payTo\":", "\"payTo\":\"0x1\",\"payTo\":", 1);
    let cased = honest().to_string().replacen("\"payTo\":", "\"PayTo\":", 1);
    let bare = r#"{"payTo":"a","payTo":"b","amount":"1"}"#.to_owned();
    for value in ["{\"accepts\":".to_owned(), "[1".to_owned(), twice, cased, bare, "x".repeat((64 << 10) + 1)] {
        let reading = beside(&[(ALIAS, value.clone())]);
        let (word, told) = told(&reading);
        assert!(told.contains(&UNREAD), "{value:.40}: {told:?}");
        assert!(matches!(word, Word::PayableWithWarnings | Word::Mismatch), "{value:.40}: {word:?}");
    }
}

#[test]
fn every_alias_and_every_value_of_one_is_read_and_each_told_once() {
    let (same, other) = (encoded(&honest()), encoded(&story("amount", json!("90000000"))));
    let names = ["X-PAYMENT-REQUIREMENTS", "payment-requirements", "X-Accepts-Payment"];
    for name in names {
        assert_eq!(beside(&[(name, other.clone())]).word, Word::Mismatch, "{name}");
    }
    let reading = beside(&[(ALIAS, same.clone()), (ALIAS, same.clone()), (names[0], other.clone())]);
    let second = ("header.alias_beside", "header:X-PAYMENT-REQUIREMENTS");
    assert_eq!(told(&reading), (Word::Mismatch, vec![STANDS, second, DIFFERS]));
    assert_eq!(beside(&[(ALIAS, same.clone()), (ALIAS, other.clone())]).word, Word::Mismatch);
    // Without the standard header the first is graded, and the second compared with it.
    let two = [(ALIAS.to_owned(), same.into_bytes()), (names[0].to_owned(), other.into_bytes())];
    let reading = exchange(402, &two, b"{}");
    assert!(rules(&reading).contains(&"header.alias") && rules(&reading).contains(&"channel.disagree"));
}

/// The scheme x402 may stand anywhere in a list of challenges, and its terms in a parameter.
#[test]
fn terms_in_a_list_of_challenges_are_compared_wherever_they_stand() {
    const PLACE: &str = "header:WWW-Authenticate";
    let (stands, differs, unread) = (("header.alias_beside", PLACE), DIFFERS, ("header.alias_unreadable", PLACE));
    let other = encoded(&story("payTo", json!("0x1111111111111111111111111111111111111111")));
    let (same, cut) = (encoded(&honest()), STANDARD.encode(&honest().to_string()[..60]));
    let forms = |word: &str| {
        [
            format!("x402 {word}"),
            format!("L402 token=\"a, b\", x402 {word}"),
            format!("x402 terms=\"{word}\""),
            format!("Bearer realm=\"a\", x402 realm=\"b\", terms={word}, L402 token=\"a\""),
        ]
    };
    let read = |value: String| beside(&[("WWW-Authenticate", value)]);
    for (word, wanted) in [
        (&same, (Word::Payable, vec![stands])),
        (&other, (Word::Mismatch, vec![stands, differs])),
        (&cut, (Word::PayableWithWarnings, vec![stands, unread])),
    ] {
        for value in forms(word) {
            assert_eq!(told(&read(value.clone())), wanted, "{value}");
        }
    }
    let none = encoded(&json!({"realm": "a", "more": [1, 2, 3]}));
    assert_eq!(told(&read(format!("x402 id=\"{none}\""))), (Word::Payable, vec![]), "a parameter without terms");
    let alone = |value: String| exchange(402, &[("www-authenticate".to_owned(), value.into_bytes())], b"{}");
    for value in forms(&same) {
        let reading = alone(value);
        assert!(rules(&reading).contains(&"header.alias") && reading.offers.len() == 1, "{:?}", reading.findings);
    }
    let many = |count: usize| read(vec![format!("x402 {same}"); count].join(", "));
    assert_eq!(told(&many(32)), (Word::Payable, vec![stands]));
    assert_eq!(told(&many(33)), (Word::PayableWithWarnings, vec![stands, unread]), "the others are not compared");
}
