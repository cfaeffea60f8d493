//! What the server really wrote, kept under hyper. Hyper is lenient where we must not be: it takes `Content-Length`
//! beside `Transfer-Encoding`, lines that end in a bare LF, and a thousand interim responses. The raw head is judged
//! here, as it arrives, and reading stops at the first thing that is refused.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::RefusedCode;
use super::chunks::ChunkScan;

/// More interim responses (1xx) than this is a flood.
const MAX_INTERIM: u32 = 4;

/// A judge of response heads that is fed bytes in pieces of any size.
#[derive(Debug)]
pub(crate) struct HeadScan {
    limit: usize,
    head: Vec<u8>,
    line_start: usize,
    spent: usize,
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
            head: Vec::new(),
            line_start: 0,
            spent: 0,
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
        self.head.len()
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
        let heads = (self.spent + self.head.len()) as u64;
        self.length.is_some_and(|length| self.total > heads.saturating_add(length))
    }

    /// Whether the announced end of the body has come: its length, or its last chunk. What hyper has not handed on yet
    /// is then on its way.
    pub(crate) fn ended(&self) -> bool {
        let heads = (self.spent + self.head.len()) as u64;
        let whole = self.length.is_some_and(|length| self.total >= heads.saturating_add(length));
        whole || self.chunks.as_ref().is_some_and(ChunkScan::ended)
    }

    /// Takes the next bytes from the wire.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        for (at, byte) in bytes.iter().enumerate() {
            if self.done || self.trouble.is_some() {
                return self.push_body(&bytes[at..]);
            }
            self.push_byte(*byte);
        }
    }

    fn push_body(&mut self, bytes: &[u8]) {
        if let Some(chunks) = &mut self.chunks {
            chunks.push(bytes);
        }
    }

    fn push_byte(&mut self, byte: u8) {
        self.head.push(byte);
        if self.spent + self.head.len() > self.limit {
            self.trouble = Some(RefusedCode::HeadTooLarge);
        } else if byte == 0 {
            self.trouble = Some(RefusedCode::ControlInHead);
        } else if self.head.len() <= 7 && !b"HTTP/1.".starts_with(&self.head) {
            self.trouble = Some(RefusedCode::NotHttp);
        } else if byte == b'\n' {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        let line = &self.head[self.line_start..];
        let has_cr = line.ends_with(b"\r\n");
        let empty = line.len() == if has_cr { 2 } else { 1 };
        self.bare_lf |= !has_cr;
        self.line_start = self.head.len();
        if empty {
            self.end_head();
        }
    }

    fn end_head(&mut self) {
        match status(&self.head) {
            Some(code) if (100..200).contains(&code) && code != 101 => self.end_interim(),
            Some(_) => self.end_final(),
            None => self.trouble = Some(RefusedCode::HeadMalformed),
        }
    }

    fn end_interim(&mut self) {
        self.interim += 1;
        self.spent += self.head.len();
        self.head.clear();
        self.line_start = 0;
        if self.interim > MAX_INTERIM {
            self.trouble = Some(RefusedCode::TooManyInterim);
        }
    }

    fn end_final(&mut self) {
        self.done = true;
        let lengths: Vec<&[u8]> = values(&self.head, b"content-length").collect();
        let codings: Vec<&[u8]> = values(&self.head, b"transfer-encoding").collect();
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

/// The scan, shared between the stream that feeds it and the caller that asks it.
#[derive(Clone, Debug)]
pub(crate) struct Scan(Arc<Mutex<HeadScan>>);

impl Scan {
    pub(crate) fn new(limit: usize) -> Self {
        Self(Arc::new(Mutex::new(HeadScan::new(limit))))
    }

    /// Runs `ask` on the scan.
    pub(crate) fn ask<T>(&self, ask: impl FnOnce(&mut HeadScan) -> T) -> T {
        ask(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A stream whose read side is scanned on the way to hyper.
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
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole and byte by byte must agree.
    fn scan(bytes: &[u8]) -> HeadScan {
        let mut whole = HeadScan::new(1000);
        whole.push(bytes);
        let mut drip = HeadScan::new(1000);
        bytes.chunks(1).for_each(|byte| drip.push(byte));
        assert_eq!((whole.trouble, whole.interim, &whole.head), (drip.trouble, drip.interim, &drip.head));
        whole
    }

    #[test]
    fn an_honest_head_is_measured() {
        let scan = scan(b"HTTP/1.1 402 X\r\nContent-Length: 2\r\n\r\n{}");
        assert_eq!((scan.trouble(), scan.head_bytes(), scan.interim()), (None, 37, 0));
        assert!(!scan.bare_lf() && !scan.overran());
    }

    #[test]
    fn what_is_refused_is_named() {
        use RefusedCode as C;
        let long = format!("HTTP/1.1 402 X\r\nA: {}\r\n\r\n", "a".repeat(1000));
        let flood = "HTTP/1.1 100 C\r\n\r\n".repeat(5);
        for (bytes, code) in [
            ("HTTP/1.1 402 X\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", C::LengthAndChunked),
            ("HTTP/1.1 402 X\r\ncontent-length : 3\r\nTRANSFER-ENCODING:x\r\n\r\n", C::LengthAndChunked),
            ("HTTP/1.1 402 X\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\n", C::LengthConflict),
            ("HTTP/1.1 402 X\r\nContent-Length: 3, 5\r\n\r\n", C::LengthConflict),
            ("HTTP/1.1 402 X\r\nContent-Length: 18446744073709551615\r\n\r\n", C::BodyTooLarge),
            ("HTTP/1.1 402 X\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", C::TransferCoding),
            ("HTTP/1.1 402 X\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", C::TransferCoding),
            ("HTTP/1.1 402 X\r\nA: a\0b\r\n\r\n", C::ControlInHead),
            ("<html>hello</html>", C::NotHttp),
            ("HTTP/2 200\r\n\r\n", C::NotHttp),
            ("\r\nHTTP/1.1 402 X\r\n\r\n", C::NotHttp),
            ("HTTP/1.1 4x2 X\r\n\r\n", C::HeadMalformed),
            (&long, C::HeadTooLarge),
            (&flood, C::TooManyInterim),
        ] {
            assert_eq!(scan(bytes.as_bytes()).trouble(), Some(code), "{}", &bytes[..bytes.len().min(60)]);
        }
    }

    #[test]
    fn what_is_odd_is_counted() {
        let lf = scan(b"HTTP/1.1 402 X\nContent-Length: 2\n\nok");
        assert!(lf.bare_lf() && lf.trouble().is_none());
        let interim = scan(b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\n\r\nHTTP/1.1 402 X\r\n\r\n");
        assert_eq!((interim.interim(), interim.head_bytes(), interim.trouble()), (2, 18, None));
        assert!(scan(b"HTTP/1.1 402 X\r\nContent-Length: 3\r\n\r\nabcd").overran());
        assert_eq!(scan(b"HTTP/1.1 402 X\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n").trouble(), None);
    }

    /// RFC 9110 8.6: one or more decimal digits, which may come as a list of the same number.
    #[test]
    fn a_length_is_digits_however_often_it_is_said() {
        use RefusedCode as C;
        let read = |lines: &[&str]| length(&lines.iter().map(|line| line.as_bytes()).collect::<Vec<_>>());
        assert_eq!(read(&[]), Ok(None));
        for lines in [&["5"][..], &["005"], &["5, 5"], &["5,5"], &["5", "5"], &["5", "05, 5"]] {
            assert_eq!(read(lines), Ok(Some(5)), "{lines:?}");
        }
        assert_eq!(read(&["0"]), Ok(Some(0)));
        assert_eq!(read(&["000"]), Ok(Some(0)));
        assert_eq!(read(&["18446744073709551613"]), Ok(Some(u64::MAX - 2)));
        for lines in [&["+5"][..], &["-5"], &["5 5"], &["0x5"], &["5.0"], &["5e0"], &[""], &["5,"], &[",5"], &["5", ""]]
        {
            assert_eq!(read(lines), Err(C::HeadMalformed), "{lines:?}");
        }
        for lines in [&["5, 6"][..], &["5", "6"], &["5, 5, 50"], &["18446744073709551616, 5"]] {
            assert_eq!(read(lines), Err(C::LengthConflict), "{lines:?}");
        }
        let long = "9".repeat(500);
        for lines in [&["18446744073709551614"][..], &["18446744073709551615"], &["18446744073709551616"], &[&long]] {
            assert_eq!(read(lines), Err(C::BodyTooLarge), "{lines:?}");
        }
    }

    proptest::proptest! {
        /// Nothing a server can write makes the scan panic, and how it is cut into reads changes nothing.
        #[test]
        fn any_bytes_are_judged_alike_in_any_pieces(bytes in "(HTTP/1.1 (100|402) X\r?\n)?([a-c:\0 ]{0,6}\r?\n){0,6}.{0,20}") {
            scan(bytes.as_bytes());
        }

        /// The same for bytes without any shape, after a head that is honest or none.
        #[test]
        fn no_bytes_make_the_scan_panic(
            head in proptest::sample::select(vec![
                "", "HTTP/1.1 402 X\r\n", "HTTP/1.1 402 X\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 100 C\r\n\r\n",
            ]),
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300),
        ) {
            scan(&[head.as_bytes(), &bytes].concat());
        }
    }
}
