//! What the tests of several modules need.

use std::io::Write as _;

/// Says that `what` is not on this machine, so what it would have shown was not tested. Straight to the stream, because
/// the harness hides what passing tests print.
pub(crate) fn say_skipped(what: &str) {
    let written =
        writeln!(std::io::stderr(), "countersign-core: {what} are not here, so nothing was compared with them");
    written.unwrap();
}
