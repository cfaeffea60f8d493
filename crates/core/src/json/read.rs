//! The reader: one pass over the text, with every defect on the way.
//!
//! It decides what is JSON, what is too much and what is defective; what is *kept* is the business of a
//! [`Sink`]. So texts are accepted and refused alike whether somebody wants their canonical bytes, their
//! spans or only an answer, and a duplicate name is judged in one place. Nesting is kept on the heap: a
//! caller may raise the depth without endangering the stack.

use std::borrow::Cow;

use super::doc::{NodeKind, unescape};
use super::names::{self, Member};
use super::{Defect, DefectKind, Error, Kind, Limits, Profile};

/// What is kept of a text. Every position is a byte offset in the source.
pub(super) trait Sink {
    /// Whether [`Sink::edit`] is heeded. Numbers are printed for those that write only.
    const WRITES: bool = false;

    /// Where that which is read next will stand in what is kept.
    fn mark(&self, _at: usize) -> u32 {
        0
    }

    /// What stands at `start..end` is `canonical` in canonical form. Edits come in source order; all that
    /// stands between two of them is canonical already.
    fn edit(&mut self, _start: usize, _end: usize, _canonical: &[u8]) {}

    /// The name of the member whose value comes next, with its quotes, and whether it holds an escape.
    fn name(&mut self, _start: usize, _end: usize, _escaped: bool) {}

    /// A whole value, or the beginning of an array or object.
    fn value(&mut self, _kind: NodeKind, _start: usize, _end: usize) {}

    /// The end of the array or object whose beginning was marked `mark`.
    fn close(&mut self, _mark: u32, _end: usize) {}

    /// The members, in canonical order, of an object inside `depth` others that is about to end at `at`.
    fn members(&mut self, _members: &[Member<'_>], _order: Order, _depth: usize, _at: usize) {}

    /// The value marked `mark` belongs to a second member of one name.
    fn shadow(&mut self, _mark: u32) {}
}

/// Whether the members of an object stood in the source as they are in canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Canonical,
    Other,
}

/// What happens at a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// The text is refused.
    Strict(Profile),
    /// It is noted.
    Patient,
}

/// A text that was read to its end.
pub(super) struct Read<'a, S> {
    pub(super) text: &'a str,
    pub(super) sink: S,
    /// In source order, at most 64 of them; none from a strict reader.
    pub(super) defects: Vec<Defect>,
}

const MOST_DEFECTS: usize = 64;

/// Offsets are kept in 32 bits, which halves what a read text weighs. Canonical bytes may be longer than
/// their source, though never eight times: `1e20` grows most.
const LONGEST: usize = u32::MAX as usize / 8;

/// An offset in a text that is not longer than [`LONGEST`], or in its canonical bytes.
pub(super) fn offset(at: usize) -> u32 {
    at as u32
}

pub(super) struct Reader<'a, 'l, S> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) limits: &'l Limits,
    pub(super) manner: Manner,
    pub(super) sink: S,
    open: Vec<Frame>,
    /// Members of all open objects, the innermost last.
    members: Vec<Member<'a>>,
    defects: Vec<Defect>,
}

/// An array or object that has not ended yet.
struct Frame {
    close: u8,
    order: Order,
    mark: u32,
    /// Where its members begin among those of all open objects.
    first: usize,
}

/// Reads the whole of `source` into `sink`.
pub(super) fn read<'a, S: Sink>(
    source: &'a [u8],
    manner: Manner,
    limits: &Limits,
    sink: S,
) -> Result<Read<'a, S>, Error> {
    let longest = limits.size.min(LONGEST);
    if source.len() > longest {
        return Err(Error { at: longest, kind: Kind::Size });
    }
    let text = std::str::from_utf8(source).map_err(|error| Error { at: error.valid_up_to(), kind: Kind::Utf8 })?;
    let (open, members, defects) = (Vec::with_capacity(8), Vec::with_capacity(16), Vec::new());
    let mut reader = Reader { text, bytes: source, at: 0, limits, manner, sink, open, members, defects };
    reader.document()?;
    reader.defects.sort_by_key(|defect| defect.at);
    Ok(Read { text, sink: reader.sink, defects: reader.defects })
}

