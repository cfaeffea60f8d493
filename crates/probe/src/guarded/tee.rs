//! What the server really wrote, kept under hyper. Hyper is lenient where we must not be: it takes `Content-Length`
//! beside `Transfer-Encoding`, lines that end in a bare LF, and a thousand interim responses. The raw head is judged
//! here, as it arrives, and reading stops at the first thing that is refused. The bytes themselves are kept for
//! evidence, because what hyper makes of a head no longer shows the order, the case and the spaces of its lines.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::chunks::ChunkScan;
use super::{RefusedCode, Wire};

/// More interim responses (1xx) than this is a flood.
const MAX_INTERIM: u32 = 4;

/// A judge of response heads that is fed bytes in pieces of any size.
#[derive(Debug)]
pub(crate) struct HeadScan {
    limit: usize,
    /// The first bytes as they came, at most `limit`: all heads, and what stands behind them.
    received: Vec<u8>,
    /// How many of them are heads.
    heads: usize,
    /// Where the head begins that is read now, or was read last.
    start: usize,
    line_start: usize,
    total: u64,
    interim: u32,
    bare_lf: bool,
    length: Option<u64>,
    chunks: Option<ChunkScan>,
    done: bool,
    trouble: Option<RefusedCode>,
}

impl HeadScan {
    /// `limit` is the most bytes that all heads together may have, interim ones included.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            received: Vec::new(),
            heads: 0,
            start: 0,
            line_start: 0,
            total: 0,
            interim: 0,
            bare_lf: false,
            length: None,
            chunks: None,
            done: false,
            trouble: None,
        }
    }

    /// Why the head is refused, once that is known.
    pub(crate) fn trouble(&self) -> Option<RefusedCode> {
        self.trouble
    }

    /// Bytes of the final head, its last empty line included.
    pub(crate) fn head_bytes(&self) -> usize {
        self.heads - self.start
    }

    /// Bytes of all heads together.
    pub(crate) fn heads(&self) -> usize {
        self.heads
    }

    /// Interim responses (1xx) before the final one.
    pub(crate) fn interim(&self) -> u32 {
        self.interim
    }

    /// Whether a line of a head ended in LF without CR.
    pub(crate) fn bare_lf(&self) -> bool {
        self.bare_lf
    }

    /// Whether the body hides bytes in its chunk sizes.
    pub(crate) fn padded(&self) -> bool {
        self.chunks.as_ref().is_some_and(ChunkScan::padded)
    }

    /// Whether more bytes arrived than `Content-Length` announced.
    pub(crate) fn overran(&self) -> bool {
        self.length.is_some_and(|length| self.total > (self.heads as u64).saturating_add(length))
    }

    /// Whether the announced end of the body has come: its length, or its last chunk. What hyper has not handed on yet
    /// is then on its way.
    pub(crate) fn ended(&self) -> bool {
        let whole = self.length.is_some_and(|length| self.total >= (self.heads as u64).saturating_add(length));
        whole || self.chunks.as_ref().is_some_and(ChunkScan::ended)
    }

    /// Takes the next bytes from the wire.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        for (at, byte) in bytes.iter().enumerate() {
            if self.done || self.trouble.is_some() {
                return self.push_rest(&bytes[at..]);
            }
            self.push_byte(*byte);
        }
    }

    fn push_rest(&mut self, bytes: &[u8]) {
        keep(&mut self.received, bytes, self.limit);
        if let Some(chunks) = &mut self.chunks {
            chunks.push(bytes);
        }
    }

    fn push_byte(&mut self, byte: u8) {
        if self.heads == self.limit {
            self.trouble = Some(RefusedCode::HeadTooLarge);
            return;
        }
        self.received.push(byte);
        self.heads += 1;
        if byte == 0 {
            self.trouble = Some(RefusedCode::ControlInHead);
        } else if self.head_bytes() <= 7 && !b"HTTP/1.".starts_with(self.head()) {
            self.trouble = Some(RefusedCode::NotHttp);
        } else if byte == b'\n' {
            self.end_line();
        }
    }

    fn head(&self) -> &[u8] {
        &self.received[self.start..self.heads]
    }

    fn end_line(&mut self) {
        let line = &self.received[self.line_start..];
        let has_cr = line.ends_with(b"\r\n");
        let empty = line.len() == if has_cr { 2 } else { 1 };
        self.bare_lf |= !has_cr;
        self.line_start = self.heads;
        if empty {
            self.end_head();
        }
    }

    fn end_head(&mut self) {
        match status(self.head()) {
            Some(code) if (100..200).contains(&code) && code != 101 => self.end_interim(),
            Some(_) => self.end_final(),
            None => self.trouble = Some(RefusedCode::HeadMalformed),
        }
    }

    fn end_interim(&mut self) {
        self.interim += 1;
        self.start = self.heads;
        if self.interim > MAX_INTERIM {
            self.trouble = Some(RefusedCode::TooManyInterim);
        }
    }

    fn end_final(&mut self) {
        self.done = true;
        let lengths: Vec<&[u8]> = values(self.head(), b"content-length").collect();
        let codings: Vec<&[u8]> = values(self.head(), b"transfer-encoding").collect();
        if !codings.is_empty() && !lengths.is_empty() {
            self.trouble = Some(RefusedCode::LengthAndChunked);
        } else if codings.len() > 1 || codings.iter().any(|coding| !coding.eq_ignore_ascii_case(b"chunked")) {
            self.trouble = Some(RefusedCode::TransferCoding);
        } else if !codings.is_empty() {
            self.chunks = Some(ChunkScan::new());
        } else {
            match length(&lengths) {
                Ok(length) => self.length = length,
                Err(code) => self.trouble = Some(code),
            }
        }
    }
}

