//! What a seller wrote, kept whole where a buyer needs the thing itself and not what we make of it: the entry to pay
//! by, and what the endpoint takes and returns. It stays a stranger's word, so it has a bound and hides nothing.

use serde::Serialize;

use super::text;
use crate::json::{self, Kind, Limits, Node, Profile};

/// Longest entry of `accepts` that is kept, in bytes of its canonical form.
pub(super) const MOST_ENTRY: usize = 8 << 10;
/// Longest schema that is kept, likewise.
pub(super) const MOST_SCHEMA: usize = 16 << 10;
/// Deepest nesting that is kept: a signed document nests 32 deep, and a quotation stands inside one.
const MOST_DEEP: usize = 24;

/// A quotation: RFC 8785 text, or why there is none.
pub type Quoted = Result<String, LeftOut>;

/// Why something a seller wrote is not quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// It is longer or deeper than a decision carries.
    TooLarge,
    /// It names a member twice, or holds a number that a signed document cannot: parsers differ on what it says.
    Ambiguous,
    /// It holds characters that a reader does not see.
    Hidden,
}

/// Quotes `node` in at most `most` bytes.
pub(super) fn quoted(node: Node<'_>, most: usize) -> Quoted {
    // Spaces between tokens are no part of what is kept, and no reason to read a megabyte of them.
    let limits = Limits { depth: MOST_DEEP, size: 4 * most, ..Limits::default() };
    let text =
        json::canonicalize(node.raw().as_bytes(), Profile::Signed, &limits).map_err(|error| match error.kind {
            Kind::Depth | Kind::Members | Kind::Size | Kind::String => LeftOut::TooLarge,
            _ => LeftOut::Ambiguous,
        })?;
    let text = String::from_utf8(text).map_err(|_| LeftOut::Ambiguous)?;
    match () {
        () if text.len() > most => Err(LeftOut::TooLarge),
        () if text::hides(&text) => Err(LeftOut::Hidden),
        () => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, most: usize) -> Quoted {
        let (doc, _) = json::observe(text.as_bytes(), &Limits { depth: 64, ..Limits::default() }).unwrap();
        quoted(doc.root(), most)
    }

    #[test]
    fn what_is_quoted_is_the_canonical_form() {
        assert_eq!(of(r#"{ "b": 1.0, "a": "\u00e9\n👍️" }"#, 64).as_deref(), Ok("{\"a\":\"é\\n👍️\",\"b\":1}"));
    }

    #[test]
    fn what_is_too_large_ambiguous_or_hidden_is_not_quoted() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        for (text, most, expected) in [
            (r#"{"a":1}"#.to_owned(), 7, Ok(())),
            (r#"{"a":1}"#.to_owned(), 6, Err(LeftOut::TooLarge)),
            (format!("[{}]", " ".repeat(63)), 16, Err(LeftOut::TooLarge)),
            (deep(24), 64, Ok(())),
            (deep(25), 64, Err(LeftOut::TooLarge)),
            (r#"{"a":1,"a":1}"#.to_owned(), 64, Err(LeftOut::Ambiguous)),
            ("[9007199254740991]".to_owned(), 64, Ok(())),
            ("[9007199254740992]".to_owned(), 64, Err(LeftOut::Ambiguous)),
            ("[1e20]".to_owned(), 64, Err(LeftOut::Ambiguous)),
            ("[\"\u{202e}\"]".to_owned(), 64, Err(LeftOut::Hidden)),
            (r#"["\u202e"]"#.to_owned(), 64, Err(LeftOut::Hidden)),
        ] {
            assert_eq!(of(&text, most).map(|_| ()), expected, "{text}");
        }
    }
}
