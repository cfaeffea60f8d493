//! Terms beside those of the graded header: in the body, or in another header. No standard client of version 2 reads them, and
//! a buyer of somebody's own that does must not be told a second story that we never looked at.
//!
//! The members of `accepts` are terms, whatever it is: a list, or the one entry itself. So is every object that names a
//! recipient, alone or within anything but what only describes a call. What cannot be compared is told.

use super::compare;
use super::entry;
use super::names;
use super::written::Page;
use super::x402::MOST_OFFERS;
use super::{Offer, Reading, Source};
use crate::address;
use crate::json::{self, DefectKind, Limits, Node, NodeKind};
use crate::network::{self, Family};
use crate::steps;

/// How what stands beside the graded header is read: deeper than the terms that are paid by. Every reader of JSON goes this deep, so
/// that a few dozen brackets must not hide the second story from us alone.
pub(super) const LIMITS: Limits = Limits { depth: 256, members: 10_000, string: 64 << 10, size: 1 << 20 };

/// Members in which recipients are examples, or signed again: nobody pays by what stands there.
const DESCRIBING: [&str; 3] = ["extensions", "inputSchema", "outputSchema"];

/// The two versions, and the member that each states its amount in.
const VERSIONS: [(u8, &str); 2] = [(2, "amount"), (1, "maxAmountRequired")];

/// What one text states beside the graded header.
pub(super) struct Story<'d> {
    root: Node<'d>,
    page: Page<'d>,
    /// The entries of `accepts`.
    listed: Vec<Node<'d>>,
    /// Objects elsewhere that name a recipient.
    loose: Vec<Node<'d>>,
    /// Whether there are more of either than are compared.
    more: bool,
}

impl<'d> Story<'d> {
    /// What the text whose outermost value is `root` states.
    pub(super) fn of(root: Node<'d>) -> Self {
        let mut listed = root.get("accepts").map(entries).unwrap_or_default();
        let mut loose = Vec::new();
        collect(root, true, &mut loose);
        let more = listed.len().max(loose.len()) > MOST_OFFERS;
        listed.truncate(MOST_OFFERS);
        loose.truncate(MOST_OFFERS);
        Self { root, page: Page::of(root), listed, loose, more }
    }

    /// Whether there is nothing in it that anybody could take for terms.
    pub(super) fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.loose.is_empty()
    }

    /// Why two readers may read two stories in it; none where they cannot, or where it states no terms.
    pub(super) fn ambiguous(&self, defects: &[json::Defect]) -> Option<String> {
        let stated = !self.is_empty() || self.root.get("accepts").is_some();
        let twice = defects.iter().find(|defect| stated && defect.kind == DefectKind::Duplicate);
        let twice = twice.map(|defect| json::Error { at: defect.at, kind: json::Kind::Duplicate }.to_string());
        let case = || names::strays(self.root, &["accepts"]) || self.all().any(|one| names::strays(one, &names::ENTRY));
        twice.or_else(|| case().then(|| "names that differ from those of x402 in letter case alone".to_owned()))
    }

    /// Compares what it asks with what was `graded`, as each version reads it: a buyer of either may be meant. An amount
    /// counts where it is stated, readable or not: what we cannot read, another reader may.
    pub(super) fn compare(&self, asked: &str, graded: &[Offer], called: (&str, &str), reading: &mut Reading) {
        for (version, member) in VERSIONS {
            let read = |nodes: &[Node<'d>]| -> Vec<Offer> {
                let stating = nodes.iter().enumerate().filter(|(_, node)| node.get(member).is_some());
                stating.filter_map(|(index, node)| self.offer(*node, index, version, asked)).collect()
            };
            compare::channels(graded, &read(&self.listed), called, reading);
            // The same option in several places is one option.
            for offer in read(&self.loose) {
                compare::channels(graded, &[offer], called, reading);
            }
        }
    }

    /// What it states and cannot be compared. Entries that name a payee of `known` are not told: they lead to nobody else.
    pub(super) fn uncompared(&self, asked: &str, known: &[Offer]) -> Option<String> {
        if self.more {
            return Some(format!("more than {MOST_OFFERS} entries"));
        }
        let leads_home = |offer: &Offer| offer.recipient().is_some() && known.iter().any(|one| same_payee(one, offer));
        let silent = |node: Node<'d>| {
            let offer = self.offer(node, 0, 2, asked);
            offer.is_some_and(|offer| comparable(node, &offer) || leads_home(&offer))
        };
        let unlike = self.all().find(|node| !silent(*node))?;
        Some(format!("cannot be compared: {}", unlike.raw()))
    }

    fn all(&self) -> impl Iterator<Item = Node<'d>> {
        self.listed.iter().chain(&self.loose).copied()
    }

    fn offer(&self, node: Node<'d>, index: usize, version: u8, asked: &str) -> Option<Offer> {
        let place = entry::Place { page: &self.page, asked, version, source: Source::Body, prefix: "" };
        entry::read(node, index, &place).0
    }
}

