use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::*;
use crate::offer::{Word, read};
use crate::sign::SigningKey;
use crate::time::Timestamp;

const URL: &str = "https://api.example.com/paid?city=Bern";
const NOW: i64 = 1_800_000_000;
const TARGET: &str = r#""@authority";req "@path";req"#;

/// A signed 402, written by hand from RFC 9421 section 2.5; the terms stand in the header.
struct Signed {
    components: String,
    params: String,
    body: &'static [u8],
    digest: String,
}

fn did() -> String {
    let public = SigningKey::from_seed([7; 32]).verifying_key().to_bytes();
    format!("did:key:z{}", bs58::encode([&[0xed, 0x01], public.as_slice()].concat()).into_string())
}

fn digest_of(body: &[u8]) -> String {
    use sha2::Digest as _;
    format!("sha-256=:{}:", STANDARD.encode(sha2::Sha256::digest(body)))
}

fn signed(components: &str) -> Signed {
    let params = format!(r#";created=1800000000;keyid="{}";tag="x402-response""#, did());
    Signed { components: components.to_owned(), params, body: b"{}", digest: digest_of(b"{}") }
}

fn terms() -> String {
    STANDARD.encode(
        json!({
            "x402Version": 2, "resource": {"url": URL},
            "accepts": [{
                "scheme": "exact", "network": "eip155:8453", "amount": "10000",
                "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
                "maxTimeoutSeconds": 60, "extra": {"name": "USD Coin", "version": "2"}
            }]
        })
        .to_string(),
    )
}

impl Signed {
    fn headers(&self) -> Vec<(String, Vec<u8>)> {
        let terms = terms();
        let value = |component: &str| match component {
            "\"@status\"" => "402".to_owned(),
            "\"payment-required\"" => terms.clone(),
            "\"payment-required\";bs" => format!(":{}:", STANDARD.encode(&terms)),
            "\"content-digest\"" => self.digest.clone(),
            "\"@authority\";req" => "api.example.com".to_owned(),
            "\"@path\";req" => "/paid".to_owned(),
            other => panic!("{other}"),
        };
        let lines = self.components.split(' ').map(|component| format!("{component}: {}\n", value(component)));
        let (input, lines) = (format!("({}){}", self.components, self.params), lines.collect::<String>());
        let base = format!("{lines}\"@signature-params\": {input}");
        let signature = STANDARD.encode(SigningKey::from_seed([7; 32]).sign(base.as_bytes()));
        [
            ("PAYMENT-REQUIRED", terms),
            ("Cache-Control", "no-store".to_owned()),
            ("Access-Control-Allow-Origin", "*".to_owned()),
            ("Access-Control-Expose-Headers", "PAYMENT-REQUIRED".to_owned()),
            ("Content-Digest", self.digest.clone()),
            ("Signature-Input", format!("resp={input}")),
            ("Signature", format!("resp=:{signature}:")),
        ]
        .map(|(name, value)| (name.to_owned(), value.into_bytes()))
        .to_vec()
    }

    fn reading(&self) -> Reading {
        reading(&self.headers(), self.body)
    }
}

fn reading(headers: &[(String, Vec<u8>)], body: &[u8]) -> Reading {
    let seen_at = Timestamp::from_seconds(NOW);
    read(&Exchange {
        url: URL,
        method: "GET",
        status: 402,
        headers,
        body,
        body_end: crate::offer::BodyEnd::Whole,
        seen_at,
        keys: &[],
    })
}

fn state(reading: &Reading) -> (ResponseState, Option<&'static str>, Word) {
    let signed = &reading.signatures.response[0];
    (signed.state, signed.why, reading.word)
}

fn rules(reading: &Reading) -> Vec<&'static str> {
    reading.findings.iter().map(|finding| finding.rule).collect()
}

