use super::*;
use crate::amount::{Amount, Usd};
use crate::asset;
use crate::endpoint::ResourceUrl;
use crate::history::{History, Observed, Offered, Outcome, Standing, Trust};
use crate::network::Network;
use crate::offer::rules::finding;
use crate::offer::{Called, Grade, Interop, Offer, Reading, ReadingKind, Schema, SchemaSource, Source, Word, Written};
use crate::time::Timestamp;
use proptest::prelude::*;

mod invocable;
mod newcomer;
mod order;

const A: &str = "0x1111111111111111111111111111111111111111";
const B: &str = "0x2222222222222222222222222222222222222222";
const SOL: &str = "11111111111111111111111111111112";
const BASE: &str = "eip155:8453";
const SOLANA: &str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

fn minute(n: i64) -> Timestamp {
    Timestamp::from_seconds(86_400_000 + n * 60)
}

fn network(id: &str) -> Network {
    Network::parse_caip2(id).unwrap()
}

/// 5000 units of the six-decimal dollar token of `id`: $0.005.
fn offer(id: &str, pay_to: &str) -> Offer {
    let network = network(id);
    let row = asset::of(&network).find(|row| row.usd_pegged && row.decimals == 6).unwrap();
    Offer {
        index: 0,
        subject: "accepts[0]".to_owned(),
        version: 2,
        source: Source::Header,
        scheme: "exact".to_owned(),
        network_raw: id.to_owned(),
        network: Some(network),
        asset: row.address.to_owned(),
        asset_row: Some(row),
        amount: Some(Amount::from(5000)),
        usd: Some(Usd::parse("0.005").unwrap()),
        fees: (row.method == "eip3009").then(Usd::default),
        pay_to: pay_to.to_owned(),
        max_timeout_seconds: Some(60),
        written: Written::alone("{}"),
        spec: Grade::Pass,
        interop: Interop::Pass,
        word: Word::Payable,
    }
}

fn reading(offers: Vec<Offer>) -> Reading {
    Reading {
        kind: ReadingKind::Challenge,
        word: Word::Payable,
        offers,
        schema: Some(schema(None)),
        ..Reading::not_seen()
    }
}

fn ask() -> CheckRequest {
    CheckRequest::new(ResourceUrl::parse("https://seller.example/quote").unwrap())
}

fn look(at: i64, pay_to: &str, outcome: Outcome) -> Observed {
    Observed {
        at: minute(at),
        trust: Trust::Scheduled,
        outcome,
        offers: vec![Offered {
            network: BASE.to_owned(),
            asset: offer(BASE, A).asset,
            pay_to: pay_to.to_owned(),
            amount: None,
            complete: true,
        }],
        schema_sha256: None,
        latency_ms: Some(100),
    }
}

/// Four looks at `A`, three of them successful: n 4, rate 0.75, median 100 ms.
fn four() -> Standing {
    let outcomes = [Outcome::Challenge, Outcome::Challenge, Outcome::NoChallenge, Outcome::Challenge];
    let looks: Vec<_> = (0..).step_by(10).zip(outcomes).map(|(at, outcome)| look(at, A, outcome)).collect();
    History::of(&looks, minute(40)).standing
}

fn paid(list: &[(i64, &str)]) -> Standing {
    History::of(&list.iter().map(|(at, to)| look(*at, to, Outcome::Challenge)).collect::<Vec<_>>(), minute(40)).standing
}

fn run(request: &CheckRequest, reading: &Reading, standing: &Standing) -> Decision {
    decide(request, reading, standing, &Facts { latency_ms: Some(200), ..Facts::default() }, minute(40))
}

/// Runs one bound on one Base offer and says what became of it: selected, or the sole unmet bound
/// and whether it was named as not evaluated.
fn one(
    set: impl Fn(&mut CheckRequest),
    change: impl Fn(&mut Offer),
    standing: &Standing,
) -> Option<(&'static str, bool)> {
    let (mut request, mut offer) = (ask(), offer(BASE, A));
    set(&mut request);
    change(&mut offer);
    let decision = run(&request, &reading(vec![offer]), standing);
    assert_eq!(decision.live, decision.selected.is_some());
    assert_eq!(decision.miss_reason.is_none(), decision.live);
    assert!(decision.payable, "a bound never makes a complete offer incomplete");
    let unmet = decision.unmet_constraints.first().copied()?;
    assert_eq!(decision.unmet_constraints, [unmet], "each bound is judged on its own");
    Some((unmet, decision.not_evaluated.iter().any(|one| one.what == unmet)))
}

