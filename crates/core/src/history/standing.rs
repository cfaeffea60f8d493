//! What the trusted observations add up to.

use super::payee::{self, Payee, Role};
use super::stored::{millis, millis_or_none, pairs};
use super::{APART_MS, MOST_PLACES, Observed, Offered, Outcome, Place, Trust, WEEK_MS, normal_address, place};
use crate::amount::Amount;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

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

/// The most looks that the counts of seven days rest on, the newest; one a minute makes as many.
const MOST_SAMPLES: usize = 10_080;

/// What earlier observations say about one URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// When a recipient came in the place of a known one, the last time.
    #[serde(with = "millis_or_none")]
    pub pay_to_changed_at: Option<Timestamp>,
    /// When the lowest amount of one asset on one network last changed.
    #[serde(with = "millis_or_none")]
    pub price_changed_at: Option<Timestamp>,
    /// When the input schema last changed.
    #[serde(with = "millis_or_none")]
    pub schema_changed_at: Option<Timestamp>,
    /// The newest observation that counted.
    #[serde(with = "millis_or_none")]
    pub last_trusted_at: Option<Timestamp>,
    #[serde(with = "pairs")]
    payees: BTreeMap<Place, Vec<Payee>>,
    #[serde(with = "pairs")]
    prices: BTreeMap<Place, Amount>,
    schema_sha256: Option<String>,
    samples: VecDeque<Sample>,
}

/// When, whether a challenge arrived, and the round trip in milliseconds; stored as a list, because there are many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Sample(#[serde(with = "millis")] Timestamp, bool, Option<u64>);

impl Standing {
    /// This standing after one more observation, as of `now`. One that says it was made later than that changes nothing:
    /// it would make everything after it count as late.
    #[must_use]
    pub fn with(&self, observed: &Observed, now: Timestamp) -> Self {
        let mut next = self.clone();
        if observed.at <= now {
            next.add(observed);
        }
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
        let fresh = || self.samples.iter().filter(|sample| (0..=WEEK_MS).contains(&now.since(sample.0)));
        Week {
            n_7d: fresh().count() as u64,
            success_7d: fresh().filter(|sample| sample.1).count() as u64,
            p50_ms: median(fresh().filter_map(|sample| sample.2).collect()),
        }
    }

    pub(super) fn add(&mut self, observed: &Observed) {
        if !self.counts(observed) {
            return;
        }
        self.last_trusted_at = Some(observed.at);
        self.sample(observed);
        self.move_prices(observed);
        self.move_schema(observed);
        self.move_payees(observed);
    }

    fn counts(&self, observed: &Observed) -> bool {
        let apart = self.last_trusted_at.map_or(i64::MAX, |last| observed.at.since(last));
        match observed.trust {
            Trust::Tentative => false,
            Trust::Independent => apart >= APART_MS,
            Trust::Scheduled | Trust::Settled => apart > 0,
        }
    }

    /// What is older than a week by the time of the look is so at every later instant.
    fn sample(&mut self, observed: &Observed) {
        let old = |sample: &Sample| observed.at.since(sample.0) > WEEK_MS;
        while self.samples.len() == MOST_SAMPLES || self.samples.front().is_some_and(old) {
            self.samples.pop_front();
        }
        self.samples.push_back(Sample(observed.at, observed.outcome == Outcome::Challenge, observed.latency_ms));
    }

    fn move_prices(&mut self, observed: &Observed) {
        for (place, amount) in lowest(observed) {
            if !follows(&self.prices, &place) {
                continue;
            }
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
        let offered = places(observed.offers.iter().filter(|offer| offer.complete));
        let known: BTreeSet<&String> =
            self.all_payees().filter(|payee| payee.stands()).map(|payee| &payee.pay_to).collect();
        let newcomer = match () {
            () if known.is_empty() => Role::First,
            () if offered.values().flatten().any(|pay_to| known.contains(pay_to)) => Role::Joined,
            () => Role::Pending,
        };
        for (place, pay_tos) in &offered {
            if !follows(&self.payees, place) {
                continue;
            }
            let payees = self.payees.entry(place.clone()).or_default();
            if payee::look(payees, pay_tos, observed.at, newcomer) {
                self.pay_to_changed_at = Some(observed.at);
            }
        }
    }
}

/// Whether a place is followed: the first ones are, for good. Whoever is offered in another is never known there.
fn follows<V>(map: &BTreeMap<Place, V>, place: &Place) -> bool {
    map.len() < MOST_PLACES || map.contains_key(place)
}

/// The recipients of each place, chosen or not.
pub(super) fn offered(observed: &Observed) -> BTreeMap<Place, BTreeSet<String>> {
    places(observed.offers.iter())
}

fn places<'a>(offers: impl Iterator<Item = &'a Offered>) -> BTreeMap<Place, BTreeSet<String>> {
    let mut places: BTreeMap<Place, BTreeSet<String>> = BTreeMap::new();
    for offer in offers {
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
