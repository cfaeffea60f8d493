//! Signed terms beside the terms of the challenge. The signed members decide which entry is meant;
//! `acceptIndex` is unsigned and only names the entry to complain about (section 4.1.1).

use super::artifact::Terms;
use crate::address;
use crate::amount::Amount;
use crate::endpoint::ResourceUrl;
use crate::json::Node;
use crate::network::{self, Family, Network};
use crate::offer::Offer;

/// The entry that the signed terms come nearest to.
pub(super) struct Nearest {
    /// Its place in `accepts`; none when no entry is even for the same token.
    pub(super) index: Option<usize>,
    /// The first member that differs; none when all agree.
    pub(super) differs: Option<&'static str>,
}

pub(super) fn nearest(signed: &Terms, offers: &[Offer], pointed: Option<usize>) -> Nearest {
    let apart = |offer: &Offer| (offer.index, differing(signed, offer));
    let all: Vec<(usize, Vec<&'static str>)> = offers.iter().map(apart).collect();
    let closest = all.iter().min_by_key(|(_, differs)| differs.len());
    let blamed = match closest {
        Some(agreeing) if agreeing.1.is_empty() => Some(agreeing),
        _ => all.iter().find(|(index, _)| Some(*index) == pointed).or(closest),
    };
    let Some((index, differs)) = blamed else { return Nearest { index: None, differs: Some("accepts") } };
    let near = pointed.is_some() || !differs.iter().any(|member| matches!(*member, "network" | "asset"));
    Nearest { index: near.then_some(*index), differs: differs.first().copied() }
}

/// The members whose meaning differs, gravest first.
fn differing(signed: &Terms, offer: &Offer) -> Vec<&'static str> {
    let network = network::read(&signed.network).map(|read| read.network);
    let family = network.as_ref().map_or(Family::Other, Network::family);
    let asset = match family {
        Family::Evm => signed.asset.eq_ignore_ascii_case(&offer.asset),
        _ => signed.asset == offer.asset,
    };
    let pay_to = address::check(family, &signed.pay_to).is_ok_and(|paid| paid.normal == offer.pay_to);
    let amount = Amount::parse(&signed.amount).is_ok_and(|amount| offer.amount.as_ref() == Some(&amount));
    let same = [
        ("payTo", pay_to),
        ("amount", amount),
        ("asset", asset),
        ("network", network.is_some() && network == offer.network),
        ("scheme", signed.scheme == offer.scheme),
    ];
    same.into_iter().filter(|(_, same)| !same).map(|(member, _)| member).collect()
}

/// `resourceUrl` must be what was asked, or what the challenge itself says it is for: where those two
/// differ, a rule of its own says so, and nobody is accused twice.
pub(super) fn resource(signed: &Terms, asked: &str, root: Node<'_>) -> Option<&'static str> {
    let said =
        |node: Option<Node<'_>>| node.and_then(Node::as_str).is_some_and(|said| said == signed.resource_url.as_str());
    let in_entries = || root.get("accepts").into_iter().flat_map(Node::items).any(|entry| said(entry.get("resource")));
    if said(root.get("resource").and_then(|resource| resource.get("url"))) || in_entries() {
        return None;
    }
    let bare = |text: &str| {
        ResourceUrl::parse(text).ok().map(|url| url.as_str().split('?').next().unwrap_or_default().to_owned())
    };
    let (asked, signed) = (bare(asked), bare(&signed.resource_url));
    if asked.is_some() && asked == signed { None } else { Some("resourceUrl") }
}
