//! The witness protocol (C2SP tlog-witness), both sides, as functions from bytes to values.
//!
//! A witness remembers one state a log. It answers a request by [`judge`], then must replace that state only if it is
//! still the one it judged by, durably, and only then sign: two requests judged by one state would otherwise let a log
//! grow in two directions. A log sends what [`AddCheckpoint`] prints and reads the answer with [`Answer::read`].

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::checkpoint::{Checkpoint, GrowthError, Origin};
use crate::key::{Algorithm, NotSignable, SignerKey, VerifierKey};
use crate::merkle::{Hash, MAX_PROOF, empty_root};
use crate::note::{MAX_NOTE, MAX_SIGNATURES, Note, NoteError, NoteSignature};
use crate::policy::is_ahead;
use crate::text::{decimal, hash_from_base64, to_base64};

/// The largest request in bytes: the note, 63 hash lines, and the size line.
pub const MAX_REQUEST: usize = MAX_NOTE + 4 * 1024;

/// The largest text of a checkpoint that a witness cosigns, in bytes: the log's signature lines and the witness's own
/// must fit below it, or nobody could read what they signed.
pub const MAX_TEXT: usize = MAX_NOTE / 2;

/// The type of a 409 body.
pub const SIZE_TYPE: &str = "text/x.tlog.size";

/// A log asks for a cosignature. Prints as the request body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddCheckpoint {
    /// The size the witness has cosigned last, as the log believes.
    pub old: u64,
    /// The consistency proof from there; empty when `old` is 0 or the size has not changed.
    pub proof: Vec<Hash>,
    /// The signed checkpoint.
    pub checkpoint: Note,
}

/// Why a body is not a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Larger than [`MAX_REQUEST`], or not UTF-8.
    #[error("the request is too large or not UTF-8")]
    NotText,
    /// The first line is not `old` and a number in shortest form.
    #[error("the first line is not `old` and a size")]
    Old,
    /// A hash line is not 32 bytes in base64, or there are more than 63, or no empty line follows.
    #[error("a proof line is not 32 bytes in base64, or there are more than 63")]
    Proof,
    /// What follows is not a signed note.
    #[error(transparent)]
    Note(#[from] NoteError),
}

impl AddCheckpoint {
    /// Reads a request body.
    pub fn parse(bytes: &[u8]) -> Result<Self, RequestError> {
        let text = std::str::from_utf8(bytes).ok().filter(|_| bytes.len() <= MAX_REQUEST);
        let (first, mut rest) = text.ok_or(RequestError::NotText)?.split_once('\n').ok_or(RequestError::Old)?;
        let old = first.strip_prefix("old ").and_then(decimal).ok_or(RequestError::Old)?;
        let mut proof = Vec::new();
        loop {
            let (line, after) = rest.split_once('\n').ok_or(RequestError::Proof)?;
            rest = after;
            match line {
                "" => return Ok(Self { old, proof, checkpoint: Note::parse(rest.as_bytes())? }),
                _ if proof.len() == MAX_PROOF => return Err(RequestError::Proof),
                _ => proof.push(hash_from_base64(line).ok_or(RequestError::Proof)?),
            }
        }
    }
}

impl fmt::Display for AddCheckpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "old {}", self.old)?;
        self.proof.iter().try_for_each(|hash| writeln!(out, "{}", to_base64(hash.as_bytes())))?;
        write!(out, "\n{}", self.checkpoint)
    }
}

/// What a witness remembers of one log: the newest checkpoint it cosigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Its size.
    pub size: u64,
    /// Its root.
    pub root: Hash,
}

impl State {
    /// Before the first checkpoint of a log.
    pub fn empty() -> Self {
        Self { size: 0, root: empty_root() }
    }
}

/// What a witness may cosign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What it remembers then.
    pub state: State,
    /// The checkpoint with the log's own signatures alone. Lines that somebody added to the request are no evidence of
    /// anything, and so many fit in one that the note would not read once it is cosigned.
    pub checkpoint: Note,
}

