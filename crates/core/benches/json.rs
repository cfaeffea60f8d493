//! Canonical JSON against the outside: what `serde_json` needs to read and print the same text, and what
//! `serde_json_canonicalizer` needs to read and canonicalise it. Six kinds of document, about 1 MB each,
//! compact, with members in the order their authors would write them.
//!
//! `cargo bench -p countersign-core --bench json`

use countersign_core::json::{Limits, Profile, canonicalize, observe, parse, scan};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use serde_json::Value;

const KINDS: [&str; 6] = ["records", "manifests", "numbers", "doubles", "strings", "one_object"];
const LIMITS: Limits = Limits { depth: 32, members: 100_000, string: 64 << 10, size: 16 << 20 };

fn main() {
    divan::main();
}

fn document(kind: &str) -> Vec<u8> {
    match kind {
        "records" => list(0..3_000, record),
        "manifests" => list(0..2_500, manifest),
        "numbers" => list(0..110_000, number),
        "doubles" => list(1..60_000, double),
        "strings" => list(0..5_000, string),
        _ => format!("{{{}}}", joined(0..52_000, |n| format!("\"k{:08x}\":{n}", (n as u32).wrapping_mul(0x9e37_79b9)))),
    }
    .into_bytes()
}

fn list(of: std::ops::Range<u64>, item: fn(u64) -> String) -> String {
    format!("[{}]", joined(of, item))
}

fn joined(of: std::ops::Range<u64>, item: fn(u64) -> String) -> String {
    of.map(item).collect::<Vec<_>>().join(",")
}

/// A flat object of short members, as statements and observations are.
fn record(n: u64) -> String {
    format!(
        r#"{{"schema":"countersign/decision/v1","issuedAt":"2026-09-01T09:00:00Z","chain":"eip155:8453","payTo":"0x209693bc6afc0c5328ba36faf03c514ef312287c","amount":{n},"word":"payable","resourceUrl":"https://api.example.com/v1/{n}","members":["a","b",{n}],"none":null}}"#
    )
}

/// A nested schema, as tool manifests are.
fn manifest(n: u64) -> String {
    format!(
        r#"{{"name":"tool_{n}","description":"Reads one thing and\nsays \"what\" it is.","inputSchema":{{"type":"object","properties":{{"city":{{"type":"string","minLength":1}},"unit":{{"enum":["c","f"]}},"days":{{"type":"integer"}}}},"required":["city"],"additionalProperties":false}},"annotations":{{"readOnlyHint":true}}}}"#
    )
}

/// Counts, times in milliseconds, prices, and every eighth a measurement with all of its digits.
fn number(n: u64) -> String {
    match n % 8 {
        0 | 1 => (n % 1_000).to_string(),
        2 | 3 => (1_788_253_200_000 + n).to_string(),
        4 | 5 => format!("{}.{:02}", n % 500, 1 + n % 9),
        6 => format!("-{}.{:06}", n % 90, 1 + 2 * (n % 100)),
        _ => double(n),
    }
}

/// A double of at least 2 with all of its digits.
fn double(n: u64) -> String {
    f64::from_bits(0x4000_0000_0000_0000 | (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8)).to_string()
}

fn string(n: u64) -> String {
    format!(r#""line {n}\n{}é""#, "plain text ".repeat(18))
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
    over(bencher, kind, |text| drop(black_box(parse(text, Profile::Rfc8785, &LIMITS))));
}

#[divan::bench(args = KINDS)]
fn ours_observe(bencher: Bencher<'_, '_>, kind: &str) {
    over(bencher, kind, |text| drop(black_box(observe(text, &LIMITS))));
}

#[divan::bench(args = KINDS)]
fn ours_scan(bencher: Bencher<'_, '_>, kind: &str) {
    over(bencher, kind, |text| assert!(black_box(scan(text, Profile::Rfc8785, &LIMITS)).is_ok()));
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
