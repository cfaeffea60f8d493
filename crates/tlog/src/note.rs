//! Signed notes: a text and the signature lines below it (C2SP signed-note).
//!
//! A signature by a key nobody here knows says nothing and is passed over, whatever its form. A signature that names a
//! known key and is malformed or does not verify refuses the whole note: somebody is pretending, or the text was changed.

use std::fmt;

use crate::key::{KeyId, KeyName, SignatureFault, VerifierKey};
use crate::text::{from_base64, to_base64};

/// The largest note in bytes: 32 ML-DSA-44 lines and a checkpoint fit.
pub const MAX_NOTE: usize = 128 * 1024;

/// The most signature lines a note may have.
pub const MAX_SIGNATURES: usize = 64;

/// U+2014 and a space open every signature line.
const MARK: &str = "\u{2014} ";

/// One signature line. Prints as that line, without the line feed.
#[derive(Clone, PartialEq, Eq)]
pub struct NoteSignature {
    name: KeyName,
    id: KeyId,
    blob: Vec<u8>,
}

impl NoteSignature {
    pub(crate) fn new(name: KeyName, id: KeyId, blob: Vec<u8>) -> Self {
        Self { name, id, blob }
    }

    /// Reads one line, without its line feed.
    pub fn parse(line: &str) -> Result<Self, NoteError> {
        let line = line.strip_prefix(MARK).ok_or(NoteError::SignatureLine)?;
        let (name, encoded) = line.split_once(' ').ok_or(NoteError::SignatureLine)?;
        let name = KeyName::parse(name).ok_or(NoteError::SignatureLine)?;
        let bytes = from_base64(encoded).ok_or(NoteError::SignatureLine)?;
        match bytes.split_first_chunk() {
            Some((id, blob)) if !blob.is_empty() => Ok(Self::new(name, KeyId::from_bytes(*id), blob.to_vec())),
            _ => Err(NoteError::SignatureLine),
        }
    }

    /// The name of the key that is said to have signed.
    pub fn name(&self) -> &KeyName {
        &self.name
    }

    /// The id of the key that is said to have signed.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// What follows the key id: the raw signature, behind a time for types 0x04 and 0x06.
    pub fn blob(&self) -> &[u8] {
        &self.blob
    }
}

impl fmt::Display for NoteSignature {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [self.id.as_bytes(), self.blob.as_slice()].concat();
        write!(out, "{MARK}{} {}", self.name, to_base64(&bytes))
    }
}

impl fmt::Debug for NoteSignature {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "NoteSignature({}+{}, {} bytes)", self.name, self.id, self.blob.len())
    }
}

/// Why a note is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// Larger than [`MAX_NOTE`].
    #[error("the note is too large")]
    TooLarge,
    /// Not UTF-8, or a control character other than the line feed.
    #[error("the note is not UTF-8 text without control characters")]
    NotText,
    /// No blank line with complete signature lines below it.
    #[error("the note has no signatures below a blank line")]
    NoSignatures,
    /// More than [`MAX_SIGNATURES`] lines.
    #[error("the note has too many signatures")]
    TooManySignatures,
    /// A line below the text is not a signature line.
    #[error("a signature line is malformed")]
    SignatureLine,
    /// Two different known keys have this name and id, so the line does not say whose it is.
    #[error("two known keys are named {0}+{1}")]
    AmbiguousKey(KeyName, KeyId),
    /// A known key's signature has not the form of its type: another length, or a time beyond 2^63 - 1 seconds.
    #[error("the signature by {0}+{1} is malformed")]
    MalformedSignature(KeyName, KeyId),
    /// A known key's signature does not verify.
    #[error("the signature by {0}+{1} is wrong")]
    BadSignature(KeyName, KeyId),
    /// No signature is by a known key.
    #[error("no signature is by a known key")]
    NoKnownKey,
}

impl NoteError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge => "note_too_large",
            Self::NotText => "note_not_text",
            Self::NoSignatures => "note_no_signatures",
            Self::TooManySignatures => "note_too_many_signatures",
            Self::SignatureLine => "note_signature_line",
            Self::AmbiguousKey(..) => "note_ambiguous_key",
            Self::MalformedSignature(..) => "note_signature_malformed",
            Self::BadSignature(..) => "note_bad_signature",
            Self::NoKnownKey => "note_no_known_key",
        }
    }
}

/// A note as read: well formed, nothing verified. Prints as the exact bytes it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    text: String,
    signatures: Vec<NoteSignature>,
}

