//! What is asked for: asset, amount, and the price they come to.

use std::borrow::Cow;

use super::super::clean;
use super::{Entry, Profile, extra_text};
use crate::address;
use crate::amount::{Amount, AmountError, Usd};
use crate::asset::{self, AssetRow};
use crate::json::{Node, NodeKind};
use crate::network::{Family, Network};

impl Entry<'_> {
    pub(super) fn asset(&mut self, network: Option<&Network>) -> (String, Option<&'static AssetRow>) {
        let (text, shown) = self.text("asset");
        if self.profile == Profile::Cloudflare && text.as_deref().is_some_and(currency) {
            return (shown, None);
        }
        let Some(text) = text.filter(|text| self.profile == Profile::Chain && !text.is_empty()) else {
            self.note("asset.form", "asset", &shown, None);
            return (shown, None);
        };
        // What an address looks like is the network's to say: where that cannot be read, its own finding tells why.
        let Some(network) = network else { return (shown, None) };
        let row = asset::lookup(network, &text);
        match row {
            None => self.no_row(network, &text, &shown),
            Some(row) if !row.sdk_default => self.note("asset.not_default", "asset", &shown, None),
            Some(_) => {}
        }
        (shown, row)
    }

    /// An asset outside the table: is it no asset at all, does it pretend, or is it merely unknown?
    fn no_row(&mut self, network: &Network, text: &str, shown: &str) {
        let formed = match network.family() {
            Family::Other => true,
            Family::Avm => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()),
            family => address::check(family, text).is_ok(),
        };
        if let Some(row) = asset::look_alike(network, text) {
            self.note("asset.look_alike", "asset", shown, Some(row.address));
        } else if !formed {
            self.note("asset.form", "asset", shown, None);
        } else if network.family() == Family::Other {
        } else if let Some(row) = known_elsewhere(network, text) {
            self.note("asset.other_network", "asset", shown, Some(row.network));
        } else if let Some(row) = self.claimed(network) {
            self.note("asset.impostor", "asset", shown, Some(row.address));
        } else if asset::of(network).next().is_none() {
            self.note("asset.unjudged", "asset", shown, None);
        } else {
            self.note("asset.unknown", "asset", shown, None);
        }
    }

    /// The known asset of this network whose name or ticker the entry gives to another one.
    fn claimed(&self, network: &Network) -> Option<&'static AssetRow> {
        let said = ["name", "symbol"].into_iter().filter_map(|member| extra_text(self.node, member));
        said.filter_map(|text| asset::named_like(network, &text)).next()
    }

    pub(super) fn amount(&mut self) -> Option<Amount> {
        let (member, other) =
            if self.version == 1 { ("maxAmountRequired", "amount") } else { ("amount", "maxAmountRequired") };
        let Some(node) = self.node.get(member) else {
            let crossed = self.node.get(other).is_some();
            let (rule, seen) = if crossed { ("amount.field", other) } else { ("amount.form", "absent") };
            self.note(rule, member, seen, Some(member));
            return None;
        };
        let amount = match node.kind() {
            NodeKind::Number => self.number(node, member),
            _ => self.digits(member),
        };
        self.other_name(other, amount.as_ref());
        amount
    }

    /// The other version's member beside this one: a client of that version would pay what it says.
    fn other_name(&mut self, other: &str, amount: Option<&Amount>) {
        let (Some(node), Some(amount)) = (self.node.get(other), amount) else { return };
        let said = node.as_str().map_or_else(|| node.raw().to_owned(), Cow::into_owned);
        if node.kind() != NodeKind::Null && Amount::parse(&said).ok().as_ref() != Some(amount) {
            self.note("amount.two_names", other, &said, Some(&amount.to_string()));
        }
    }

    fn digits(&mut self, member: &str) -> Option<Amount> {
        let (text, shown) = self.text(member);
        let amount = match text.as_deref().map(Amount::parse) {
            Some(Ok(amount)) => amount,
            Some(Err(AmountError::LeadingZero)) => {
                self.note("amount.leading_zero", member, &shown, None);
                return None;
            }
            _ => {
                self.note("amount.form", member, &shown, None);
                return None;
            }
        };
        if amount.is_zero() {
            self.note("amount.zero", member, &shown, None);
        }
        Some(amount)
    }

    /// A JSON number: strict clients refuse it; the reference buyer reads a whole one however it is spelled.
    fn number(&mut self, node: Node<'_>, member: &str) -> Option<Amount> {
        let raw = node.raw();
        let whole = raw.parse::<f64>().is_ok_and(|value| value >= 0.0 && value == value.trunc());
        match Amount::parse(raw) {
            Ok(amount) => {
                self.note("amount.number", member, raw, Some("the same digits as a string"));
                if amount.is_zero() {
                    self.note("amount.zero", member, raw, None);
                }
                return Some(amount);
            }
            Err(_) if whole => self.note("amount.spelling", member, raw, Some("plain digits as a string")),
            Err(_) => self.note("amount.form", member, raw, None),
        }
        None
    }

    pub(super) fn price(&mut self, usd: Option<&Usd>) {
        let Some(usd) = usd else { return };
        let member = if self.version == 1 { "maxAmountRequired" } else { "amount" };
        if *usd > bounds().1 {
            self.note("amount.honeypot", member, &clean::shown(&format!("{usd} USD")), None);
        } else if *usd > bounds().0 {
            self.note("amount.over_default_cap", member, &format!("{usd} USD"), Some("at most 1 USD"));
        }
    }
}

/// The reference buyer's default cap, and the last price that is not a honeypot's.
fn bounds() -> &'static (Usd, Usd) {
    static BOUNDS: std::sync::LazyLock<(Usd, Usd)> = std::sync::LazyLock::new(|| {
        let read = |text| Usd::parse(text).unwrap_or_default();
        (read("1"), read("999.999999"))
    });
    &BOUNDS
}

/// An ISO 4217 code, by its form.
fn currency(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// The row of another network, of the same family, that this address belongs to.
fn known_elsewhere(network: &Network, text: &str) -> Option<&'static AssetRow> {
    let namespace = network.as_str().split(':').next().unwrap_or_default();
    let kin = |row: &&AssetRow| row.network.split(':').next() == Some(namespace);
    let same = |row: &&AssetRow| match network.family() {
        Family::Evm => row.address.eq_ignore_ascii_case(text),
        Family::Svm | Family::Avm | Family::Other => row.address == text,
    };
    asset::table().iter().filter(kin).find(same)
}