/// Why a witness does not cosign. Each has its HTTP status and body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// 400: the request or its checkpoint does not read.
    #[error("the request does not read: {0}")]
    Malformed(String),
    /// 404: no log of this origin is known here.
    #[error("no log {0} is known here")]
    UnknownOrigin(Origin),
    /// 403: no known key of the log has signed, or a known key's signature is wrong.
    #[error("the log's signature is missing or wrong")]
    NotSigned,
    /// 403: the checkpoint has extension lines, which the log's type 0x06 signature does not cover. A cosignature of
    /// type 0x04 would.
    #[error("no signature of the log covers the extension lines")]
    ExtensionsNotSigned,
    /// 400: the old size is larger than the checkpoint's.
    #[error("the old size is larger than the new one")]
    OldBeyondNew,
    /// 409: the witness has another old size, which is the body.
    #[error("the newest cosigned size is {0}")]
    OtherOld(u64),
    /// 422: the checkpoint is not shown to continue the old one.
    #[error("the checkpoint does not continue the old one: {0}")]
    NotConsistent(GrowthError),
}

impl Refusal {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "witness_malformed",
            Self::UnknownOrigin(_) => "witness_unknown_origin",
            Self::NotSigned => "witness_not_signed",
            Self::ExtensionsNotSigned => "witness_extensions_not_signed",
            Self::OldBeyondNew => "witness_old_beyond_new",
            Self::OtherOld(_) => "witness_other_old",
            Self::NotConsistent(_) => "witness_not_consistent",
        }
    }

    /// The HTTP status.
    pub const fn status(&self) -> u16 {
        match self {
            Self::Malformed(_) | Self::OldBeyondNew => 400,
            Self::NotSigned | Self::ExtensionsNotSigned => 403,
            Self::UnknownOrigin(_) => 404,
            Self::OtherOld(_) => 409,
            Self::NotConsistent(_) => 422,
        }
    }

    /// The body and its content type.
    pub fn body(&self) -> (&'static str, String) {
        match self {
            Self::OtherOld(size) => (SIZE_TYPE, format!("{size}\n")),
            _ => ("text/plain; charset=utf-8", format!("{self}\n")),
        }
    }
}

/// The origin a request is about: what a witness looks its state up by.
pub fn origin(request: &AddCheckpoint) -> Result<Origin, Refusal> {
    checkpoint(request).map(|checkpoint| checkpoint.origin)
}

fn checkpoint(request: &AddCheckpoint) -> Result<Checkpoint, Refusal> {
    Checkpoint::parse(request.checkpoint.text()).map_err(|error| Refusal::Malformed(error.to_string()))
}

/// Whether a witness in `state` cosigns, what it remembers then, and which lines it keeps. `logs` are the keys of all
/// logs it knows; a key is a log's when its name is the log's origin.
pub fn judge(request: &AddCheckpoint, logs: &[VerifierKey], state: &State) -> Result<Judged, Refusal> {
    let new = checkpoint(request)?;
    let keys: Vec<VerifierKey> =
        logs.iter().filter(|key| key.name().as_str() == new.origin.as_str()).cloned().collect();
    if keys.is_empty() {
        return Err(Refusal::UnknownOrigin(new.origin));
    }
    let own = request.checkpoint.signed_by(&keys).map_err(|_| Refusal::NotSigned)?;
    let signed = own.verify(&keys).map_err(|_| Refusal::NotSigned)?;
    if !new.is_covered_by(&signed) {
        return Err(Refusal::ExtensionsNotSigned);
    }
    if request.checkpoint.text().len() > MAX_TEXT {
        return Err(Refusal::Malformed(format!("the checkpoint has more than {MAX_TEXT} bytes")));
    }
    if request.old > new.size {
        return Err(Refusal::OldBeyondNew);
    }
    if request.old != state.size {
        return Err(Refusal::OtherOld(state.size));
    }
    let old = Checkpoint::new(new.origin.clone(), state.size, state.root);
    old.verify_growth(&new, &request.proof).map_err(Refusal::NotConsistent)?;
    Ok(Judged { state: State { size: new.size, root: new.root }, checkpoint: own })
}

