//! The table of rules (`data/rules.tsv`) and the only way to make a [`Finding`].

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
    Some(Rule { id, severity, reason: next()?, hint: next()?, source: next()? })
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

/// A finding of the rule called `id`. `observed` is cleaned and capped here, so no caller can forget.
/// An id outside the table is filed under itself as a blocking finding: a test proves there is none.
pub fn finding(id: &'static str, subject: impl Into<String>, observed: &str, expected: Option<&str>) -> Finding {
    let rule = table().iter().find(|rule| rule.id == id);
    Finding {
        rule: id,
        severity: rule.map_or(Severity::Block, |rule| rule.severity),
        subject: subject.into(),
        observed: clean::shown(observed),
        expected: expected.map(clean::shown),
        hint: rule.map_or("report this as a defect of the checker", |rule| rule.hint),
    }
}

/// `docs/rules.md`, whole.
pub fn document() -> String {
    let head = "# Rules\n\nEvery finding names one of these. `block` makes an offer not payable, `high` and `medium` make it payable with warnings.\n\n| rule | severity | what it saw | what to do | source |\n|---|---|---|---|---|\n";
    let rows = table().iter().map(|rule| {
        let severity = format!("{:?}", rule.severity).to_lowercase();
        format!("| `{}` | {severity} | {} | {} | {} |\n", rule.id, rule.reason, rule.hint, rule.source)
    });
    head.to_owned() + &rows.collect::<String>()
}
