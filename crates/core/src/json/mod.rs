//! Strict JSON (RFC 8259, I-JSON) and its canonical form (RFC 8785).
//!
//! One tokenizer reads the text once into spans ([`Doc`]). Everything else is a walk over those spans:
//! [`canonicalize`] writes them in canonical order, [`observe`] lists what was wrong with them. So a
//! duplicate name is judged in one place. Numbers are printed as ECMAScript prints them (`ryu-js`),
//! because Rust's own printing differs in the last digit on ties.

mod doc;
mod read;
mod write;

#[cfg(test)]
mod tests;

pub use doc::{Doc, Node, NodeKind};
pub use read::{Defect, DefectKind};

/// What a text is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Our own documents and whatever else is signed: integers beyond ±(2^53−1) are refused as well,
    /// however they are spelled.
    Signed,
    /// Any I-JSON value that somebody wants hashed: numbers are doubles.
    Rfc8785,
}

/// How much a text may hold. Sizes are bytes of source text.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Deepest nesting of arrays and objects.
    pub depth: usize,
    /// Most members of one object.
    pub members: usize,
    /// Longest string.
    pub string: usize,
    /// Longest text.
    pub size: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 32, members: 10_000, string: 64 << 10, size: 1 << 20 }
    }
}

/// Why a text was refused, and at which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} at byte {at}", kind.reason())]
pub struct Error {
    /// Byte offset in the text.
    pub at: usize,
    /// What is wrong there.
    pub kind: Kind,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not JSON.
    Syntax,
    /// Bytes after the value.
    Trailing,
    /// Not UTF-8.
    Utf8,
    /// Starts with a byte order mark.
    Bom,
    /// The text is longer than allowed.
    Size,
    /// Nested deeper than allowed.
    Depth,
    /// An object has more members than allowed.
    Members,
    /// A string is longer than allowed.
    String,
    /// An object has two members of one name.
    Duplicate,
    /// Half of a surrogate pair.
    Surrogate,
    /// An integer beyond ±(2^53−1).
    UnsafeInteger,
    /// A number no double can hold.
    Overflow,
}

impl Kind {
    /// One line for a person.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Syntax => "not JSON",
            Self::Trailing => "more text after the JSON value",
            Self::Utf8 => "not UTF-8",
            Self::Bom => "starts with a byte order mark",
            Self::Size => "longer than allowed",
            Self::Depth => "nested deeper than allowed",
            Self::Members => "an object with more members than allowed",
            Self::String => "a string longer than allowed",
            Self::Duplicate => "two members of one name",
            Self::Surrogate => "half of a surrogate pair",
            Self::UnsafeInteger => "an integer beyond 2^53-1",
            Self::Overflow => "a number no double can hold",
        }
    }
}

impl Error {
    /// Stable code for callers.
    pub fn code(&self) -> &'static str {
        match self.kind {
            Kind::Syntax => "json_syntax",
            Kind::Trailing => "json_trailing",
            Kind::Utf8 => "json_utf8",
            Kind::Bom => "json_bom",
            Kind::Size => "json_size",
            Kind::Depth => "json_depth",
            Kind::Members => "json_members",
            Kind::String => "json_string",
            Kind::Duplicate => "json_duplicate",
            Kind::Surrogate => "json_surrogate",
            Kind::UnsafeInteger => "json_unsafe_integer",
            Kind::Overflow => "json_overflow",
        }
    }
}

/// The RFC 8785 bytes of `text`.
///
/// # Errors
/// [`Error`] for whatever `profile` and `limits` refuse.
pub fn canonicalize(text: &[u8], profile: Profile, limits: &Limits) -> Result<Vec<u8>, Error> {
    Ok(write::canonical(parse(text, profile, limits)?.root()))
}

/// `text` as spans of itself.
///
/// # Errors
/// [`Error`] for whatever `profile` and `limits` refuse.
pub fn parse<'a>(text: &'a [u8], profile: Profile, limits: &Limits) -> Result<Doc<'a>, Error> {
    let (doc, defects) = read::read(text, limits, profile == Profile::Signed)?;
    match defects.first() {
        Some(defect) => Err(Error { at: defect.at, kind: defect.kind.into() }),
        None => Ok(doc),
    }
}

/// What a stranger sent: reads on where a strict reader stops, and lists every defect. Of two members
/// with one name the first counts. Never sign or hash what this returns.
///
/// # Errors
/// [`Error`] where nothing can be read: not JSON, not UTF-8, or over a limit.
pub fn observe<'a>(text: &'a [u8], limits: &Limits) -> Result<(Doc<'a>, Vec<Defect>), Error> {
    read::read(text, limits, true)
}

/// The RFC 8785 bytes of a value of ours, under [`Profile::Signed`].
///
/// # Errors
/// [`Error`] when the value cannot be written as JSON, or holds what `Signed` refuses.
pub fn to_canonical<T: serde::Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    let text = serde_json::to_vec(value).map_err(|_| Error { at: 0, kind: Kind::Syntax })?;
    canonicalize(&text, Profile::Signed, &Limits { size: usize::MAX, ..Limits::default() })
}
