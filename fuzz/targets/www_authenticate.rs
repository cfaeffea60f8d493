//! `WWW-Authenticate`, which names other payment rails. Input: header values, one a line.
#![no_main]

use countersign_core::offer::{self, Exchange};
use countersign_core::time::Timestamp;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let headers: Vec<_> = text.split(|&b| b == b'\n').map(|line| ("www-authenticate".to_owned(), line.to_vec())).collect();
    let exchange = Exchange {
        url: "https://api.seller.example/paid",
        method: "GET",
        status: 402,
        headers: &headers,
        body: b"{}",
        body_end: offer::BodyEnd::Whole,
        seen_at: Timestamp::from_seconds(1_800_000_000),
        keys: &[],
    };
    let reading = offer::read(&exchange);
    let named = text.to_ascii_lowercase().windows(4).any(|four| four == b"x402");
    assert!(named || reading.offers.is_empty(), "x402 offers stand behind their scheme");
});
