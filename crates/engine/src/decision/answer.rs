//! The members that an answer to any question has, as far as a check of one URL can fill them, beside those of the parent.
//! Nothing is guessed: without a catalogue there is no claim, and counts are counts of one URL, or of none where
//! nothing answered.

use countersign_core::history;
use countersign_core::offer::{Offer, Word};
use countersign_core::policy::{Excluded, MissReason};
use serde_json::{Map, Value, json};

use super::Parts;

/// Adds them. `payTo_age_s` is present only when a change was recorded.
pub(super) fn members(parts: &Parts<'_>, document: &mut Map<String, Value>) {
    let decided = &parts.judged.decided;
    let mut put = |name: &str, value: Value| drop(document.insert(name.to_owned(), value));
    put("readiness", json!(readiness(parts)));
    put("stop_reason", json!(stop_reason(parts)));
    put("objective", json!(parts.request.objective));
    // English is not compiled by this version, so what was asked is what was understood.
    put("interpreted_constraints", Value::Object(decided.applied_constraints.clone()));
    put("unresolved_constraints", json!([]));
    put("claimed", Value::Null);
    put("claimed_payTo_match", Value::Null);
    put("observed", observed(parts));
    // Tried is what was looked for; probed is what answered.
    let probed = u8::from(parts.sighting.result.is_ok());
    for counted in ["tried", "candidates_considered", "probe_ceiling"] {
        put(counted, json!(1));
    }
    for counted in ["candidates_probed", "probed_count"] {
        put(counted, json!(probed));
    }
    put("unprobed_count", json!(1 - probed));
    put("probe_budget_exhausted", json!(false));
    for complete in ["candidate_evaluation_complete", "evaluation_complete"] {
        put(complete, json!(evaluated(parts)));
    }
    if let Some(changed) = parts.judged.after.pay_to_changed_at {
        put("payTo_age_s", json!(parts.now.since(changed).div_euclid(1000)));
    }
}

/// Whether what answered was judged.
fn evaluated(parts: &Parts<'_>) -> bool {
    parts.sighting.result.is_ok() && parts.judged.told.word != Word::NotEvaluated
}

fn readiness(parts: &Parts<'_>) -> &'static str {
    let decided = &parts.judged.decided;
    match () {
        () if decided.invocable => "invocable",
        () if decided.payable => "payable",
        () => "discovered",
    }
}

fn stop_reason(parts: &Parts<'_>) -> &'static str {
    match parts.judged.decided.miss_reason {
        None => "winner_selected",
        Some(MissReason::ConstraintsUnmet | MissReason::NoInputSchema) => "constraints_unmet",
        Some(MissReason::No402Envelope | MissReason::NoPayto) => "candidate_set_exhausted",
    }
}

fn observed(parts: &Parts<'_>) -> Value {
    let (sighting, decided) = (parts.sighting, &parts.judged.decided);
    let first = decided.selected.and_then(|at| sighting.reading.offers.get(at)).or(sighting.reading.offers.first());
    json!({
        "http_status": sighting.result.as_ref().ok().map(|answer| answer.status),
        "payTo": first.and_then(Offer::payee),
        "amount": first.and_then(|offer| offer.amount.as_ref()).map(ToString::to_string),
        "latency_ms": sighting.latency_ms(),
        "schema_present": sighting.reading.schema.is_some(),
        "schema_sha256": sighting.observed.schema_sha256,
        "payable": decided.payable,
        "invocable": decided.invocable,
        "observed_at": sighting.at,
    })
}

/// Why the option at this place was not chosen; null for the one that was.
pub(super) fn excluded(parts: &Parts<'_>, at: usize) -> (Value, Value) {
    let decided = &parts.judged.decided;
    let changed = |one: &Excluded| one.reasons.iter().any(|reason| reason.constraint == "accept_payTo_change");
    match decided.excluded.iter().find(|one| one.offer == at) {
        None if decided.selected == Some(at) => (Value::Null, json!([])),
        None => (json!("ranked_below_winner"), json!([])),
        Some(one) if !one.complete => (json!("incomplete_payment"), json!([])),
        Some(one) if changed(one) => (json!("payTo_pending"), json!(one.reasons)),
        Some(one) => (json!("constraints_unmet"), json!(one.reasons)),
    }
}

/// How well the recipient of the option at this place is known, and at how many earlier looks it was named.
pub(super) fn acquaintance(parts: &Parts<'_>, at: usize) -> (Value, Value) {
    let (sighting, after) = (parts.sighting, &parts.judged.after);
    let known = |offer| history::acquaintance(after, &sighting.trail, &sighting.reading, offer);
    match sighting.reading.offers.get(at).and_then(known) {
        Some((known, looks)) => (json!(known.as_str()), json!(looks)),
        None => (Value::Null, Value::Null),
    }
}
