//! Every member of an answer that a check of one URL fills, on a hit and on a miss.

use std::collections::BTreeSet;

use super::*;

/// A v2 challenge in the header, with these extensions.
fn challenge(extensions: &Value) -> Vec<u8> {
    use base64::Engine as _;
    let envelope = json!({
        "x402Version": 2, "error": "pay", "extensions": extensions,
        "resource": {"url": "https://x.localhost/paid", "description": "d", "mimeType": "application/json"},
        "accepts": [{
            "scheme": "exact", "network": "eip155:8453", "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "payTo": BASE_PAYEE, "amount": "10000", "maxTimeoutSeconds": 60, "extra": {"name": "USD Coin", "version": "2"}
        }],
    });
    let header = base64::prelude::BASE64_STANDARD.encode(envelope.to_string());
    let head = "HTTP/1.1 402 Payment Required\r\nCache-Control: no-store\r\nContent-Length: 2\r\n";
    format!("{head}PAYMENT-REQUIRED: {header}\r\n\r\n{{}}").into_bytes()
}

fn input(query: &Value) -> Value {
    json!({"bazaar": {"info": {"input": {"type": "http", "method": "GET", "queryParams": query}}, "schema": {"type": "object"}}})
}

#[tokio::test]
async fn a_hit_fills_every_member_from_the_live_challenge() {
    let world = World::new().await;
    let (_server, request) = world.seller("x", challenge(&input(&json!({"q": "rain"})))).await;
    let said = world.check(&request).await.document;
    let expected = json!({
        "url": request.url.as_str(), "live": true, "payable": true, "invocable": true, "challenge_observed": true,
        "payTo": BASE_PAYEE, "payTo_changed": false, "payTo_pending": false, "risk": [], "miss_reason": null,
        "schema_source": "bazaar", "observed_age_s": 0, "unmet_constraints": [],
        "verified_at": "2026-09-21T14:13:20Z", "expiresAt": "2026-09-21T14:23:20Z",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&said[name], value, "{name}");
    }
    let payment = &said["selected_payment"];
    let terms = ["amount_atomic", "asset", "network", "payTo", "scheme"].map(|name| payment[name].as_str().unwrap());
    assert_eq!(terms, ["10000", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "eip155:8453", BASE_PAYEE, "exact"]);
    let entry = json!({
        "scheme": "exact", "network": "eip155:8453", "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "payTo": BASE_PAYEE, "amount": "10000", "maxTimeoutSeconds": 60, "extra": {"name": "USD Coin", "version": "2"}
    });
    let takes = json!({"type": "http", "method": "GET", "queryParams": {"q": "rain"}});
    let target = json!({
        "method": "GET", "x402Version": 2, "index": 0, "amountAtomic": "10000", "timeoutSeconds": 60,
        "accepts": [entry], "inputSchema": takes, "outputSchema": null, "left_out": {},
    });
    assert_eq!(said["target"], target, "what the caller needs, in the seller's words");
    assert!(said["latency_ms"].is_u64(), "the round trip of this probe");
    assert_eq!(said["observed"]["amount"], "10000");
    let unseen: Vec<_> = said["not_evaluated"].as_array().unwrap().iter().map(|one| one["what"].clone()).collect();
    assert_eq!(unseen, ["operator", "verdict", "reputation"]);
}

fn page() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/decision.md")).unwrap()
}

/// Names of the first column of the table in `docs/decision.md`.
fn documented(page: &str) -> BTreeSet<String> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" | "));
    let names =
        cells.flat_map(|(cell, _)| cell.split("`, `").map(|name| name.trim_end_matches('`')).collect::<Vec<_>>());
    names.flat_map(|name| name.split('.')).map(|name| name.trim_end_matches("[]").to_owned()).collect()
}

fn names_inside(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(name, inside)| {
            names.insert(name.clone());
            names_inside(inside, names);
        }),
        Value::Array(items) => items.iter().for_each(|item| names_inside(item, names)),
        _ => {}
    }
}

