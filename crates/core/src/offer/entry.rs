//! One entry of `accepts`, member by member. A broken entry is an entry with findings, never an error.

use super::rules::finding;
use super::{Grade, Offer, Source, Word, clean};
use crate::address::{self, Checksum};
use crate::amount::{Amount, Usd};
use crate::asset::{self, AssetRow};
use crate::finding::Finding;
use crate::json::{Node, NodeKind};
use crate::network::{self, Family, Form, Network};

const HOUR: u64 = 3600;

struct Entry<'d> {
    node: Node<'d>,
    index: usize,
    version: u8,
    findings: Vec<Finding>,
    interop: Grade,
}

/// Reads one entry; no offer comes of what is no object.
pub(super) fn read(node: Node<'_>, index: usize, version: u8, source: Source) -> (Option<Offer>, Vec<Finding>) {
    let mut entry = Entry { node, index, version, findings: Vec::new(), interop: Grade::Pass };
    if node.kind() != NodeKind::Object {
        entry.note("accepts.entry", "", node.raw(), None);
        return (None, entry.findings);
    }
    let scheme = entry.scheme();
    let (network_raw, network) = entry.network();
    let (asset, asset_row) = entry.asset(network.as_ref());
    let amount = entry.amount();
    let usd = amount.as_ref().zip(asset_row.filter(|row| row.usd_pegged)).map(|(amount, row)| amount.usd(row.decimals));
    entry.price(usd.as_ref());
    let pay_to = entry.pay_to(network.as_ref(), &asset);
    let max_timeout_seconds = entry.timeout(network.as_ref());
    entry.domain(&scheme, network.as_ref(), asset_row);
    let spec = if entry.findings.iter().any(|finding| breaks_spec(finding.rule)) { Grade::Fail } else { Grade::Pass };
    let offer = Offer {
        index,
        version,
        source,
        scheme,
        network_raw,
        network,
        asset,
        asset_row,
        amount,
        usd,
        pay_to,
        max_timeout_seconds,
        spec,
        interop: entry.interop,
        word: Word::NotPayable,
    };
    (Some(offer), entry.findings)
}

/// Rules about form are the specification's; rules about sense (zero payee, price) are not.
fn breaks_spec(rule: &str) -> bool {
    rule.ends_with(".form")
        || matches!(
            rule,
            "amount.field" | "amount.number" | "timeout.missing" | "network.version1_form" | "network.legacy"
        )
}