#[test]
fn a_signature_over_terms_and_address_holds_and_proves_only_its_key() {
    let reading = signed(&format!(r#""@status" "payment-required" {TARGET}"#)).reading();
    assert_eq!(state(&reading), (ResponseState::Unproven, None, Word::Payable));
    let bytes = signed(&format!(r#""@status" "payment-required";bs {TARGET}"#)).reading();
    assert_eq!(state(&bytes), (ResponseState::Unproven, None, Word::Payable), "the terms' bytes are the terms");
    assert_eq!(rules(&reading), ["signature.response.unproven"]);
    let found = &reading.signatures.response[0];
    assert_eq!((found.keyid.as_deref(), found.tag.as_deref()), (Some(did().as_str()), Some("x402-response")));
    assert_eq!((found.created, found.covers.len()), (Some(NOW), 4));
}

#[test]
fn what_is_not_covered_is_named() {
    for (components, lacking) in [
        (format!(r#""payment-required" {TARGET}"#), "\"@status\""),
        (format!(r#""@status" {TARGET}"#), "\"payment-required\""),
        (r#""@status" "payment-required""#.to_owned(), "\"@authority\";req"),
        (r#""@status" "payment-required" "@authority";req"#.to_owned(), "\"@path\";req"),
    ] {
        let reading = signed(&components).reading();
        assert_eq!(state(&reading), (ResponseState::Partial, Some(lacking), Word::Payable), "{components}");
    }
}

/// Version 1 states its terms in the body, which a signature reaches only through its digest.
#[test]
fn terms_in_the_body_are_covered_by_their_digest() {
    const BODY: &[u8] = br#"{"x402Version":1,"error":"e","accepts":[]}"#;
    for (components, expected) in [
        (format!(r#""@status" "content-digest" {TARGET}"#), (ResponseState::Unproven, None)),
        (format!(r#""@status" {TARGET}"#), (ResponseState::Partial, Some("\"content-digest\""))),
    ] {
        let one = Signed { body: BODY, digest: digest_of(BODY), ..signed(&components) };
        let headers: Vec<_> = one.headers().into_iter().filter(|line| line.0 != "PAYMENT-REQUIRED").collect();
        let found = state(&reading(&headers, BODY));
        assert_eq!((found.0, found.1), expected, "{components}");
    }
}

#[test]
fn the_digest_of_another_body_is_told_with_and_without_a_signature() {
    let one = Signed {
        digest: digest_of(b"other"),
        ..signed(&format!(r#""@status" "payment-required" "content-digest" {TARGET}"#))
    };
    assert_eq!(state(&one.reading()), (ResponseState::Invalid, Some("content-digest"), Word::PayableWithWarnings));
    assert!(rules(&one.reading()).contains(&"content.digest"));
    let unsigned: Vec<_> = one.headers().into_iter().filter(|line| !line.0.starts_with("Signature")).collect();
    assert_eq!(rules(&reading(&unsigned, b"{}")), ["content.digest", "signature.absent"]);
    assert_eq!(rules(&reading(&unsigned, b"other")), ["signature.absent"]);
}

#[test]
fn other_outcomes_have_rules_of_their_own() {
    let good = || signed(&format!(r#""@status" "payment-required" {TARGET}"#));
    let with = |params: String| state(&Signed { params, ..good() }.reading());
    let did = did();
    assert_eq!(
        with(format!(r#";keyid="{did}";expires=1799999999"#)),
        (ResponseState::Expired, Some("expires"), Word::PayableWithWarnings)
    );
    assert_eq!(with(format!(r#";keyid="{did}";expires=1800000000"#)).0, ResponseState::Unproven);
    assert_eq!(
        with(r#";keyid="server-key""#.to_owned()),
        (ResponseState::KeyNotResolved, Some("keyid_needs_a_look_up"), Word::Payable)
    );
    assert_eq!(
        with(format!(r#";keyid="{did}";alg="hmac-sha256""#)),
        (ResponseState::NotSupported, Some("alg"), Word::Payable)
    );
    let mut forged = good().headers();
    forged[0].1 = STANDARD
        .encode(
            STANDARD
                .decode(terms())
                .unwrap()
                .iter()
                .map(|byte| if *byte == b'6' { b'5' } else { *byte })
                .collect::<Vec<_>>(),
        )
        .into_bytes();
    assert_eq!(
        state(&reading(&forged, b"{}")),
        (ResponseState::Invalid, Some("signature_does_not_hold"), Word::NotPayable)
    );
    let mut torn = good().headers();
    torn.pop();
    assert_eq!(state(&reading(&torn, b"{}")), (ResponseState::Malformed, Some("signature"), Word::PayableWithWarnings));
}
