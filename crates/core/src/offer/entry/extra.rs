//! `extra`: what a scheme needs beside the terms, per scheme and network family.

use std::borrow::Cow;

use super::{Entry, Scheme, extra_text};
use crate::asset::AssetRow;
use crate::json::{Node, NodeKind};
use crate::network::Family;

impl Entry<'_> {
    pub(super) fn extra(&mut self, row: Option<&'static AssetRow>) {
        self.decimals(row);
        self.payment_flow();
        match (self.scheme, self.family) {
            (Scheme::Exact, Some(Family::Evm)) => {
                self.transfer_method(row);
                self.domain(row);
            }
            (Scheme::Exact, Some(Family::Svm)) if extra_text(self.node, "feePayer").is_none() => {
                self.note("extra.fee_payer_missing", "extra.feePayer", "absent", None);
            }
            (Scheme::Upto, Some(family @ (Family::Evm | Family::Svm))) => self.facilitator(family),
            _ => {}
        }
    }

    fn member(&self, name: &str) -> Option<Node<'_>> {
        self.node.get("extra").and_then(|extra| extra.get(name))
    }

    fn decimals(&mut self, row: Option<&'static AssetRow>) {
        let claim = self.member("decimals").map(|node| (node.as_u64(), node.raw().to_owned()));
        let Some((row, (claimed, raw))) = row.zip(claim) else { return };
        if claimed != Some(u64::from(row.decimals)) {
            self.note("asset.decimals", "extra.decimals", &raw, Some(&row.decimals.to_string()));
        }
    }

    fn payment_flow(&mut self) {
        let flow = self.member("paymentFlow").map(|node| node.raw().to_owned());
        let known = ["\"authorization\"", "\"upfront\"", "\"escrow\""];
        if let Some(flow) = flow.filter(|flow| !known.contains(&flow.as_str())) {
            self.note("extra.payment_flow", "extra.paymentFlow", &flow, None);
        }
    }

    /// How the token is moved. Every token can be moved through Permit2; not every token has EIP-3009, which a client takes
    /// where nothing is said, and in version 1 whatever is said.
    fn transfer_method(&mut self, row: Option<&'static AssetRow>) {
        const MEMBER: &str = "extra.assetTransferMethod";
        let permit2_alone = row.is_some_and(|row| row.method.starts_with("permit2"));
        let said = extra_text(self.node, "assetTransferMethod");
        if self.version == 1 && permit2_alone {
            let seen = said.as_deref().unwrap_or("absent");
            return self.note("asset.transfer_method", MEMBER, seen, Some("permit2, and version 2"));
        }
        match said.as_deref() {
            Some("eip3009") if permit2_alone => self.note("asset.transfer_method", MEMBER, "eip3009", Some("permit2")),
            None if permit2_alone => self.note("asset.transfer_default", MEMBER, "absent", Some("permit2")),
            None | Some("eip3009" | "permit2" | "erc7710") => {}
            Some(method) => self.note("extra.transfer_method", MEMBER, method, None),
        }
    }

    /// `extra.name` and `extra.version` against the token's EIP-712 domain: another domain is another message, so a
    /// signature over it never settles. Permit2 signs under its own domain and needs neither; version 1 knows EIP-3009 alone.
    fn domain(&mut self, row: Option<&'static AssetRow>) {
        let method = extra_text(self.node, "assetTransferMethod").filter(|_| self.version != 1);
        if matches!(method.as_deref(), Some("permit2" | "erc7710")) {
            return;
        }
        let (Some(name), Some(version)) = (self.stated("name"), self.stated("version")) else {
            let expected = row.and_then(|row| row.eip712_name);
            return self.note("asset.eip712_missing", "extra", "no name or version", expected);
        };
        let Some(row) = row else { return };
        let seen = format!("{} / {}", self.for_people("name"), self.for_people("version"));
        let Some((right_name, right_version)) = row.eip712_name.zip(row.eip712_version) else {
            return self.note("asset.eip712_unjudged", "extra", &seen, None);
        };
        let right = |text: &str| serde_json::to_string(text).unwrap_or_default();
        if (name.as_str(), version.as_str()) != (right(right_name).as_str(), right(right_version).as_str()) {
            self.note("asset.eip712_name", "extra", &seen, Some(&format!("{right_name} / {right_version}")));
        }
    }

    /// A member of `extra` as it stands beside what it should be: text without quotes, anything else said to be no text.
    fn for_people(&self, name: &str) -> String {
        let Some(node) = self.member(name) else { return "absent".to_owned() };
        let kind = if node.kind() == NodeKind::Number { "a number" } else { "JSON" };
        node.as_str().map_or_else(|| format!("{} ({kind}, not text)", node.raw()), Cow::into_owned)
    }

    /// A member of `extra` as JSON, when JavaScript would not take it for absent.
    fn stated(&self, name: &str) -> Option<String> {
        let node = self.member(name)?;
        match (node.kind(), node.as_str()) {
            (NodeKind::Null, _) | (NodeKind::Bool, _) => None,
            (NodeKind::Number, _) if node.raw() == "0" => None,
            (_, Some(text)) if text.is_empty() => None,
            (_, Some(text)) => serde_json::to_string(&text).ok(),
            _ => Some(node.raw().to_owned()),
        }
    }

    /// `upto` names its facilitator by another member on each network family.
    fn facilitator(&mut self, family: Family) {
        let (right, other) = match family {
            Family::Evm => ("facilitatorAddress", "facilitator"),
            _ => ("facilitator", "facilitatorAddress"),
        };
        match (self.member(right).is_some(), self.member(other).is_some()) {
            (true, _) => {}
            (false, true) => {
                self.note("upto.facilitator_name", "extra", &format!("extra.{other}"), Some(&format!("extra.{right}")));
            }
            (false, false) => self.note("upto.facilitator_missing", "extra", "absent", Some(right)),
        }
        if family == Family::Evm && (self.stated("name").is_none() || self.stated("version").is_none()) {
            self.note("upto.domain_missing", "extra", "no name or version", None);
        }
    }
}
