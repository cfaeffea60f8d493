//! One honest challenge in each version, and answers built from it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::offer::{BodyEnd, Exchange, Offer, Reading, read};
use countersign_core::time::Timestamp;
use serde_json::{Value, json};

pub(crate) const URL: &str = "https://api.seller.example/paid";
pub(crate) const PAYEE: &str = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
pub(crate) const USDC: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
pub(crate) const SOLANA: &str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

/// One US cent of USDC on Base.
pub(crate) fn entry() -> Value {
    json!({
        "scheme": "exact", "network": "eip155:8453", "amount": "10000", "asset": USDC, "payTo": PAYEE,
        "maxTimeoutSeconds": 60, "extra": {"name": "USD Coin", "version": "2"}
    })
}

/// One US cent of USDC on Solana.
pub(crate) fn solana() -> Value {
    json!({
        "scheme": "exact", "network": SOLANA, "amount": "10000",
        "asset": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
        "payTo": "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4", "maxTimeoutSeconds": 60,
        "extra": {"feePayer": "EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd"}
    })
}

pub(crate) fn v2(accepts: Value) -> Value {
    json!({
        "x402Version": 2, "error": "Payment required",
        "resource": {"url": URL, "description": "One weather report", "mimeType": "application/json"},
        "accepts": accepts
    })
}

/// The same cent, as version 1 writes it.
pub(crate) fn entry_1() -> Value {
    json!({
        "scheme": "exact", "network": "base", "maxAmountRequired": "10000", "asset": USDC, "payTo": PAYEE,
        "resource": URL, "description": "One weather report", "mimeType": "application/json",
        "maxTimeoutSeconds": 60, "extra": {"name": "USD Coin", "version": "2"}
    })
}

pub(crate) fn v1(accepts: Value) -> Value {
    json!({"x402Version": 1, "error": "Payment required", "accepts": accepts})
}

/// `entry()` with one member replaced.
pub(crate) fn with(member: &str, value: Value) -> Value {
    let mut entry = entry();
    entry[member] = value;
    entry
}

/// A 402 that no cache keeps and every page may read.
#[derive(Clone)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

impl Answer {
    pub(crate) fn new(status: u16) -> Self {
        let answer = Self { status, headers: Vec::new(), body: b"{}".to_vec() };
        answer
            .header("Cache-Control", "no-store")
            .header("Access-Control-Allow-Origin", "*")
            .header("Access-Control-Expose-Headers", "PAYMENT-REQUIRED, PAYMENT-RESPONSE")
    }

    /// A version 2 challenge in its header.
    pub(crate) fn of(challenge: &Value) -> Self {
        Self::new(402).header("payment-required", STANDARD.encode(challenge.to_string()))
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|header| header.0 != name);
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn read(&self) -> Reading {
        self.read_as(URL, BodyEnd::Whole)
    }

    pub(crate) fn read_as(&self, url: &str, body_end: BodyEnd) -> Reading {
        let Self { status, headers, body } = self;
        let seen_at = Timestamp::from_seconds(1_796_083_200);
        read(&Exchange { url, method: "GET", status: *status, headers, body, body_end, seen_at, keys: &[] })
    }
}

/// The reading of one version 2 entry.
pub(crate) fn alone(entry: Value) -> Reading {
    Answer::of(&v2(json!([entry]))).read()
}

/// The rules that found something, without the one that says on every unsigned answer that it is unsigned.
pub(crate) fn rules(reading: &Reading) -> Vec<&'static str> {
    reading.findings.iter().map(|finding| finding.rule).filter(|rule| *rule != "signature.absent").collect()
}

pub(crate) fn only(reading: &Reading) -> &Offer {
    assert_eq!(reading.offers.len(), 1);
    &reading.offers[0]
}