/// Appends as much of `bytes` as there is room for.
fn keep(kept: &mut Vec<u8>, bytes: &[u8], limit: usize) {
    let room = limit.saturating_sub(kept.len());
    kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

/// The largest length that hyper counts to; the two above it mean something else there.
const MAX_LENGTH: u64 = u64::MAX - 2;

/// The announced length of the body (RFC 9110 8.6): digits, alone or several times over, in lines or between commas. The
/// same number in other digits is the same length.
fn length(lines: &[&[u8]]) -> Result<Option<u64>, RefusedCode> {
    let mut all = lines.iter().flat_map(|line| line.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii).map(digits);
    let Some(first) = all.next().transpose()? else { return Ok(None) };
    for other in all {
        if other? != first {
            return Err(RefusedCode::LengthConflict);
        }
    }
    let length = std::str::from_utf8(first).ok().and_then(|digits| digits.parse().ok());
    length.filter(|length| *length <= MAX_LENGTH).map(Some).ok_or(RefusedCode::BodyTooLarge)
}

/// The digits of one length, without zeros in front.
fn digits(text: &[u8]) -> Result<&[u8], RefusedCode> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return Err(RefusedCode::HeadMalformed);
    }
    let zeros = text.iter().take_while(|digit| **digit == b'0').count();
    Ok(&text[zeros.min(text.len() - 1)..])
}

/// The three digits after the version, when the first line has the shape of RFC 9112 4.
fn status(head: &[u8]) -> Option<u16> {
    let digits = head.get(9..12)?;
    let spaced = head.get(8) == Some(&b' ') && digits.iter().all(u8::is_ascii_digit);
    spaced.then(|| digits.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0')))
}

/// The values of a field, trimmed, in order. A name with space before its colon counts: a lenient reader would use it.
fn values<'a>(head: &'a [u8], field: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    head.split(|byte| *byte == b'\n').skip(1).filter_map(move |line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = line.split_at(colon);
        name.trim_ascii().eq_ignore_ascii_case(field).then(|| value[1..].trim_ascii())
    })
}

/// What is known of both directions, shared between the stream that feeds it and the caller that asks it.
#[derive(Clone, Debug)]
pub(crate) struct Scan(Arc<Mutex<Both>>);

#[derive(Debug)]
struct Both {
    heads: HeadScan,
    /// The first bytes that were sent, at most as many as a head may have.
    sent: Vec<u8>,
}

impl Scan {
    pub(crate) fn new(limit: usize) -> Self {
        Self(Arc::new(Mutex::new(Both { heads: HeadScan::new(limit), sent: Vec::new() })))
    }

    /// Runs `ask` on the scan.
    pub(crate) fn ask<T>(&self, ask: impl FnOnce(&mut HeadScan) -> T) -> T {
        self.both(|both| ask(&mut both.heads))
    }

    /// The bytes that crossed the connection, as far as they are kept. They can be taken once.
    pub(crate) fn wire(&self) -> Wire {
        self.both(|both| Wire {
            sent: std::mem::take(&mut both.sent),
            received: std::mem::take(&mut both.heads.received),
        })
    }

    fn sent(&self, bytes: &[u8]) {
        self.both(|both| keep(&mut both.sent, bytes, both.heads.limit));
    }

    fn both<T>(&self, ask: impl FnOnce(&mut Both) -> T) -> T {
        ask(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A stream whose read side is scanned on the way to hyper, and whose written bytes are kept.
#[derive(Debug)]
pub(crate) struct Tee<S> {
    inner: S,
    scan: Scan,
}

impl<S> Tee<S> {
    pub(crate) fn new(inner: S, scan: Scan) -> Self {
        Self { inner, scan }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Tee<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // The scan knows why; nobody reads these errors. What came before the padding still reaches hyper, because the
        // head of such an answer is evidence.
        if self.scan.ask(|scan| scan.padded()) {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        let before = buf.filled().len();
        let outcome = Pin::new(&mut self.inner).poll_read(cx, buf);
        let fresh = buf.filled().get(before..).unwrap_or_default();
        let refused = self.scan.ask(|scan| {
            scan.push(fresh);
            scan.trouble().is_some()
        });
        if refused { Poll::Ready(Err(io::ErrorKind::InvalidData.into())) } else { outcome }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tee<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write(cx, buf);
        if let Poll::Ready(Ok(taken)) = outcome {
            self.scan.sent(buf.get(..taken).unwrap_or_default());
        }
        outcome
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
