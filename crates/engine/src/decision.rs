//! The decision document `countersign/decision/v1`, member by member (`docs/decision.md`).
//!
//! Whatever a seller wrote arrives here already cleaned and capped by `core::offer`; members that hold
//! it are listed in `untrusted`, so that no reader takes them for our words. Everything of a seller's is bounded, so
//! that the document stays under [`MOST_BYTES`], far below what a verifier reads.

use countersign_core::domain;
use countersign_core::history::{self, Observed, Outcome, Standing, Trust};
use countersign_core::offer::signed::{ResponseState, State};
use countersign_core::offer::{self, Offer, Reading, ReadingKind, Written, clean};
use countersign_core::policy::{self, CheckRequest, Decision};
use countersign_core::time::Timestamp;
use countersign_probe::{Answer, Refused};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::check::{Judged, Sighting};
use crate::transport;

mod answer;
mod miss;

pub use miss::Miss;

/// How long the terms in a decision stand, from the moment they were seen.
pub const VALID_FOR_MS: i64 = 10 * 60 * 1000;

/// Largest signed decision that a seller can bring about, in bytes. What the buyer asked for, which stands in it too,
/// comes on top.
pub const MOST_BYTES: usize = 256 << 10;

/// Longest entry of `accepts` that is quoted, in bytes of its canonical form.
const MOST_ENTRY: usize = 8 << 10;
/// Longest schema that is quoted, likewise.
const MOST_SCHEMA: usize = 16 << 10;

/// Most certificates of a chain that are named; public authorities send two to four.
const MOST_CERTIFICATES: usize = 16;

/// The members that hold a seller's words. A test plants a word in all that a seller controls and looks for it here.
const UNTRUSTED: [&str; 17] = [
    "findings[].subject",
    "findings[].observed",
    "findings[].expected",
    "offers[]",
    "selected_payment",
    "target.accepts[]",
    "target.inputSchema",
    "target.outputSchema",
    "payTo",
    "observed.payTo",
    "observed.amount",
    "signatures",
    "extensions[]",
    "rails[]",
    "redirect.location",
    "redirect.site",
    "transport.reason",
];

/// What a decision is made from.
pub(crate) struct Parts<'a> {
    pub(crate) request: &'a CheckRequest,
    pub(crate) sighting: &'a Sighting,
    pub(crate) judged: &'a Judged,
    pub(crate) switches: &'a [&'static str],
    pub(crate) now: Timestamp,
}

/// The unsigned document; signing adds `issuedAt`, `keyId` and `signature`.
pub(crate) fn document(parts: &Parts<'_>) -> Map<String, Value> {
    let Parts { request, sighting, judged, switches, now } = parts;
    let Judged { told: reading, after, decided } = judged;
    let selected = decided.selected.and_then(|at| reading.offers.get(at));
    let mut document = Map::new();
    let mut put = |name: &str, value: Value| drop(document.insert(name.to_owned(), value));
    put("schema", json!("countersign/decision/v1"));
    put("url", json!(request.url.as_str()));
    put("registrable_domain", registrable_domain(request));
    put("word", json!(reading.word));
    put("word_rule", json!(reading.word_rule()));
    put("expiresAt", json!(sighting.at.plus_millis(VALID_FOR_MS)));
    put("verified_at", json!(sighting.at));
    put("observed_age_s", json!(now.since(sighting.at).div_euclid(1000)));
    put("challenge_observed", json!(reading.kind == ReadingKind::Challenge));
    put("live", json!(decided.live));
    put("payable", json!(decided.payable));
    put("invocable", json!(decided.invocable));
    put("latency_ms", json!(sighting.latency_ms()));
    put("selected_payment", selected.map_or(Value::Null, payment));
    put("target", selected.map_or(Value::Null, |offer| target(offer, sighting)));
    put("payTo", json!(selected.and_then(Offer::payee)));
    put("payTo_changed", json!(decided.pay_to_changed));
    put("payTo_pending", json!(decided.pay_to_pending));
    put("risk", json!(decided.risk));
    put("changes", changes(after));
    put("offers", Value::Array(reading.offers.iter().enumerate().map(|(at, one)| option(parts, at, one)).collect()));
    put("findings", json!(offer::listed(reading)));
    put("rails", json!(reading.rails));
    put("extensions", json!(reading.extensions));
    put("signatures", json!(reading.signatures));
    put("redirect", json!(reading.redirect));
    put("schema_source", json!(reading.schema.as_ref().map(|schema| schema.source)));
    put("quote_sha256", json!(reading.quote.as_ref().and_then(Written::sha256)));
    put("miss_reason", json!(miss::of(parts).map(Miss::as_str)));
    put("unmet_constraints", json!(decided.unmet_constraints));
    put("applied_constraints", Value::Object(decided.applied_constraints.clone()));
    put("other_paths", sighting.sibling.to_value(*now));
    put("not_evaluated", not_evaluated(decided, sighting, reading));
    put("transport", carried(sighting, switches));
    put("evidence", evidence_named(sighting));
    put("binding", Value::Null);
    put("untrusted", json!(UNTRUSTED));
    answer::members(parts, &mut document);
    document
}

