//! How old an accepted checkpoint may be. Only signed times count, never the time a file was fetched.

use super::Accepted;

/// How far a signed time may run ahead of the reader's clock, in seconds.
pub const MAX_AHEAD: u64 = 300;

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
    /// No signature that holds states a time: type 0x01 never does.
    #[error("no signature states a time")]
    NoTime,
    /// The newest signed time is too long ago.
    #[error("the newest signed time, {0}, is too old")]
    TooOld(u64),
    /// The newest signed time is more than [`MAX_AHEAD`] ahead.
    #[error("the newest signed time, {0}, is in the future")]
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
    /// Holds the newest signed time, in seconds since the Unix epoch, against this clock and patience. Gives it back.
    ///
    /// # Errors
    /// [`StaleError`]
    pub fn judge(self, signed: Option<u64>) -> Result<u64, StaleError> {
        let time = signed.ok_or(StaleError::NoTime)?;
        if time.saturating_sub(self.now) > MAX_AHEAD {
            return Err(StaleError::InFuture(time));
        }
        if self.now.saturating_sub(time) > self.max_age {
            return Err(StaleError::TooOld(time));
        }
        Ok(time)
    }
}

impl Accepted<'_> {
    /// The newest time, in seconds since the Unix epoch, that the log or a witness of the policy has signed.
    pub fn signed_time(&self) -> Option<u64> {
        self.log.iter().chain(&self.witnesses).filter_map(|verified| verified.time).max()
    }

    /// Shows that somebody trusted saw this checkpoint as the newest not longer ago than the reader accepts. Gives
    /// that time.
    pub fn check_age(&self, freshness: Freshness) -> Result<u64, StaleError> {
        freshness.judge(self.signed_time())
    }
}
