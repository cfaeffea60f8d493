//! One thing a rule saw, in words a person can act on.

use std::cmp::{Ordering, Reverse};

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

impl Finding {
    /// In which order findings are told: the gravest first, then by place, then by rule.
    pub fn order(&self, other: &Self) -> Ordering {
        let by_weight = Reverse(self.severity).cmp(&Reverse(other.severity));
        by_weight.then_with(|| places(&self.subject, &other.subject)).then_with(|| self.rule.cmp(other.rule))
    }
}

/// `accepts[2]` stands before `accepts[10]`: runs of digits are compared as numbers.
fn places(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left, right);
    loop {
        let ((word, left_rest), (other, right_rest)) = (run(left), run(right));
        let number = word.starts_with(|one: char| one.is_ascii_digit());
        let by_size = if number { word.len().cmp(&other.len()) } else { Ordering::Equal };
        match by_size.then_with(|| word.cmp(other)) {
            Ordering::Equal if word.is_empty() => return Ordering::Equal,
            Ordering::Equal => (left, right) = (left_rest, right_rest),
            unequal => return unequal,
        }
    }
}

/// The digits or the other characters that `text` begins with, and the rest.
fn run(text: &str) -> (&str, &str) {
    let digit = text.starts_with(|one: char| one.is_ascii_digit());
    text.split_at(text.find(|one: char| one.is_ascii_digit() != digit).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_the_order_in_which_people_read_them() {
        let wanted = ["accepts", "accepts[0]", "accepts[0].amount", "accepts[2].a", "accepts[10].a", "body:x", "url"];
        for (at, left) in wanted.iter().enumerate() {
            for (other, right) in wanted.iter().enumerate() {
                assert_eq!(places(left, right), at.cmp(&other), "{left} {right}");
            }
        }
    }
}