fn usd(text: &str) -> Option<Usd> {
    Some(Usd::parse(text).unwrap())
}

#[test]
fn without_bounds_a_complete_offer_is_selected() {
    assert_eq!(one(|_| (), |_| (), &Standing::default()), None);
}

#[test]
fn price_exact_over_and_unknown() {
    let price = |bound: &'static str| move |request: &mut CheckRequest| request.max_price_usd = usd(bound);
    assert_eq!(one(price("0.005"), |_| (), &four()), None);
    assert_eq!(one(price("0.004999999999999999"), |_| (), &four()), Some(("max_price_usd", false)));
    assert_eq!(one(price("100"), |offer| offer.usd = None, &four()), Some(("max_price_usd", true)));
}

#[test]
fn total_cost_exact_over_and_unknown_fee() {
    let total = |bound: &'static str| move |request: &mut CheckRequest| request.max_total_cost_usd = usd(bound);
    assert_eq!(one(total("0.005"), |_| (), &four()), None);
    assert_eq!(one(total("0.0049"), |_| (), &four()), Some(("max_total_cost_usd", false)));
    assert_eq!(one(total("100"), |offer| offer.usd = None, &four()), Some(("max_total_cost_usd", true)));
    assert_eq!(one(total("100"), |offer| offer.scheme = "upto".into(), &four()), Some(("max_total_cost_usd", true)));
    assert_eq!(one(total("100"), |offer| offer.fees = None, &four()), Some(("max_total_cost_usd", true)));
    // $0.005 and a fee of $0.002.
    assert_eq!(one(total("0.007"), |offer| offer.fees = usd("0.002"), &four()), None);
    assert_eq!(one(total("0.006"), |offer| offer.fees = usd("0.002"), &four()), Some(("max_total_cost_usd", false)));
}

#[test]
fn amount_exact_over_unknown_and_of_another_asset() {
    let amount = |bound| move |request: &mut CheckRequest| request.max_amount_atomic = Some(Amount::from(bound));
    assert_eq!(one(amount(5000), |_| (), &four()), None);
    assert_eq!(one(amount(4999), |_| (), &four()), Some(("max_amount_atomic", false)));
    assert_eq!(one(amount(9999), |offer| offer.amount = None, &four()), Some(("max_amount_atomic", true)));
    assert_eq!(one(amount(9999), |offer| offer.asset_row = None, &four()), Some(("max_amount_atomic", true)));
}

#[test]
fn networks_lock_and_deny_and_unknown() {
    let only = |id: &'static str| move |request: &mut CheckRequest| request.networks = vec![network(id)];
    let not = |id: &'static str| move |request: &mut CheckRequest| request.deny_networks = vec![network(id)];
    assert_eq!(one(only(BASE), |_| (), &four()), None);
    assert_eq!(one(only(SOLANA), |_| (), &four()), Some(("networks", false)));
    assert_eq!(one(only(BASE), |offer| offer.network = None, &Standing::default()), Some(("networks", true)));
    assert_eq!(one(not(SOLANA), |_| (), &four()), None);
    assert_eq!(one(not(BASE), |_| (), &four()), Some(("deny_networks", false)));
    assert_eq!(one(not(SOLANA), |offer| offer.network = None, &Standing::default()), Some(("deny_networks", true)));
    // A test network has to be named.
    let test = |it: &mut Offer| *it = offer("eip155:84532", A);
    assert_eq!(one(|_| (), test, &Standing::default()), Some(("networks", false)));
    assert_eq!(one(only("eip155:84532"), test, &Standing::default()), None);
}

