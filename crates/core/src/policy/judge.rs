//! One offer against every bound.

use super::{CheckRequest, Facts, Objective};
use crate::amount::{Amount, Usd};
use crate::history::{Relation, Standing, Week, normal_address, pay_to, relation};
use crate::network::Network;
use crate::offer::{Offer, Reading, Word, barred, word_from};

/// Observations a success rate needs before it is one.
const RATE_NEEDS: u64 = 3;

/// Why a bound excludes an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The value is known and outside.
    Outside,
    /// The value is unknown, and unknown fails closed.
    Unknown,
}

/// One bound that excludes an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Reason {
    /// Name of the bound on the wire.
    pub constraint: &'static str,
    /// Known and outside, or unknown.
    pub why: Why,
}

/// What all offers of one reading share.
pub(super) struct Judge<'a> {
    pub(super) request: &'a CheckRequest,
    pub(super) reading: &'a Reading,
    pub(super) standing: &'a Standing,
    pub(super) facts: &'a Facts<'a>,
    pub(super) week: Week,
}

impl Judge<'_> {
    /// Every bound that excludes `offer`, each judged without regard to the others.
    pub(super) fn reasons(&self, offer: &Offer) -> Vec<Reason> {
        let request = self.request;
        let network = offer.network.as_ref();
        let settlement = network.and_then(|network| network.row()).and_then(|row| row.settlement_latency_ms);
        let total = total_cost(offer);
        [
            given(&request.networks).and_then(|list| check("networks", network, |it| list.contains(it))),
            // Play money is bought with on purpose only, so a test network has to be named.
            (request.networks.is_empty() && network.is_some_and(Network::is_test)).then(|| outside("networks")),
            given(&request.deny_networks).and_then(|list| check("deny_networks", network, |it| !list.contains(it))),
            given(&request.allow_pay_to).and_then(|list| self.allowed(offer, list)),
            at_most("max_price_usd", offer.usd.as_ref(), request.max_price_usd.as_ref()),
            at_most("max_total_cost_usd", total.as_ref(), request.max_total_cost_usd.as_ref()),
            at_most("max_amount_atomic", dollar_units(offer), request.max_amount_atomic.as_ref()),
            at_most("max_probe_latency_ms", self.facts.latency_ms, request.probe_bound_ms()),
            at_most("max_service_latency_ms", self.week.p50_ms, request.max_service_latency_ms),
            at_most("max_settlement_latency_ms", settlement, request.max_settlement_latency_ms),
            self.observations(),
            self.success(),
            // Nothing rates sellers yet.
            request.min_reputation_score.map(|_| unknown("min_reputation_score")),
            request.min_reputation_confidence.map(|_| unknown("min_reputation_confidence")),
            (request.require_invocable && !self.reading.invocable()).then(|| outside("require_invocable")),
            request_covers(request, self.relation(offer)).then(|| outside("accept_payTo_change")),
            self.history(offer),
            (request.objective == Objective::LowestTotalCost && total.is_none()).then(|| unknown("objective")),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn allowed(&self, offer: &Offer, list: &[String]) -> Option<Reason> {
        let wanted = pay_to(offer);
        let network = offer.network.as_ref().map(|network| network.as_str());
        let named = list.iter().any(|allowed| normal_address(network, allowed) == wanted);
        (!named).then(|| outside("allow_pay_to"))
    }

    /// None at all is unknown rather than too few, unless none is what was asked for.
    fn observations(&self) -> Option<Reason> {
        let least = self.request.min_observations?;
        let why = if self.week.n_7d == 0 { Why::Unknown } else { Why::Outside };
        (self.week.n_7d < least).then_some(Reason { constraint: "min_observations", why })
    }

    fn success(&self) -> Option<Reason> {
        let least = self.request.min_observed_success?;
        let rate = (self.week.n_7d >= RATE_NEEDS).then_some(self.week);
        check("min_observed_success", rate, |week| least.reached(week.success_7d, week.n_7d))
    }

    /// What history holds against the offer beside a changed recipient, which is its own bound.
    fn history(&self, offer: &Offer) -> Option<Reason> {
        let told = !request_covers(self.request, self.relation(offer)) && barred(self.facts.history, offer);
        told.then(|| outside("history"))
    }

    /// Whether the word of `offer`, what history says included, is another than plain `payable`.
    pub(super) fn warned(&self, offer: &Offer) -> bool {
        offer.word != Word::Payable || word_from(self.facts.history, offer) != Word::Payable
    }

    pub(super) fn relation(&self, offer: &Offer) -> Relation {
        relation(self.standing, self.reading, offer)
    }
}

/// Whether `accept_payTo_change` already excludes a recipient of this relation.
fn request_covers(request: &CheckRequest, relation: Relation) -> bool {
    relation == Relation::Changed && !request.accept_payto_change
}

/// Price plus the fees that the offer declares. We charge nothing, and an `exact` payment by EIP-3009 is a signature that
/// the facilitator carries to the chain, so it costs the buyer no gas; every other way is unknown.
pub fn total_cost(offer: &Offer) -> Option<Usd> {
    let (usd, fees) = offer.usd.clone().zip(offer.fees.clone())?;
    (offer.scheme == "exact").then(|| usd + fees)
}

/// The amount, when its unit is a millionth of a dollar.
fn dollar_units(offer: &Offer) -> Option<&Amount> {
    let dollar = offer.usd.is_some() && offer.asset_row.is_some_and(|row| row.decimals == 6);
    offer.amount.as_ref().filter(|_| dollar)
}

fn given<T>(list: &[T]) -> Option<&[T]> {
    (!list.is_empty()).then_some(list)
}

fn at_most<T: PartialOrd>(constraint: &'static str, value: Option<T>, bound: Option<T>) -> Option<Reason> {
    let bound = bound?;
    check(constraint, value, |value| value <= bound)
}

fn check<T>(constraint: &'static str, value: Option<T>, holds: impl FnOnce(T) -> bool) -> Option<Reason> {
    match value {
        None => Some(unknown(constraint)),
        Some(value) => (!holds(value)).then(|| outside(constraint)),
    }
}

const fn unknown(constraint: &'static str) -> Reason {
    Reason { constraint, why: Why::Unknown }
}

pub(super) const fn outside(constraint: &'static str) -> Reason {
    Reason { constraint, why: Why::Outside }
}
