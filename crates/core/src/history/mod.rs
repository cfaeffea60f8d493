//! What earlier sightings of one URL say: who has been paid there, when that and the price and the
//! schema changed, and how often it answered in the last seven days.
//!
//! Two things are kept apart. [`Standing`] is the good name of a recipient, which `payTo_pending`
//! speaks of; it moves only on *trusted* observations, so that nobody can talk a new recipient
//! into it by asking often: an anonymous look moves nothing, and the owner's own looks count once in
//! ten minutes. [`Trail`] is what every look of ours brought, trusted or not, and serves only to hold
//! against a seller: a price that differs between two looks a minute apart differs, whoever asked.
//! Neither is rewritten by an older observation that arrives late. [`History`] is both, and how they are kept.
//!
//! Offers are followed per network and asset (a *place*): a recipient swapped on the second network is
//! as bad as one swapped on the first, and atomic amounts of two assets are different units.

mod examine;
mod kept;
mod observed;
mod payee;
mod standing;
mod stored;
mod trail;

pub use examine::{Acquaintance, Relation, acquaintance, examine, relation};
pub use kept::History;
pub use observed::{Observed, Offered, Outcome, Trust, offered};
pub use payee::{Payee, Role};
pub use standing::{Standing, Week};
pub use trail::Trail;

use crate::offer::Offer;

/// The window of the counts, seven days.
pub const WEEK_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// Two observations count as independent of each other when they are at least this far apart.
pub const APART_MS: i64 = 10 * 60 * 1000;
/// The most places that are followed of one URL, so that a seller that offers others at each look does not make its
/// history grow without end. Several times the assets we know.
const MOST_PLACES: usize = 128;

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
