//! The tokenizer: text to spans, with every defect on the way.

use std::collections::HashSet;

use super::doc::{Doc, NodeKind, Slot, unescape};
use super::{Error, Kind, Limits};

/// Something a strict reader refuses and a patient one notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defect {
    /// Byte offset in the text.
    pub at: usize,
    /// What it is.
    pub kind: DefectKind,
}

/// The defects that leave a text readable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefectKind {
    /// Two members of one name; the first counts.
    Duplicate,
    /// A byte order mark before the value.
    Bom,
    /// Half of a surrogate pair.
    Surrogate,
    /// An integer beyond ±(2^53−1), or a fraction that prints as one.
    UnsafeInteger,
    /// A number no double can hold.
    Overflow,
}

impl From<DefectKind> for Kind {
    fn from(kind: DefectKind) -> Self {
        match kind {
            DefectKind::Duplicate => Self::Duplicate,
            DefectKind::Bom => Self::Bom,
            DefectKind::Surrogate => Self::Surrogate,
            DefectKind::UnsafeInteger => Self::UnsafeInteger,
            DefectKind::Overflow => Self::Overflow,
        }
    }
}

const MOST_DEFECTS: usize = 64;
const LARGEST_SAFE: f64 = 9_007_199_254_740_991.0;

struct Reader<'a, 'l> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    slots: Vec<Slot>,
    defects: Vec<Defect>,
    limits: &'l Limits,
    safe_integers: bool,
}

/// Reads the whole of `source`. Defects come in source order, at most 64 of them.
pub(super) fn read<'a>(
    source: &'a [u8],
    limits: &Limits,
    safe_integers: bool,
) -> Result<(Doc<'a>, Vec<Defect>), Error> {
    if source.len() > limits.size {
        return Err(Error { at: limits.size, kind: Kind::Size });
    }
    let text = std::str::from_utf8(source).map_err(|error| Error { at: error.valid_up_to(), kind: Kind::Utf8 })?;
    let mut reader =
        Reader { text, bytes: source, at: 0, slots: Vec::new(), defects: Vec::new(), limits, safe_integers };
    if text.starts_with('\u{feff}') {
        reader.note(0, DefectKind::Bom);
        reader.at = 3;
    }
    reader.space();
    reader.value(0, (0, 0))?;
    reader.space();
    if reader.at != source.len() {
        return reader.fail(Kind::Trailing);
    }
    Ok((Doc { text, slots: reader.slots }, reader.defects))
}

impl Reader<'_, '_> {
    fn fail<T>(&self, kind: Kind) -> Result<T, Error> {
        Err(Error { at: self.at, kind })
    }

