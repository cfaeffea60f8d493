//! The names of one object: their canonical order, and which of them stand there twice.

use std::borrow::Cow;
use std::cmp::Ordering;

/// A member of an object that is being read.
pub(super) struct Member<'a> {
    /// The first eight bytes of the name, so spelled that numbers compare as names do.
    head: u64,
    name: Cow<'a, str>,
    /// Byte offset of the name's opening quote.
    pub(super) at: u32,
    /// Where it begins and ends in what the sink keeps.
    pub(super) begin: u32,
    pub(super) end: u32,
}

impl<'a> Member<'a> {
    pub(super) fn new(name: Cow<'a, str>, at: u32, begin: u32) -> Self {
        Self { head: head(name.as_bytes()), name, at, begin, end: begin }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The order of UTF-16 code units (RFC 8785 section 3.2.3).
    pub(super) fn by_name(&self, other: &Self) -> Ordering {
        self.head.cmp(&other.head).then_with(|| by_utf16_units(self.name.as_bytes(), other.name.as_bytes()))
    }
}

/// Sorts `members` by name. Returns place and mark of each that repeats the name of an earlier one, in
/// source order.
pub(super) fn sort(members: &mut [Member<'_>]) -> Vec<(usize, u32)> {
    members.sort_unstable_by(|left, right| left.by_name(right).then(left.at.cmp(&right.at)));
    let twins = members.windows(2).filter(|pair| pair[0].by_name(&pair[1]).is_eq());
    let mut again: Vec<_> = twins.map(|pair| (pair[1].at as usize, pair[1].begin)).collect();
    again.sort_unstable();
    again
}

/// UTF-8 sorts as UTF-16 does but for one case: U+E000 to U+FFFF (first byte ee or ef) come before the
/// supplementary characters (first byte f0 to f4) in UTF-8 and after their surrogates in UTF-16. With
/// those two bytes moved above f4, bytes compare as UTF-16 code units do.
fn lifted(byte: u8) -> u8 {
    if matches!(byte, 0xee | 0xef) { byte | 0x10 } else { byte }
}

fn head(name: &[u8]) -> u64 {
    let mut first = [0; 8];
    match name.first_chunk::<8>() {
        Some(eight) => first = *eight,
        None => first.iter_mut().zip(name).for_each(|(to, from)| *to = *from),
    }
    u64::from_be_bytes(if first.is_ascii() { first } else { first.map(lifted) })
}

fn by_utf16_units(left: &[u8], right: &[u8]) -> Ordering {
    if left.is_ascii() || right.is_ascii() {
        return left.cmp(right);
    }
    left.iter().copied().map(lifted).cmp(right.iter().copied().map(lifted))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair around the places where the two orders part, against the definition itself.
    #[test]
    fn the_order_is_that_of_utf16_units() {
        let ends = [
            "",
            "\0",
            "a",
            "\u{7f}",
            "\u{7ff}",
            "\u{d7ff}",
            "\u{e000}",
            "\u{fb33}",
            "\u{ffff}",
            "\u{10000}",
            "\u{10ffff}",
        ];
        let middles = ["", "seven 7", "eight  8"];
        let names: Vec<String> = ends
            .iter()
            .flat_map(|first| middles.iter().map(move |middle| (first, middle)))
            .flat_map(|(first, middle)| ends.iter().map(move |last| format!("{first}{middle}{last}")))
            .collect();
        for left in &names {
            for right in &names {
                let defined = left.encode_utf16().cmp(right.encode_utf16());
                let ours = Member::new(left.into(), 0, 0).by_name(&Member::new(right.into(), 0, 0));
                assert_eq!(ours, defined, "{left:?} {right:?}");
            }
        }
    }
}
