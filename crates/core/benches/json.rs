//! Canonical JSON against the outside: what `serde_json` needs to read and print the same text, and what
//! `serde_json_canonicalizer` needs to read and canonicalise it. Five kinds of document, about 1 MB each.
//!
//! `cargo bench -p countersign-core --bench json`

use countersign_core::json::{Limits, Profile, canonicalize, observe, parse};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use serde_json::{Value, json};

const KINDS: [&str; 5] = ["records", "manifests", "numbers", "strings", "one_object"];
const LIMITS: Limits = Limits { depth: 32, members: 100_000, string: 64 << 10, size: 16 << 20 };

fn main() {
    divan::main();
}

fn document(kind: &str) -> Vec<u8> {
    let value: Value = match kind {
        "records" => (0..3_000_u32).map(record).collect(),
        "manifests" => (0..2_500_u32).map(manifest).collect(),
        "numbers" => (1..60_000_u64).map(|n| json!(double(n))).collect(),
        "strings" => (0..5_000_u32).map(|n| json!(format!("line {n}\n{}\u{e9}", "plain text ".repeat(18)))).collect(),
        _ => (0..40_000_u32).map(|n| (format!("k{:08x}", n.wrapping_mul(0x9e37_79b9)), json!(n))).collect(),
    };
    serde_json::to_vec(&value).unwrap_or_default()
}

/// A double of at least 2 with all of its digits.
fn double(n: u64) -> f64 {
    f64::from_bits(0x4000_0000_0000_0000 | (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8))
}

/// A flat object of short members, as statements and observations are.
fn record(n: u32) -> Value {
    json!({
        "schema": "countersign/decision/v1", "issuedAt": "2026-09-01T09:00:00Z", "chain": "eip155:8453",
        "payTo": "0x209693bc6afc0c5328ba36faf03c514ef312287c", "amount": n, "word": "payable",
        "resourceUrl": format!("https://api.example.com/v1/{n}"), "members": ["a", "b", n], "none": null,
    })
}

/// A nested schema, as tool manifests are.
fn manifest(n: u32) -> Value {
    json!({
        "name": format!("tool_{n}"), "description": "Reads one thing and\nsays \"what\" it is.",
        "inputSchema": {"type": "object", "required": ["city"], "additionalProperties": false, "properties": {
            "city": {"type": "string", "minLength": 1}, "unit": {"enum": ["c", "f"]}, "days": {"type": "integer"},
        }},
        "annotations": {"readOnlyHint": true},
    })
}

fn over(bencher: Bencher<'_, '_>, kind: &str, work: impl Fn(&[u8]) + Sync) {
    let text = document(kind);
    bencher.counter(BytesCount::of_slice(&text)).bench(|| work(black_box(&text)));
}

#[divan::bench(args = KINDS)]
fn ours_canonicalize(bencher: Bencher<'_, '_>, kind: &str) {
    over(bencher, kind, |text| drop(black_box(canonicalize(text, Profile::Rfc8785, &LIMITS))));
}

#[divan::bench(args = KINDS)]
fn ours_parse(bencher: Bencher<'_, '_>, kind: &str) {
    over(bencher, kind, |text| drop(black_box(parse(text, Profile::Signed, &LIMITS))));
}

#[divan::bench(args = KINDS)]
fn ours_observe(bencher: Bencher<'_, '_>, kind: &str) {
    over(bencher, kind, |text| drop(black_box(observe(text, &LIMITS))));
}

#[divan::bench(args = KINDS)]
fn serde_json_parse_and_print(bencher: Bencher<'_, '_>, kind: &str) {
    over(bencher, kind, |text| {
        drop(black_box(serde_json::from_slice::<Value>(text).map(|value| serde_json::to_vec(&value))));
    });
}

#[divan::bench(args = KINDS)]
fn serde_json_canonicalizer_parse_and_write(bencher: Bencher<'_, '_>, kind: &str) {
    over(bencher, kind, |text| {
        drop(black_box(serde_json::from_slice::<Value>(text).map(|value| serde_json_canonicalizer::to_vec(&value))));
    });
}
