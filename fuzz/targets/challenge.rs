//! A whole 402 as a seller may send it. Input: the JSON of a challenge, which is then sent in every way
//! a challenge can be sent. Properties: reading never panics, and says the same twice.
#![no_main]

use base64::{Engine, prelude::BASE64_STANDARD};
use countersign_core::offer::{self, Exchange};
use countersign_core::time::Timestamp;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let encoded = BASE64_STANDARD.encode(text).into_bytes();
    let as_header = [("payment-required".to_owned(), encoded.clone())];
    let raw_header = [("payment-required".to_owned(), text.to_vec())];
    let alias = [("x-payment-required".to_owned(), encoded)];
    for (headers, body) in [(&as_header[..], &b"{}"[..]), (&as_header, text), (&raw_header, b""), (&alias, text), (&[], text)] {
        let exchange = Exchange {
            url: "https://api.seller.example/paid",
            method: "GET",
            status: 402,
            headers,
            body,
            body_end: offer::BodyEnd::Whole,
            seen_at: Timestamp::from_seconds(1_800_000_000),
            keys: &[],
        };
        let first = offer::read(&exchange);
        let second = offer::read(&exchange);
        assert_eq!(format!("{first:?}"), format!("{second:?}"));
        for finding in &first.findings {
            assert!(!finding.rule.is_empty());
        }
    }
});