#[tokio::test]
async fn the_page_on_decisions_names_every_member_and_no_other() {
    let world = World::new().await;
    let (_server, request) = world.seller("x", challenge(&input(&json!({"q": "rain"})))).await;
    let mut said = world.check(&request).await.document;
    // Members inside these are the seller's.
    for quoted in ["accepts", "inputSchema"] {
        said["target"][quoted] = Value::Null;
    }
    let (_server, closed) = world.seller("y", b"no HTTP\r\n\r\n".to_vec()).await;
    let mut members = BTreeSet::new();
    names_inside(&said, &mut members);
    names_inside(&world.check(&closed).await.document, &mut members);
    let page = page();
    let named: BTreeSet<&str> =
        page.split('`').flat_map(|code| code.split(['.', '[', ' ', '{', '}', ',', ':'])).collect();
    let missing: Vec<&String> = members.iter().filter(|name| !named.contains(name.as_str())).collect();
    assert_eq!(missing, Vec::<&String>::new(), "not on the page");
    // Present only when a change of recipient is recorded.
    members.insert("payTo_age_s".to_owned());
    assert_eq!(documented(&page).difference(&members).collect::<Vec<_>>(), Vec::<&String>::new(), "in no decision");
}

/// A schema that parsers read differently, and one too long for a decision, are not carried; that is said.
#[tokio::test]
async fn what_cannot_be_quoted_is_left_out_and_named() {
    let world = World::new().await;
    let long = "x".repeat(16 << 10);
    for (schema, why) in
        [(json!({"q": 1e20}), "ambiguous"), (json!({"q": long}), "too_large"), (json!({"q": "\u{202e}"}), "hidden")]
    {
        let (_server, request) = world.seller("x", challenge(&input(&schema))).await;
        let said = world.check(&request).await.document;
        assert_eq!((&said["invocable"], &said["target"]["inputSchema"]), (&json!(true), &Value::Null), "{why}");
        assert_eq!(said["target"]["left_out"], json!({"inputSchema": why}));
        assert_eq!(said["target"]["accepts"][0]["payTo"], BASE_PAYEE, "{why}");
    }
}

#[tokio::test]
async fn a_miss_fills_nothing_that_was_not_seen() {
    let world = World::new().await;
    let (_server, request) = world.seller("x", answer("200 OK", "{}")).await;
    let said = world.check(&request).await.document;
    for name in ["selected_payment", "target", "payTo", "schema_source", "claimed", "quote_sha256"] {
        assert_eq!(said[name], Value::Null, "{name}");
    }
    for name in ["live", "payable", "invocable", "challenge_observed"] {
        assert_eq!(said[name], false, "{name}");
    }
}

/// What a catalogue or a description says of the price is a claim; the price is what the live answer asks.
#[tokio::test]
async fn a_price_that_is_said_elsewhere_prices_nothing() {
    let world = World::new().await;
    let mut said_elsewhere = input(&json!({"q": "rain"}));
    said_elsewhere["bazaar"]["info"]["price"] = json!({"amount": "50000", "seenAt": "2026-09-11T00:00:00Z"});
    let (_server, request) = world.seller("x", challenge(&said_elsewhere)).await;
    let said = world.check(&request).await.document;
    let priced = (&said["selected_payment"]["amount_atomic"], &said["observed"]["amount"]);
    assert_eq!(priced, (&json!("10000"), &json!("10000")));
    assert_eq!((&said["claimed"], &said["claimed_payTo_match"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn an_empty_input_counts_as_an_input_and_none_does_not() {
    let world = World::new().await;
    let rows =
        [("none", json!({}), false), ("empty", input(&json!({})), true), ("full", input(&json!({"q": "a"})), true)];
    for (name, extensions, invocable) in rows {
        let (_server, mut request) = world.seller("x", challenge(&extensions)).await;
        request.require_invocable = true;
        let said = world.check(&request).await.document;
        assert_eq!((&said["invocable"], &said["live"]), (&json!(invocable), &json!(invocable)), "{name}");
    }
}
