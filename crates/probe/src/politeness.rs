//! How often we knock at one door: at most a few looks a minute at one registrable domain, over all who share a memory of
//! the looks there were.
//!
//! A caller takes a [`Turn`] first; without one, `challenge::probe` cannot be called. The window slides and is exact: no
//! sixty seconds hold more looks than allowed. Where the looks are kept is not said here: this is the rule alone.

use countersign_core::domain::registrable_lab;
use countersign_core::endpoint::ResourceUrl;
use countersign_core::time::Timestamp;

/// Looks a minute at one registrable domain.
pub const LOOKS_A_MINUTE: usize = 6;
/// Turns that stay for others when a spare one is given: the key documents that one check may fetch.
const KEPT: usize = 2;
const WINDOW_MS: i64 = 60_000;

/// Leave to look at one URL once. A look is at most two requests: one, and one more by another method.
#[derive(Debug)]
pub struct Turn {
    url: ResourceUrl,
}

/// What a turn is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// What must be asked.
    Must,
    /// A question that may go unasked: it gets a turn only while two more stay for what must be asked.
    Spare,
}

/// It is too early to look at this domain again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rate_limited: {domain} was looked at often enough in the last minute; again in {} s", .retry_after_ms.div_ceil(1000))]
pub struct RateLimited {
    /// The registrable domain, or the host where there is none.
    pub domain: String,
    /// Milliseconds until a turn is free, at least 1.
    pub retry_after_ms: u64,
}

impl RateLimited {
    /// The stable word for it.
    pub const CODE: &'static str = "rate_limited";
}

/// Judges whether `url` may be looked at, at `now`, after the `looks` that there were at its [`domain`], oldest first. Gives
/// the turn, and the looks of the last minute with this one. A turn that is taken and not used counts all the same.
///
/// # Errors
/// [`RateLimited`] when the domain has had its looks for the last minute.
pub fn judge(
    looks: Vec<Timestamp>,
    url: &ResourceUrl,
    now: Timestamp,
    need: Need,
) -> Result<(Turn, Vec<Timestamp>), RateLimited> {
    let most = match need {
        Need::Must => LOOKS_A_MINUTE,
        Need::Spare => LOOKS_A_MINUTE - KEPT,
    };
    take(looks, url, now, most)
}

fn take(
    mut looks: Vec<Timestamp>,
    url: &ResourceUrl,
    now: Timestamp,
    most: usize,
) -> Result<(Turn, Vec<Timestamp>), RateLimited> {
    let now = in_order(looks.last().copied(), now);
    looks.retain(|time| recent(*time, now));
    if looks.len() >= most {
        let wait = looks.first().map_or(WINDOW_MS, |first| WINDOW_MS - now.since(*first));
        let retry_after_ms = u64::try_from(wait).unwrap_or(1).max(1);
        return Err(RateLimited { domain: domain(url.host()), retry_after_ms });
    }
    looks.push(now);
    Ok((Turn { url: url.clone() }, looks))
}

impl Turn {
    /// The URL that may be looked at.
    pub fn url(&self) -> &ResourceUrl {
        &self.url
    }
}

/// Callers name the moment their own look began, so turns come out of order: one asked for less than a minute before
/// the newest counts as asked for with it, or a late caller would make the looks after its own forgotten.
fn in_order(newest: Option<Timestamp>, now: Timestamp) -> Timestamp {
    newest.filter(|newest| recent(now, *newest)).unwrap_or(now)
}

/// A look in the future was made before the clock was set back, and says nothing about the last minute.
fn recent(time: Timestamp, now: Timestamp) -> bool {
    (0..WINDOW_MS).contains(&now.since(time))
}

