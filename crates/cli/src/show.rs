//! The terminal: data on standard output, talk on standard error.
//!
//! A reader that goes away (`| head`) ends the output quietly instead of with a panic.

use std::io::Write;

use serde_json::Value;

use crate::app::Failure;
use crate::args::Global;

/// One line of data.
pub(crate) fn line(text: &str) {
    let _gone = writeln!(std::io::stdout().lock(), "{text}");
}

/// One JSON value, on one line.
pub(crate) fn json(value: &Value) {
    line(&value.to_string());
}

/// One line of talk, unless asked to be quiet.
pub(crate) fn note(global: &Global, text: &str) {
    if !global.quiet {
        let _gone = writeln!(std::io::stderr().lock(), "{text}");
    }
}

/// A failure and its hint; said even when quiet.
pub(crate) fn failure(error: &anyhow::Error) {
    let mut out = std::io::stderr().lock();
    let _gone = writeln!(out, "error: {error:#}");
    if let Some(hint) = error.downcast_ref::<Failure>().and_then(Failure::hint) {
        let _gone = writeln!(out, "hint: {hint}");
    }
}

/// A decision for people: the answer first, then why, then the terms.
pub(crate) fn decision(document: &Value) {
    let word = document["word"].as_str().unwrap_or("-").replace('_', " ");
    line(&format!("{word}: {}", headline(document)));
    for finding in document["findings"].as_array().into_iter().flatten() {
        self::finding(finding);
    }
    for unmet in document["unmet_constraints"].as_array().into_iter().flatten() {
        line(&format!("  unmet    {}", unmet.as_str().unwrap_or("-")));
    }
    for one in document["not_evaluated"].as_array().into_iter().flatten() {
        line(&format!(
            "  not evaluated  {}: {}",
            one["what"].as_str().unwrap_or("-"),
            one["why"].as_str().unwrap_or("-")
        ));
    }
    let switches = document["transport"]["lab_switches"].as_array();
    for switch in switches.into_iter().flatten() {
        line(&format!("  lab switch on  {}", switch.as_str().unwrap_or("-")));
    }
}

/// The gravest finding, the first of equals.
pub(crate) fn worst(document: &Value) -> Option<&Value> {
    let rank = |finding: &Value| {
        ["info", "low", "medium", "high", "block"].iter().position(|one| finding["severity"] == **one)
    };
    let findings = document["findings"].as_array()?;
    findings.iter().rev().max_by_key(|finding| rank(finding))
}

fn headline(document: &Value) -> String {
    let payment = &document["selected_payment"];
    if let Some(refused) = document["transport"]["refused"].as_str() {
        return format!("{refused}: {}", document["transport"]["reason"].as_str().unwrap_or("-"));
    }
    if payment.is_null() {
        return document["miss_reason"].as_str().unwrap_or("no offer fits").replace('_', " ");
    }
    let text = |name: &str| payment[name].as_str().unwrap_or("unknown").to_owned();
    let usd = payment["usd"].as_str().map_or("price in USD unknown".to_owned(), |usd| format!("${usd}"));
    format!(
        "{usd}, {} {} on {} to {}",
        text("amount_atomic"),
        payment["symbol"].as_str().unwrap_or("units of an unknown asset"),
        text("network"),
        text("payTo")
    )
}

fn finding(finding: &Value) {
    let text = |name: &str| finding[name].as_str().unwrap_or_default();
    line(&format!("  {:<8} {} at {}: saw `{}`", text("severity"), text("rule"), text("subject"), text("observed")));
    if let Some(expected) = finding["expected"].as_str() {
        line(&format!("           expected `{expected}`"));
    }
    line(&format!("           hint: {}", text("hint")));
}