#[test]
fn only_allowed_recipients_in_any_letter_case_on_evm() {
    let allow = |to: &'static str| move |request: &mut CheckRequest| request.allow_pay_to = vec![to.to_owned()];
    let mixed = "0xABcd111111111111111111111111111111111111";
    let pays = |offer: &mut Offer| offer.pay_to = "0xabcd111111111111111111111111111111111111".to_owned();
    assert_eq!(one(allow(mixed), pays, &Standing::default()), None);
    assert_eq!(one(allow(B), pays, &Standing::default()), Some(("allow_pay_to", false)));
}

#[test]
fn probe_latency_exact_over_unknown_and_the_stricter_of_two_names() {
    let both = |long, short| {
        move |request: &mut CheckRequest| (request.max_probe_latency_ms, request.max_latency_ms) = (long, short)
    };
    let over = Some(("max_probe_latency_ms", false));
    assert_eq!(one(both(Some(200), None), |_| (), &four()), None);
    assert_eq!(one(both(Some(199), None), |_| (), &four()), over);
    assert_eq!(one(both(None, Some(199)), |_| (), &four()), over);
    assert_eq!(one(both(Some(900), Some(199)), |_| (), &four()), over);
    assert_eq!(one(both(Some(199), Some(900)), |_| (), &four()), over);
    let request = CheckRequest { max_probe_latency_ms: Some(900), ..ask() };
    let unknown = decide(&request, &reading(vec![offer(BASE, A)]), &four(), &Facts::default(), minute(40));
    assert_eq!((unknown.selected, unknown.not_evaluated[0].what), (None, "max_probe_latency_ms"));
}

#[test]
fn service_latency_exact_over_and_unknown() {
    let bound = |ms| move |request: &mut CheckRequest| request.max_service_latency_ms = Some(ms);
    assert_eq!(one(bound(100), |_| (), &four()), None);
    assert_eq!(one(bound(99), |_| (), &four()), Some(("max_service_latency_ms", false)));
    assert_eq!(one(bound(900), |_| (), &Standing::default()), Some(("max_service_latency_ms", true)));
}

#[test]
fn settlement_latency_is_the_networks_and_unknown_fails_closed() {
    let bound = |ms| move |request: &mut CheckRequest| request.max_settlement_latency_ms = Some(ms);
    let unknown = |offer: &mut Offer| offer.network = Some(network("eip155:424242"));
    assert_eq!(one(bound(u64::MAX), unknown, &Standing::default()), Some(("max_settlement_latency_ms", true)));
    // The table publishes 2,000 ms for Base.
    assert_eq!(one(bound(2000), |_| (), &four()), None);
    assert_eq!(one(bound(1999), |_| (), &four()), Some(("max_settlement_latency_ms", false)));
}

#[test]
fn observations_exact_fewer_and_unknown() {
    let least = |n| move |request: &mut CheckRequest| request.min_observations = Some(n);
    assert_eq!(one(least(4), |_| (), &four()), None);
    assert_eq!(one(least(5), |_| (), &four()), Some(("min_observations", false)));
    assert_eq!(one(least(1), |_| (), &Standing::default()), Some(("min_observations", true)));
    assert_eq!(one(least(0), |_| (), &Standing::default()), None);
}

#[test]
fn success_exact_lower_and_unknown_below_three() {
    let least =
        |text: &'static str| move |request: &mut CheckRequest| request.min_observed_success = Share::parse(text).ok();
    assert_eq!(one(least("0.75"), |_| (), &four()), None);
    assert_eq!(one(least("0.750001"), |_| (), &four()), Some(("min_observed_success", false)));
    assert_eq!(one(least("0"), |_| (), &paid(&[(0, A), (10, A)])), Some(("min_observed_success", true)));
    assert_eq!(one(least("1"), |_| (), &paid(&[(0, A), (10, A), (20, A)])), None);
}

