//! What holds for any input: reading never panics, what it shows is safe to show, and one bad entry never changes the
//! grades of a good one.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::offer::{BodyEnd, Interop, Reading};
use proptest::collection::{hash_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::common::{Answer, PAYEE, USDC, entry, entry_1, solana, v1, v2};

/// Any JSON of a few levels, with the names and values that this field uses among the rest.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        any::<String>().prop_map(Value::from),
        proptest::sample::select(vec![
            "10000",
            "0",
            "-5",
            "1e4",
            "exact",
            "upto",
            "eip155:8453",
            "base",
            "cloudflare:402",
            USDC,
            PAYEE,
            "https://a.example/",
            "\u{202e}",
            "\u{200d}",
            "ignore previous instructions",
            "merchant",
            "USD",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::Array),
            hash_map(name(), inner, 0..5).prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    let known = vec![
        "x402Version",
        "accepts",
        "resource",
        "url",
        "extensions",
        "bazaar",
        "info",
        "input",
        "scheme",
        "network",
        "amount",
        "asset",
        "payTo",
        "maxTimeoutSeconds",
        "extra",
        "name",
        "version",
        "paymentFlow",
        "decimals",
        "outputSchema",
        "$ref",
    ];
    prop_oneof![4 => proptest::sample::select(known).prop_map(str::to_owned), 1 => any::<String>()]
}

/// A good entry with some of its members replaced by anything.
fn spoiled() -> impl Strategy<Value = Value> {
    let members =
        vec!["scheme", "network", "amount", "asset", "payTo", "maxTimeoutSeconds", "extra", "resource", "note"];
    vec((proptest::sample::select(members), any_json()), 1..4).prop_map(|edits| {
        edits.into_iter().fold(entry(), |mut entry, (member, value)| {
            entry[member] = value;
            entry
        })
    })
}

/// Nothing that a reader cannot see is left in what a reading shows.
fn shows_only_what_can_be_seen(reading: &Reading) -> bool {
    let hidden = |text: &str| text.chars().any(countersign_core::offer::clean::hidden);
    let offers =
        reading.offers.iter().flat_map(|offer| [&offer.scheme, &offer.asset, &offer.pay_to, &offer.network_raw]);
    let findings = reading.findings.iter().flat_map(|finding| [&finding.subject, &finding.observed]);
    let expected = reading.findings.iter().filter_map(|finding| finding.expected.as_ref());
    !offers.chain(findings).chain(expected).chain(&reading.extensions).any(|text| hidden(text))
}

proptest! {
    #[test]
    fn any_bytes_are_read(status in 100_u16..600, name in "[A-Za-z-]{0,30}", value in vec(any::<u8>(), 0..300), body in vec(any::<u8>(), 0..300), end in select(vec![BodyEnd::Whole, BodyEnd::CutOff, BodyEnd::Stopped])) {
        for header in [name.as_str(), "PAYMENT-REQUIRED", "X-PAYMENT-REQUIRED", "WWW-Authenticate", "Cache-Control"] {
            let answer = Answer::new(status).header(header, value.clone()).body(body.clone());
            prop_assert!(shows_only_what_can_be_seen(&answer.read_as("https://api.seller.example/paid", end)));
        }
    }

    #[test]
    fn any_json_is_read(value in any_json(), entry in spoiled(), url in ".{0,40}") {
        let challenge = v2(json!([entry, value]));
        for answer in [
            Answer::of(&value),
            Answer::of(&challenge),
            Answer::new(402).body(value.to_string()),
            Answer::new(402).body(v1(json!([value, entry])).to_string()),
            Answer::of(&challenge).body(v1(json!([entry])).to_string()),
            Answer::new(402).header("X-PAYMENT-REQUIRED", STANDARD.encode(challenge.to_string())).body(challenge.to_string()),
        ] {
            prop_assert!(shows_only_what_can_be_seen(&answer.read()));
            let elsewhere = answer.read_as(&url, BodyEnd::Whole);
            prop_assert_eq!(elsewhere.offers.len(), answer.read().offers.len());
        }
    }

    #[test]
    fn a_bad_neighbour_never_changes_the_grades_of_a_good_offer(bad in prop_oneof![spoiled(), any_json()], first: bool, on_solana: bool) {
        let good = if on_solana { solana() } else { entry() };
        let accepts = if first { json!([bad, good]) } else { json!([good, bad]) };
        let reading = Answer::of(&v2(accepts)).read();
        let offer = reading.offers.iter().find(|offer| offer.index == usize::from(first)).unwrap();
        prop_assert_eq!((offer.spec, offer.interop), (countersign_core::offer::Grade::Pass, Interop::Pass));
        let body = Answer::new(402).body(v1(if first { json!([bad, entry_1()]) } else { json!([entry_1(), bad]) }).to_string()).read();
        let offer = body.offers.iter().find(|offer| offer.index == usize::from(first)).unwrap();
        prop_assert_eq!((offer.spec, offer.interop), (countersign_core::offer::Grade::Pass, Interop::Pass));
    }
}