/// Names under `.localhost` are domains of their own, so that a lab keeps to the same manners as the world. A host
/// without a registrable domain stands for itself.
pub fn domain(host: &str) -> String {
    registrable_lab(host).map_or_else(|_| host.to_owned(), |domain| domain.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Mutex;

    use super::*;

    /// A memory of looks, as a caller keeps one, and how many are allowed.
    struct Politeness(usize, Mutex<HashMap<String, Vec<Timestamp>>>);

    impl Default for Politeness {
        fn default() -> Self {
            Self::new(LOOKS_A_MINUTE)
        }
    }

    impl Politeness {
        fn new(most: usize) -> Self {
            Self(most, Mutex::default())
        }

        fn turn(&self, url: &ResourceUrl, now: Timestamp) -> Result<Turn, RateLimited> {
            self.keep(url, |looks| super::take(looks, url, now, self.0))
        }

        fn keep(
            &self,
            url: &ResourceUrl,
            judge: impl FnOnce(Vec<Timestamp>) -> Result<(Turn, Vec<Timestamp>), RateLimited>,
        ) -> Result<Turn, RateLimited> {
            let mut kept = self.1.lock().unwrap();
            let looks = kept.entry(domain(url.host())).or_default();
            let (turn, after) = judge(looks.clone())?;
            *looks = after;
            Ok(turn)
        }
    }

    fn take(politeness: &Politeness, host: &str, millis: i64) -> Result<(), u64> {
        let url = ResourceUrl::parse(&format!("https://{host}/")).unwrap();
        let turn = politeness.turn(&url, Timestamp::from_millis(millis));
        turn.map(drop).map_err(|limited| limited.retry_after_ms)
    }

    #[test]
    fn six_looks_a_minute_and_the_seventh_waits_for_the_first_to_age() {
        let politeness = Politeness::default();
        for second in 0..6 {
            assert_eq!(take(&politeness, "a.example.com", second * 1000), Ok(()));
        }
        assert_eq!(take(&politeness, "a.example.com", 6000), Err(54_000));
        assert_eq!(take(&politeness, "a.example.com", 59_999), Err(1));
        assert_eq!(take(&politeness, "a.example.com", 60_000), Ok(()), "the first look is a minute old");
        assert_eq!(take(&politeness, "a.example.com", 60_001), Err(999), "the second is not");
    }

    #[test]
    fn turns_that_come_out_of_order_are_counted_like_any_others() {
        let politeness = Politeness::default();
        for millis in [0, 9000, 1000, 8000, 2000, 7000] {
            assert_eq!(take(&politeness, "a.example.com", millis), Ok(()));
        }
        for late in [0, 3000, 8999, 9000] {
            assert_eq!(take(&politeness, "a.example.com", late), Err(51_000), "{late}: the first look ages at 60 s");
        }
        assert_eq!(take(&politeness, "a.example.com", 60_000), Ok(()));
        assert_eq!(take(&politeness, "a.example.com", -60_000), Ok(()), "the clock was set back");
    }

    #[test]
    fn a_spare_turn_leaves_two_for_what_must_be_asked_and_counts_like_any_other() {
        let (politeness, url) = (Politeness::default(), ResourceUrl::parse("https://a.example.com/").unwrap());
        let spare =
            || politeness.keep(&url, |looks| judge(looks, &url, Timestamp::from_millis(0), Need::Spare)).map(drop);
        for _ in 0..4 {
            assert_eq!(spare(), Ok(()));
        }
        assert!(spare().is_err());
        assert_eq!([0, 0, 0].map(|_| take(&politeness, "a.example.com", 0)), [Ok(()), Ok(()), Err(60_000)]);
    }

    #[test]
    fn a_domain_is_what_somebody_registered() {
        let politeness = Politeness::new(1);
        assert_eq!(take(&politeness, "a.example.com", 0), Ok(()));
        for host in ["b.example.com", "example.com", "c.d.example.com"] {
            assert!(take(&politeness, host, 0).is_err(), "{host} belongs to example.com");
        }
        for host in ["example.org", "one.github.io", "two.github.io", "github.io", "one.localhost", "two.localhost"] {
            assert_eq!(take(&politeness, host, 0), Ok(()), "{host} is somebody else");
        }
        assert!(take(&politeness, "a.one.localhost", 0).is_err(), "the lab is no way around");
        assert!(take(&politeness, "github.io", 0).is_err());
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let politeness = Politeness::new(1);
        assert_eq!(take(&politeness, "example.com", 3_600_000), Ok(()));
        assert_eq!(take(&politeness, "example.com", 0), Ok(()));
        assert_eq!(take(&politeness, "example.com", 1), Err(59_999));
    }

    #[test]
    fn the_refusal_says_how_long() {
        let politeness = Politeness::new(0);
        let url = ResourceUrl::parse("https://a.example.com/").unwrap();
        let limited = politeness.turn(&url, Timestamp::from_millis(5)).unwrap_err();
        let said = "rate_limited: example.com was looked at often enough in the last minute; again in 60 s";
        assert_eq!(limited.to_string(), said);
    }

    proptest::proptest! {
        /// Over any sequence of knocks, no sixty seconds hold more looks than allowed, and a wait that was named suffices.
        #[test]
        fn no_minute_holds_more_than_allowed(steps in proptest::collection::vec(0_i64..30_000, 1..60)) {
            let politeness = Politeness::new(3);
            let (mut now, mut taken) = (0, Vec::new());
            for step in steps {
                now += step;
                match take(&politeness, "example.com", now) {
                    Ok(()) => taken.push(now),
                    Err(wait) => {
                        now += i64::try_from(wait).unwrap();
                        assert_eq!(take(&politeness, "example.com", now), Ok(()));
                        taken.push(now);
                    }
                }
            }
            for window in taken.windows(4) {
                assert!(window[3] - window[0] >= 60_000, "{window:?}");
            }
        }
    }
}
