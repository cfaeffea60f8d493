//! The decision.

use super::judge::{Judge, Reason, Why, outside, total_cost};
use super::{CheckRequest, Objective, stock};
use crate::amount::Usd;
use crate::finding::Finding;
use crate::history::{Relation, Role, Standing, pay_to};
use crate::offer::{Offer, Reading, ReadingKind};
use crate::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

/// What is known of this request's probe beside its reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts<'a> {
    /// Round trip in milliseconds; `None` when nothing answered.
    pub latency_ms: Option<u64>,
    /// What `history::examine` found. Given apart from the reading, because a changed recipient does
    /// not make an offer incomplete: the buyer may accept it.
    pub history: &'a [Finding],
}

/// Why nothing was selected (the closed list of `miss_reason`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MissReason {
    /// No payment challenge that could be read, or none of its offers can be paid.
    #[serde(rename = "no_402_envelope")]
    No402Envelope,
    /// A challenge, but no offer in it that names a recipient.
    NoPayto,
    /// Complete offers, but no input schema where one was required.
    NoInputSchema,
    /// Complete offers, none inside all bounds.
    ConstraintsUnmet,
}

/// Something that was asked about and could not be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Unjudged {
    /// The bound, or the matter.
    pub what: &'static str,
    /// Why not, for people.
    pub why: &'static str,
}

/// An offer that was not selected because it may not be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Excluded {
    /// Position in `Reading::offers`.
    pub offer: usize,
    /// Whether the offer is complete; an incomplete one needs no further reason.
    pub complete: bool,
    /// Every bound that excludes it.
    pub reasons: Vec<Reason>,
}

/// What the rules make of one reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Position in `Reading::offers` of the selected offer.
    pub selected: Option<usize>,
    /// Whether an eligible offer was seen live.
    pub live: bool,
    /// Whether the challenge has a complete offer.
    pub payable: bool,
    /// Payable, and an input schema is present, of the method whose terms were seen. Promises nothing about a call's success.
    pub invocable: bool,
    /// The bounds that no complete offer met; when each was met by some offer but all by none, the
    /// bounds that excluded any. Empty on a hit.
    pub unmet_constraints: Vec<&'static str>,
    /// The bounds in force.
    pub applied_constraints: Map<String, Value>,
    /// What could not be judged.
    pub not_evaluated: Vec<Unjudged>,
    /// Why nothing was selected; `None` exactly when something was.
    pub miss_reason: Option<MissReason>,
    /// `["payTo_changed"]`, or empty.
    pub risk: Vec<&'static str>,
    /// Whether the selected offer (on a miss, any complete one) pays another recipient than the
    /// known one.
    pub pay_to_changed: bool,
    /// Whether that recipient waits for a second independent look.
    pub pay_to_pending: bool,
    /// The offers that may not be selected.
    pub excluded: Vec<Excluded>,
    /// What the choice itself gives reason to tell.
    pub findings: Vec<Finding>,
}

/// Applies `request` to `reading`. `standing` includes this sighting; `now` ages its counts.
pub fn decide(
    request: &CheckRequest,
    reading: &Reading,
    standing: &Standing,
    facts: &Facts<'_>,
    now: Timestamp,
) -> Decision {
    let judge = Judge { request, reading, standing, facts, week: standing.week(now) };
    let excluded = excluded(&judge);
    let selected = select(&judge, &excluded);
    let payable = reading.kind == ReadingKind::Challenge && reading.offers.iter().any(complete);
    let unmet_constraints = if selected.is_some() { Vec::new() } else { unmet(&excluded) };
    let pay_to_changed = changed(&judge, selected);
    Decision {
        selected,
        live: selected.is_some(),
        payable,
        invocable: payable && reading.invocable(),
        miss_reason: if selected.is_some() { None } else { Some(miss(reading, payable, &unmet_constraints)) },
        unmet_constraints,
        applied_constraints: request.applied(),
        not_evaluated: unjudged(&judge, &excluded),
        risk: if pay_to_changed { vec!["payTo_changed"] } else { Vec::new() },
        pay_to_changed,
        // Until it is established, a changed recipient is a pending one; there is no third state.
        pay_to_pending: pay_to_changed,
        findings: stock::findings(&judge, &excluded, selected),
        excluded,
    }
}

/// The bounds with which a buyer chooses where to pay.
pub(super) const NETWORKS: [&str; 2] = ["networks", "deny_networks"];

fn excluded(judge: &Judge<'_>) -> Vec<Excluded> {
    let one = |(offer, it): (usize, &Offer)| {
        let complete = judge.reading.kind == ReadingKind::Challenge && complete(it);
        let reasons = if complete { judge.reasons(it) } else { Vec::new() };
        Excluded { offer, complete, reasons }
    };
    let mut judged: Vec<Excluded> = judge.reading.offers.iter().enumerate().map(one).collect();
    without_known(judge, &mut judged);
    judged.retain(|one| !one.complete || !one.reasons.is_empty());
    judged
}

