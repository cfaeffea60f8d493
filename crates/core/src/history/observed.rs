//! One observation of one URL, in the form that is stored and folded.

use super::stored::millis;
use crate::offer::{Offer, Reading, Word};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Why an observation may or may not move what we hold to be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Our own sweep.
    Scheduled,
    /// Asked for by the owner of the data directory. Counts only when it comes at least ten minutes
    /// after the last observation that counted; sooner it is as [`Trust::Tentative`].
    Independent,
    /// Made around a payment that settled.
    Settled,
    /// Asked for by somebody we do not know. Moves nothing.
    Tentative,
}

/// What the look came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A payment challenge arrived: the look succeeded.
    Challenge,
    /// Something answered, but with no payment challenge.
    NoChallenge,
    /// Nothing usable answered.
    Unreachable,
}

/// One observation. What was not seen is `None`, and `None` never counts as a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// When the look began; stored in milliseconds since the Unix epoch.
    #[serde(with = "millis")]
    pub at: Timestamp,
    /// Trust class.
    pub trust: Trust,
    /// What the look came to.
    pub outcome: Outcome,
    /// Every offer that a client could pay, in the seller's order.
    #[serde(default)]
    pub offers: Vec<Offered>,
    /// SHA-256 of the input schema, hex.
    pub schema_sha256: Option<String>,
    /// Round trip in milliseconds, when something answered.
    pub latency_ms: Option<u64>,
}

/// What one offer asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// Network, CAIP-2.
    pub network: String,
    /// Asset, as its network writes it.
    pub asset: String,
    /// Recipient.
    pub pay_to: String,
    /// Amount in atomic units of the asset, decimal digits; none when it could not be read.
    pub amount: Option<String>,
    /// Whether a buyer could have chosen it. What nobody could choose keeps no recipient known: it may stand there for
    /// that alone. Not written when true.
    #[serde(default = "chosen", skip_serializing_if = "Clone::clone")]
    pub complete: bool,
}

const fn chosen() -> bool {
    true
}

/// The offers of a reading that history keeps: those a client could pay. A broken one says nothing
/// reliable about its recipient, and mending it must not look like a change.
pub fn offered(reading: &Reading) -> Vec<Offered> {
    let keep = |offer: &Offer| {
        kept(offer).then_some(())?;
        Some(Offered {
            network: offer.network.as_ref()?.as_str().to_owned(),
            asset: offer.asset.clone(),
            pay_to: offer.pay_to.clone(),
            amount: offer.amount.as_ref().map(ToString::to_string),
            complete: offer.word.is_complete(),
        })
    };
    reading.offers.iter().filter_map(keep).collect()
}

/// Whether history keeps this offer.
pub(super) fn kept(offer: &Offer) -> bool {
    offer.word != Word::NotPayable && !offer.pay_to.is_empty() && offer.network.is_some()
}

impl Trust {
    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Independent => "independent",
            Self::Settled => "settled",
            Self::Tentative => "tentative",
        }
    }
}

impl Outcome {
    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Challenge => "challenge",
            Self::NoChallenge => "no_challenge",
            Self::Unreachable => "unreachable",
        }
    }
}
