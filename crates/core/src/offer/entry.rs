//! One entry of `accepts`, member by member. A broken entry is an entry with findings, never an error, and what it
//! finds stands at its own place, so that it never weighs on its neighbours.

mod cost;
mod extra;
mod money;
mod payee;
mod time;

use std::borrow::Cow;

use super::rules::finding;
use super::written::Page;
use super::{Grade, Interop, Offer, Source, Word, clean, names, resource};
use crate::finding::Finding;
use crate::json::{Node, NodeKind};
use crate::network::{self, Family, Form, Network, NetworkError};

/// Where an entry stands.
pub(super) struct Place<'a> {
    /// The text it is part of.
    pub(super) page: &'a Page<'a>,
    /// The URL that was asked.
    pub(super) asked: &'a str,
    /// The envelope's version, 1 or 2.
    pub(super) version: u8,
    /// Its channel.
    pub(super) source: Source,
    /// What places in its envelope begin with: nothing, or `body:`.
    pub(super) prefix: &'a str,
}

/// How the terms of an entry are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Exact,
    Upto,
    /// Of the specification, and not judged by us.
    Other,
    Unknown,
}

/// Where an entry's payment is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Profile {
    /// On a network.
    Chain,
    /// With Cloudflare: the payee is a role, the asset a currency, and the network's name no CAIP-2 id.
    Cloudflare,
}

/// The network's name in the Cloudflare profile.
const CLOUDFLARE: &str = "cloudflare:402";

struct Entry<'d> {
    node: Node<'d>,
    version: u8,
    profile: Profile,
    subject: String,
    scheme: Scheme,
    family: Option<Family>,
    findings: Vec<Finding>,
}

/// Reads one entry; no offer comes of what is no object.
pub(super) fn read<'d>(node: Node<'d>, index: usize, place: &Place<'d>) -> (Option<Offer>, Vec<Finding>) {
    let subject = format!("{}accepts[{index}]", place.prefix);
    let mut entry = Entry {
        node,
        version: place.version,
        profile: Profile::Chain,
        subject,
        scheme: Scheme::Unknown,
        family: None,
        findings: Vec::new(),
    };
    if node.kind() != NodeKind::Object {
        entry.note("accepts.entry", "", node.raw(), None);
        return (None, entry.findings);
    }
    let inside = format!("{}.", entry.subject);
    names::examine(node, &names::ENTRY, &inside, &mut entry.findings);
    let offer = entry.offer(index, place);
    (Some(offer), entry.findings)
}

impl<'d> Entry<'d> {
    fn offer(&mut self, index: usize, place: &Place<'d>) -> Offer {
        let scheme = self.scheme();
        let (network_raw, network) = self.network();
        self.family = network.as_ref().map(Network::family);
        let (asset, asset_row) = self.asset(network.as_ref());
        let amount = self.amount();
        let par = asset_row.filter(|row| row.usd_pegged).zip(amount.as_ref());
        let par = par.map(|(row, amount)| amount.usd(row.decimals));
        // The reference buyer's cap counts play money like money.
        self.price(par.as_ref());
        let worth = network.as_ref().is_none_or(|network| !network.is_test());
        let usd = par.filter(|_| worth);
        let fees = self.fees(amount.as_ref(), asset_row).filter(|_| worth);
        let pay_to = self.pay_to(&asset, network.as_ref());
        let max_timeout_seconds = self.timeout(network.as_ref());
        self.extra(asset_row);
        self.version_1(place.asked);
        Offer {
            index,
            subject: self.subject.clone(),
            version: self.version,
            source: place.source,
            scheme,
            network_raw,
            network,
            asset,
            asset_row,
            amount,
            usd,
            fees,
            pay_to,
            max_timeout_seconds,
            written: place.page.at(self.node),
            spec: Grade::Fail,
            interop: Interop::NotEvaluated,
            word: Word::NotPayable,
        }
    }

    fn note(&mut self, rule: &'static str, member: &str, observed: &str, expected: Option<&str>) {
        let dot = if member.is_empty() { "" } else { "." };
        self.findings.push(finding(rule, format!("{}{dot}{member}", self.subject), observed, expected));
    }

    /// A member that should be text, as text; anything else as it stands, for display.
    fn text(&self, member: &str) -> (Option<Cow<'d, str>>, String) {
        let node = self.node.get(member);
        let text = node.and_then(Node::as_str);
        let shown = text.as_deref().unwrap_or_else(|| node.map_or("absent", Node::raw));
        let shown = clean::shown(shown);
        (text, shown)
    }

    fn scheme(&mut self) -> String {
        let (text, shown) = self.text("scheme");
        self.scheme = match text.as_deref() {
            Some("exact") => Scheme::Exact,
            Some("upto") => Scheme::Upto,
            Some("batch-settlement" | "auth-capture") => Scheme::Other,
            _ => Scheme::Unknown,
        };
        match self.scheme {
            Scheme::Exact => {}
            Scheme::Upto => self.note("scheme.upto", "scheme", &shown, None),
            Scheme::Other => self.note("scheme.unjudged", "scheme", &shown, None),
            Scheme::Unknown => self.note("scheme.unknown", "scheme", &shown, Some("exact")),
        }
        shown
    }

    fn network(&mut self) -> (String, Option<Network>) {
        let (text, shown) = self.text("network");
        if text.as_deref() == Some(CLOUDFLARE) {
            self.profile = Profile::Cloudflare;
            self.note("profile.cloudflare", "network", &shown, None);
            return (shown, None);
        }
        let Some(read) = text.as_deref().and_then(network::read) else {
            let meant = network::meant(&shown).map(|row| if self.version == 1 { row.name } else { row.caip2 });
            let shared = text.as_deref().map(Network::parse_caip2) == Some(Err(NetworkError::Ambiguous));
            let rule = if shared { "network.ambiguous" } else { "network.form" };
            self.note(rule, "network", &shown, meant);
            return (shown, None);
        };
        match (read.form, self.version) {
            (Form::ShortName | Form::Alias, 2) => {
                self.note("network.form", "network", &shown, Some(read.network.as_str()));
            }
            (Form::AlgorandLegacy, _) => {
                self.note("network.legacy", "network", &shown, Some(read.network.as_str()));
            }
            (Form::Caip2 | Form::Alias, 1) => {
                self.note("network.version1_form", "network", &shown, read.network.row().map(|row| row.name));
            }
            _ => {}
        }
        if read.network.is_test() {
            self.note("network.test", "network", &shown, None);
        }
        if read.network.family() == Family::Other {
            self.note("network.unjudged", "network", &shown, None);
        }
        (shown, Some(read.network))
    }

    /// What version 1 puts into each entry: the resource and its description.
    fn version_1(&mut self, asked: &str) {
        if self.version != 1 {
            return;
        }
        let subject = format!("{}.resource", self.subject);
        match self.text("resource") {
            (Some(url), _) => resource::compare(asked, &url, &subject, &mut self.findings),
            (None, shown) => self.note("resource.missing", "resource", &shown, Some(asked)),
        }
        if let (None, shown) = self.text("description") {
            self.note("description.missing", "description", &shown, None);
        }
    }

    fn is_evm(&self) -> bool {
        self.family == Some(Family::Evm)
    }
}

/// A member of `extra` as text.
fn extra_text(node: Node<'_>, member: &str) -> Option<String> {
    node.get("extra").and_then(|extra| extra.get(member)?.as_str()).map(|text| text.into_owned())
}
