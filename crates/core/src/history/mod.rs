//! What earlier sightings of one URL say: who has been paid there, when that and the price and the
//! schema changed, and how often it answered in the last seven days.
//!
//! Two things are kept apart. [`Standing`] is the good name of a recipient (seed 003,
//! `payTo_pending`); it moves only on *trusted* observations, so that nobody can talk a new recipient
//! into it by asking often: an anonymous look moves nothing, and the owner's own looks count once in
//! ten minutes. [`Trail`] is what every look of ours brought, trusted or not, and serves only to hold
//! against a seller: a price that differs between two looks a minute apart differs, whoever asked.
//! Neither is rewritten by an older observation that arrives late.
//!
//! Offers are followed per network and asset (a *place*): a recipient swapped on the second network is
//! as bad as one swapped on the first, and atomic amounts of two assets are different units.

mod examine;
mod observed;
mod payee;
mod standing;
mod trail;

pub use examine::{Acquaintance, Relation, acquaintance, examine, relation};
pub use observed::{Observed, Offered, Outcome, Trust, offered};
pub use payee::{Payee, Role};
pub use standing::{Standing, Week};
pub use trail::Trail;

use crate::offer::Offer;
use crate::time::Timestamp;

/// How far back a caller should read observations before it folds them: two years. The recipients
/// and the change times need all of it; the counts use the last [`WEEK_MS`] only.
pub const WINDOW_MS: i64 = 2 * 365 * 24 * 60 * 60 * 1000;
/// The most observations a caller should read for one URL, newest first.
pub const MOST: u32 = 10_000;
/// The window of the counts, seven days.
pub const WEEK_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// Two observations count as independent of each other when they are at least this far apart.
pub const APART_MS: i64 = 10 * 60 * 1000;

/// Applies observations in the order given (the order of arrival) as of `now`.
///
/// One that is older than what was already counted changes nothing, so a late arrival never
/// rewrites newer state.
pub fn fold(observations: &[Observed], now: Timestamp) -> Standing {
    let mut standing = Standing::default();
    observations.iter().for_each(|observed| standing.apply(observed, now));
    standing
}

/// A network (CAIP-2) and an asset on it, in the form that is compared.
type Place = (String, String);

fn place(network: &str, asset: &str) -> Place {
    (network.to_owned(), normal_address(Some(network), asset))
}

/// An address in the form that is compared: lower-cased on EVM networks, byte for byte elsewhere.
pub(crate) fn normal_address(network: Option<&str>, pay_to: &str) -> String {
    match network {
        Some(network) if network.starts_with("eip155:") => pay_to.to_ascii_lowercase(),
        _ => pay_to.to_owned(),
    }
}

/// An offer's recipient in that form.
pub(crate) fn pay_to(offer: &Offer) -> String {
    normal_address(offer.network.as_ref().map(|network| network.as_str()), &offer.pay_to)
}

#[cfg(test)]
mod tests;
