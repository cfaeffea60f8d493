//! Whether a client that knows nothing of the buyer's rules would sign what was selected.
//!
//! The reference client signs the first option that it can, in the seller's order. So a decision that lets a later one
//! pass is no protection for a buyer whose client asks for nothing else: where an earlier one is outside the rules, has a
//! warning that the selected one has not, or nobody should pay it, that is told.

use super::Reason;
use super::decide::{Excluded, NETWORKS};
use super::judge::Judge;
use crate::finding::Finding;
use crate::offer::rules::finding;
use crate::offer::{Interop, Offer};

/// What to tell of the first option that such a client would sign in place of the selected one. An option on a network
/// where the buyer does not pay is none: its client has no money there. Nor is one behind another on its network that
/// the client would sign and that may be paid.
pub(super) fn findings(judge: &Judge<'_>, excluded: &[Excluded], selected: Option<usize>) -> Vec<Finding> {
    let offers = &judge.reading.offers;
    let Some((selected, chosen)) = selected.and_then(|at| Some((at, offers.get(at)?))) else { return Vec::new() };
    let signs = |offer: &Offer| offer.interop == Interop::Pass;
    let first = |at: usize, offer: &Offer| {
        !offers.iter().take(at).any(|earlier| signs(earlier) && earlier.network == offer.network)
    };
    let earlier = offers.iter().take(selected).enumerate();
    let signed = earlier.filter(|(at, offer)| signs(offer) && first(*at, offer) && !elsewhere(judge, offer));
    let mut worse = signed.filter_map(|(at, offer)| {
        let warned = judge.warned(offer) && !judge.warned(chosen);
        let why = excluded.iter().find(|one| one.offer == at).map(why).or(warned.then(|| "its warnings".to_owned()))?;
        Some(format!("{}: {why}", offer.subject))
    });
    let told = worse.next().map(|said| finding("selection.stock_client", "selection", &said, Some(&chosen.subject)));
    told.into_iter().collect()
}

/// Whether the buyer pays on other networks only.
fn elsewhere(judge: &Judge<'_>, offer: &Offer) -> bool {
    judge.reasons(offer).iter().any(|reason| NETWORKS.contains(&reason.constraint))
}

/// `max_price_usd, allow_pay_to`
fn why(excluded: &Excluded) -> String {
    let bound = |reason: &Reason| reason.constraint;
    match excluded.complete {
        true => excluded.reasons.iter().map(bound).collect::<Vec<_>>().join(", "),
        false => "its own findings".to_owned(),
    }
}
