//! The table of rules (`data/rules.tsv`) and the only way to make a [`Finding`].

use std::collections::HashMap;
use std::sync::LazyLock;

use super::clean;
use crate::finding::{Finding, Severity};

/// One rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Dotted, stable id.
    pub id: &'static str,
    /// Weight of its findings.
    pub severity: Severity,
    /// What a finding means, one line.
    pub reason: &'static str,
    /// What to do.
    pub hint: &'static str,
    /// Where the rule comes from.
    pub source: &'static str,
    /// The dimensions that its findings fail, as the table writes them.
    fails: &'static str,
}

/// What a finding can fail beside the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// The specification.
    Spec,
    /// The reference buyer with its default settings: it refuses to sign.
    Buyer,
}

impl Rule {
    /// Whether a finding of this rule fails `dimension`.
    pub fn fails(&self, dimension: Dimension) -> bool {
        let name = match dimension {
            Dimension::Spec => "spec",
            Dimension::Buyer => "buyer",
        };
        self.fails.split(' ').any(|word| word == name)
    }
}

/// The rule called `id`.
pub fn rule(id: &str) -> Option<&'static Rule> {
    static BY_ID: LazyLock<HashMap<&'static str, &'static Rule>> =
        LazyLock::new(|| table().iter().map(|rule| (rule.id, rule)).collect());
    BY_ID.get(id).copied()
}

/// Every rule, in the table's order.
pub fn table() -> &'static [Rule] {
    static TABLE: LazyLock<Vec<Rule>> =
        LazyLock::new(|| include_str!("../../data/rules.tsv").lines().skip(1).filter_map(row).collect());
    &TABLE
}

fn row(line: &'static str) -> Option<Rule> {
    let mut cells = line.split('\t');
    let mut next = || cells.next();
    let (id, severity) = (next()?, severity(next()?)?);
    Some(Rule { id, severity, reason: next()?, hint: next()?, source: next()?, fails: next().unwrap_or_default() })
}

fn severity(word: &str) -> Option<Severity> {
    match word {
        "info" => Some(Severity::Info),
        "low" => Some(Severity::Low),
        "medium" => Some(Severity::Medium),
        "high" => Some(Severity::High),
        "block" => Some(Severity::Block),
        _ => None,
    }
}

/// A finding of the rule called `id`. Place and texts are cleaned and capped here, so no caller
/// can forget.
/// An id outside the table is filed under itself as a blocking finding: a test proves there is none.
pub fn finding(id: &'static str, subject: impl Into<String>, observed: &str, expected: Option<&str>) -> Finding {
    let rule = rule(id);
    Finding {
        rule: id,
        severity: rule.map_or(Severity::Block, |rule| rule.severity),
        subject: clean::place(&subject.into()),
        observed: clean::shown(observed),
        expected: expected.map(clean::shown),
        hint: rule.map_or("report this as a defect of the checker", |rule| rule.hint),
    }
}

const HEAD: &str = "# Rules

Every finding names one of these. `block` makes an offer not payable, `high` and `medium` make it payable with \
warnings; `low` and `info` are told and change no word. *Fails* names the grade that a finding fails: `spec`, the \
specification; `buyer`, the reference buyer with its default settings (`interop`). An offer that the reference buyer \
refuses is not payable, except where it refuses by a setting that a buyer may change: `amount.over_default_cap`, \
`asset.not_default`, `asset.unknown`, `asset.unjudged`, `header.huge`.

| rule | severity | fails | what it saw | what to do | source |
|---|---|---|---|---|---|
";

/// `docs/rules.md`, whole.
pub fn document() -> String {
    let rows = table().iter().map(|rule| {
        let severity = format!("{:?}", rule.severity).to_lowercase();
        format!("| `{}` | {severity} | {} | {} | {} | {} |\n", rule.id, rule.fails, rule.reason, rule.hint, rule.source)
    });
    HEAD.to_owned() + &rows.collect::<String>()
}