/// The entries that `accepts` stands for: its items, or itself where it is no list.
fn entries(accepts: Node<'_>) -> Vec<Node<'_>> {
    match accepts.kind() {
        NodeKind::Array => accepts.items().take(MOST_OFFERS + 1).collect(),
        NodeKind::Null => Vec::new(),
        _ => vec![accepts],
    }
}

/// Objects that name a recipient, outermost first; inside of one nothing more is looked for, except in the outermost value.
fn collect<'d>(node: Node<'d>, outermost: bool, found: &mut Vec<Node<'d>>) {
    steps::more(1);
    if found.len() > MOST_OFFERS {
        return;
    }
    if names_recipient(node) {
        found.push(node);
        if !outermost {
            return;
        }
    }
    let described = |name: &str| DESCRIBING.contains(&name) || outermost && name == "accepts";
    node.items().for_each(|item| collect(item, false, found));
    node.members().filter(|(name, _)| !described(name)).for_each(|(_, member)| collect(member, false, found));
}

/// Whether `node` has a recipient, in any letter case; a schema that describes the member has none.
fn names_recipient(node: Node<'_>) -> bool {
    node.members().any(|(name, value)| value.kind() == NodeKind::String && names::folds(&name, "payTo"))
}

/// Whether `offer`, read from `node`, says enough to be told from the options of the header.
fn comparable(node: Node<'_>, offer: &Offer) -> bool {
    let text = |name: &&str| node.get(name).is_some_and(|value| value.kind() == NodeKind::String);
    let priced = VERSIONS.iter().any(|(_, member)| node.get(member).is_some());
    let (known, meant) = (offer.network.as_ref(), network::meant(&offer.network_raw));
    let evm = known.is_some_and(|network| network.family() == Family::Evm);
    let asset = !evm || address::check(Family::Evm, &offer.asset).is_ok();
    priced && ["scheme", "network", "asset"].iter().all(text) && asset && (known.is_some() || meant.is_none())
}

/// Whether `offer`, whose network may not be said, names the payee of `known`.
fn same_payee(known: &Offer, offer: &Offer) -> bool {
    let evm = known.network.as_ref().is_some_and(|network| network.family() == Family::Evm);
    known.pay_to == offer.pay_to || evm && known.pay_to.eq_ignore_ascii_case(&offer.pay_to)
}

/// Whether the first characters open an object or a list, in UTF-8 or in the encodings that lenient readers guess (UTF-16,
/// UTF-32).
pub(super) fn opens_as_json(text: &[u8]) -> bool {
    opening(text).next().is_some_and(|first| matches!(first, b'{' | b'['))
}

/// Whether they open an object, or a list of objects: a note in brackets is no list of terms.
pub(super) fn opens_as_terms(text: &[u8]) -> bool {
    opening(text).find(|byte| *byte != b'[') == Some(b'{')
}

/// `text` without space and without what belongs to an encoding alone.
fn opening(text: &[u8]) -> impl Iterator<Item = u8> {
    let passed = |byte: &u8| matches!(byte, 0 | b' ' | b'\t' | b'\r' | b'\n' | 0xef | 0xbb | 0xbf | 0xfe | 0xff);
    text.iter().copied().filter(move |byte| !passed(byte))
}
