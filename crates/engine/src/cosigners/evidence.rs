//! What a witness can show against a log, and what it only says.
//!
//! The answers 409 and 422 of C2SP tlog-witness are a status and plain text that nobody signed. Whoever can answer in the
//! place of a witness, or a witness that errs, could write them, so they do not end a log that runs: ending it is for good,
//! and it would be in the hands of each one that is asked. What ends it is a checkpoint that the log's own keys signed and
//! the witness's key cosigned, and that this log does not continue. Nobody without the log's keys makes one, so either the
//! log was rolled back or somebody else signs with its keys; in both cases every further signature is one more of a second
//! history. Where a witness shows nothing of the kind, it is told, and asked again.

use countersign_tlog::checkpoint::Checkpoint;
use countersign_tlog::key::VerifierKey;
use countersign_tlog::note::Note;
use countersign_tlog::policy::Policy;
use countersign_tlog::sequencer::Log;

/// How what a witness has cosigned contradicts a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// It has cosigned a size that this log does not reach.
    Ahead {
        /// Leaves of this log.
        ours: u64,
        /// Leaves it has cosigned.
        theirs: u64,
    },
    /// It has cosigned another history of this log, at this size.
    OtherHistory(u64),
}

/// What a checkpoint proves against `log`; `None` when it is one of its past, or not signed by both the log and one of
/// `witness`, or when the log's own past cannot be read at the moment. Tiles may have to be read for it.
pub(super) fn proved(log: &Log, note: &Note, witness: &[VerifierKey]) -> Option<Contradiction> {
    let trust = Policy::parse(log.trust().as_bytes()).ok()?;
    let theirs = signed(note, trust.logs(), witness)?;
    // The head only grows: what it does not reach now it did not reach when the witness cosigned.
    let ours = log.head().checkpoint.clone();
    if theirs.origin != ours.origin {
        return None;
    }
    if theirs.size > ours.size {
        return Some(Contradiction::Ahead { ours: ours.size, theirs: theirs.size });
    }
    let proof = log.consistency(theirs.size, ours.size).ok()?;
    theirs.verify_growth(&ours, &proof).is_err().then_some(Contradiction::OtherHistory(theirs.size))
}

/// What a note says under a key of the log and one of the witness.
pub(super) fn signed(note: &Note, log: &[VerifierKey], witness: &[VerifierKey]) -> Option<Checkpoint> {
    note.verify(log).and_then(|_| note.verify(witness)).ok()?;
    Checkpoint::parse(note.text()).ok()
}
