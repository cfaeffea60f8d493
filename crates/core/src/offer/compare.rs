//! Header and body, or two headers, beside each other. A seller that serves both versions states its terms twice; what the
//! body asks must be among what the header asks. Tiers of one asset, reordered entries and an entry that only one
//! version can express are ordinary; a body entry with no equal in the header is not.

use super::rules::finding;
use super::{Offer, Reading};
use crate::network::Family;

/// What `body` asks against what `header` asks, by the names in `called` (the body's first). Compares as multisets, per scheme, network and asset that both channels offer. An amount that we cannot read has no
/// equal: clients of version 1 read some of those.
pub(super) fn channels(header: &[Offer], body: &[Offer], called: (&str, &str), reading: &mut Reading) {
    let mut left: Vec<&Offer> = header.iter().collect();
    for theirs in body {
        if let Some(at) = left.iter().position(|ours| kin(ours, theirs) && same_terms(ours, theirs)) {
            left.swap_remove(at);
        } else if header.iter().any(|ours| kin(ours, theirs)) {
            let seen = format!("{}'s accepts[{}] has no equal in {}", called.0, theirs.index, called.1);
            let found = finding("channel.disagree", "channels", &seen, None);
            if !reading.findings.contains(&found) {
                reading.findings.push(found);
            }
            return;
        }
    }
}

/// The same kind of money by the same scheme, in either version's spelling.
fn kin(left: &Offer, right: &Offer) -> bool {
    let networks = match (&left.network, &right.network) {
        (Some(left), Some(right)) => left == right,
        _ => left.network_raw == right.network_raw,
    };
    left.scheme == right.scheme && networks && same_asset(left, right)
}

fn same_asset(left: &Offer, right: &Offer) -> bool {
    let evm = left.network.as_ref().is_some_and(|network| network.family() == Family::Evm);
    if evm { left.asset.eq_ignore_ascii_case(&right.asset) } else { left.asset == right.asset }
}

fn same_terms(left: &Offer, right: &Offer) -> bool {
    left.pay_to == right.pay_to && left.amount.is_some() && left.amount == right.amount
}
