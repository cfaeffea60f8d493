//! Time and randomness as a value, so that every use case can be run at any instant, twice, with the
//! same result. The only place in the product that reads the wall clock.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::SystemTime;

use countersign_core::time::Timestamp;
use sha2::{Digest, Sha256};

/// Where time and randomness come from.
#[derive(Debug)]
pub enum Env {
    /// The machine's clock and the operating system's randomness.
    Real,
    /// The machine's clock moved by some milliseconds, and the system's randomness. For labs, where a
    /// history of looks ten minutes apart has to be made without waiting; every decision made under it
    /// names the switch [`Env::MOVED`].
    Moved(AtomicI64),
    /// A fixed instant and a counter hashed with a seed; for tests and replays, never for keys in use.
    Fixed {
        /// What [`Env::now`] answers.
        now: Timestamp,
        /// Mixed into every random draw.
        seed: u64,
        /// How many draws were made.
        drawn: AtomicU64,
    },
}

/// The operating system gave no randomness.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gave no random bytes: {0}")]
pub struct NoRandomness(String);

impl Env {
    /// Name of the lab switch that says the clock was moved.
    pub const MOVED: &'static str = "moved_clock";

    /// Moves a clock made to be moved to `by_ms` from the machine's; any other stays.
    pub fn move_to(&self, by_ms: i64) {
        if let Self::Moved(by) = self {
            by.store(by_ms, Ordering::Relaxed);
        }
    }

    /// A fixed world.
    pub fn fixed(now: Timestamp, seed: u64) -> Self {
        Self::Fixed { now, seed, drawn: AtomicU64::new(0) }
    }

    /// The present instant.
    pub fn now(&self) -> Timestamp {
        match self {
            Self::Fixed { now, .. } => *now,
            Self::Moved(by) => machine().plus_millis(by.load(Ordering::Relaxed)),
            Self::Real => machine(),
        }
    }

    /// The same in whole seconds since the Unix epoch, as a log and its witnesses state it; 0 before then.
    pub fn seconds(&self) -> u64 {
        u64::try_from(self.now().seconds()).unwrap_or(0)
    }

    /// 32 random bytes.
    ///
    /// # Errors
    /// [`NoRandomness`] when the operating system has none to give.
    pub fn random(&self) -> Result<[u8; 32], NoRandomness> {
        match self {
            Self::Real | Self::Moved(_) => {
                let mut bytes = [0; 32];
                getrandom::fill(&mut bytes).map_err(|error| NoRandomness(error.to_string()))?;
                Ok(bytes)
            }
            Self::Fixed { seed, drawn, .. } => {
                let turn = drawn.fetch_add(1, Ordering::Relaxed);
                Ok(Sha256::new().chain_update(seed.to_be_bytes()).chain_update(turn.to_be_bytes()).finalize().into())
            }
        }
    }

    /// A UUID version 7 (RFC 9562 section 5.7): sorts by the time it was made.
    ///
    /// # Errors
    /// [`NoRandomness`] as for [`Env::random`].
    pub fn row_id(&self) -> Result<String, NoRandomness> {
        let random = self.random()?;
        let mut tail = [0; 10];
        tail.copy_from_slice(&random[..10]);
        let millis = u64::try_from(self.now().millis()).unwrap_or(0);
        Ok(uuid::Builder::from_unix_timestamp_millis(millis, &tail).into_uuid().to_string())
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the one clock of the product")]
fn machine() -> Timestamp {
    Timestamp::from_millis(match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_clock_moves_and_the_others_do_not() {
        let moved = Env::Moved(AtomicI64::new(0));
        moved.move_to(-3_600_000);
        let (before, seen, after) = (Env::Real.now(), moved.now(), Env::Real.now());
        assert!(before.plus_millis(-3_600_000) <= seen && seen <= after.plus_millis(-3_600_000));
        let fixed = Env::fixed(Timestamp::from_seconds(9), 1);
        fixed.move_to(5);
        assert_eq!(fixed.now(), Timestamp::from_seconds(9));
    }

    #[test]
    fn a_fixed_world_repeats_itself_and_never_draws_the_same_bytes_twice() {
        let (one, two) = (Env::fixed(Timestamp::from_seconds(1), 7), Env::fixed(Timestamp::from_seconds(1), 7));
        let first = one.random().unwrap();
        assert_eq!(first, two.random().unwrap());
        assert_ne!(first, one.random().unwrap());
        assert_eq!(one.now(), Timestamp::from_seconds(1));
    }

    #[test]
    fn row_ids_are_version_7_and_carry_the_time() {
        let env = Env::fixed(Timestamp::from_millis(0x0192_3456_789a), 1);
        let id = env.row_id().unwrap();
        assert!(id.starts_with("01923456-789a-7"), "{id}");
    }
}
