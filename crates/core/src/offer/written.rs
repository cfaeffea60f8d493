//! What a seller wrote, kept as it stood where a reader needs the thing itself and not what we make of it: the envelope,
//! the entry to pay by, what the endpoint takes and returns. Digests and quotations are made when somebody asks.

use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::text;
use crate::json::{self, Kind, Limits, Node, Profile};

/// Deepest nesting that is quoted: a signed document nests 32 deep, and a quotation stands inside one.
const MOST_DEEP: usize = 24;

/// A JSON text, or a value inside one, as a seller wrote it.
#[derive(Clone, Debug)]
pub struct Written {
    /// The text of its channel, shared by all that is kept of it.
    whole: Arc<str>,
    start: usize,
    end: usize,
}

/// Why something a seller wrote is not quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// It is longer or deeper than its reader can carry.
    TooLarge,
    /// It names a member twice, or holds a number that a signed document cannot: parsers differ on what it says.
    Ambiguous,
    /// It holds characters that a reader does not see.
    Hidden,
}

impl Written {
    /// A text that stands by itself.
    #[cfg(test)]
    pub(crate) fn alone(text: &str) -> Self {
        Self { whole: text.into(), start: 0, end: text.len() }
    }

    fn text(&self) -> &str {
        self.whole.get(self.start..self.end).unwrap_or_default()
    }

    /// SHA-256 of the RFC 8785 bytes, hex; none for what has no canonical form.
    pub fn sha256(&self) -> Option<String> {
        let canonical = json::canonicalize(self.text().as_bytes(), Profile::Rfc8785, &Limits::default()).ok()?;
        Some(hex::encode(Sha256::digest(canonical)))
    }

    /// The RFC 8785 text, at most `most` bytes of it. It stays a stranger's word, and hides nothing.
    ///
    /// # Errors
    /// Why it cannot be quoted.
    pub fn quoted(&self, most: usize) -> Result<String, LeftOut> {
        // Spaces between tokens are no part of what is quoted, and no reason to read a megabyte of them.
        let limits = Limits { depth: MOST_DEEP, size: 4 * most, ..Limits::default() };
        let canonical = json::canonicalize(self.text().as_bytes(), Profile::Signed, &limits);
        let canonical = canonical.map_err(|error| match error.kind {
            Kind::Depth | Kind::Members | Kind::Size | Kind::String => LeftOut::TooLarge,
            _ => LeftOut::Ambiguous,
        })?;
        let text = String::from_utf8(canonical).map_err(|_| LeftOut::Ambiguous)?;
        match () {
            () if text.len() > most => Err(LeftOut::TooLarge),
            () if text::hides(&text) => Err(LeftOut::Hidden),
            () => Ok(text),
        }
    }
}

/// The text of one channel while it is read.
pub(super) struct Page<'d> {
    read: &'d str,
    whole: Arc<str>,
}

impl<'d> Page<'d> {
    /// The page whose outermost value is `root`.
    pub(super) fn of(root: Node<'d>) -> Self {
        Self { read: root.raw(), whole: root.raw().into() }
    }

    /// The whole of it.
    pub(super) fn all(&self) -> Written {
        Written { whole: Arc::clone(&self.whole), start: 0, end: self.whole.len() }
    }

    /// What stands at `node`, a value of this page.
    pub(super) fn at(&self, node: Node<'d>) -> Written {
        let start = node.raw().as_ptr().addr() - self.read.as_ptr().addr();
        Written { whole: Arc::clone(&self.whole), start, end: start + node.raw().len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str, most: usize) -> Result<String, LeftOut> {
        let (doc, _) = json::observe(text.as_bytes(), &Limits { depth: 64, ..Limits::default() }).unwrap();
        Page::of(doc.root()).all().quoted(most)
    }

    #[test]
    fn what_is_quoted_is_the_canonical_form() {
        assert_eq!(quoted(r#"{ "b": 1.0, "a": "\u00e9\n👍️" }"#, 64).as_deref(), Ok("{\"a\":\"é\\n👍️\",\"b\":1}"));
    }

    #[test]
    fn a_part_of_a_page_is_that_part() {
        let text = " {\"a\": [1, {\"b\": 2.50}]}";
        let (doc, _) = json::observe(text.as_bytes(), &Limits::default()).unwrap();
        let page = Page::of(doc.root());
        let item = doc.root().get("a").and_then(|list| list.items().nth(1)).unwrap();
        assert_eq!(page.at(item).quoted(64).as_deref(), Ok("{\"b\":2.5}"));
        // printf '{"b":2.5}' | sha256sum
        let expected = "09ced67694abdc9fb08980820ef3b4f4b39bed8f1b8f1fb4581edc0ad8d2d56b";
        assert_eq!(page.at(item).sha256().as_deref(), Some(expected));
    }

    #[test]
    fn what_is_too_large_ambiguous_or_hidden_is_not_quoted() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        for (text, most, expected) in [
            (r#"{"a":1}"#.to_owned(), 7, Ok(())),
            (r#"{"a":1}"#.to_owned(), 6, Err(LeftOut::TooLarge)),
            (format!("[{}]", " ".repeat(62)), 16, Ok(())),
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
            assert_eq!(quoted(&text, most).map(|_| ()), expected, "{text}");
        }
    }
}