    fn note(&mut self, at: usize, kind: DefectKind) {
        if self.defects.len() < MOST_DEFECTS {
            self.defects.push(Defect { at, kind });
        }
    }

    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\t' | b'\r') {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize, name: (usize, usize)) -> Result<(), Error> {
        let start = self.at;
        let mine = self.slots.len();
        self.slots.push(Slot { kind: NodeKind::Null, start, end: start, name, next: mine + 1, shadowed: false });
        let kind = match self.peek() {
            b'{' => self.object(depth)?,
            b'[' => self.array(depth)?,
            b'"' => self.string()?,
            b't' => self.word("true", NodeKind::Bool)?,
            b'f' => self.word("false", NodeKind::Bool)?,
            b'n' => self.word("null", NodeKind::Null)?,
            b'-' | b'0'..=b'9' => self.number()?,
            _ => return self.fail(Kind::Syntax),
        };
        let next = self.slots.len();
        let slot = &mut self.slots[mine];
        (slot.kind, slot.end, slot.next) = (kind, self.at, next);
        Ok(())
    }

    fn word(&mut self, word: &str, kind: NodeKind) -> Result<NodeKind, Error> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return self.fail(Kind::Syntax);
        }
        self.at += word.len();
        Ok(kind)
    }

    fn open(&mut self, depth: usize) -> Result<(), Error> {
        if depth >= self.limits.depth {
            return self.fail(Kind::Depth);
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    /// After an element: true when another follows, false at `close`.
    fn more(&mut self, close: u8) -> Result<bool, Error> {
        self.space();
        let next = self.peek();
        if next != b',' && next != close {
            return self.fail(Kind::Syntax);
        }
        self.at += 1;
        if next == b',' {
            self.space();
        }
        Ok(next == b',')
    }

    fn array(&mut self, depth: usize) -> Result<NodeKind, Error> {
        self.open(depth)?;
        if self.peek() == b']' {
            self.at += 1;
            return Ok(NodeKind::Array);
        }
        loop {
            self.value(depth + 1, (0, 0))?;
            if !self.more(b']')? {
                return Ok(NodeKind::Array);
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<NodeKind, Error> {
        self.open(depth)?;
        if self.peek() == b'}' {
            self.at += 1;
            return Ok(NodeKind::Object);
        }
        let mut seen = HashSet::new();
        loop {
            let name = self.name()?;
            let mine = self.slots.len();
            self.value(depth + 1, name)?;
            if !seen.insert(unescape(&self.text[name.0 + 1..name.1 - 1])) {
                self.slots[mine].shadowed = true;
                self.note(name.0, DefectKind::Duplicate);
            }
            if seen.len() > self.limits.members {
                return self.fail(Kind::Members);
            }
            if !self.more(b'}')? {
                return Ok(NodeKind::Object);
            }
        }
    }

    fn name(&mut self) -> Result<(usize, usize), Error> {
        let start = self.at;
        if self.peek() != b'"' {
            return self.fail(Kind::Syntax);
        }
        self.string()?;
        let end = self.at;
        self.space();
        if self.peek() != b':' {
            return self.fail(Kind::Syntax);
        }
        self.at += 1;
        self.space();
        Ok((start, end))
    }

    fn string(&mut self) -> Result<NodeKind, Error> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(0x20..) => self.at += 1,
                _ => return self.fail(Kind::Syntax),
            }
        }
        if self.at - start > self.limits.string {
            return self.fail(Kind::String);
        }
        self.at += 1;
        Ok(NodeKind::String)
    }

    fn escape(&mut self) -> Result<(), Error> {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            b'u' => {
                let unit = self.unit()?;
                let paired = (0xd800..0xdc00).contains(&unit) && self.low_half();
                if (0xd800..0xe000).contains(&unit) && !paired {
                    self.note(start, DefectKind::Surrogate);
                }
            }
            _ => return self.fail(Kind::Syntax),
        }
        Ok(())
    }

    /// Reads `uXXXX`.
    fn unit(&mut self) -> Result<u32, Error> {
        let digits = self
            .text
            .get(self.at + 1..self.at + 5)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(unit) = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
            return self.fail(Kind::Syntax);
        };
        self.at += 5;
        Ok(unit)
    }

    /// Takes the second half of a pair, if it stands here.
    fn low_half(&mut self) -> bool {
        let low = self.text.get(self.at..self.at + 6).and_then(|next| next.strip_prefix("\\u"));
        let low = low.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let found = low.is_some_and(|unit| (0xdc00..0xe000).contains(&unit));
        if found {
            self.at += 6;
        }
        found
    }

    fn digits(&mut self) -> Result<(), Error> {
        if !self.peek().is_ascii_digit() {
            return self.fail(Kind::Syntax);
        }
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<NodeKind, Error> {
        let start = self.at;
        self.at += usize::from(self.peek() == b'-');
        let first = self.at;
        self.digits()?;
        if self.bytes[first] == b'0' && self.at > first + 1 {
            return self.fail(Kind::Syntax);
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), b'+' | b'-'));
            self.digits()?;
        }
        self.judge_number(start);
        Ok(NodeKind::Number)
    }

    /// Every double beyond 2^53-1 is an integer that it cannot tell from its neighbour, so the size of
    /// the value decides and its spelling does not: `1e20`, `1e21` and twenty-one digits are one case.
    fn judge_number(&mut self, start: usize) {
        let literal = &self.text[start..self.at];
        if literal.len() <= 15 && !literal.contains(['e', 'E']) {
            return;
        }
        let value: f64 = literal.parse().unwrap_or(f64::INFINITY);
        if !value.is_finite() {
            self.note(start, DefectKind::Overflow);
        } else if self.safe_integers && value.abs() > LARGEST_SAFE {
            self.note(start, DefectKind::UnsafeInteger);
        }
    }
}
