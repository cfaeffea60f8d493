//! Names that differ in letter case alone, wherever a challenge can hold them.

use super::*;

const OTHER: &str = "0x1111111111111111111111111111111111111111";

/// Word and `(rule, place)` of what was told about names.
fn told(reading: &Reading) -> (Word, Vec<(&'static str, &str)>) {
    let about = reading.findings.iter().filter(|one| matches!(one.rule, "json.folded_name" | "json.letter_case"));
    (reading.word, about.map(|one| (one.rule, one.subject.as_str())).collect())
}

/// The honest challenge with one more member at the end of the object at `pointer`.
fn with(pointer: &str, name: &str, value: Value) -> Reading {
    let mut whole = honest();
    whole.pointer_mut(pointer).unwrap()[name] = value;
    challenge(&whole)
}

#[test]
fn a_second_payee_or_price_in_another_case_is_not_payable() {
    for (pointer, name, place) in [
        ("/accepts/0", "PayTo", "accepts[0].PayTo"),
        ("/accepts/0", "Amount", "accepts[0].Amount"),
        ("/accepts/0", "a\u{17f}set", "accepts[0].a\\u{17f}set"),
        ("/accepts/0", "networ\u{212a}", "accepts[0].networ\\u{212a}"),
        ("", "Accepts", "terms.Accepts"),
        ("", "X402Version", "terms.X402Version"),
        ("/resource", "URL", "resource.URL"),
    ] {
        let reading = with(pointer, name, json!(OTHER));
        assert_eq!(told(&reading), (Word::NotPayable, vec![("json.folded_name", place)]), "{name}");
    }
}

/// The seller of the report: both at once, and the ones that Go reads last.
#[test]
fn the_later_twin_is_told_with_the_name_that_is_right() {
    let mut whole = honest();
    (whole["accepts"][0]["Amount"], whole["accepts"][0]["PayTo"]) = (json!("900000"), json!(OTHER));
    let reading = challenge(&whole);
    let told = reading.findings.iter().find(|one| one.subject == "accepts[0].PayTo").unwrap();
    assert_eq!((told.rule, told.expected.as_deref()), ("json.folded_name", Some("payTo")));
    assert_eq!(told.observed, "PayTo, payTo");
    assert_eq!(reading.word_rule(), Some("json.folded_name"));
}

#[test]
fn names_that_the_format_leaves_free_may_have_any_case() {
    for (pointer, name) in [("/accepts/0/extra", "Name"), ("/accepts/0", "Note"), ("/resource", "Method")] {
        assert_eq!(told(&with(pointer, name, json!("x"))), (Word::Payable, vec![]), "{name}");
    }
    let bazaar = json!({"bazaar": {"info": {"input": {"type": "http", "Type": "x"}}, "Info": {}}});
    assert_eq!(told(&with("", "extensions", bazaar)), (Word::Payable, vec![]));
}

/// What the reference client misses weighs as missing; what it can do without does not.
#[test]
fn a_name_alone_in_another_case_is_missing_and_told() {
    for (from, to, word, place) in [
        ("payTo", "PayTo", Word::NotPayable, "accepts[0].PayTo"),
        ("maxTimeoutSeconds", "MaxTimeoutSeconds", Word::NotPayable, "accepts[0].MaxTimeoutSeconds"),
        ("extra", "Extra", Word::NotPayable, "accepts[0].Extra"),
        ("x402Version", "X402Version", Word::NotPayable, "terms.X402Version"),
        ("accepts", "Accepts", Word::NotPayable, "terms.Accepts"),
        ("resource", "Resource", Word::PayableWithWarnings, "terms.Resource"),
        ("error", "Error", Word::Payable, "terms.Error"),
    ] {
        let text = honest().to_string().replacen(&format!("\"{from}\":"), &format!("\"{to}\":"), 1);
        let reading = exchange(402, &headers(STANDARD.encode(text).into_bytes()), b"{}");
        assert_eq!(told(&reading), (word, vec![("json.letter_case", place)]), "{to}");
    }
}

/// Version 1: its own names, and a body beside a header that only Go reads as terms.
#[test]
fn bodies_are_looked_at_as_headers_are() {
    let v1 = |name: &str| {
        let mut body = json!({"x402Version": 1, "error": "", "accepts": [{
            "scheme": "exact", "network": "base", "maxAmountRequired": "10000", "payTo": PAYEE, "resource": URL,
            "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "description": "weather", "maxTimeoutSeconds": 60,
            "extra": {"name": "USD Coin", "version": "2"}
        }]});
        body["accepts"][0][name] = json!("900000");
        body.to_string()
    };
    let alone = exchange(402, &headers(Vec::new())[1..], v1("MaxAmountRequired").as_bytes());
    let expected = vec![("json.folded_name", "accepts[0].MaxAmountRequired")];
    assert_eq!(told(&alone), (Word::NotPayable, expected));
    let terms = headers(STANDARD.encode(honest().to_string()).into_bytes());
    for body in [
        v1("PAYTO"),
        v1("scheme_").replace("\"accepts\"", "\"Accepts\""),
        v1("scheme_").replace("\"maxAmountRequired\"", "\"maxamountrequired\"").replace("\"x402Version\":1", "\"v\":1"),
    ] {
        let reading = exchange(402, &terms, body.as_bytes());
        assert!(rules(&reading).contains(&"body.unreadable"), "{body}: {:?}", rules(&reading));
        assert_eq!(reading.word, Word::PayableWithWarnings, "{body}");
    }
    assert!(!rules(&exchange(402, &terms, v1("note").as_bytes())).contains(&"body.unreadable"), "control");
}

const PAYEE: &str = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
