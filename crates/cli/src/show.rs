//! The terminal: data on standard output, talk on standard error.
//!
//! A reader that goes away (`| head`) ends the output quietly instead of with a panic. An answer that could not be
//! written for another reason (a full disk) is lost, and the exit code says so.

mod decision;

use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use countersign_core::offer::clean;
use serde_json::Value;

use crate::Exit;
use crate::app::{self, Failure};
use crate::args::Global;

pub(crate) use decision::{decision, headline, lab_switches, transparency};

/// One line of data for people, safe to show.
pub(crate) fn line(text: &str) {
    raw(&safe(text));
}

/// Data for programs: byte for byte.
pub(crate) fn raw(text: &str) {
    let mut out = std::io::stdout().lock();
    let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush()) else { return };
    if error.kind() != ErrorKind::BrokenPipe && !LOST.swap(true, Ordering::Relaxed) {
        let _gone = writeln!(std::io::stderr().lock(), "error: cannot write the answer: {error}");
    }
}

/// Whether a part of the answer could not be written.
static LOST: AtomicBool = AtomicBool::new(false);

/// The exit code of a command that came to `exit`: an answer that nobody got is none.
pub(crate) fn written(exit: Exit) -> Exit {
    if LOST.load(Ordering::Relaxed) { Exit::NotEvaluated } else { exit }
}

/// One JSON value, on one line.
pub(crate) fn json(value: &Value) {
    raw(&value.to_string());
}

/// One line of talk, unless asked to be quiet.
pub(crate) fn note(global: &Global, text: &str) {
    if !global.quiet {
        let _gone = writeln!(std::io::stderr().lock(), "{}", safe(text));
    }
}

/// A failure and its hint; said even when quiet. A program that asked for JSON gets `{code, error, hint}` as its answer.
pub(crate) fn failure(global: &Global, error: &anyhow::Error) {
    if global.json {
        json(&app::told(error));
    }
    complaint(error);
}

/// The words of a failure, for people.
pub(crate) fn complaint(error: &anyhow::Error) {
    let mut out = std::io::stderr().lock();
    let _gone = writeln!(out, "error: {}", safe(&format!("{error:#}")));
    if let Some(hint) = error.downcast_ref::<Failure>().and_then(Failure::hint) {
        let _gone = writeln!(out, "hint: {}", safe(hint));
    }
}

/// What steers a terminal or cannot be seen stands as `\u{…}`: a message may repeat a stranger's text, or a file's.
/// A second line is indented, so that none passes for a line of ours.
fn safe(text: &str) -> String {
    let shown = |one: char, out: &mut String| match one {
        '\n' => out.push_str("\n  "),
        one if clean::hidden(one) => out.extend(one.escape_unicode()),
        one => out.push(one),
    };
    text.chars().fold(String::with_capacity(text.len()), |mut out, one| {
        shown(one, &mut out);
        out
    })
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn what_steers_a_terminal_is_spelt_out_and_plain_text_is_not() {
        assert_eq!(safe("plain, “quoted” – ünïcode"), "plain, “quoted” – ünïcode");
        assert_eq!(safe("\u{1b}[2Jgone\r\u{7}"), "\\u{1b}[2Jgone\\u{d}\\u{7}");
        assert_eq!(safe("\u{9b}31m \u{202e}evil\u{200b}"), "\\u{9b}31m \\u{202e}evil\\u{200b}");
        assert_eq!(safe("one\nhint: two"), "one\n  hint: two", "no line passes for another");
    }
}
