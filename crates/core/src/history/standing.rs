//! What the observations add up to.

use super::{APART_MS, Observed, Outcome, Trust, WEEK_MS, normal_pay_to};
use crate::time::Timestamp;
use std::collections::BTreeMap;

/// The recipient of a URL, as trusted observations have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Recipient {
    /// Never seen.
    #[default]
    Unknown,
    /// Seen, but not yet in two trusted observations at least ten minutes apart. Nothing to differ
    /// from, so this is no change and may be selected.
    FirstSeen(Seen),
    /// Seen in two trusted observations at least ten minutes apart.
    Established(Seen),
    /// Another recipient than the known one was seen; the known one is kept until the new one is
    /// seen again, independently.
    Pending {
        /// The recipient before.
        known: Seen,
        /// Whether `known` had been established.
        established: bool,
        /// The new recipient, waiting.
        pending: Seen,
    },
}

/// A recipient and when it was first seen in this role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Recipient: lower-cased on EVM networks, byte for byte elsewhere.
    pub pay_to: String,
    /// Network, CAIP-2, when it was known.
    pub network: Option<String>,
    /// First trusted observation of it in this role.
    pub since: Timestamp,
}

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
    /// The recipient.
    pub recipient: Recipient,
    /// When a recipient other than the known one was last seen first.
    pub pay_to_changed_at: Option<Timestamp>,
    /// When the amount last changed within one asset on one network.
    pub price_changed_at: Option<Timestamp>,
    /// When the input schema last changed.
    pub schema_changed_at: Option<Timestamp>,
    /// The newest observation that counted.
    pub last_trusted_at: Option<Timestamp>,
    prices: BTreeMap<(String, String), String>,
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
    pub fn with(&self, observed: &Observed, now: Timestamp) -> Self {
        let mut next = self.clone();
        next.apply(observed, now);
        next
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
        self.move_price(observed);
        self.move_schema(observed);
        if let Some(pay_to) = &observed.pay_to {
            let network = observed.network.clone();
            let pay_to = normal_pay_to(network.as_deref(), pay_to);
            self.move_recipient(Seen { pay_to, network, since: observed.at });
        }
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

    /// Atomic amounts of two assets are different units, so each asset has a price of its own.
    fn move_price(&mut self, observed: &Observed) {
        let (Some(network), Some(asset), Some(amount)) = (&observed.network, &observed.asset, &observed.amount) else {
            return;
        };
        let key = (network.clone(), normal_pay_to(Some(network), asset));
        let before = self.prices.insert(key, amount.clone());
        if before.is_some_and(|before| before != *amount) {
            self.price_changed_at = Some(observed.at);
        }
    }

    fn move_schema(&mut self, observed: &Observed) {
        let Some(schema) = &observed.schema_sha256 else { return };
        let before = self.schema_sha256.replace(schema.clone());
        if before.is_some_and(|before| before != *schema) {
            self.schema_changed_at = Some(observed.at);
        }
    }

    fn move_recipient(&mut self, seen: Seen) {
        let (next, changed) = std::mem::take(&mut self.recipient).after(seen);
        self.recipient = next;
        self.pay_to_changed_at = changed.or(self.pay_to_changed_at);
    }
}

impl Recipient {
    /// The recipient that counts until another one is established.
    pub const fn known(&self) -> Option<&Seen> {
        match self {
            Self::Unknown => None,
            Self::FirstSeen(known) | Self::Established(known) | Self::Pending { known, .. } => Some(known),
        }
    }

    /// The recipient that waits for a second, independent look.
    pub const fn pending(&self) -> Option<&Seen> {
        match self {
            Self::Pending { pending, .. } => Some(pending),
            _ => None,
        }
    }

    /// The recipient seen twice, when there is one.
    pub const fn established(&self) -> Option<&Seen> {
        match self {
            Self::Established(known) | Self::Pending { known, established: true, .. } => Some(known),
            _ => None,
        }
    }

    /// The state after `seen`, and the time of a change when `seen` is one.
    fn after(self, seen: Seen) -> (Self, Option<Timestamp>) {
        match self {
            Self::Unknown => (Self::FirstSeen(seen), None),
            Self::FirstSeen(known) if known.pay_to == seen.pay_to => (first_again(known, &seen), None),
            Self::Established(known) if known.pay_to == seen.pay_to => (Self::Established(known), None),
            Self::Pending { known, established, .. } if known.pay_to == seen.pay_to => {
                (if established { Self::Established(known) } else { first_again(known, &seen) }, None)
            }
            Self::Pending { pending, known, established } if pending.pay_to == seen.pay_to => {
                let twice = seen.since.since(pending.since) >= APART_MS;
                let waiting = Self::Pending { known, established, pending: pending.clone() };
                (if twice { Self::Established(pending) } else { waiting }, None)
            }
            Self::FirstSeen(known) => waiting(known, false, seen),
            Self::Established(known) => waiting(known, true, seen),
            Self::Pending { known, established, .. } => waiting(known, established, seen),
        }
    }
}

fn first_again(known: Seen, seen: &Seen) -> Recipient {
    let twice = seen.since.since(known.since) >= APART_MS;
    if twice { Recipient::Established(known) } else { Recipient::FirstSeen(known) }
}

fn waiting(known: Seen, established: bool, pending: Seen) -> (Recipient, Option<Timestamp>) {
    let changed = Some(pending.since);
    (Recipient::Pending { known, established, pending }, changed)
}

fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied()
}