/// Who owns the host, by the Public Suffix List; null where nobody registered it. Under `.localhost`, where only a lab
/// lives, each name is a domain.
fn registrable_domain(request: &CheckRequest) -> Value {
    domain::registrable_lab(request.url.host()).map_or(Value::Null, |domain| json!(domain.as_str()))
}

/// The selected option, from the current challenge only.
fn payment(offer: &Offer) -> Value {
    json!({
        "scheme": offer.scheme,
        "network": offer.network.as_ref().map(|network| network.as_str()),
        "rail": offer.network.as_ref().and_then(|network| network.row()).map(|row| row.name),
        "asset": offer.asset,
        "symbol": offer.asset_row.map(|row| row.symbol),
        "amount_atomic": offer.amount.as_ref().map(ToString::to_string),
        "usd": offer.usd.as_ref().map(ToString::to_string),
        "fees_usd": offer.fees.as_ref().map(ToString::to_string),
        "total_usd": policy::total_cost(offer).as_ref().map(ToString::to_string),
        "payTo": offer.pay_to,
    })
}

/// What a caller needs to call the endpoint: the entry to pay by and the schemas in the seller's own words, each null
/// where the seller gave none or where it is not quoted; `left_out` says why it is not.
fn target(offer: &Offer, sighting: &Sighting) -> Value {
    let schema = sighting.reading.schema.as_ref();
    let method = schema.and_then(|schema| schema.called?.by()).unwrap_or(sighting.method);
    let mut left_out = Map::new();
    let mut quote = |name: &str, written: &Written, most: usize| match written.quoted(most) {
        // A quotation is canonical JSON, so reading it back cannot fail.
        Ok(text) => serde_json::from_str::<Value>(&text).ok(),
        Err(why) => {
            left_out.insert(name.to_owned(), json!(why));
            None
        }
    };
    let accepts = Vec::from_iter(quote("accepts", &offer.written, MOST_ENTRY));
    let input = schema.and_then(|schema| quote("inputSchema", &schema.input, MOST_SCHEMA));
    let output = schema.and_then(|schema| schema.output.as_ref());
    let output = output.and_then(|output| quote("outputSchema", output, MOST_SCHEMA));
    json!({
        "method": method, "x402Version": offer.version, "index": offer.index,
        "amountAtomic": offer.amount.as_ref().map(ToString::to_string), "timeoutSeconds": offer.max_timeout_seconds,
        "accepts": accepts, "inputSchema": input, "outputSchema": output, "left_out": left_out,
    })
}

fn option(parts: &Parts<'_>, at: usize, offer: &Offer) -> Value {
    let (excluded_reason, reasons) = answer::excluded(parts, at);
    let (history, looks) = answer::acquaintance(parts, at);
    let mut value = payment(offer);
    if let Value::Object(map) = &mut value {
        map.insert("excluded_reason".to_owned(), excluded_reason);
        map.insert("excluded_by".to_owned(), reasons);
        map.insert("payTo_history".to_owned(), history);
        map.insert("payTo_looks".to_owned(), looks);
        map.insert("index".to_owned(), json!(offer.index));
        map.insert("x402Version".to_owned(), json!(offer.version));
        map.insert("source".to_owned(), json!(offer.source));
        map.insert("spec".to_owned(), json!(offer.spec));
        map.insert("interop".to_owned(), json!(offer.interop.as_str()));
        map.insert("interop_rule".to_owned(), json!(offer.interop.rule()));
        map.insert("word".to_owned(), json!(offer.word));
        map.insert("word_rule".to_owned(), json!(parts.judged.told.word_rule_of(offer)));
    }
    value
}

