//! One instant, in milliseconds since the Unix epoch, UTC.
//!
//! The core never asks what time it is: every rule that depends on time takes a [`Timestamp`].

use std::fmt;

/// Milliseconds since 1970-01-01T00:00:00Z. Ordered; prints as RFC 3339 in whole seconds with `Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The text is not an RFC 3339 instant in UTC.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an RFC 3339 time in UTC")]
pub struct NotATime(String);

impl Timestamp {
    /// From milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// From whole seconds since the Unix epoch.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// Milliseconds since the Unix epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since the Unix epoch, rounded down.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// This instant moved by `millis`, which may be negative.
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds from `earlier` to this instant; negative when `earlier` is later.
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Whether it prints as RFC 3339. What lies after the year 9999 prints in milliseconds, which is no time to show
    /// anybody.
    pub fn has_spelling(self) -> bool {
        jiff::Timestamp::from_second(self.seconds()).is_ok()
    }

    /// Reads an RFC 3339 instant that ends in `Z` (the form every document of ours uses). A leap second is read as the
    /// second before it.
    ///
    /// # Errors
    /// [`NotATime`] when the text has another offset, another shape, or names no real instant.
    pub fn parse(text: &str) -> Result<Self, NotATime> {
        let refuse = || NotATime(text.chars().take(40).collect());
        if !has_the_shape(text) {
            return Err(refuse());
        }
        let instant: jiff::Timestamp = text.parse().map_err(|_| refuse())?;
        Ok(Self(instant.as_millisecond()))
    }
}

/// `YYYY-MM-DDTHH:MM:SS`, one to nine digits of a fraction if any, `Z`. The spellings of ISO 8601 beyond RFC 3339 would be
/// read by some verifiers and not by others.
fn has_the_shape(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((whole, rest)) = text.split_at_checked(19) else { return false };
    let whole = whole.bytes().zip(*b"0000-00-00T00:00:00");
    let fraction = rest
        .strip_suffix('Z')
        .map(|fraction| fraction.strip_prefix('.').unwrap_or(if fraction.is_empty() { "0" } else { "" }));
    whole.into_iter().all(|(byte, shape)| if shape == b'0' { byte.is_ascii_digit() } else { byte == shape })
        && fraction.is_some_and(|fraction| digits(fraction) && fraction.len() <= 9)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_second(self.seconds()) {
            Ok(instant) => write!(out, "{instant}"),
            Err(_) => write!(out, "{}ms", self.0),
        }
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_and_reads_whole_seconds_in_utc() {
        let time = Timestamp::from_seconds(1_788_253_200);
        assert_eq!(time.to_string(), "2026-09-01T09:00:00Z");
        assert_eq!(Timestamp::parse("2026-09-01T09:00:00Z"), Ok(time));
        assert_eq!(time.plus_millis(1999).to_string(), "2026-09-01T09:00:01Z");
        assert_eq!(Timestamp::parse("2026-09-01T09:00:00.25Z"), Ok(time.plus_millis(250)));
        assert_eq!(Timestamp::parse("2026-09-01T08:59:60Z"), Ok(time.plus_millis(-1000)), "a leap second");
    }

    #[test]
    fn what_lies_after_the_year_9999_has_no_spelling() {
        let last = Timestamp::from_seconds(253_402_207_200);
        assert_eq!((last.has_spelling(), last.to_string().as_str()), (true, "9999-12-30T22:00:00Z"));
        for seconds in [253_402_207_201, i64::MAX] {
            assert!(!Timestamp::from_seconds(seconds).has_spelling(), "{seconds}");
        }
    }

    #[test]
    fn refuses_what_is_not_utc_rfc3339() {
        let other = [
            "",
            "now",
            "2026-09-01",
            "2026-09-01T09:00:00+02:00",
            "2026-09-01 09:00:00Z",
            "2026-09-01t09:00:00z",
            // ISO 8601 and not RFC 3339.
            "20260901T090000Z",
            "2026-09-01T09Z",
            "2026-09-01T09:00Z",
            "2026-09-01T09:00:00,5Z",
            "+002026-09-01T09:00:00Z",
            // The right shape, and no instant; or no fraction.
            "2026-13-01T09:00:00Z",
            "2026-02-30T09:00:00Z",
            "2026-09-01T24:00:00Z",
            "2026-09-01T09:00:61Z",
            "2026-09-01T09:00:00.Z",
            "2026-09-01T09:00:00.0123456789Z",
            "2026-09-01T09:00:0\u{661}Z",
        ];
        for text in other {
            assert!(Timestamp::parse(text).is_err(), "{text}");
        }
    }
}
