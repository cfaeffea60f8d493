//! Spans to RFC 8785 bytes.

use std::cmp::Ordering;

use super::doc::{Node, NodeKind};

/// The canonical bytes of a value that was read without a defect.
pub(super) fn canonical(node: Node<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(node.raw().len());
    value(node, &mut out);
    out
}

fn value(node: Node<'_>, out: &mut Vec<u8>) {
    match node.kind() {
        NodeKind::Null | NodeKind::Bool => out.extend_from_slice(node.raw().as_bytes()),
        NodeKind::Number => number(node.raw(), out),
        // A literal without an escape is its own canonical form: nothing in it needs one.
        NodeKind::String if !node.raw().contains('\\') => out.extend_from_slice(node.raw().as_bytes()),
        NodeKind::String => string(&node.as_str().unwrap_or_default(), out),
        NodeKind::Array => array(node, out),
        NodeKind::Object => object(node, out),
    }
}

fn array(node: Node<'_>, out: &mut Vec<u8>) {
    out.push(b'[');
    for (position, item) in node.items().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        value(item, out);
    }
    out.push(b']');
}

/// Members in the order of their names' UTF-16 code units (RFC 8785 section 3.2.3).
fn object(node: Node<'_>, out: &mut Vec<u8>) {
    let mut members: Vec<_> = node.members().collect();
    members.sort_by(|left, right| by_utf16_units(left.0.as_bytes(), right.0.as_bytes()));
    out.push(b'{');
    for (position, (name, member)) in members.into_iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        string(&name, out);
        out.push(b':');
        value(member, out);
    }
    out.push(b'}');
}

/// UTF-8 sorts as UTF-16 does but for one case: U+E000 to U+FFFF (first byte ee or ef) come before the
/// supplementary characters (first byte f0 and up) in UTF-8 and after their surrogates in UTF-16.
fn by_utf16_units(left: &[u8], right: &[u8]) -> Ordering {
    match left.iter().zip(right).find(|(left, right)| left != right) {
        Some((0xee..=0xef, 0xf0..)) => Ordering::Greater,
        Some((0xf0.., 0xee..=0xef)) => Ordering::Less,
        Some((left, right)) => left.cmp(right),
        None => left.len().cmp(&right.len()),
    }
}

/// ECMAScript's `Number::toString` (RFC 8785 section 3.2.2.3). The literal was read as finite.
fn number(literal: &str, out: &mut Vec<u8>) {
    let value: f64 = literal.parse().unwrap_or(0.0);
    out.extend_from_slice(ryu_js::Buffer::new().format_finite(value).as_bytes());
}

/// Only the quote, the backslash and the controls are escaped (RFC 8785 section 3.2.2.2).
fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\')) {
        out.extend_from_slice(&rest[..at]);
        escaped(rest[at], out);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

fn escaped(byte: u8, out: &mut Vec<u8>) {
    match byte {
        8 => out.extend(b"\\b"),
        9 => out.extend(b"\\t"),
        10 => out.extend(b"\\n"),
        12 => out.extend(b"\\f"),
        13 => out.extend(b"\\r"),
        0..0x20 => out.extend(format!("\\u{byte:04x}").bytes()),
        _ => out.extend([b'\\', byte]),
    }
}

#[cfg(test)]
mod tests {
    use super::by_utf16_units;

    /// Every pair around the places where the two orders part, against the definition itself.
    #[test]
    fn the_order_is_that_of_utf16_units() {
        let ends =
            ["", "a", "\u{7f}", "\u{7ff}", "\u{d7ff}", "\u{e000}", "\u{fb33}", "\u{ffff}", "\u{10000}", "\u{10ffff}"];
        let names: Vec<String> =
            ends.iter().flat_map(|first| ends.iter().map(move |last| format!("{first}{last}"))).collect();
        for left in &names {
            for right in &names {
                let defined = left.encode_utf16().cmp(right.encode_utf16());
                assert_eq!(by_utf16_units(left.as_bytes(), right.as_bytes()), defined, "{left:?} {right:?}");
            }
        }
    }
}
