//! Bytes of 402 answers: well-formed ones, and the small edits that turn them into something else.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The specification's example payee.
pub(super) const PAYEE: &str = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
/// USDC on Base.
pub(super) const USDC: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
/// Base, CAIP-2.
pub(super) const BASE: &str = "eip155:8453";

/// What a buyer asked, as far as a seller may let its answer depend on it.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// `NAME.localhost`.
    pub(super) host: String,
    /// The lab's port.
    pub(super) port: u16,
    /// The request method, as written.
    pub(super) method: String,
    /// Path and query, as written.
    pub(super) path: String,
    /// The `User-Agent`, lower case; empty when absent.
    pub(super) agent: String,
    /// How many requests this seller answered before this one.
    pub(super) turn: u64,
}

impl Asked {
    /// The URL that was asked for.
    pub(super) fn url(&self) -> String {
        format!("https://{}:{}{}", self.host, self.port, self.path)
    }
}

/// An HTTP answer whose framing is still right; [`Answer::bytes`] writes it out.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    status: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Answer {
    /// An answer with a body and its type, that no cache may keep.
    pub(super) fn new(status: &'static str, mime: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Content-Type", mime.to_owned()), ("Cache-Control", "no-store".to_owned())];
        Self { status, headers, body: body.into() }
    }

    /// What a path answers at which there is nothing.
    pub(super) fn not_found() -> Self {
        Self::new("404 Not Found", "text/plain", "no such thing\n")
    }

    /// A 402 with a JSON body.
    pub(super) fn payment(body: impl Into<Vec<u8>>) -> Self {
        Self::new("402 Payment Required", "application/json", body)
            .with("Access-Control-Allow-Origin", "*")
            .with("Access-Control-Expose-Headers", "PAYMENT-REQUIRED")
    }

    /// The same answer with one more header line.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The raw answer: head, `Content-Length`, body.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut raw = self.head();
        raw.extend_from_slice(format!("Content-Length: {}\r\n\r\n", self.body.len()).as_bytes());
        raw.extend_from_slice(&self.body);
        raw
    }

    /// The head without its closing empty line and without any framing header.
    pub(super) fn head(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {}\r\nConnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.into_bytes()
    }
}

/// One ordinary v2 requirement: one US cent of USDC on Base.
pub(super) fn requirement() -> Value {
    json!({
        "scheme": "exact", "network": BASE, "amount": "10000", "asset": USDC, "payTo": PAYEE,
        "maxTimeoutSeconds": 60, "extra": {"name": "USD Coin", "version": "2"}
    })
}

/// An ordinary v2 `PaymentRequired` for what was asked.
pub(super) fn v2(asked: &Asked) -> Value {
    json!({
        "x402Version": 2, "error": "Payment required",
        "resource": {"url": asked.url(), "description": "One weather report", "mimeType": "application/json"},
        "accepts": [requirement()]
    })
}

/// An ordinary v1 body for what was asked.
pub(super) fn v1(asked: &Asked) -> Value {
    json!({
        "x402Version": 1, "error": "Payment required",
        "accepts": [{
            "scheme": "exact", "network": "base", "maxAmountRequired": "10000", "asset": USDC, "payTo": PAYEE,
            "resource": asked.url(), "description": "One weather report", "mimeType": "application/json",
            "maxTimeoutSeconds": 60, "extra": {"name": "USD Coin", "version": "2"}
        }]
    })
}

/// A 402 with this text, in base64, as its `PAYMENT-REQUIRED` header, and an empty object as body.
pub(super) fn header_of(text: impl AsRef<[u8]>) -> Answer {
    Answer::payment("{}").with("PAYMENT-REQUIRED", STANDARD.encode(text))
}

/// The ordinary v2 answer after `edit` changed its challenge.
pub(super) fn edited(asked: &Asked, edit: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut challenge = v2(asked);
    edit(&mut challenge);
    header_of(challenge.to_string()).bytes()
}

/// The ordinary v2 answer with one member of its only requirement replaced.
pub(super) fn one(asked: &Asked, member: &str, value: impl Into<Value>) -> Vec<u8> {
    edited(asked, |challenge| challenge["accepts"][0][member] = value.into())
}

/// The ordinary v2 answer without one member of its only requirement.
pub(super) fn without(asked: &Asked, member: &str) -> Vec<u8> {
    edited(asked, |challenge| {
        if let Some(requirement) = challenge["accepts"][0].as_object_mut() {
            requirement.remove(member);
        }
    })
}

/// The ordinary v2 answer after its JSON text had `from` replaced by `to`: for what no JSON library would write.
pub(super) fn respelled(asked: &Asked, from: &str, to: &str) -> Vec<u8> {
    header_of(v2(asked).to_string().replacen(from, to, 1)).bytes()
}

/// The ordinary v2 answer with one string of its resource replaced.
pub(super) fn resource(asked: &Asked, member: &str, value: impl Into<Value>) -> Vec<u8> {
    edited(asked, |challenge| challenge["resource"][member] = value.into())
}
