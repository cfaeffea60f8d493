//! Until when somebody waits: one instant, handed on, so that the steps of one wait never add up to more than it.

use std::io;
use std::time::{Duration, Instant};

/// An instant after which nothing is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    /// After this time, from now on.
    pub(super) fn after(patience: Duration) -> Self {
        Self(Instant::now() + patience)
    }

    /// What is left; none when it is over, or so nearly that the system would read it as without end.
    pub(super) fn left(self) -> Option<Duration> {
        Some(self.0.saturating_duration_since(Instant::now())).filter(|left| left.as_millis() > 0)
    }

    /// What is left, for a step that the system ends.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] when it is over.
    pub(super) fn or_timed_out(self) -> io::Result<Duration> {
        self.left().ok_or_else(|| io::ErrorKind::TimedOut.into())
    }
}
