//! A read text: nodes in source order, each a span of it.

use std::borrow::Cow;

use super::read::{Sink, offset};

/// A JSON text and the spans of its values.
#[derive(Debug)]
pub struct Doc<'a> {
    pub(super) text: &'a str,
    pub(super) slots: Vec<Slot>,
}

/// One value: where it stands, and where the next value outside it is (nodes are in source order).
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    kind: NodeKind,
    /// Byte range of the value.
    start: u32,
    end: u32,
    /// Byte range of the member's name with its quotes; empty outside objects.
    name: (u32, u32),
    /// Whether that name holds an escape.
    name_escaped: bool,
    /// Slot after this value and everything inside it.
    next: u32,
    /// A second member of this name: kept as a span, passed over by every reader.
    shadowed: bool,
}

/// The sink of spans.
pub(super) struct Spans {
    pub(super) slots: Vec<Slot>,
    /// The name of the value that comes next, and whether it holds an escape.
    name: (u32, u32, bool),
}

impl Spans {
    /// For a text of `length` bytes. What people write has a value for every thirty bytes or so.
    pub(super) fn of(length: usize) -> Self {
        Self { slots: Vec::with_capacity(8 + length / 32), name: (0, 0, false) }
    }
}

impl Sink for Spans {
    fn mark(&self, _at: usize) -> u32 {
        offset(self.slots.len())
    }

    fn name(&mut self, start: usize, end: usize, escaped: bool) {
        self.name = (offset(start), offset(end), escaped);
    }

    fn value(&mut self, kind: NodeKind, start: usize, end: usize) {
        let next = offset(self.slots.len() + 1);
        let (begin, quote, name_escaped) = std::mem::take(&mut self.name);
        let (start, end, name) = (offset(start), offset(end), (begin, quote));
        self.slots.push(Slot { kind, start, end, name, name_escaped, next, shadowed: false });
    }

    fn close(&mut self, mark: u32, end: usize) {
        let next = offset(self.slots.len());
        let slot = &mut self.slots[mark as usize];
        (slot.end, slot.next) = (offset(end), next);
    }

    fn shadow(&mut self, mark: u32) {
        self.slots[mark as usize].shadowed = true;
    }
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number
    Number,
    /// A string
    String,
    /// An array
    Array,
    /// An object
    Object,
}

/// One value of a [`Doc`].
#[derive(Clone, Copy, Debug)]
pub struct Node<'d> {
    doc: &'d Doc<'d>,
    at: usize,
}

impl Doc<'_> {
    /// The outermost value.
    pub fn root(&self) -> Node<'_> {
        Node { doc: self, at: 0 }
    }
}

impl<'d> Node<'d> {
    fn slot(self) -> &'d Slot {
        &self.doc.slots[self.at]
    }

    /// What this value is.
    pub fn kind(self) -> NodeKind {
        self.slot().kind
    }

    /// The value exactly as it stands in the text.
    pub fn raw(self) -> &'d str {
        let slot = self.slot();
        &self.doc.text[slot.start as usize..slot.end as usize]
    }

    /// The member called `name`, if this is an object that has one.
    pub fn get(self, name: &str) -> Option<Node<'d>> {
        self.children(NodeKind::Object).find(|child| child.is_called(name))
    }

    /// The elements of an array; nothing for any other value.
    pub fn items(self) -> impl Iterator<Item = Node<'d>> {
        self.children(NodeKind::Array)
    }

    /// The members of an object in source order; nothing for any other value.
    pub fn members(self) -> impl Iterator<Item = (Cow<'d, str>, Node<'d>)> {
        self.children(NodeKind::Object).map(|child| (child.name(), child))
    }

    fn children(self, of: NodeKind) -> impl Iterator<Item = Node<'d>> {
        let doc = self.doc;
        let end = self.slot().next as usize;
        let mut at = if self.kind() == of { self.at + 1 } else { end };
        let siblings = std::iter::from_fn(move || {
            let node = (at < end).then_some(Node { doc, at })?;
            at = node.slot().next as usize;
            Some(node)
        });
        siblings.filter(|node| !node.slot().shadowed)
    }

    /// This member's name, unescaped.
    pub(super) fn name(self) -> Cow<'d, str> {
        let written = self.name_as_written();
        if self.slot().name_escaped { unescape(written) } else { Cow::Borrowed(written) }
    }

    fn name_as_written(self) -> &'d str {
        let (start, end) = self.slot().name;
        self.doc.text.get(start as usize + 1..(end as usize).saturating_sub(1)).unwrap_or_default()
    }

    /// A name with escapes is read only where it can be the one: an object may have very many of them.
    fn is_called(self, name: &str) -> bool {
        let slot = self.slot();
        match slot.name_escaped {
            // Two quotes stand around a name, and most names differ in length already.
            false => (slot.name.1 - slot.name.0) as usize == name.len() + 2 && self.name_as_written() == name,
            true => may_be(self.name_as_written(), name) && self.name() == name,
        }
    }

    /// The text of a string, unescaped; half surrogates read as U+FFFD.
    pub fn as_str(self) -> Option<Cow<'d, str>> {
        let raw = self.raw();
        (self.kind() == NodeKind::String).then(|| unescape(&raw[1..raw.len() - 1]))
    }

    /// The value of `true` or `false`.
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == NodeKind::Bool).then(|| self.raw() == "true")
    }

    /// An unsigned integer literal that fits; fractions and exponents are not integers here.
    pub fn as_u64(self) -> Option<u64> {
        if self.kind() == NodeKind::Number { self.raw().parse().ok() } else { None }
    }
}

/// Whether `written`, the inside of a literal with escapes, can be `name` by its length and its first character. An escape
/// is at most six times as long as what it stands for.
fn may_be(written: &str, name: &str) -> bool {
    if !(name.len()..=6 * name.len()).contains(&written.len()) {
        return false;
    }
    let mut chars = written.chars();
    let first = match chars.next() {
        Some('\\') => char::from_u32(u32::from(escape(&mut chars))),
        first => first,
    };
    // Half of a pair says nothing by itself.
    first.is_none() || first == name.chars().next()
}

/// The inside of a well-formed string literal, with its escapes resolved.
pub(super) fn unescape(inside: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', inside.as_bytes()).is_none() {
        return Cow::Borrowed(inside);
    }
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let mut chars = rest[at..].chars();
        out.push_str(&String::from_utf16_lossy(&escapes(&mut chars)));
        rest = chars.as_str();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Escapes that stand side by side: only those can form a surrogate pair.
fn escapes(rest: &mut std::str::Chars<'_>) -> Vec<u16> {
    let mut units = Vec::new();
    while rest.as_str().starts_with('\\') {
        rest.next();
        units.push(escape(rest));
    }
    units
}

fn escape(rest: &mut std::str::Chars<'_>) -> u16 {
    match rest.next() {
        Some('b') => 8,
        Some('f') => 12,
        Some('n') => 10,
        Some('r') => 13,
        Some('t') => 9,
        Some('u') => (0..4).fold(0, |unit: u16, _| {
            let digit = rest.next().and_then(|digit| digit.to_digit(16)).unwrap_or(0);
            (unit << 4) | (digit as u16)
        }),
        Some(other) => u16::try_from(u32::from(other)).unwrap_or(0xfffd),
        None => 0xfffd,
    }
}
