//! What no single entry shows: offers beside each other, and every text of the challenge.

use super::rules::finding;
use super::{Offer, Reading, clean};
use crate::endpoint::ResourceUrl;
use crate::json::Node;

/// Adds findings about the challenge as a whole.
pub(super) fn examine(asked: &str, root: Node<'_>, reading: &mut Reading) {
    let host = ResourceUrl::parse(asked).map(|url| url.host().to_owned()).unwrap_or_default();
    if host.split('.').any(|label| label.starts_with("xn--")) {
        reading.findings.push(finding("host.homograph", "url", &host, None));
    }
    if let Some(text) = find(root, &|_, node| node.as_str().is_some_and(|text| text.chars().any(hides))) {
        reading.findings.push(finding("text.invisible", "text", &text.as_str().unwrap_or_default(), None));
    }
    if let Some(node) =
        find(root, &|name, node| name == "$ref" && node.as_str().is_some_and(|text| text.contains("://")))
    {
        reading.findings.push(finding("schema.remote_reference", "$ref", node.raw(), None));
    }
    if let Some((left, right)) = pairs(&reading.offers).find(|(left, right)| alike(&left.pay_to, &right.pay_to)) {
        let (subject, seen) = (format!("accepts[{}].payTo", right.index), right.pay_to.clone());
        let found = finding("payee.look_alike", "accepts", &format!("{subject}: {seen}"), Some(&left.pay_to));
        reading.findings.push(found);
    }
    if let Some((left, right)) = pairs(&reading.offers).find(|(left, right)| tenfold(left, right)) {
        let seen = format!("accepts[{}] and accepts[{}]", left.index, right.index);
        reading.findings.push(finding("amount.spread", "accepts", &seen, None));
    }
}

/// Line breaks and tabs are ordinary in descriptions.
fn hides(one: char) -> bool {
    clean::hidden(one) && !matches!(one, '\n' | '\r' | '\t')
}

/// The first value, depth first, that `wanted` accepts with its member name; reading bounded the depth.
fn find<'d>(node: Node<'d>, wanted: &impl Fn(&str, Node<'d>) -> bool) -> Option<Node<'d>> {
    let member = node
        .members()
        .find_map(|(name, member)| if wanted(&name, member) { Some(member) } else { find(member, wanted) });
    member.or_else(|| node.items().find_map(|item| if wanted("", item) { Some(item) } else { find(item, wanted) }))
}

fn pairs(offers: &[Offer]) -> impl Iterator<Item = (&Offer, &Offer)> {
    offers.iter().enumerate().flat_map(|(at, left)| offers[at + 1..].iter().map(move |right| (left, right)))
}

/// Not the same, but the parts people compare are: the first six and the last four characters.
fn alike(left: &str, right: &str) -> bool {
    let parts = |text: &str| Some((text.get(..6)?.to_owned(), text.get(text.len().checked_sub(4)?..)?.to_owned()));
    left != right && left.len() > 12 && parts(left).is_some() && parts(left) == parts(right)
}

/// One of two USD prices is ten times the other or more.
fn tenfold(left: &Offer, right: &Offer) -> bool {
    let (Some(left), Some(right)) = (&left.usd, &right.usd) else { return false };
    let (low, high) = if left < right { (left, right) } else { (right, left) };
    let ten = (0..9).fold(low.clone(), |sum, _| sum + low.clone());
    !low.is_zero() && *high >= ten
}
