//! How often we knock at one door: at most a few looks a minute at one registrable domain, over all callers of a process.
//!
//! A caller takes a [`Turn`] first; without one, `challenge::probe` cannot be called. The window slides and is exact: no
//! sixty seconds hold more looks than allowed. Two processes do not know of each other; that is the price of needing no
//! shared state, and a server is one process.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use countersign_core::domain::registrable_lab;
use countersign_core::endpoint::ResourceUrl;
use countersign_core::time::Timestamp;

/// Looks a minute at one registrable domain.
pub const LOOKS_A_MINUTE: usize = 6;
/// Turns that stay for others when a spare one is given: the key documents that one check may fetch.
const KEPT: usize = 2;
const WINDOW_MS: i64 = 60_000;
/// When this many domains are remembered, those whose minute is over are forgotten first.
const SWEEP_AT: usize = 1024;

/// The looks of the last minute, by registrable domain.
#[derive(Debug)]
pub struct Politeness {
    most: usize,
    looks: Mutex<HashMap<String, VecDeque<Timestamp>>>,
}

/// Leave to look at one URL once. A look is at most two requests: one, and one more by another method.
#[derive(Debug)]
pub struct Turn {
    url: ResourceUrl,
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

impl Default for Politeness {
    fn default() -> Self {
        Self::new(LOOKS_A_MINUTE)
    }
}

impl Politeness {
    /// At most `most` looks a minute at one domain.
    pub fn new(most: usize) -> Self {
        Self { most, looks: Mutex::default() }
    }

    /// Takes a turn for `url` at `now`. A turn that is taken and not used counts all the same.
    ///
    /// # Errors
    /// [`RateLimited`] when the domain has had its looks for the last minute.
    pub fn turn(&self, url: &ResourceUrl, now: Timestamp) -> Result<Turn, RateLimited> {
        self.take(url, now, self.most)
    }

    /// Takes a turn for a question that may go unasked: only while two more stay for what must be asked.
    ///
    /// # Errors
    /// [`RateLimited`] when they would not.
    pub fn spare(&self, url: &ResourceUrl, now: Timestamp) -> Result<Turn, RateLimited> {
        self.take(url, now, self.most.saturating_sub(KEPT))
    }

    fn take(&self, url: &ResourceUrl, now: Timestamp, most: usize) -> Result<Turn, RateLimited> {
        let domain = domain(url.host());
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        if looks.len() >= SWEEP_AT && !looks.contains_key(&domain) {
            looks.retain(|_, times| times.iter().any(|time| recent(*time, now)));
        }
        let times = looks.entry(domain.clone()).or_default();
        let now = in_order(times.back().copied(), now);
        times.retain(|time| recent(*time, now));
        if times.len() >= most {
            let retry_after_ms = times.front().map_or(WINDOW_MS, |first| WINDOW_MS - now.since(*first));
            return Err(RateLimited { domain, retry_after_ms: u64::try_from(retry_after_ms).unwrap_or(1).max(1) });
        }
        times.push_back(now);
        Ok(Turn { url: url.clone() })
    }
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
fn domain(host: &str) -> String {
    registrable_lab(host).map_or_else(|_| host.to_owned(), |domain| domain.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let spare = || politeness.spare(&url, Timestamp::from_millis(0)).map(drop);
        for _ in 0..4 {
            assert_eq!(spare(), Ok(()));
        }
        assert!(spare().is_err());
        assert_eq!([0, 0, 0].map(|_| take(&politeness, "a.example.com", 0)), [Ok(()), Ok(()), Err(60_000)]);
        assert!(Politeness::new(2).spare(&url, Timestamp::from_millis(0)).is_err());
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
    fn domains_whose_minute_is_over_are_forgotten() {
        let politeness = Politeness::default();
        for number in 0..5000 {
            assert_eq!(take(&politeness, &format!("a{number}.com"), number * 1000), Ok(()));
        }
        let held = politeness.looks.lock().unwrap().len();
        assert!(held <= SWEEP_AT, "{held}");
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
