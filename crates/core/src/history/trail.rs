//! What every look of ours brought, whoever asked for it: held against a seller, never in its favour.
//!
//! Tentative looks count here. They are our own probes and show the seller's own words, so the only
//! one who can make them look bad is the seller.

use super::standing::{lowest, offered};
use super::stored::{millis, millis_or_none, pairs};
use super::{APART_MS, MOST_PLACES, Observed, Place};
use crate::amount::Amount;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How long a price is remembered for a climb: thirty days.
const CLIMB_MS: i64 = 30 * 24 * 60 * 60 * 1000;
/// The most price changes remembered of one place.
const MOST_CHANGES: usize = 32;
/// The most recipients of one URL whose looks are counted.
const MOST_PAYEES: usize = 256;

/// Earlier looks at one URL, in the order of their times.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trail {
    #[serde(with = "millis_or_none")]
    last_at: Option<Timestamp>,
    schema_sha256: Option<String>,
    #[serde(with = "pairs")]
    places: BTreeMap<Place, Steps>,
    recent: Vec<Recent>,
    /// At how many looks each recipient was named, wherever it was; of more than are followed, those named most often.
    looks: BTreeMap<String, u64>,
}

/// Who was offered where at a look of the last ten minutes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Recent {
    #[serde(with = "millis")]
    at: Timestamp,
    #[serde(with = "pairs")]
    offered: BTreeMap<Place, BTreeSet<String>>,
}

/// What one place went through: each price with the last look at it, newest last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Steps {
    #[serde(with = "millis_or_none")]
    at: Option<Timestamp>,
    prices: Vec<Price>,
    payees: BTreeSet<String>,
    payees_before: BTreeSet<String>,
}

/// A price, and the last look of an unbroken row that saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Price(#[serde(with = "millis")] Timestamp, Amount);

/// How a price stands against earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Drift {
    /// Another price less than ten minutes ago.
    Unstable(Amount),
    /// Risen at least twice within thirty days without falling in between, to at least twice this.
    Walk(Amount),
    /// Higher than at the look before.
    Raised(Amount),
}

/// How the recipients of a place stand against earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turnover {
    /// Others less than ten minutes ago, or others at each of the last three looks.
    Unstable,
    /// Nothing of the kind.
    Quiet,
}

impl Trail {
    /// One that is not newer than the newest look changes nothing.
    pub(super) fn add(&mut self, look: &Observed) {
        if !self.precedes(look) {
            return;
        }
        self.last_at = Some(look.at);
        self.schema_sha256 = look.schema_sha256.clone().or(self.schema_sha256.take());
        for (place, amount) in lowest(look) {
            self.places.entry(place).or_default().price(look.at, amount);
        }
        let offered = offered(look);
        self.recent.retain(|recent| look.at.since(recent.at) < APART_MS);
        self.recent.push(Recent { at: look.at, offered: offered.clone() });
        self.count(&offered.values().flatten().collect());
        for (place, payees) in offered {
            self.places.entry(place).or_default().paid(look.at, payees);
        }
        self.forget();
    }

    /// Those of this look stay in any case: the next one may name them again.
    fn count(&mut self, named: &BTreeSet<&String>) {
        for payee in named {
            *self.looks.entry((*payee).clone()).or_default() += 1;
        }
        while self.looks.len() > MOST_PAYEES {
            let others = self.looks.iter().filter(|(payee, _)| !named.contains(payee));
            let Some(rarest) = others.min_by_key(|(_, looks)| **looks).map(|(payee, _)| payee.clone()) else { return };
            self.looks.remove(&rarest);
        }
    }

    /// Of more places than are followed, the one that was not offered for longest goes first.
    fn forget(&mut self) {
        while self.places.len() > MOST_PLACES {
            let oldest = self.places.iter().min_by_key(|(_, steps)| steps.at).map(|(place, _)| place.clone());
            oldest.and_then(|place| self.places.remove(&place));
        }
    }

    /// Whether `look` is newer than everything here, so that it may be compared.
    pub(super) fn precedes(&self, look: &Observed) -> bool {
        self.last_at.is_none_or(|last| look.at > last)
    }

    /// At how many of these looks `pay_to` was named.
    pub(super) fn looks(&self, pay_to: &str) -> u64 {
        self.looks.get(pay_to).copied().unwrap_or(0)
    }

    /// How asking `amount` at `at` compares.
    pub(super) fn drift(&self, place: &Place, amount: &Amount, at: Timestamp) -> Option<Drift> {
        let steps = self.places.get(place)?;
        let Price(_, last) = steps.prices.last()?;
        if let Some(start) = steps.climb(amount, at) {
            return Some(Drift::Walk(start));
        }
        if last != amount && steps.at.is_some_and(|seen| at.since(seen) < APART_MS) {
            return Some(Drift::Unstable(last.clone()));
        }
        (amount > last).then(|| Drift::Raised(last.clone()))
    }

    /// How offering `pay_to` at `at` compares.
    pub(super) fn turnover(&self, place: &Place, pay_to: &str, at: Timestamp) -> Turnover {
        let Some(steps) = self.places.get(place) else { return Turnover::Quiet };
        let new = !steps.payees.is_empty() && !steps.payees.contains(pay_to);
        let soon = steps.at.is_some_and(|seen| at.since(seen) < APART_MS);
        let before = &steps.payees_before;
        let third = !before.is_empty() && !before.contains(pay_to) && before.is_disjoint(&steps.payees);
        if new && (soon || third) { Turnover::Unstable } else { Turnover::Quiet }
    }

    /// Whether others took the place of `pay_to` less than ten minutes before `look`, which offers it again. A known
    /// recipient that takes turns with another is no better than the other.
    pub(super) fn alternates(&self, place: &Place, pay_to: &str, look: &Observed) -> bool {
        let now: BTreeSet<String> = offered(look).into_values().flatten().collect();
        let replaced = |then: &BTreeMap<Place, BTreeSet<String>>| match then.get(place) {
            Some(payees) => !payees.contains(pay_to),
            None => !then.is_empty() && then.values().flatten().all(|payee| !now.contains(payee)),
        };
        let soon = |at: Timestamp| look.at.since(at) < APART_MS;
        self.recent.iter().any(|recent| soon(recent.at) && replaced(&recent.offered))
    }

    /// The schema before, when it was another one.
    pub(super) fn other_schema(&self, schema: &str) -> Option<&str> {
        self.schema_sha256.as_deref().filter(|before| *before != schema)
    }
}

impl Steps {
    fn price(&mut self, at: Timestamp, amount: Amount) {
        self.at = Some(at);
        match self.prices.last_mut() {
            Some(Price(seen, last)) if *last == amount => return *seen = at,
            _ => {}
        }
        if self.prices.len() == MOST_CHANGES {
            self.prices.remove(0);
        }
        self.prices.push(Price(at, amount));
    }

    fn paid(&mut self, at: Timestamp, payees: BTreeSet<String>) {
        self.at = Some(at);
        let before = std::mem::replace(&mut self.payees, payees);
        if before != self.payees {
            self.payees_before = before;
        }
    }

    /// Where the climb that ends in `amount` began, when it has at least two steps and doubled.
    fn climb(&self, amount: &Amount, at: Timestamp) -> Option<Amount> {
        let (mut top, mut steps) = (amount, 0);
        for Price(seen, price) in self.prices.iter().rev() {
            if price > top || at.since(*seen) > CLIMB_MS {
                break;
            }
            steps += u32::from(price < top);
            top = price;
        }
        (steps >= 2 && amount.reaches(2, top)).then(|| top.clone())
    }
}