/// A recipient that came beside the known ones may be chosen beside one of them only. Where a known one is out of reach
/// for what the seller asks, whoever asks that has put the newcomer in its place. That the buyer wants another network
/// is no such reason.
fn without_known(judge: &Judge<'_>, judged: &mut [Excluded]) {
    let relation = |one: &Excluded| judge.reading.offers.get(one.offer).map(|offer| judge.relation(offer));
    let elsewhere = |one: &Excluded| one.reasons.iter().any(|reason| NETWORKS.contains(&reason.constraint));
    let known = || judged.iter().filter(|one| one.complete && relation(one) == Some(Relation::Known));
    let reached = known().any(|one| one.reasons.is_empty());
    if reached || judge.request.accept_payto_change || known().all(elsewhere) {
        return;
    }
    for one in judged.iter_mut().filter(|one| one.complete && relation(one) == Some(Relation::New)) {
        one.reasons.push(outside("accept_payTo_change"));
    }
}

fn complete(offer: &Offer) -> bool {
    offer.word.is_complete()
}

fn select(judge: &Judge<'_>, excluded: &[Excluded]) -> Option<usize> {
    let eligible = |at: &usize| !excluded.iter().any(|one| one.offer == *at);
    let offers = judge.reading.offers.iter().enumerate().filter(|(at, _)| eligible(at));
    offers.min_by_key(|(at, offer)| rank(judge, *at, offer)).map(|(at, _)| at)
}

/// Smaller is better; `(true, _)` marks an unknown value, which sorts last. Warnings weigh before everything: whoever
/// sets a price a millionth lower must not choose what is signed.
type Rank = (bool, bool, (bool, u64), bool, (bool, Option<Usd>), usize);

fn rank(judge: &Judge<'_>, at: usize, offer: &Offer) -> Rank {
    let request = judge.request;
    let other_network = request.prefer_network.is_some() && offer.network != request.prefer_network;
    let settlement = offer.network.as_ref().and_then(|network| network.row()).and_then(|row| row.settlement_latency_ms);
    let known = established(judge, offer);
    let (speed, newcomer, price) = match request.objective {
        Objective::Best | Objective::Fastest | Objective::MostReliable => (None, !known, offer.usd.clone()),
        Objective::Cheapest => (None, false, offer.usd.clone()),
        Objective::LowestTotalCost => (None, false, total_cost(offer)),
        Objective::FastestSettlement => (settlement, false, offer.usd.clone()),
    };
    (judge.warned(offer), other_network, (speed.is_none(), speed.unwrap_or(0)), newcomer, (price.is_none(), price), at)
}

fn established(judge: &Judge<'_>, offer: &Offer) -> bool {
    let Some(network) = &offer.network else { return false };
    let payees = judge.standing.payees(network.as_str(), &offer.asset).iter();
    payees.filter(|payee| payee.role == Role::Established).any(|payee| payee.pay_to == pay_to(offer))
}

fn unmet(excluded: &[Excluded]) -> Vec<&'static str> {
    let complete = || excluded.iter().filter(|one| one.complete);
    let fails = |one: &Excluded, name: &str| one.reasons.iter().any(|reason| reason.constraint == name);
    let mut any: Vec<&'static str> = Vec::new();
    for reason in complete().flat_map(|one| &one.reasons) {
        if !any.contains(&reason.constraint) {
            any.push(reason.constraint);
        }
    }
    let all: Vec<_> = any.iter().copied().filter(|name| complete().all(|one| fails(one, name))).collect();
    if all.is_empty() { any } else { all }
}

fn miss(reading: &Reading, payable: bool, unmet: &[&'static str]) -> MissReason {
    let challenge = reading.kind == ReadingKind::Challenge && !reading.offers.is_empty();
    match unmet {
        ["require_invocable"] => MissReason::NoInputSchema,
        _ if payable => MissReason::ConstraintsUnmet,
        _ if challenge && reading.offers.iter().all(|offer| offer.recipient().is_none()) => MissReason::NoPayto,
        _ => MissReason::No402Envelope,
    }
}

fn changed(judge: &Judge<'_>, selected: Option<usize>) -> bool {
    let offers = judge.reading.offers.iter().enumerate();
    let asked = |(at, offer): &(usize, &Offer)| complete(offer) && selected.is_none_or(|selected| selected == *at);
    offers.filter(asked).any(|(_, offer)| judge.relation(offer) == Relation::Changed)
}

fn unjudged(judge: &Judge<'_>, excluded: &[Excluded]) -> Vec<Unjudged> {
    let mut list: Vec<Unjudged> = Vec::new();
    let mut name = |what, why| {
        if list.iter().all(|one| one.what != what) {
            list.push(Unjudged { what, why });
        }
    };
    for reason in excluded.iter().flat_map(|one| &one.reasons).filter(|reason| reason.why == Why::Unknown) {
        name(reason.constraint, "the value it bounds is unknown, so it excludes the offer");
    }
    let unrecorded = |offer: &Offer| complete(offer) && judge.relation(offer) == Relation::New;
    if judge.reading.offers.iter().any(unrecorded) {
        name("payTo history", "an offer is on a network or asset for which this URL never named a recipient before");
    }
    list
}
