//! The checkpoints that others hold of a log, and when the public one is no more than damage.

use super::home::Mark;
use super::{Keys, OpenError};
use crate::checkpoint::Checkpoint;
use crate::note::{Note, NoteSignature};

/// Who holds the public checkpoint, in messages.
pub(super) const PUBLIC: &str = "the published checkpoint";

/// The public checkpoint. One that is damaged is as good as none, and replaced, when a record of the head is there: that was
/// held against the log just now, and knows as much, because a head is marked before it is shown. Where there is no such
/// record, the public checkpoint is the last one that knows, and nothing may take its place. One that reads is never
/// passed over, nor is one that other keys have signed under this log's name.
pub(super) fn read_public(
    keys: &Keys,
    published: Option<&[u8]>,
    marks: &[(String, Mark)],
) -> Result<Option<Checkpoint>, OpenError> {
    let Some(note) = published else { return Ok(None) };
    match read_record(keys, PUBLIC, note) {
        Err(OpenError::Record(_)) if !marks.is_empty() && !is_of_another_log(keys, note) => Ok(None),
        read => read.map(Some),
    }
}

/// A checkpoint somebody else holds: readable, of this log, and signed by it.
pub(super) fn read_record(keys: &Keys, by: &str, note: &[u8]) -> Result<Checkpoint, OpenError> {
    let wrong = || OpenError::Record(by.to_owned());
    let note = Note::parse(note).map_err(|_| wrong())?;
    if is_by_other_keys(keys, &note) {
        return Err(OpenError::OtherKeys(by.to_owned()));
    }
    note.verify(keys.verifiers()).map_err(|_| wrong())?;
    let checkpoint = Checkpoint::parse(note.text()).map_err(|_| wrong())?;
    if checkpoint.origin == *keys.origin() { Ok(checkpoint) } else { Err(wrong()) }
}

/// Whether a note reads as the checkpoint of another log, origin and signatures alike: then the folder or the storage is
/// another one, and no damage.
fn is_of_another_log(keys: &Keys, note: &[u8]) -> bool {
    let ours = |name: &str| name == keys.origin().as_str();
    Note::parse(note).is_ok_and(|note| {
        let theirs = Checkpoint::parse(note.text()).is_ok_and(|checkpoint| !ours(checkpoint.origin.as_str()));
        theirs && !note.signatures().iter().any(|line| ours(line.name().as_str()))
    })
}

/// Whether other keys alone have signed under the log's name. One that is damaged in one place still names a key of ours.
fn is_by_other_keys(keys: &Keys, note: &Note) -> bool {
    let named = |line: &&NoteSignature| line.name().as_str() == keys.origin().as_str();
    let is_ours = |line: &NoteSignature| keys.verifiers().iter().any(|key| key.id() == line.id());
    let mut signed = note.signatures().iter().filter(named).peekable();
    signed.peek().is_some() && !signed.any(is_ours)
}
