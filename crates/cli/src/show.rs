//! The terminal: data on standard output, talk on standard error.
//!
//! A reader that goes away (`| head`) ends the output quietly instead of with a panic.

mod decision;

use std::io::Write;

use serde_json::Value;

use crate::app::Failure;
use crate::args::Global;

pub(crate) use decision::{decision, transparency, worst};

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
