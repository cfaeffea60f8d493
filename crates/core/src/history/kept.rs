//! All that the looks at one URL add up to, and the form in which that is kept between two of them.
//!
//! A history is made of the looks in the order of their arrival, each added once. What it is then depends on nothing but
//! those looks, so a history that was kept and goes on with the looks that came since is the history of all of them. The
//! one thing that the instant of asking decides is which looks count as made: one that says it was made later than that is
//! left out. A kept history therefore says between which instants it holds.

use super::stored::{millis, millis_or_none};
use super::{Observed, Standing, Trail};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What the looks at one URL add up to. The default is that of none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// The good name of recipients, from trusted looks alone.
    pub standing: Standing,
    /// What every look brought, held against a seller alone.
    pub trail: Trail,
    /// The newest look in it.
    #[serde(with = "millis")]
    newest: Timestamp,
    /// The first of those that were left out because they said they were made later than the instant of asking.
    #[serde(with = "millis_or_none")]
    left_out: Option<Timestamp>,
}

impl Default for History {
    fn default() -> Self {
        let newest = Timestamp::from_millis(i64::MIN);
        Self { standing: Standing::default(), trail: Trail::default(), newest, left_out: None }
    }
}

impl History {
    /// The form of [`History::to_bytes`] and the rules by which looks are added. To be raised with every change of
    /// either: what an earlier version kept is then made anew from the looks.
    pub const FORM: u32 = 2;

    /// The history of these looks, in the order of their arrival, as of `now`.
    pub fn of(looks: &[Observed], now: Timestamp) -> Self {
        let mut history = Self::default();
        looks.iter().for_each(|look| history.add(look, now));
        history
    }

    /// Adds the look that arrived next, as of `now`, which must be an instant at which this history holds.
    ///
    /// One that is older than what was already added changes nothing, so a late arrival never rewrites newer state.
    pub fn add(&mut self, look: &Observed, now: Timestamp) {
        if look.at > now {
            self.left_out = Some(self.left_out.map_or(look.at, |first| first.min(look.at)));
            return;
        }
        self.newest = self.newest.max(look.at);
        self.standing.add(look);
        self.trail.add(look);
    }

    /// Whether the same looks, added as of `now`, would come to the same.
    pub fn holds_at(&self, now: Timestamp) -> bool {
        self.newest <= now && self.left_out.is_none_or(|first| now < first)
    }

    /// The form that is kept, of the version [`History::FORM`].
    ///
    /// # Errors
    /// An error of the writer, which no history is known to cause.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    /// Reads what [`History::to_bytes`] of this version wrote; none when it is not that.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

#[cfg(test)]
mod tests;
