//! How long an authorisation would stay good. The reference buyer adds `maxTimeoutSeconds` to the time of day with
//! whatever JavaScript's `+` makes of it, so what kind of value stands there decides what a buyer signs.

use super::{Entry, Profile};
use crate::json::{Node, NodeKind};
use crate::network::Network;

/// Longest lifetime that is not remarked on.
const HOUR: u64 = 3600;
const MEMBER: &str = "maxTimeoutSeconds";

impl Entry<'_> {
    pub(super) fn timeout(&mut self, network: Option<&Network>) -> Option<u64> {
        let optional = self.profile == Profile::Cloudflare;
        let Some(node) = self.node.get(MEMBER) else {
            if !optional {
                self.note("timeout.missing", MEMBER, "absent", Some("a number of seconds"));
            }
            return None;
        };
        let raw = node.raw();
        match node.kind() {
            NodeKind::Number if optional && raw == "0" => None,
            NodeKind::Number => self.seconds(node, network),
            kind => {
                let rule = match kind {
                    NodeKind::Null => "timeout.past",
                    NodeKind::Bool if raw == "false" => "timeout.past",
                    NodeKind::String if !digits(&node) => "timeout.unreadable",
                    NodeKind::Object => "timeout.unreadable",
                    _ => "timeout.form",
                };
                self.note(rule, MEMBER, raw, Some("a whole number of seconds"));
                None
            }
        }
    }

    fn seconds(&mut self, node: Node<'_>, network: Option<&Network>) -> Option<u64> {
        let raw = node.raw();
        let value = raw.parse::<f64>().unwrap_or(f64::INFINITY);
        let seconds = node.as_u64();
        let settles = network.and_then(|network| network.row()?.settlement_latency_ms).unwrap_or(0);
        let least = settles.div_ceil(1000);
        let rule = match seconds {
            _ if value <= 0.0 => Some("timeout.past"),
            _ if value != value.trunc() => Some("timeout.fraction"),
            _ if value < least as f64 => Some("timeout.short"),
            Some(seconds) if seconds <= HOUR => None,
            None if value <= 3600.0 => None,
            _ => Some("timeout.long"),
        };
        if let Some(rule) = rule {
            self.note(rule, MEMBER, raw, Some("60 to 300, at most 3600"));
        }
        seconds
    }
}

fn digits(node: &Node<'_>) -> bool {
    node.as_str().is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
}