impl Entry<'_> {
    fn note(&mut self, rule: &'static str, member: &str, observed: &str, expected: Option<&str>) {
        let dot = if member.is_empty() { "" } else { "." };
        self.findings.push(finding(rule, format!("accepts[{}]{dot}{member}", self.index), observed, expected));
    }

    /// A member that should be text, as text; anything else as it stands, for display.
    fn text(&self, member: &str) -> (Option<String>, String) {
        let node = self.node.get(member);
        let text = node.and_then(Node::as_str).map(|text| text.into_owned());
        let shown = text.clone().unwrap_or_else(|| node.map_or("absent", Node::raw).to_owned());
        (text, clean::shown(&shown))
    }

    fn scheme(&mut self) -> String {
        let (text, shown) = self.text("scheme");
        match text.as_deref() {
            Some("exact") => {}
            Some("upto") => self.note("scheme.upto", "scheme", &shown, None),
            Some("batch-settlement" | "auth-capture") => {}
            _ => self.note("scheme.unknown", "scheme", &shown, Some("exact")),
        }
        shown
    }

    fn network(&mut self) -> (String, Option<Network>) {
        let (text, shown) = self.text("network");
        let read = text.as_deref().and_then(network::read);
        match (&read, self.version) {
            (None, _) => self.note("network.form", "network", &shown, None),
            (Some(read), 2) if matches!(read.form, Form::ShortName | Form::Alias) => {
                self.note("network.form", "network", &shown, Some(read.network.as_str()))
            }
            (Some(read), _) if read.form == Form::AlgorandLegacy => {
                self.note("network.legacy", "network", &shown, Some(read.network.as_str()))
            }
            (Some(read), 1) if read.form == Form::Caip2 => {
                self.note("network.version1_form", "network", &shown, read.network.row().map(|row| row.name))
            }
            _ => {}
        }
        (shown, read.map(|read| read.network))
    }

    fn asset(&mut self, network: Option<&Network>) -> (String, Option<&'static AssetRow>) {
        let (text, shown) = self.text("asset");
        let (Some(network), Some(text)) = (network, text) else {
            self.note("asset.form", "asset", &shown, None);
            return (shown, None);
        };
        if let Some(row) = asset::lookup(network, &text) {
            return (shown, Some(row));
        }
        let formed = if network.family() == Family::Avm {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
        } else {
            address::check(network.family(), &text).is_ok()
        };
        match asset::look_alike(network, &text) {
            Some(row) => self.note("asset.look_alike", "asset", &shown, Some(row.address)),
            None if !formed => self.note("asset.form", "asset", &shown, None),
            None if network.family() != Family::Other => self.note("asset.unknown", "asset", &shown, None),
            None => {}
        }
        (shown, None)
    }

    fn amount(&mut self) -> Option<Amount> {
        let (member, other) =
            if self.version == 1 { ("maxAmountRequired", "amount") } else { ("amount", "maxAmountRequired") };
        if self.node.get(member).is_none() && self.node.get(other).is_some() {
            self.note("amount.field", member, other, Some(member));
            return None;
        }
        let (text, shown) = self.text(member);
        let number = self.node.get(member).filter(|node| node.kind() == NodeKind::Number).map(Node::raw);
        if number.is_some_and(|raw| Amount::parse(raw).is_ok()) {
            self.note("amount.number", member, &shown, Some("the same digits as a string"));
        }
        match text.as_deref().or(number).map(Amount::parse) {
            Some(Ok(amount)) => {
                if amount.is_zero() {
                    self.note("amount.zero", member, &shown, None);
                }
                Some(amount)
            }
            _ => {
                self.note("amount.form", member, &shown, None);
                None
            }
        }
    }

    fn price(&mut self, usd: Option<&Usd>) {
        let Some(usd) = usd else { return };
        let above = |text: &str| Usd::parse(text).is_ok_and(|bound| *usd > bound);
        if above("999.999999") {
            self.note("amount.honeypot", "amount", &format!("{usd} USD"), None);
        } else if above("1") {
            self.note("amount.over_default_cap", "amount", &format!("{usd} USD"), Some("at most 1 USD"));
        }
    }

    fn pay_to(&mut self, network: Option<&Network>, asset: &str) -> String {
        let (text, shown) = self.text("payTo");
        let family = network.map_or(Family::Other, Network::family);
        let checked = match text.as_deref().map(|text| address::check(family, text)) {
            Some(Ok(checked)) => checked,
            _ => {
                self.note("payee.form", "payTo", &shown, None);
                return shown;
            }
        };
        if checked.checksum == Checksum::Wrong {
            self.note("payee.checksum", "payTo", &shown, Some(&checked.display));
        }
        if family == Family::Evm && checked.normal.trim_start_matches("0x").bytes().all(|byte| byte == b'0') {
            self.note("payee.zero", "payTo", &shown, None);
        }
        if checked.normal.eq_ignore_ascii_case(asset) {
            self.note("payee.is_asset", "payTo", &shown, None);
        }
        checked.normal
    }

    fn timeout(&mut self, network: Option<&Network>) -> Option<u64> {
        let node = self.node.get("maxTimeoutSeconds");
        let seconds = node.and_then(Node::as_u64);
        match (node, seconds) {
            (None, _) if network.is_some_and(|network| network.as_str() == "cloudflare:402") => {}
            (None, _) => self.note("timeout.missing", "maxTimeoutSeconds", "absent", Some("a number of seconds")),
            (Some(node), None) => {
                self.note("timeout.form", "maxTimeoutSeconds", node.raw(), Some("a whole number of seconds"))
            }
            (Some(_), Some(seconds)) if seconds > HOUR => {
                self.note("timeout.long", "maxTimeoutSeconds", &seconds.to_string(), Some("at most 3600"))
            }
            _ => {}
        }
        seconds
    }

    /// `extra.name` and `extra.version` against the token's EIP-712 domain: another domain is another
    /// message, so a signature over it never settles.
    fn domain(&mut self, scheme: &str, network: Option<&Network>, row: Option<&'static AssetRow>) {
        if scheme != "exact" || network.is_none_or(|network| network.family() != Family::Evm) {
            return;
        }
        let extra = |member: &str| {
            self.node.get("extra").and_then(|extra| extra.get(member)?.as_str()).map(|text| text.into_owned())
        };
        let (Some(name), Some(version)) = (extra("name"), extra("version")) else {
            self.interop = Grade::Fail;
            return self.note(
                "asset.eip712_missing",
                "extra",
                "no name or version",
                row.and_then(|row| row.eip712_name),
            );
        };
        let Some((right_name, right_version)) = row.and_then(|row| row.eip712_name.zip(row.eip712_version)) else {
            return;
        };
        if (name.as_str(), version.as_str()) != (right_name, right_version) {
            self.note(
                "asset.eip712_name",
                "extra",
                &format!("{name} / {version}"),
                Some(&format!("{right_name} / {right_version}")),
            );
        }
    }
}
