//! How old an accepted checkpoint may be. Only signed times count, never the time a file was fetched.
//!
//! The log's own time decides, because it is the log that promises to sign anew. A witness that is ahead, or a single one
//! that says what it likes, must not make an old checkpoint young, nor a young one come from the future.

use std::collections::BTreeSet;

use super::{Accepted, Policy};
use crate::note::Verified;

/// How far a signed time may run ahead of the reader's clock, in seconds.
pub const MAX_AHEAD: u64 = 300;

/// Whether a signed time runs further ahead of a clock than [`MAX_AHEAD`]; both in seconds since the Unix epoch. One of the
/// two is wrong then: a log does not sign on after such a time, keeps no cosignature of it, and a reader does not go by it.
pub const fn is_ahead(signed: u64, now: u64) -> bool {
    signed.saturating_sub(now) > MAX_AHEAD
}

/// A reader's clock and patience, both in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// Seconds since the Unix epoch.
    pub now: u64,
    /// The oldest signed time that is accepted, as an age.
    pub max_age: u64,
}

/// Why a checkpoint is not fresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StaleError {
    /// No signature of the log states a time, as type 0x01 never does, and no quorum of two witnesses does.
    #[error("neither the log nor a quorum of two witnesses states a time")]
    NoTime,
    /// The signed time is too long ago.
    #[error("the signed time, {0}, is too old")]
    TooOld(u64),
    /// The signed time is more than [`MAX_AHEAD`] ahead.
    #[error("the signed time, {0}, is in the future")]
    InFuture(u64),
}

impl StaleError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoTime => "checkpoint_time_unknown",
            Self::TooOld(_) => "checkpoint_too_old",
            Self::InFuture(_) => "checkpoint_in_future",
        }
    }
}

impl Freshness {
    /// Holds the signed time, in seconds since the Unix epoch, against this clock and patience. Gives it back.
    ///
    /// # Errors
    /// [`StaleError`]
    pub fn judge(self, signed: Option<u64>) -> Result<u64, StaleError> {
        let time = signed.ok_or(StaleError::NoTime)?;
        if is_ahead(time, self.now) {
            return Err(StaleError::InFuture(time));
        }
        if self.now.saturating_sub(time) > self.max_age {
            return Err(StaleError::TooOld(time));
        }
        Ok(time)
    }
}

impl Policy {
    /// When a checkpoint was signed, in seconds since the Unix epoch: the newest time that the log's own signatures
    /// state, or else the newest at which, or after which, witnesses signed who make the quorum of this policy and have
    /// two different names. Two keys of one witness are one witness's word.
    pub(super) fn signed_time(&self, log: &[Verified<'_>], witnesses: &[Verified<'_>]) -> Option<u64> {
        log.iter().filter_map(|one| one.time).max().or_else(|| self.cosigned_time(witnesses))
    }

    fn cosigned_time(&self, witnesses: &[Verified<'_>]) -> Option<u64> {
        let times: BTreeSet<u64> = witnesses.iter().filter_map(|one| one.time).collect();
        times.into_iter().rev().find(|time| {
            let since: Vec<_> = witnesses.iter().filter(|one| one.time >= Some(*time)).cloned().collect();
            let names: BTreeSet<&str> = since.iter().map(|one| one.key.name().as_str()).collect();
            names.len() >= 2 && self.quorum.is_none_or(|quorum| self.witnessed(quorum, &since))
        })
    }
}

impl Accepted<'_> {
    /// Shows that the log, or a quorum of witnesses, signed this checkpoint not longer ago than the reader accepts. Gives
    /// that time.
    ///
    /// # Errors
    /// [`StaleError`]
    pub fn check_age(&self, freshness: Freshness) -> Result<u64, StaleError> {
        freshness.judge(self.time)
    }
}
