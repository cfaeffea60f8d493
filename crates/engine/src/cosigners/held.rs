//! What witnesses have cosigned, and which checkpoint each is asked about next.
//!
//! A quorum needs the cosignatures of one checkpoint, and a log that grows while a slow witness thinks has had many by
//! then. So all witnesses are led to one of them, the goal: each is asked about it once, and only then about the newest.
//! A fast one runs ahead, and where it has got to is the next goal as soon as the policy accepts this one, because a
//! witness cannot go back. The trade-off: while a witness that the quorum needs is away, the goal grows old, and that is
//! what it is asked about first when it comes back.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use countersign_tlog::checkpoint::Checkpoint;
use countersign_tlog::key::{KeyId, KeyName, VerifierKey};
use countersign_tlog::note::{Note, NoteSignature};
use countersign_tlog::policy::{Policy, PostQuantum};
use countersign_tlog::witness::Cosignature;

/// The newest checkpoints whose cosignatures are kept; beside them the goal and the one that is shown.
const KEPT: usize = 16;

/// Size and text of a checkpoint. A log has one text a size; what an earlier run kept may be of another log.
type At = (u64, String);

/// A checkpoint with its cosignatures, one a key, that were all verified when they came.
struct Asked {
    note: Note,
    lines: BTreeMap<(KeyName, KeyId), NoteSignature>,
    /// The note with the lines. It is read far more often than a line comes.
    whole: Note,
}

impl Asked {
    fn new(note: &Note) -> Self {
        Self { note: note.clone(), lines: BTreeMap::new(), whole: note.clone() }
    }

    /// The same checkpoint, which the log has signed again.
    fn renew(&mut self, note: &Note) {
        if self.note != *note {
            self.note = note.clone();
            self.whole = self.beside(note);
        }
    }

    /// A key's newer line replaces its older one.
    fn take(&mut self, lines: &[NoteSignature]) {
        self.lines.extend(lines.iter().map(|line| ((line.name().clone(), line.id()), line.clone())));
        self.whole = self.beside(&self.note);
    }

    /// A line beyond what a note can hold is left out.
    fn beside(&self, note: &Note) -> Note {
        self.lines.values().fold(note.clone(), |note, line| {
            let all = [note.signatures(), std::slice::from_ref(line)].concat();
            Note::new(note.text(), &all).unwrap_or(note)
        })
    }

    fn is_cosigned_by(&self, keys: &[VerifierKey]) -> bool {
        keys.iter().any(|key| self.lines.contains_key(&(key.name().clone(), key.id())))
    }
}

/// What a witness is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// An older checkpoint that all are asked about. The newest is still to come.
    Goal,
    /// The newest.
    Newest,
}

/// The checkpoints that witnesses were asked about.
pub(super) struct Held {
    policy: Policy,
    asked: BTreeMap<At, Asked>,
    /// The newest that any witness was asked about in this run.
    ahead: Option<At>,
    goal: Option<At>,
    /// The newest that the policy accepts.
    good: Option<At>,
}

impl Held {
    /// What an earlier run kept, as far as it holds under the keys and by the clock of today.
    pub(super) fn load(policy: Policy, file: &Path, keys: &[VerifierKey], now: u64) -> Self {
        let mut held = Self { policy, asked: BTreeMap::new(), ahead: None, goal: None, good: None };
        let kept = std::fs::read(file).ok().and_then(|bytes| Note::parse(&bytes).ok());
        if let Some((note, lines)) = kept.and_then(|kept| parted(&kept, keys, now)) {
            held.take(&note, &lines);
        }
        held
    }

    /// Whether this is a key of a log that the policy accepts.
    pub(super) fn knows(&self, key: &VerifierKey) -> bool {
        self.policy.logs().contains(key)
    }

    /// The newest note that the policy accepts, or else the newest with any cosignature.
    pub(super) fn shown(&self) -> Option<Note> {
        self.asked.get(self.shown_at()?).map(|one| one.whole.clone())
    }

    fn shown_at(&self) -> Option<&At> {
        let cosigned = || self.asked.iter().rev().find(|(_, one)| !one.lines.is_empty()).map(|(at, _)| at);
        self.good.as_ref().or_else(cosigned)
    }

    /// A checkpoint of the log with the cosignatures there are.
    pub(super) fn with_cosignatures(&self, note: &Note) -> Note {
        match self.asked.get(&at(note)) {
            Some(one) if one.note == *note => one.whole.clone(),
            Some(one) => one.beside(note),
            None => note.clone(),
        }
    }

    /// What to ask a witness with these keys about that has cosigned `old` leaves; `head` is the newest checkpoint.
    pub(super) fn next(&mut self, head: &Note, old: u64, keys: &[VerifierKey]) -> (Note, Turn) {
        let newest = at(head);
        let goal = self.goal(&newest, old, keys);
        let open = self.asked.get(&goal).filter(|one| goal != newest && !one.is_cosigned_by(keys));
        let next = open.map(|one| (one.note.clone(), Turn::Goal)).unwrap_or_else(|| self.newest(head, newest));
        self.goal = Some(goal);
        self.prune();
        next
    }

    fn newest(&mut self, head: &Note, newest: At) -> (Note, Turn) {
        self.asked.entry(newest.clone()).or_insert_with(|| Asked::new(head)).renew(head);
        self.ahead = Some(newest);
        (head.clone(), Turn::Newest)
    }

    /// The goal stays until the policy accepts it or a newer one, or a witness is beyond it and has not cosigned it.
    fn goal(&self, newest: &At, old: u64, keys: &[VerifierKey]) -> At {
        let reached = |at: &At| self.asked.get(at).is_some_and(|one| one.is_cosigned_by(keys));
        let open = |at: &&At| self.good.as_ref().is_none_or(|good| good.0 < at.0) && (at.0 >= old || reached(at));
        let ahead = || self.ahead.as_ref().filter(open);
        self.goal.as_ref().filter(open).or_else(ahead).unwrap_or(newest).clone()
    }

    /// Takes in cosignatures of `note` that hold.
    pub(super) fn take(&mut self, note: &Note, lines: &[NoteSignature]) {
        let at = at(note);
        let one = self.asked.entry(at.clone()).or_insert_with(|| Asked::new(note));
        one.take(lines);
        let newer = self.good.as_ref().is_none_or(|good| *good < at);
        if newer && self.policy.accept(&one.whole, PostQuantum::Optional).is_ok() {
            self.good = Some(at);
        }
        self.prune();
    }

    fn prune(&mut self) {
        let Some(oldest) = self.asked.keys().rev().nth(KEPT - 1).cloned() else { return };
        let needed = [self.goal.clone(), self.shown_at().cloned()];
        self.asked.retain(|at, _| *at >= oldest || needed.iter().flatten().any(|needed| needed == at));
    }
}

fn at(note: &Note) -> At {
    (Checkpoint::parse(note.text()).map_or(0, |checkpoint| checkpoint.size), note.text().to_owned())
}

/// A kept note without the cosignatures of `keys`, and those of them that hold; `None` when none does.
fn parted(kept: &Note, keys: &[VerifierKey], now: u64) -> Option<(Note, Vec<NoteSignature>)> {
    let (mut others, mut good) = (Vec::new(), Vec::new());
    for line in kept.signatures() {
        match Cosignature::of(line, kept.text(), keys, now) {
            Cosignature::Holds => good.push(line.clone()),
            Cosignature::InFuture => {}
            Cosignature::Unknown => others.push(line.clone()),
        }
    }
    let note = Note::new(kept.text(), &others)?;
    (!good.is_empty()).then_some((note, good))
}
