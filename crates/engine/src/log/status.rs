//! What can be said of a log without opening it.

use countersign_core::time::Timestamp;
use countersign_tlog::checkpoint::Checkpoint;
use countersign_tlog::policy::MAX_AHEAD;

/// 9999-12-31T23:59:59Z, the last second that RFC 3339 can write.
const LAST_SECOND: i64 = 253_402_300_799;

/// A log as it lies on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Origin, and the size and root that were signed last; of what is written, while nothing was signed.
    pub checkpoint: Checkpoint,
    /// How the last signed time stands to this machine's clock.
    pub clock: Standing,
    /// Its keys and no witness, as a C2SP tlog-policy.
    pub trust: String,
    /// Whether a process holds it.
    pub held: Held,
    /// Whether the log is at home in this directory.
    pub home: Home,
}

/// A signed time beside a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing was signed yet.
    Unsigned,
    /// Signed then, and the log goes on.
    Good(Timestamp),
    /// Signed then, which is so far ahead of the clock that nothing is signed until that time.
    Ahead(Timestamp),
}

impl Standing {
    pub(super) fn of(signed: Option<u64>, now: Timestamp) -> Self {
        let Some(signed) = signed else { return Self::Unsigned };
        let at = timestamp(signed);
        let allowed = i64::try_from(MAX_AHEAD).unwrap_or(i64::MAX);
        if at.seconds().saturating_sub(now.seconds()) > allowed { Self::Ahead(at) } else { Self::Good(at) }
    }

    /// The signed time.
    pub fn signed_at(&self) -> Option<Timestamp> {
        match self {
            Self::Unsigned => None,
            Self::Good(at) | Self::Ahead(at) => Some(*at),
        }
    }
}

/// Seconds since the Unix epoch as they are signed; those beyond what can be written are the last that can.
fn timestamp(seconds: u64) -> Timestamp {
    Timestamp::from_seconds(i64::try_from(seconds).map_or(LAST_SECOND, |seconds| seconds.min(LAST_SECOND)))
}

/// Whether somebody writes the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nobody does.
    Free,
    /// A process does.
    Taken,
}

/// Whether a directory may be signed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// The log was made here, or adopted.
    Own,
    /// It is a copy that was not adopted: it signs nothing.
    Copy,
}
