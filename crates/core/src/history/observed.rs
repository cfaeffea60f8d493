//! One observation of one URL, in the form that is stored and folded.

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
    /// Recipient of the first offer.
    pub pay_to: Option<String>,
    /// Network of that offer, CAIP-2.
    pub network: Option<String>,
    /// Asset of that offer, as its network writes it.
    pub asset: Option<String>,
    /// Amount of that offer in atomic units of the asset, decimal digits.
    pub amount: Option<String>,
    /// SHA-256 of the input schema, hex.
    pub schema_sha256: Option<String>,
    /// Round trip in milliseconds, when something answered.
    pub latency_ms: Option<u64>,
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

/// Whole milliseconds, because the printed form of a time keeps only seconds.
mod millis {
    use crate::time::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(at: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_i64(at.millis())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(input).map(Timestamp::from_millis)
    }
}
