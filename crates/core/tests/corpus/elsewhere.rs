//! Rows that were met in a paid call, a catalogue or another protocol. Here is what an answer looks like where a check
//! meets the same thing, and what is made of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::offer::{NotEvaluated, ReadingKind, Word};
use serde_json::{Value, json};

use crate::common::{Answer, entry, entry_1, only, rules, v1, v2};

const UNGATED: ReadingKind = ReadingKind::NotEvaluated(NotEvaluated::Reachable200);

/// Servers answer a payment that they cannot decode in three ways. Terms are terms; an error says nothing about them, not
/// even when it says nothing at all.
#[test]
fn c21_what_an_undecodable_payment_is_answered_with() {
    let again = Answer::of(&v2(json!([entry()]))).read();
    assert_eq!((again.word, rules(&again)), (Word::Payable, vec![]));
    for (status, why, rule) in [
        (400, NotEvaluated::ClientError, "http.validated_first"),
        (500, NotEvaluated::ServerError, "http.server_error"),
    ] {
        for body in ["", "{\"error\":\"invalid_payload\"}"] {
            let reading = Answer::new(status).body(body).read();
            assert_eq!((reading.kind, reading.word), (ReadingKind::NotEvaluated(why), Word::NotEvaluated), "{status}");
            assert_eq!((rules(&reading), reading.offers.len()), (vec![rule], 0), "{status} {body:?}");
        }
    }
}

/// The error of an MCP server as a client library passed it on: text. It names no terms, whatever its words, and without
/// a 402 it is no price of nothing either.
#[test]
fn c29_an_mcp_error_that_became_text() {
    let text = format!("MCP error -32042: Payment required {}", v2(json!([entry()])));
    let result = json!({"jsonrpc": "2.0", "id": 1, "result": {
        "isError": true, "content": [{"type": "text", "text": text}]
    }});
    for body in [text.clone(), result.to_string()] {
        let asked = Answer::new(402).body(body.clone()).read();
        assert_eq!((asked.kind, asked.word, asked.offers.len()), (ReadingKind::NoTerms, Word::NotPayable, 0), "{body}");
        assert_eq!(rules(&asked), ["terms.none"]);
        let open = Answer::new(200).body(body).read();
        assert_eq!((open.kind, open.word, open.offers.len()), (UNGATED, Word::NotEvaluated, 0));
    }
}

/// A resource that a manifest still lists, and a manifest that is a web page.
#[test]
fn c36_what_a_manifest_points_to() {
    for status in [404, 410] {
        let gone = Answer::new(status).body("Not found").read();
        let client = ReadingKind::NotEvaluated(NotEvaluated::ClientError);
        assert_eq!((gone.kind, gone.word, rules(&gone)), (client, Word::NotEvaluated, vec!["http.not_found"]));
    }
    let page = Answer::new(200).body("<!doctype html><title>Home</title>").read();
    assert_eq!((page.kind, page.word, page.offers.len()), (UNGATED, Word::NotEvaluated, 0));
}

/// Prices in a description of an API are claims, flat or nested: they are no terms, and stand beside none.
#[test]
fn c37_prices_in_a_description_of_the_api() {
    let flat = json!({"price": "0.01", "currency": "USD", "protocols": ["x402"]});
    let nested = json!({"price": {"mode": "fixed", "amount": "0.01", "currency": "USD"}, "protocols": [{"x402": {}}]});
    for info in [flat, nested] {
        let api = json!({"openapi": "3.1.0", "paths": {"/paid": {"get": {"x-payment-info": info}}}});
        let asked = Answer::new(402).body(api.to_string()).read();
        assert_eq!((asked.word, rules(&asked), asked.offers.len()), (Word::NotPayable, vec!["terms.none"], 0));
        let mut challenge = v2(json!([entry()]));
        challenge["x-payment-info"] = api["paths"]["/paid"]["get"]["x-payment-info"].clone();
        let beside = Answer::of(&challenge).read();
        assert_eq!((beside.word, rules(&beside)), (Word::Payable, vec![]));
        assert_eq!(only(&beside).amount.as_ref().unwrap().to_string(), "10000", "the price is that of the terms");
    }
}

/// What the specification does not name is no defect: not in a settlement's header, and not in the terms.
#[test]
fn c40_members_that_nobody_knows() {
    let settled = json!({"success": false, "transaction": "", "network": "eip155:8453", "requirements": entry()});
    let mut challenge = v2(json!([entry()]));
    for place in ["", "/resource", "/accepts/0", "/accepts/0/extra"] {
        challenge.pointer_mut(place).unwrap()["requirements"] = json!({"of": ["another", "version"]});
    }
    let value = STANDARD.encode(settled.to_string());
    let reading = Answer::of(&challenge).header("PAYMENT-RESPONSE", value).read();
    assert_eq!((reading.word, rules(&reading)), (Word::Payable, vec![]));
    let mut old = v1(json!([entry_1()]));
    (old["requirements"], old["accepts"][0]["requirements"]) = (json!(1), Value::Null);
    assert_eq!(Answer::new(402).body(old.to_string()).read().word, Word::Payable);
}

/// Why a facilitator refused somebody's payment stands in `error`; the terms are what they were. Whether it settles a
/// right one, only a payment shows.
#[test]
fn c55_the_reason_of_a_facilitator_that_refused() {
    for reason in ["invalid_payload", "invalid_exact_evm_payload_signature", "Field required: paymentPayload.scheme"] {
        let mut challenge = v2(json!([entry()]));
        challenge["error"] = json!(reason);
        let reading = Answer::of(&challenge).read();
        assert_eq!((reading.word, rules(&reading)), (Word::Payable, vec![]), "{reason}");
    }
}
