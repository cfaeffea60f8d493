//! Headers beside the one that is graded, under names that sellers have sent terms in. No standard client reads them, and the
//! buyer of somebody's own that does must not be told a second story that we never looked at.

use super::beside::{LIMITS, Story, opens_as_json};
use super::header::{self, Terms};
use super::rules::finding;
use super::{Exchange, Reading};
use crate::json::{self, Node, NodeKind};

/// Tells each of them once, and compares what it asks with what was read from the header of `terms`.
pub(super) fn examine(exchange: &Exchange<'_>, terms: &Terms, reading: &mut Reading) {
    if terms.beside.is_empty() {
        return;
    }
    let graded = reading.offers.clone();
    for (place, value) in &terms.beside {
        let found = finding("header.alias_beside", *place, header::name(place), Some(header::name(terms.place)));
        if !reading.findings.contains(&found) {
            reading.findings.push(found);
        }
        let read =
            value.as_deref().map_or(Err("more than 64 KiB of a value, or more than 32 values".to_owned()), json_of);
        let doubt = match read {
            Ok(Some((doc, defects))) => {
                let story = Story::of(doc.root());
                story.compare(exchange.url, &graded, (header::name(place), header::name(terms.place)), reading);
                story.ambiguous(&defects).or_else(|| uncompared(&story, doc.root(), exchange.url))
            }
            Ok(None) => None,
            Err(why) => Some(why),
        };
        let found = doubt.map(|why| finding("header.alias_unreadable", *place, &why, None));
        reading.findings.extend(found.filter(|found| !reading.findings.contains(found)));
    }
}

/// A value as JSON; nothing for what does not even begin as JSON.
fn json_of(value: &[u8]) -> Result<Option<(json::Doc<'_>, Vec<json::Defect>)>, String> {
    match json::observe(value, &LIMITS) {
        Ok(read) => Ok(Some(read)),
        Err(error) if opens_as_json(value) => Err(error.to_string()),
        Err(_) => Ok(None),
    }
}

/// What cannot be compared. Under these names stand terms and no words for people, so all that is not empty is meant.
fn uncompared(story: &Story<'_>, root: Node<'_>, asked: &str) -> Option<String> {
    let empty = |node: Node<'_>| node.items().next().is_none() && node.members().next().is_none();
    let said = match root.kind() {
        NodeKind::Object | NodeKind::Array => !empty(root.get("accepts").unwrap_or(root)),
        _ => false,
    };
    let nothing = || (said && story.is_empty()).then(|| format!("cannot be compared: {}", root.raw()));
    story.uncompared(asked, &[]).or_else(nothing)
}
