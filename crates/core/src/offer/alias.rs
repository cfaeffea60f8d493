//! Headers beside the one that is graded, under names that sellers have sent terms in. No standard client reads them, and the
//! buyer of somebody's own that does must not be told a second story that we never looked at.

use super::header::{self, Terms};
use super::rules::finding;
use super::written::Page;
use super::x402::{BESIDE, MOST_OFFERS, ambiguous, opens_as_json};
use super::{Exchange, Offer, Reading, Source, compare, entry};
use crate::json::{self, Node, NodeKind};

/// Tells each of them once, and compares what it asks with what was read from the header of `terms`.
pub(super) fn examine(exchange: &Exchange<'_>, terms: &Terms, reading: &mut Reading) {
    let graded = reading.offers.clone();
    for (place, value) in &terms.beside {
        let found = finding("header.alias_beside", *place, header::name(place), Some(header::name(terms.place)));
        if !reading.findings.contains(&found) {
            reading.findings.push(found);
        }
        let read = value.as_deref().map_or(Err("more than 64 KiB".to_owned()), json_of);
        match read {
            Ok(Some((doc, doubt))) => {
                let channels = (header::name(place), header::name(terms.place));
                compare_all(exchange, doc.root(), &graded, channels, reading);
                unreadable(place, doubt, reading);
            }
            Ok(None) => {}
            Err(why) => unreadable(place, Some(why), reading),
        }
    }
}

fn unreadable(place: &'static str, why: Option<String>, reading: &mut Reading) {
    let found = why.map(|why| finding("header.alias_unreadable", place, &why, None));
    reading.findings.extend(found.filter(|found| !reading.findings.contains(found)));
}

/// A value as JSON, and why two readers may read two stories in it; nothing for what does not even begin as JSON.
fn json_of(value: &[u8]) -> Result<Option<(json::Doc<'_>, Option<String>)>, String> {
    match json::observe(value, &BESIDE) {
        Ok((doc, defects)) => {
            let doubt = ambiguous(doc.root(), entries(doc.root()), &defects);
            Ok(Some((doc, doubt)))
        }
        Err(error) if opens_as_json(value) => Err(error.to_string()),
        Err(_) => Ok(None),
    }
}

/// Entries that state an amount, read as each version reads them: a buyer of either may be meant.
fn compare_all(
    exchange: &Exchange<'_>,
    root: Node<'_>,
    graded: &[Offer],
    channels: (&str, &str),
    reading: &mut Reading,
) {
    let page = Page::of(root);
    for (version, member) in [(2, "amount"), (1, "maxAmountRequired")] {
        let place = entry::Place { page: &page, asked: exchange.url, version, source: Source::Header, prefix: "" };
        let stating = entries(root).into_iter().enumerate().filter(|(_, node)| node.get(member).is_some());
        let offers: Vec<_> = stating.filter_map(|(index, node)| entry::read(node, index, &place).0).collect();
        compare::channels(graded, &offers, channels, reading);
    }
}

/// The entries of an envelope, of a bare list, or the one that stands alone.
fn entries(root: Node<'_>) -> Vec<Node<'_>> {
    match root.get("accepts") {
        Some(list) => list.items().take(MOST_OFFERS).collect(),
        None if root.kind() == NodeKind::Array => root.items().take(MOST_OFFERS).collect(),
        None => vec![root],
    }
}
