//! Strict JSON (RFC 8259, I-JSON) and its canonical form (RFC 8785).
//!
//! One reader goes over the text once and judges it; three sinks keep of it what is wanted: the canonical
//! bytes ([`canonicalize`]), spans of every value ([`parse`], [`observe`]), or nothing ([`scan`]). So all of
//! them accept and refuse the same texts for the same reasons. No tree is built. Numbers are printed as
//! ECMAScript prints them (`ryu-js`), because Rust's own printing differs in the last digit on ties.

mod doc;
mod error;
mod lexeme;
mod names;
mod read;
mod write;

#[cfg(test)]
mod tests;

pub use doc::{Doc, Node, NodeKind};
pub use error::{Defect, DefectKind, Error, Kind};
use read::Manner;

/// What a text is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Our own documents and whatever else is signed: integers beyond ±(2^53−1) are refused as well,
    /// however they are spelled.
    Signed,
    /// Any I-JSON value that somebody wants hashed: numbers are doubles.
    Rfc8785,
}

/// How much a text may hold. Sizes are bytes of source text. A caller may raise them all: nesting costs
/// heap, not stack, and writing a text costs at most as many copies of it as it is deep.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Deepest nesting of arrays and objects.
    pub depth: usize,
    /// Most members of one object.
    pub members: usize,
    /// Longest string.
    pub string: usize,
    /// Longest text; never more than 512 MiB.
    pub size: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 32, members: 10_000, string: 64 << 10, size: 1 << 20 }
    }
}

/// The RFC 8785 bytes of `text`.
///
/// # Errors
/// [`Error`] for whatever `profile` and `limits` refuse: the first that a reader meets from left to right,
/// who knows of a second member of one name when the object ends.
pub fn canonicalize(text: &[u8], profile: Profile, limits: &Limits) -> Result<Vec<u8>, Error> {
    let read = read::read(text, Manner::Strict(profile), limits, write::Writer::new(text, None))?;
    Ok(read.sink.finish().0)
}

/// Canonical bytes with and without one member: a document and what its signature is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parted {
    /// The RFC 8785 bytes of the whole text.
    pub whole: Vec<u8>,
    /// The same without the member; equal to `whole` where there is none.
    pub rest: Vec<u8>,
    /// Where in `whole` the member stands, with the comma that goes with it; empty where there is none.
    pub member: std::ops::Range<usize>,
}

/// As [`canonicalize`], and without the member called `name` of the outermost object as well.
///
/// # Errors
/// As [`canonicalize`].
pub fn canonicalize_without(text: &[u8], name: &str, profile: Profile, limits: &Limits) -> Result<Parted, Error> {
    let read = read::read(text, Manner::Strict(profile), limits, write::Writer::new(text, Some(name)))?;
    let (whole, member) = read.sink.finish();
    let member = member.unwrap_or_default();
    let rest = [&whole[..member.start], &whole[member.end..]].concat();
    Ok(Parted { whole, rest, member })
}

/// Whether `text` is acceptable at all; keeps nothing of it.
///
/// # Errors
/// As [`canonicalize`].
pub fn scan(text: &[u8], profile: Profile, limits: &Limits) -> Result<(), Error> {
    read::read(text, Manner::Strict(profile), limits, Nothing).map(|_| ())
}

/// The sink that keeps nothing.
struct Nothing;

impl read::Sink for Nothing {}

/// `text` as spans of itself.
///
/// # Errors
/// As [`canonicalize`].
pub fn parse<'a>(text: &'a [u8], profile: Profile, limits: &Limits) -> Result<Doc<'a>, Error> {
    let read = read::read(text, Manner::Strict(profile), limits, doc::Spans::of(text.len()))?;
    Ok(Doc { text: read.text, slots: read.sink.slots })
}

/// What a stranger sent: reads on where a strict reader stops, and lists every defect. Of two members
/// with one name the first counts. Never sign or hash what this returns.
///
/// # Errors
/// [`Error`] where nothing can be read: not JSON, not UTF-8, or over a limit.
pub fn observe<'a>(text: &'a [u8], limits: &Limits) -> Result<(Doc<'a>, Vec<Defect>), Error> {
    let read = read::read(text, Manner::Patient, limits, doc::Spans::of(text.len()))?;
    Ok((Doc { text: read.text, slots: read.sink.slots }, read.defects))
}

/// The RFC 8785 bytes of a value of ours, under [`Profile::Signed`].
///
/// # Errors
/// [`Error`] when the value cannot be written as JSON, or holds what `Signed` refuses.
pub fn to_canonical<T: serde::Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    let text = serde_json::to_vec(value).map_err(|_| Error { at: 0, kind: Kind::Syntax })?;
    canonicalize(&text, Profile::Signed, &Limits { size: usize::MAX, ..Limits::default() })
}