fn changes(after: &Standing) -> Value {
    json!({
        "payTo_changed_at": after.pay_to_changed_at,
        "price_changed_at": after.price_changed_at,
        "schema_changed_at": after.schema_changed_at,
    })
}

/// What the policy could not evaluate, and what no part of this product evaluates yet.
fn not_evaluated(decided: &Decision, sighting: &Sighting, reading: &Reading) -> Value {
    let mut list = vec![
        json!({"what": "operator", "why": "not built into this version"}),
        json!({"what": "verdict", "why": "not built into this version"}),
        json!({"what": "reputation", "why": "not built into this version"}),
    ];
    list.extend(sighting.sibling.unknown().map(|why| json!({"what": "other paths of the host", "why": why})));
    list.extend(unresolved(reading).into_iter().map(|(what, why)| json!({"what": what, "why": why})));
    list.extend(decided.not_evaluated.iter().map(|one| json!(one)));
    Value::Array(list)
}

/// Signatures that were seen and could not be verified here, and signing names that could not be compared.
fn unresolved(reading: &Reading) -> Vec<(&'static str, &'static str)> {
    let looked_up = "its key is not published by the site that was asked, or could not be fetched from it";
    let signatures = &reading.signatures;
    let offer = signatures.offers.iter().any(|signed| signed.state == State::KeyNotResolved);
    let response = |state| signatures.response.iter().any(|signed| signed.state == state);
    let domain = reading.findings.iter().any(|finding| finding.rule == "asset.eip712_unjudged");
    let all = [
        (domain, ("signing domain of the token", "no source of ours names its EIP-712 name and version")),
        (offer, ("offer signature", looked_up)),
        (response(ResponseState::KeyNotResolved), ("response signature", looked_up)),
        (
            response(ResponseState::NotSupported),
            ("response signature", "it uses a part of RFC 9421 that is not built into this version"),
        ),
    ];
    all.into_iter().filter(|(seen, _)| *seen).map(|(_, said)| said).collect()
}

fn carried(sighting: &Sighting, switches: &[&'static str]) -> Value {
    let mut value = match &sighting.result {
        Ok(answer) => json!({
            "status": answer.status, "method": sighting.method, "head_bytes": answer.head_bytes, "body_bytes": answer.body.len(),
            "body_complete": answer.body_complete, "interim_responses": answer.interim, "flags": transport::flags(answer),
            "certificate_sha256": chain(&answer.chain),
        }),
        Err(refused) => json!({
            "refused": refused.code.as_str(), "reason": clean::shown(&refused.detail), "certificate_sha256": chain(&refused.chain),
        }),
    };
    value["lab_switches"] = json!(switches);
    value
}

fn chain(certificates: &[Vec<u8>]) -> Vec<String> {
    certificates.iter().take(MOST_CERTIFICATES).map(|der| hex::encode(Sha256::digest(der))).collect()
}

fn evidence_named(sighting: &Sighting) -> Value {
    let sibling = sighting.sibling.looked();
    let observed = std::iter::once(&sighting.observation_id).chain(sibling.map(|looked| &looked.observation_id));
    let evidence = std::iter::once(&sighting.evidence_sha256)
        .chain(&sighting.key_evidence_sha256)
        .chain(sibling.and_then(|looked| looked.evidence_sha256.as_ref()));
    json!({
        "observation_ids": observed.collect::<Vec<_>>(),
        "evidence_sha256": evidence.collect::<Vec<_>>(),
        "response_sha256": sighting.response_sha256.iter().collect::<Vec<_>>(),
    })
}

/// What history keeps of one sighting.
pub(crate) fn observed(at: Timestamp, result: &Result<Answer, Refused>, reading: &Reading) -> Observed {
    let outcome = match (result, &reading.kind) {
        (Err(_), _) => Outcome::Unreachable,
        (Ok(_), ReadingKind::Challenge) => Outcome::Challenge,
        (Ok(_), _) => Outcome::NoChallenge,
    };
    Observed {
        at,
        trust: Trust::Independent,
        outcome,
        offers: history::offered(reading),
        schema_sha256: reading.schema.as_ref().and_then(|schema| schema.whole.sha256()),
        latency_ms: result.as_ref().ok().map(|answer| answer.latency_ms),
    }
}

#[cfg(test)]
mod tests;
