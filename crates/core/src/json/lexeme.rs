//! Strings and numbers: where they end, and what in them is not yet canonical.
//!
//! Most literals that people and programs write are canonical as they stand. Those are recognised while
//! they are scanned and copied with everything around them; only the others are decoded and printed anew.

use super::doc::NodeKind;
use super::read::{Manner, Reader, Sink};
use super::{DefectKind, Error, Kind, Profile};

const LARGEST_SAFE: f64 = 9_007_199_254_740_991.0;
const LARGEST_SAFE_DIGITS: &[u8] = b"9007199254740991";

impl<S: Sink> Reader<'_, '_, S> {
    /// Reads the string whose opening quote stands here; true if it holds an escape.
    pub(super) fn string(&mut self) -> Result<bool, Error> {
        self.at += 1;
        let start = self.at;
        let mut escaped = false;
        loop {
            self.at += run(&self.bytes[self.at..], specials);
            match self.peek() {
                b'"' => break,
                b'\\' => {
                    escaped = true;
                    self.escape()?;
                }
                _ => return self.fail(Kind::Syntax),
            }
        }
        if self.at - start > self.limits.string {
            return self.fail(Kind::String);
        }
        self.at += 1;
        Ok(escaped)
    }

    fn escape(&mut self) -> Result<(), Error> {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            b'u' => return self.unicode(start),
            b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' => {}
            b'/' => self.sink.edit(start, start + 2, b"/"),
            _ => return self.fail(Kind::Syntax),
        }
        self.at += 1;
        Ok(())
    }

    /// Reads the rest of `\uXXXX`, and its second half if it is the first of a pair.
    fn unicode(&mut self, start: usize) -> Result<(), Error> {
        let Some(first) = self.unit(start) else { return self.fail(Kind::Syntax) };
        self.at = start + 6;
        let second = if (0xd800..0xdc00).contains(&first) { self.unit(self.at) } else { None };
        let pair = second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
        if pair.is_some() {
            self.at += 6;
        }
        let Some(character) = pair.or(char::from_u32(first.into())) else {
            return self.note(start, DefectKind::Surrogate);
        };
        if S::WRITES {
            self.respell(start, character);
        }
        Ok(())
    }

    /// The code unit of a `\uXXXX` at `at`.
    fn unit(&self, at: usize) -> Option<u16> {
        let [b'\\', b'u', digits @ ..] = self.bytes.get(at..at + 6)? else { return None };
        digits.iter().try_fold(0, |unit, &digit| Some((unit << 4) | char::from(digit).to_digit(16)? as u16))
    }

    fn respell(&mut self, start: usize, character: char) {
        let mut room = [0; 6];
        let canonical = spelled(character, &mut room);
        if canonical != &self.bytes[start..self.at] {
            self.sink.edit(start, self.at, canonical);
        }
    }

    #[inline]
    fn digits(&mut self) -> Result<(), Error> {
        let count = run(&self.bytes[self.at..], not_digits);
        self.at += count;
        if count > 0 { Ok(()) } else { self.fail(Kind::Syntax) }
    }

    /// Reads a number.
    pub(super) fn number(&mut self) -> Result<NodeKind, Error> {
        let start = self.at;
        self.at += usize::from(self.peek() == b'-');
        let first = self.at;
        self.digits()?;
        if self.bytes[first] == b'0' && self.at > first + 1 {
            return self.fail(Kind::Syntax);
        }
        let point = self.at;
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        let fraction = self.at;
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), b'+' | b'-'));
            self.digits()?;
        }
        let canonical = self.at == fraction
            && if point == fraction {
                whole_is_canonical(&self.bytes[start..point])
            } else {
                decimal_is_canonical(&self.bytes[first..point], &self.bytes[point + 1..fraction])
            };
        if canonical { Ok(NodeKind::Number) } else { self.double(start) }
    }

    /// A number that has to be worked out. Every double beyond 2^53-1 is an integer that it cannot tell
    /// from its neighbour, so the size of the value decides and its spelling does not: `1e20`, `1e21` and
    /// twenty-one digits are one case.
    fn double(&mut self, start: usize) -> Result<NodeKind, Error> {
        let literal = &self.text[start..self.at];
        let value: f64 = literal.parse().unwrap_or(f64::INFINITY);
        if !value.is_finite() {
            self.note(start, DefectKind::Overflow)?;
        } else if self.manner != Manner::Strict(Profile::Rfc8785) && value.abs() > LARGEST_SAFE {
            self.note(start, DefectKind::UnsafeInteger)?;
        }
        if S::WRITES {
            let mut room = ryu_js::Buffer::new();
            let canonical = room.format_finite(value);
            if canonical != literal {
                self.sink.edit(start, self.at, canonical.as_bytes());
            }
        }
        Ok(NodeKind::Number)
    }
}

/// An integer literal is canonical when it is one a double holds exactly, and not minus zero.
fn whole_is_canonical(literal: &[u8]) -> bool {
    let digits = literal.strip_prefix(b"-").unwrap_or(literal);
    literal != b"-0" && (digits.len() < 16 || (digits.len() == 16 && digits <= LARGEST_SAFE_DIGITS))
}

/// Fifteen digits survive a double, so a decimal with no more of them and no superfluous zero is the
/// shortest that reads as its value. Below 10^-6 ECMAScript would write an exponent.
fn decimal_is_canonical(whole: &[u8], fraction: &[u8]) -> bool {
    whole.len() + fraction.len() <= 15
        && fraction.last() != Some(&b'0')
        && (whole != b"0" || !fraction.starts_with(b"000000"))
}

/// Only the quote, the backslash and the controls are escaped (RFC 8785 section 3.2.2.2).
fn spelled(character: char, room: &mut [u8; 6]) -> &[u8] {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    match character {
        '"' => b"\\\"",
        '\\' => b"\\\\",
        '\u{8}' => b"\\b",
        '\t' => b"\\t",
        '\n' => b"\\n",
        '\u{c}' => b"\\f",
        '\r' => b"\\r",
        '\0'..' ' => {
            let code = character as usize;
            *room = [b'\\', b'u', b'0', b'0', HEX[code >> 4], HEX[code & 15]];
            room
        }
        _ => character.encode_utf8(room).as_bytes(),
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;

/// Length of the run of bytes before the first that `marks` marks, looked for eight bytes at a time.
/// `marks` sets the top bit of a byte that ends the run. What a byte carries or borrows can only disturb
/// those above it, so the lowest mark is always right.
#[inline]
fn run(bytes: &[u8], marks: impl Fn(u64) -> u64) -> usize {
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (position, chunk) in chunks.iter().enumerate() {
        let found = marks(u64::from_le_bytes(*chunk)) & TOPS;
        if found != 0 {
            return position * 8 + (found.trailing_zeros() / 8) as usize;
        }
    }
    let plain = |byte: &u8| marks(u64::from(*byte)) & 0x80 == 0;
    bytes.len() - rest.len() + rest.iter().take_while(|byte| plain(byte)).count()
}

/// Marks the quote, the backslash and the control characters.
#[inline]
fn specials(word: u64) -> u64 {
    let below = |word: u64, least: u64| word.wrapping_sub(ONES * least) & !word;
    below(word ^ (ONES * 0x22), 1) | below(word ^ (ONES * 0x5c), 1) | below(word, 0x20)
}

/// Marks everything but digits.
#[inline]
fn not_digits(word: u64) -> u64 {
    let digit = word ^ (ONES * 0x30);
    digit.wrapping_add(ONES * (0x80 - 10)) | digit
}
