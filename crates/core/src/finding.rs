//! One thing a rule saw, in words a person can act on.

use serde::Serialize;

/// How much a finding weighs. `High` turns a payable offer into one with warnings; `Block` makes it
/// not payable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; changes nothing.
    Info,
    /// A small deviation.
    Low,
    /// A deviation that some clients stumble over.
    Medium,
    /// A danger to the buyer, or a defect most clients stumble over.
    High,
    /// Nobody should sign this.
    Block,
}

/// What a rule saw. Built from the rule table only, so every finding has a documented id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Dotted, stable rule id, documented in `docs/rules.md`.
    pub rule: &'static str,
    /// Weight.
    pub severity: Severity,
    /// Where: a path such as `accepts[0].amount`, `header:PAYMENT-REQUIRED`, `transport`; cleaned
    /// and capped. Names in it are the seller's: untrusted text.
    pub subject: String,
    /// What was seen, already cleaned and capped for display. Untrusted text.
    pub observed: String,
    /// What would have been right, when that is known; cleaned and capped. It may quote what the seller
    /// said elsewhere: untrusted text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What to do about it.
    pub hint: &'static str,
}
