//! What the trusted observations add up to.

use super::payee::{self, Payee, Role};
use super::{APART_MS, Observed, Outcome, Place, Trust, WEEK_MS, normal_address, place};
use crate::amount::Amount;
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// Counts over the last seven days, trusted observations only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Week {
    /// Observations.
    pub n_7d: u64,
    /// Those in which a payment challenge arrived.
    pub success_7d: u64,
    /// Median round trip in milliseconds; the lower of the two middle ones of an even number. `None`
    /// when nothing answered.
    pub p50_ms: Option<u64>,
}

/// What earlier observations say about one URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// When a recipient came in the place of a known one, the last time.
    pub pay_to_changed_at: Option<Timestamp>,
    /// When the lowest amount of one asset on one network last changed.
    pub price_changed_at: Option<Timestamp>,
    /// When the input schema last changed.
    pub schema_changed_at: Option<Timestamp>,
    /// The newest observation that counted.
    pub last_trusted_at: Option<Timestamp>,
    payees: BTreeMap<Place, Vec<Payee>>,
    prices: BTreeMap<Place, Amount>,
    schema_sha256: Option<String>,
    samples: Vec<Sample>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sample {
    at: Timestamp,
    success: bool,
    latency_ms: Option<u64>,
}

impl Standing {
    /// This standing after one more observation, as of `now`.
    #[must_use]
    pub fn with(&self, observed: &Observed, now: Timestamp) -> Self {
        let mut next = self.clone();
        next.apply(observed, now);
        next
    }

    /// Every recipient known or pending on this network and asset.
    pub fn payees(&self, network: &str, asset: &str) -> &[Payee] {
        self.payees.get(&place(network, asset)).map_or(&[], Vec::as_slice)
    }

    /// Every recipient of the URL, wherever it is offered.
    pub fn all_payees(&self) -> impl Iterator<Item = &Payee> {
        self.payees.values().flatten()
    }

    /// Counts over the seven days that end at `now`.
    pub fn week(&self, now: Timestamp) -> Week {
        let fresh = || self.samples.iter().filter(|sample| (0..=WEEK_MS).contains(&now.since(sample.at)));
        Week {
            n_7d: fresh().count() as u64,
            success_7d: fresh().filter(|sample| sample.success).count() as u64,
            p50_ms: median(fresh().filter_map(|sample| sample.latency_ms).collect()),
        }
    }

    pub(super) fn apply(&mut self, observed: &Observed, now: Timestamp) {
        if !self.counts(observed, now) {
            return;
        }
        self.last_trusted_at = Some(observed.at);
        self.sample(observed, now);
        self.move_prices(observed);
        self.move_schema(observed);
        self.move_payees(observed);
    }

    /// A time ahead of `now` is refused too: it would make everything after it count as late.
    fn counts(&self, observed: &Observed, now: Timestamp) -> bool {
        let apart = self.last_trusted_at.map_or(i64::MAX, |last| observed.at.since(last));
        let spaced = match observed.trust {
            Trust::Tentative => false,
            Trust::Independent => apart >= APART_MS,
            Trust::Scheduled | Trust::Settled => apart > 0,
        };
        spaced && observed.at <= now
    }

    fn sample(&mut self, observed: &Observed, now: Timestamp) {
        self.samples.retain(|sample| now.since(sample.at) <= WEEK_MS);
        self.samples.push(Sample {
            at: observed.at,
            success: observed.outcome == Outcome::Challenge,
            latency_ms: observed.latency_ms,
        });
    }

    fn move_prices(&mut self, observed: &Observed) {
        for (place, amount) in lowest(observed) {
            let before = self.prices.insert(place, amount.clone());
            if before.is_some_and(|before| before != amount) {
                self.price_changed_at = Some(observed.at);
            }
        }
    }

    fn move_schema(&mut self, observed: &Observed) {
        let Some(schema) = &observed.schema_sha256 else { return };
        let before = self.schema_sha256.replace(schema.clone());
        if before.is_some_and(|before| before != *schema) {
            self.schema_changed_at = Some(observed.at);
        }
    }

    /// Whoever is first in a place the URL never offered before joins the known recipients as long as
    /// one of them is still offered; once none is, it has taken their place.
    fn move_payees(&mut self, observed: &Observed) {
        let offered = offered(observed);
        let known: BTreeSet<&String> =
            self.all_payees().filter(|payee| payee.stands()).map(|payee| &payee.pay_to).collect();
        let newcomer = match () {
            () if known.is_empty() => Role::First,
            () if offered.values().flatten().any(|pay_to| known.contains(pay_to)) => Role::Joined,
            () => Role::Pending,
        };
        for (place, pay_tos) in &offered {
            let payees = self.payees.entry(place.clone()).or_default();
            if payee::look(payees, pay_tos, observed.at, newcomer) {
                self.pay_to_changed_at = Some(observed.at);
            }
        }
    }
}

/// The recipients of each place.
pub(super) fn offered(observed: &Observed) -> BTreeMap<Place, BTreeSet<String>> {
    let mut places: BTreeMap<Place, BTreeSet<String>> = BTreeMap::new();
    for offer in &observed.offers {
        let pay_to = normal_address(Some(&offer.network), &offer.pay_to);
        places.entry(place(&offer.network, &offer.asset)).or_default().insert(pay_to);
    }
    places
}

/// The lowest amount of each place: what a buyer would choose.
pub(super) fn lowest(observed: &Observed) -> BTreeMap<Place, Amount> {
    let mut places: BTreeMap<Place, Amount> = BTreeMap::new();
    for offer in &observed.offers {
        let Some(amount) = offer.amount.as_deref().and_then(|text| Amount::parse(text).ok()) else { continue };
        let lowest = places.entry(place(&offer.network, &offer.asset)).or_insert_with(|| amount.clone());
        if amount < *lowest {
            *lowest = amount;
        }
    }
    places
}

fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied()
}
