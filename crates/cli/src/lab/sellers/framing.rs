//! Sellers that attack the reader of HTTP itself.

use super::super::challenge::{Answer, Asked, edited, v1, v2};
use super::honest::{base64, body};
use super::{Reply, Seller, finds, hostile, refuses};

pub(super) const ALL: &[Seller] = &[
    hostile(
        "header-bomb",
        "sends a payment header of 200 kB",
        refuses("head_too_large"),
        "honest-v2",
        Reply::Whole(|_| Answer::payment("{}").with("PAYMENT-REQUIRED", "A".repeat(200_000)).bytes()),
    ),
    hostile(
        "header-crowd",
        "sends two thousand header lines",
        refuses("head_too_large"),
        "honest-v2",
        Reply::Whole(crowd),
    ),
    hostile(
        "endless-head",
        "never ends its head",
        refuses("head_too_large"),
        "honest-v2",
        Reply::Endless(|_| b"HTTP/1.1 402 Payment Required\r\n".to_vec(), b"X-More: yes\r\n"),
    ),
    hostile(
        "endless-body",
        "never ends its body",
        finds("not_evaluated", "body.stopped"),
        "honest-ample",
        Reply::Endless(unbounded, b"                "),
    ),
    hostile(
        "endless-interim",
        "sends interim answers for ever",
        refuses("too_many_interim"),
        "honest-interim",
        Reply::Endless(|_| Vec::new(), b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    ),
    hostile(
        "two-lengths",
        "gives two lengths for one body",
        refuses("length_conflict"),
        "honest-v1",
        Reply::Whole(|asked| framed(asked, "Content-Length: 5\r\nContent-Length: 900\r\n\r\n")),
    ),
    hostile(
        "length-and-chunks",
        "gives a length and sends chunks: a proxy and a buyer read different bodies",
        refuses("length_and_chunked"),
        "honest-chunked",
        Reply::Whole(smuggled),
    ),
    hostile(
        "negative-length",
        "gives a length below nothing",
        refuses("head_malformed"),
        "honest-v1",
        Reply::Whole(|asked| framed(asked, "Content-Length: -1\r\n\r\n")),
    ),
    hostile(
        "boundless-length",
        "announces more bytes than a computer can count",
        refuses("body_too_large"),
        "honest-v1",
        Reply::Whole(|asked| framed(asked, "Content-Length: 18446744073709551615\r\n\r\n")),
    ),
    hostile(
        "bare-line-feeds",
        "ends its lines as no HTTP/1.1 server may",
        finds("payable_with_warnings", "transport.bare_lf"),
        "honest-v2",
        Reply::Whole(line_feeds),
    ),
    hostile(
        "split-header",
        "breaks its payment header with a bare carriage return to smuggle a second one in",
        refuses("head_malformed"),
        "honest-v2",
        Reply::Whole(split),
    ),
    hostile(
        "zero-byte",
        "puts a zero byte into a header",
        refuses("control_in_head"),
        "honest-v2",
        Reply::Whole(|asked| header_of_lab(asked, "X-Note: a\0b")),
    ),
    hostile(
        "truncated-body",
        "promises more body than it sends",
        finds("not_evaluated", "body.incomplete"),
        "honest-v1",
        Reply::Whole(truncated),
    ),
    hostile(
        "packed-body",
        "packs its body although nobody asked for that",
        finds("not_evaluated", "body.stopped"),
        "honest-v1",
        Reply::Whole(packed),
    ),
    hostile(
        "not-http",
        "answers with the greeting of a mail server",
        refuses("not_http"),
        "honest-v2",
        Reply::Whole(|_| b"220 mail.lab ESMTP\r\n".to_vec()),
    ),
    hostile(
        "slow-drip",
        "sends one byte at a time, slowly",
        refuses("first_byte_timeout"),
        "honest-v2",
        Reply::Drip(ordinary),
    ),
    hostile(
        "silent",
        "accepts the request and says nothing",
        refuses("first_byte_timeout"),
        "honest-v2",
        Reply::Silent,
    ),
];

fn ordinary(asked: &Asked) -> Vec<u8> {
    edited(asked, |_| ())
}

fn crowd(asked: &Asked) -> Vec<u8> {
    let lines: Vec<String> = (0..2000).map(|nth| format!("X-Crowd-{nth}: {}", "y".repeat(64))).collect();
    header_of_lab(asked, &lines.join("\r\n"))
}

/// The ordinary answer with these lines in its head, whatever they hold.
fn header_of_lab(asked: &Asked, lines: &str) -> Vec<u8> {
    let answer = Answer::payment("{}").with("PAYMENT-REQUIRED", base64(&v2(asked).to_string()));
    let mut raw = answer.head();
    raw.extend_from_slice(format!("{lines}\r\nContent-Length: 2\r\n\r\n{{}}").as_bytes());
    raw
}

/// A head whose body has no declared end.
fn unbounded(asked: &Asked) -> Vec<u8> {
    let mut raw = body(asked).head();
    raw.extend_from_slice(b"\r\n");
    raw.extend_from_slice(v1(asked).to_string().as_bytes());
    raw
}

/// A v1 answer with its framing headers replaced.
fn framed(asked: &Asked, framing: &str) -> Vec<u8> {
    let mut raw = body(asked).head();
    raw.extend_from_slice(framing.as_bytes());
    raw.extend_from_slice(v1(asked).to_string().as_bytes());
    raw
}

fn smuggled(asked: &Asked) -> Vec<u8> {
    let mut raw = body(asked).head();
    let text = v1(asked).to_string();
    let framing = format!("Content-Length: {}\r\nTransfer-Encoding: chunked\r\n\r\n", text.len());
    raw.extend_from_slice(format!("{framing}{:x}\r\n{text}\r\n0\r\n\r\n", text.len()).as_bytes());
    raw
}

fn line_feeds(asked: &Asked) -> Vec<u8> {
    ordinary(asked).into_iter().filter(|&byte| byte != b'\r').collect()
}

fn split(asked: &Asked) -> Vec<u8> {
    let second = base64(&v2(asked).to_string());
    header_of_lab(asked, &format!("X-Note: a\rPAYMENT-REQUIRED: {second}"))
}

fn truncated(asked: &Asked) -> Vec<u8> {
    let text = v1(asked).to_string();
    let half = &text[..text.len() / 2];
    let mut raw = body(asked).head();
    raw.extend_from_slice(format!("Content-Length: {}\r\n\r\n{half}", text.len()).as_bytes());
    raw
}

/// The first bytes of a gzip stream; what follows would be a bomb, and is never opened.
fn packed(_: &Asked) -> Vec<u8> {
    Answer::payment([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3]).with("Content-Encoding", "gzip").bytes()
}