impl<'a, S: Sink> Reader<'a, '_, S> {
    fn document(&mut self) -> Result<(), Error> {
        if self.text.starts_with('\u{feff}') {
            self.note(0, DefectKind::Bom)?;
            self.at = 3;
        }
        self.space();
        loop {
            self.value()?;
            if !self.another()? {
                break;
            }
        }
        if self.at == self.bytes.len() { Ok(()) } else { self.fail(Kind::Trailing) }
    }

    pub(super) fn fail<T>(&self, kind: Kind) -> Result<T, Error> {
        Err(Error { at: self.at, kind })
    }

    pub(super) fn note(&mut self, at: usize, kind: DefectKind) -> Result<(), Error> {
        if let Manner::Strict(_) = self.manner {
            return Err(Error { at, kind: kind.into() });
        }
        if self.defects.len() < MOST_DEFECTS {
            self.defects.push(Defect { at, kind });
        }
        Ok(())
    }

    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    fn space(&mut self) {
        if self.peek() <= b' ' {
            self.skip_space();
        }
    }

    fn skip_space(&mut self) {
        let start = self.at;
        while matches!(self.peek(), b' ' | b'\n' | b'\t' | b'\r') {
            self.at += 1;
        }
        if self.at > start {
            self.sink.edit(start, self.at, b"");
        }
    }

    /// Reads on to the next value that holds no other: a scalar, or an array or object without content.
    fn value(&mut self) -> Result<(), Error> {
        loop {
            let start = self.at;
            let kind = match self.peek() {
                b'{' => {
                    if self.begin(NodeKind::Object, b'}')? {
                        return Ok(());
                    }
                    self.name()?;
                    continue;
                }
                b'[' => {
                    if self.begin(NodeKind::Array, b']')? {
                        return Ok(());
                    }
                    continue;
                }
                b'"' => {
                    self.string()?;
                    NodeKind::String
                }
                b't' => self.word(b"true", NodeKind::Bool)?,
                b'f' => self.word(b"false", NodeKind::Bool)?,
                b'n' => self.word(b"null", NodeKind::Null)?,
                b'-' | b'0'..=b'9' => self.number()?,
                _ => return self.fail(Kind::Syntax),
            };
            self.sink.value(kind, start, self.at);
            return Ok(());
        }
    }

    fn word(&mut self, word: &[u8], kind: NodeKind) -> Result<NodeKind, Error> {
        if !self.bytes[self.at..].starts_with(word) {
            return self.fail(Kind::Syntax);
        }
        self.at += word.len();
        Ok(kind)
    }

    /// Enters an array or object; true when there is nothing in it.
    fn begin(&mut self, kind: NodeKind, close: u8) -> Result<bool, Error> {
        if self.open.len() >= self.limits.depth {
            return self.fail(Kind::Depth);
        }
        let mark = self.sink.mark(self.at);
        self.sink.value(kind, self.at, self.at + 1);
        self.at += 1;
        self.space();
        let empty = self.peek() == close;
        if empty {
            self.at += 1;
            self.sink.close(mark, self.at);
        } else {
            self.open.push(Frame { close, order: Order::Canonical, mark, first: self.members.len() });
        }
        Ok(empty)
    }

    /// After a value: ends whatever ends here. False when that was the outermost value.
    fn another(&mut self) -> Result<bool, Error> {
        loop {
            self.space();
            let Some(frame) = self.open.last() else { return Ok(false) };
            let next = self.peek();
            if next != b',' && next != frame.close {
                return self.fail(Kind::Syntax);
            }
            if frame.close == b'}' {
                self.end_member();
            }
            if next == b',' {
                return self.after_comma().map(|()| true);
            }
            self.end()?;
        }
    }

    fn after_comma(&mut self) -> Result<(), Error> {
        self.at += 1;
        self.space();
        if self.open.last().is_some_and(|frame| frame.close == b'}') { self.name() } else { Ok(()) }
    }

    fn end_member(&mut self) {
        let mark = self.sink.mark(self.at);
        if let Some(member) = self.members.last_mut() {
            member.end = mark;
        }
    }

    fn end(&mut self) -> Result<(), Error> {
        let Some(frame) = self.open.pop() else { return Ok(()) };
        if frame.close == b'}' {
            self.settle(&frame)?;
            self.members.truncate(frame.first);
        }
        self.at += 1;
        self.sink.close(frame.mark, self.at);
        Ok(())
    }

    /// Names in strictly ascending order hold no duplicate. Any other object is sorted once, which brings
    /// equal names together: of those the first in the source counts.
    fn settle(&mut self, frame: &Frame) -> Result<(), Error> {
        let members = &mut self.members[frame.first..];
        if frame.order == Order::Other {
            for (at, mark) in names::sort(members) {
                self.sink.shadow(mark);
                self.note(at, DefectKind::Duplicate)?;
            }
        }
        self.sink.members(&self.members[frame.first..], frame.order, self.open.len(), self.at);
        Ok(())
    }

    fn name(&mut self) -> Result<(), Error> {
        let (start, begin) = (self.at, self.sink.mark(self.at));
        if self.peek() != b'"' {
            return self.fail(Kind::Syntax);
        }
        let escaped = self.string()?;
        self.sink.name(start, self.at, escaped);
        let inside = &self.text[start + 1..self.at - 1];
        let name = if escaped { unescape(inside) } else { Cow::Borrowed(inside) };
        self.space();
        if self.peek() != b':' {
            return self.fail(Kind::Syntax);
        }
        self.at += 1;
        self.space();
        self.member(Member::new(name, offset(start), begin))
    }

    fn member(&mut self, member: Member<'a>) -> Result<(), Error> {
        let Some(frame) = self.open.last_mut() else { return Ok(()) };
        let before = &self.members[frame.first..];
        if before.len() >= self.limits.members {
            return Err(Error { at: member.at as usize, kind: Kind::Members });
        }
        if before.last().is_some_and(|last| last.by_name(&member).is_ge()) {
            frame.order = Order::Other;
        }
        self.members.push(member);
        Ok(())
    }
}