#[test]
fn a_bound_on_reputation_is_never_met_while_none_is_known() {
    let score =
        |text: &'static str| move |request: &mut CheckRequest| request.min_reputation_score = Share::parse(text).ok();
    let confidence = |text: &'static str| {
        move |request: &mut CheckRequest| request.min_reputation_confidence = Share::parse(text).ok()
    };
    for text in ["0", "0.5", "1"] {
        assert_eq!(one(score(text), |_| (), &four()), Some(("min_reputation_score", true)), "{text}");
        assert_eq!(one(confidence(text), |_| (), &four()), Some(("min_reputation_confidence", true)), "{text}");
    }
    let request = CheckRequest { min_reputation_score: Share::parse("0.90").ok(), ..ask() };
    let miss = run(&request, &reading(vec![offer(BASE, A)]), &four());
    assert_eq!((miss.selected, &miss.unmet_constraints[..]), (None, &["min_reputation_score"][..]));
    assert_eq!(miss.not_evaluated.iter().map(|one| one.what).collect::<Vec<_>>(), ["min_reputation_score"]);
    assert_eq!(request.applied()["min_reputation_score"], "0.9");
}

fn schema(called: Option<Called>) -> Schema {
    let empty = || Written::alone("{}");
    Schema { source: SchemaSource::Envelope, whole: empty(), input: empty(), output: None, called }
}

/// The receipt is made from the decision, so the decision cannot wait for it; the engine judges the demand afterwards.
#[test]
fn a_demand_for_a_receipt_is_recorded_and_excludes_no_offer() {
    let demand = |request: &mut CheckRequest| request.require_transparency = true;
    assert_eq!(one(demand, |_| (), &four()), None);
    let mut request = ask();
    demand(&mut request);
    assert_eq!(request.applied()["require_transparency"], true);
}

#[test]
fn a_changed_recipient_is_refused_unless_accepted_and_established_by_a_second_look() {
    let pays_b = reading(vec![offer(BASE, B)]);
    let pending = paid(&[(0, A), (10, A), (20, B)]);
    let miss = run(&ask(), &pays_b, &pending);
    assert_eq!((miss.selected, &miss.unmet_constraints[..]), (None, &["accept_payTo_change"][..]));
    assert_eq!((miss.pay_to_changed, miss.pay_to_pending, &miss.risk[..]), (true, true, &["payTo_changed"][..]));
    let accepted = run(&CheckRequest { accept_payto_change: true, ..ask() }, &pays_b, &pending);
    assert_eq!(
        (accepted.selected, accepted.pay_to_changed, &accepted.risk[..]),
        (Some(0), true, &["payTo_changed"][..])
    );
    let settled = run(&ask(), &pays_b, &paid(&[(0, A), (10, A), (20, B), (30, B)]));
    assert_eq!((settled.selected, settled.pay_to_changed, settled.risk.len()), (Some(0), false, 0));
    let unmoved = run(&ask(), &pays_b, &paid(&[(0, A)]));
    assert_eq!((unmoved.selected, unmoved.pay_to_pending), (None, true), "also when the look itself moved nothing");
}

#[test]
fn what_history_holds_against_an_offer_excludes_it_unless_it_is_a_change_that_the_buyer_accepts() {
    let told = |rule, accept: bool, pays: &str| {
        let found = [finding(rule, "accepts[0].payTo", "x", None)];
        let facts = Facts { history: &found, ..Facts::default() };
        let request = CheckRequest { accept_payto_change: accept, ..ask() };
        decide(&request, &reading(vec![offer(BASE, pays)]), &four(), &facts, minute(40)).unmet_constraints
    };
    assert_eq!(told("history.price_walk", false, A), ["history"]);
    assert_eq!(told("history.payee_unstable", false, A), ["history"], "a known one that takes turns");
    assert_eq!(told("history.price_raised", false, A), Vec::<&str>::new(), "a warning excludes nothing");
    assert_eq!(told("history.payee_swapped", false, B), ["accept_payTo_change"]);
    assert_eq!(told("history.payee_accepted", true, B), Vec::<&str>::new());
    assert_eq!(told("history.payee_near_copy", true, B), ["history"], "nobody accepts a forgery");
}

