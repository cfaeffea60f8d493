//! What earlier looks at a URL add up to, without reading them all again at each check.
//!
//! A history is kept up to some look, in a table that can be dropped; a check reads what arrived since: fewer than
//! [`REWRITE`] looks, and those of the last minute. What is kept is used only when it is of this version's form, when the
//! look it ends with is still the one of that number, and when it holds at the instant of asking. Otherwise every look is
//! added up, page by page, and kept again. Observations are never changed or taken away and are numbered as they arrive,
//! so the looks up to one of them are always the same.

use countersign_core::history::{History, Observed};
use countersign_core::time::Timestamp;
use countersign_store::{Derived, Observation, Store};

use super::CheckError;

/// After how many looks the history is kept anew.
const REWRITE: usize = 64;
/// The most looks in memory at once.
const PAGE: u32 = 500;
/// Looks younger than this are not kept: a machine that shares the database may have a clock that is behind, and for it
/// they have not happened yet.
const YOUNG_MS: i64 = 60_000;
/// Looks that say they will be made within this time are not kept either, because what leaves them out holds until then.
const AHEAD_MS: i64 = 60 * 60 * 1000;

const KIND: &str = "endpoint";

/// A history, and how many looks it was made of.
#[derive(Default)]
struct Sum {
    history: History,
    upto: i64,
}

/// The history of `url` as of `now`.
///
/// # Errors
/// [`CheckError::History`] when a look does not read: what it held may be the recipient that makes the one of today a
/// stranger. [`CheckError::Store`] when they cannot be read.
pub(super) async fn read(store: &Store, url: &str, now: Timestamp) -> Result<History, CheckError> {
    let mut sum = kept(store, url, now).await.unwrap_or_default();
    let mut settled = true;
    loop {
        let rows = store.observations(KIND, url, sum.upto + 1, PAGE).await?;
        let looks = rows.iter().map(|row| look(url, row)).collect::<Result<Vec<_>, _>>()?;
        let old = if settled { looks.iter().take_while(|look| is_settled(look, now)).count() } else { 0 };
        sum.add(&looks[..old], now);
        if let Some(last) = rows[..old].last().filter(|_| old >= REWRITE) {
            keep(store, url, &sum, last).await;
        }
        sum.add(&looks[old..], now);
        if rows.len() < PAGE as usize {
            return Ok(sum.history);
        }
        settled &= old == rows.len();
    }
}

/// What is kept, where it may be used. It is never needed, so whatever is wrong with it is no reason not to check.
async fn kept(store: &Store, url: &str, now: Timestamp) -> Option<Sum> {
    let kept = store.derived(KIND, url).await.ok().flatten().filter(|kept| kept.form == History::FORM)?;
    let history = History::from_bytes(&kept.bytes).filter(|history| history.holds_at(now))?;
    let last = store.observations(KIND, url, kept.upto, 1).await.ok()?.pop()?;
    let same = last.arrival == kept.upto && last.id == kept.upto_id;
    same.then_some(Sum { history, upto: kept.upto })
}

/// Of several processes the last one counts; each of them kept what is right. What is not kept is made again.
async fn keep(store: &Store, url: &str, sum: &Sum, last: &Observation) {
    let Ok(bytes) = sum.history.to_bytes() else { return };
    let derived = Derived { form: History::FORM, upto: last.arrival, upto_id: last.id.clone(), bytes };
    let _not_needed = store.keep_derived(KIND, url, &derived).await;
}

fn is_settled(look: &Observed, now: Timestamp) -> bool {
    !(-AHEAD_MS..YOUNG_MS).contains(&now.since(look.at))
}

fn look(url: &str, row: &Observation) -> Result<Observed, CheckError> {
    let damaged = |error: serde_json::Error| CheckError::History {
        url: url.to_owned(),
        row: row.id.clone(),
        why: error.to_string(),
    };
    serde_json::from_str(&row.facts).map_err(damaged)
}

impl Sum {
    fn add(&mut self, looks: &[Observed], now: Timestamp) {
        looks.iter().for_each(|look| self.history.add(look, now));
        self.upto += i64::try_from(looks.len()).unwrap_or(i64::MAX);
    }
}

#[cfg(test)]
mod tests;