/// The answer of a witness whose new state is durable: one line for each of its keys, all of type 0x04 or 0x06.
pub fn cosign(note: &Note, keys: &[SignerKey], time: u64) -> Result<String, NotSignable> {
    let right = |key: &SignerKey| key.verifier().algorithm() != Algorithm::Ed25519;
    let line = |key| if right(key) { key.sign(note.text(), time) } else { Err(NotSignable::Text) };
    keys.iter().map(|key| line(key).map(|line| format!("{line}\n"))).collect()
}

/// Where a witness shows its newest checkpoint of a log: `<monitoring prefix>/` and this.
pub fn monitoring_path(origin: &Origin) -> String {
    format!("{}/checkpoint", hex::encode(Sha256::digest(origin.as_str())))
}

/// What a witness answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Cosignature lines, not verified.
    Cosigned(Vec<NoteSignature>),
    /// It has another size; ask again from there.
    OtherOld(u64),
    /// It refuses, or what it said does not read.
    Refused(u16),
}

impl Answer {
    /// Reads an HTTP status and body.
    pub fn read(status: u16, body: &[u8]) -> Self {
        let text = std::str::from_utf8(body).ok().filter(|text| text.len() <= MAX_NOTE);
        let text = text.and_then(|text| text.strip_suffix('\n'));
        let read = match (status, text) {
            (200, Some(text)) => lines(text).map(Self::Cosigned),
            (409, Some(text)) => decimal(text).map(Self::OtherOld),
            _ => None,
        };
        read.unwrap_or(Self::Refused(status))
    }
}

fn lines(text: &str) -> Option<Vec<NoteSignature>> {
    let lines: Vec<&str> = text.split('\n').collect();
    (lines.len() <= MAX_SIGNATURES).then(|| lines.into_iter().map(|line| NoteSignature::parse(line).ok()).collect())?
}

/// What a line is to whoever asked for cosignatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cosignature {
    /// One of the witnesses made it for this text.
    Holds,
    /// One of them did, and dates it more than [`MAX_AHEAD`](crate::policy::MAX_AHEAD) seconds after the clock. C2SP
    /// tlog-cosignature leaves it to the verifier to reject such a line.
    InFuture,
    /// None of them is shown to have made it.
    Unknown,
}

impl Cosignature {
    /// Judges one line below `text` by the witnesses' keys and a clock, in seconds since the Unix epoch.
    pub fn of(line: &NoteSignature, text: &str, witnesses: &[VerifierKey], now: u64) -> Self {
        let alone = Note::new(text, std::slice::from_ref(line));
        let verified = alone.as_ref().and_then(|alone| alone.verify(witnesses).ok());
        match verified.as_deref() {
            Some([one, ..]) if one.time.is_some_and(|time| is_ahead(time, now)) => Self::InFuture,
            Some([_, ..]) => Self::Holds,
            Some([]) | None => Self::Unknown,
        }
    }
}

/// A note with the cosignatures of `witnesses` that hold at `now`; others, and those it has, are left out.
pub fn with_cosignatures(note: &Note, lines: &[NoteSignature], witnesses: &[VerifierKey], now: u64) -> Note {
    let mut whole = note.clone();
    for line in lines.iter().filter(|line| !note.signatures().contains(line)) {
        if Cosignature::of(line, note.text(), witnesses, now) == Cosignature::Holds {
            let all = [whole.signatures(), std::slice::from_ref(line)].concat();
            whole = Note::new(note.text(), &all).unwrap_or(whole);
        }
    }
    whole
}

#[cfg(test)]
mod tests;