#[test]
fn preference_and_objective_rank_and_filter_nothing() {
    let mut cheap = offer(SOLANA, SOL);
    cheap.usd = usd("0.001");
    let both = reading(vec![offer(BASE, A), cheap]);
    let pick = |request: CheckRequest| run(&request, &both, &Standing::default()).selected;
    assert_eq!(pick(ask()), Some(1));
    assert_eq!(pick(CheckRequest { prefer_network: Some(network(BASE)), ..ask() }), Some(0));
    assert_eq!(pick(CheckRequest { prefer_network: Some(network("eip155:137")), ..ask() }), Some(1));
    assert_eq!(
        pick(CheckRequest { objective: Objective::LowestTotalCost, ..ask() }),
        Some(0),
        "unknown fee fails closed"
    );
    let mut unpriced = offer(BASE, A);
    unpriced.usd = None;
    let last = reading(vec![unpriced, offer(BASE, A)]);
    assert_eq!(run(&ask(), &last, &Standing::default()).selected, Some(1), "unknown sorts last");
}

#[test]
fn incomplete_offers_are_never_selected_and_the_miss_is_named() {
    for word in [Word::NotPayable, Word::Mismatch, Word::NotEvaluated] {
        let miss = run(&ask(), &reading(vec![Offer { word, ..offer(BASE, A) }]), &four());
        assert_eq!((miss.selected, miss.payable, miss.invocable), (None, false, false), "{word:?}");
    }
    let none = Reading { kind: ReadingKind::NoTerms, ..reading(vec![]) };
    assert_eq!(run(&ask(), &none, &four()).miss_reason, Some(MissReason::No402Envelope));
    for pay_to in ["", "absent", "null"] {
        let nobody = Offer { word: Word::NotPayable, ..offer(BASE, pay_to) };
        assert_eq!(run(&ask(), &reading(vec![nobody]), &four()).miss_reason, Some(MissReason::NoPayto), "{pay_to}");
    }
    assert_eq!(serde_json::to_value(MissReason::No402Envelope).unwrap(), "no_402_envelope");
    assert_eq!(serde_json::to_value(MissReason::NoPayto).unwrap(), "no_payto");
}

#[test]
fn applied_constraints_are_what_was_asked_in_wire_names() {
    let request = CheckRequest {
        networks: vec![network(BASE)],
        max_price_usd: usd("0.01"),
        max_latency_ms: Some(300),
        max_probe_latency_ms: Some(400),
        min_observed_success: Share::parse("0.90").ok(),
        accept_payto_change: true,
        ..ask()
    };
    let expected = serde_json::json!({
        "networks": [BASE], "objective": "best", "max_price_usd": "0.01", "max_probe_latency_ms": 300,
        "min_observed_success": "0.9", "accept_payTo_change": true,
    });
    assert_eq!(serde_json::Value::Object(request.applied()), expected);
}

#[test]
fn a_share_is_exact() {
    for (text, ppm) in [("0", 0), ("1", 1_000_000), ("1.0", 1_000_000), ("0.95", 950_000), ("0.000001", 1)] {
        assert_eq!(Share::parse(text).map(Share::ppm), Ok(ppm), "{text}");
    }
    for text in ["", ".5", "0.", "1.000001", "2", "-0", "+1", "0.0000001", "00.5", "0.5 ", "1e0", "0.+5", "NaN"] {
        assert_eq!(Share::parse(text), Err(ShareError), "{text}");
    }
}

proptest! {
    #[test]
    fn tightening_never_selects_more(price in 0u64..9, tighter in 0u64..9, n in 0u64..6, more in 0u64..6, ms in 0u64..400, less in 0u64..400) {
        let bounds = |price: u64, n, ms| CheckRequest {
            max_price_usd: Usd::parse(&format!("0.00{price}")).ok(),
            max_amount_atomic: Some(Amount::from(price * 1000)),
            min_observations: Some(n),
            max_probe_latency_ms: Some(ms),
            ..ask()
        };
        let offers = reading(vec![offer(BASE, A), offer(SOLANA, SOL)]);
        let loose = run(&bounds(price, n, ms), &offers, &four());
        let tight = run(&bounds(price.min(tighter), n.max(more), ms.min(less)), &offers, &four());
        prop_assert!(!tight.live || loose.live);
        prop_assert!(tight.excluded.len() >= loose.excluded.len());
        prop_assert_eq!(run(&bounds(price, n, ms), &offers, &four()), loose);
    }
}