/// One signature of a note that did verify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified<'k> {
    /// The key, out of those given to [`Note::verify`].
    pub key: &'k VerifierKey,
    /// The signed time in seconds since the Unix epoch, at most 2^63 - 1; `None` for type 0x01 and for a time of 0, which claims nothing.
    pub time: Option<u64>,
}

impl Note {
    /// A note over `text`, which must end in a line feed, with at least one signature. `None` when it would not read
    /// back.
    pub fn new(text: &str, signatures: &[NoteSignature]) -> Option<Self> {
        let note = Self { text: text.to_owned(), signatures: signatures.to_vec() };
        (Self::parse(note.to_string().as_bytes()).as_ref() == Ok(&note)).then_some(note)
    }

    /// Splits a note at its last blank line and reads the signature lines.
    pub fn parse(bytes: &[u8]) -> Result<Self, NoteError> {
        if bytes.len() > MAX_NOTE {
            return Err(NoteError::TooLarge);
        }
        let all = std::str::from_utf8(bytes).map_err(|_| NoteError::NotText)?;
        if all.bytes().any(|byte| byte < 0x20 && byte != b'\n') {
            return Err(NoteError::NotText);
        }
        let (text, lines) = all.rsplit_once("\n\n").ok_or(NoteError::NoSignatures)?;
        let lines = lines.strip_suffix('\n').ok_or(NoteError::NoSignatures)?;
        if lines.split('\n').count() > MAX_SIGNATURES {
            return Err(NoteError::TooManySignatures);
        }
        let signatures = lines.split('\n').map(NoteSignature::parse).collect::<Result<_, _>>()?;
        Ok(Self { text: format!("{text}\n"), signatures })
    }

    /// The signed text, with its final line feed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All signature lines, in order.
    pub fn signatures(&self) -> &[NoteSignature] {
        &self.signatures
    }

    /// Verifies every signature by one of `keys`: at least one must be there, and none of theirs may be wrong.
    pub fn verify<'k>(&self, keys: &'k [VerifierKey]) -> Result<Vec<Verified<'k>>, NoteError> {
        Ok(self.verified_lines(keys)?.into_iter().map(|(verified, _)| verified).collect())
    }

    /// The same text with the newest signature of each of `keys` that signed it, and no other line. Whoever passes a
    /// note on passes no stranger's lines with it.
    ///
    /// # Errors
    /// As [`Note::verify`].
    pub fn signed_by(&self, keys: &[VerifierKey]) -> Result<Self, NoteError> {
        let mut newest: Vec<(Verified<'_>, &NoteSignature)> = Vec::new();
        for (verified, line) in self.verified_lines(keys)? {
            match newest.iter_mut().find(|(kept, _)| kept.key == verified.key) {
                Some(kept) if kept.0.time < verified.time => *kept = (verified, line),
                Some(_) => {}
                None => newest.push((verified, line)),
            }
        }
        let signatures = newest.into_iter().map(|(_, line)| line.clone()).collect();
        Ok(Self { text: self.text.clone(), signatures })
    }

    fn verified_lines<'k>(&self, keys: &'k [VerifierKey]) -> Result<Vec<(Verified<'k>, &NoteSignature)>, NoteError> {
        let mut verified = Vec::new();
        for line in &self.signatures {
            if let Some(key) = find(keys, line)? {
                let time = key.verify(&self.text, &line.blob).map_err(|fault| fault_of(line, fault))?;
                verified.push((Verified { key, time: (time != 0).then_some(time) }, line));
            }
        }
        if verified.is_empty() { Err(NoteError::NoKnownKey) } else { Ok(verified) }
    }
}

fn fault_of(line: &NoteSignature, fault: SignatureFault) -> NoteError {
    let (name, id) = (line.name.clone(), line.id);
    match fault {
        SignatureFault::Malformed => NoteError::MalformedSignature(name, id),
        SignatureFault::Wrong => NoteError::BadSignature(name, id),
    }
}

/// The known key a line names. The same key listed twice is one key.
fn find<'k>(keys: &'k [VerifierKey], line: &NoteSignature) -> Result<Option<&'k VerifierKey>, NoteError> {
    let mut named = keys.iter().filter(|key| key.id() == line.id && *key.name() == line.name);
    let first = named.next();
    match first {
        Some(key) if named.any(|other| other != key) => Err(NoteError::AmbiguousKey(line.name.clone(), line.id)),
        _ => Ok(first),
    }
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}", self.text)?;
        self.signatures.iter().try_for_each(|signature| writeln!(out, "{signature}"))
    }
}

#[cfg(test)]
mod tests;
