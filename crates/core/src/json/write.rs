//! Spans to RFC 8785 bytes.

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
    members.sort_by(|left, right| left.0.encode_utf16().cmp(right.0.encode_utf16()));
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

/// ECMAScript's `Number::toString` (RFC 8785 section 3.2.2.3). The literal was read as finite.
fn number(literal: &str, out: &mut Vec<u8>) {
    let value: f64 = literal.parse().unwrap_or(0.0);
    out.extend_from_slice(ryu_js::Buffer::new().format_finite(value).as_bytes());
}

/// Only the quote, the backslash and the controls are escaped (RFC 8785 section 3.2.2.2).
fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            8 => out.extend(b"\\b"),
            9 => out.extend(b"\\t"),
            10 => out.extend(b"\\n"),
            12 => out.extend(b"\\f"),
            13 => out.extend(b"\\r"),
            0..0x20 => out.extend(format!("\\u{byte:04x}").bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}
