//! The framing of a chunked body (RFC 9112 7.1), counted as it arrives. Hyper decodes it; what hyper forgives and we do
//! not is room for hidden bytes: extensions after a chunk size, and sizes padded with zeros.

/// Bytes of chunk extensions, over the whole body, that a body may have. No seller we know of sends any.
const MAX_EXTENSIONS: usize = 256;
/// Digits of one chunk size. Sixteen hold every size there is; more are padding.
const MAX_DIGITS: usize = 32;

/// Where the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the digits of a size.
    Size,
    /// Between the size and the end of its line.
    Extension,
    /// In the data, with this many bytes of it left, the CRLF after it included.
    Data(u64),
    /// After the last chunk, or where the framing is broken: hyper judges that.
    Rest,
}

/// A counter that is fed a chunked body in pieces of any size.
#[derive(Debug)]
pub(super) struct ChunkScan {
    place: Place,
    size: u64,
    digits: usize,
    extensions: usize,
    padded: bool,
}

impl ChunkScan {
    /// At the first byte of a body.
    pub(super) fn new() -> Self {
        Self { place: Place::Size, size: 0, digits: 0, extensions: 0, padded: false }
    }

    /// Whether more framing came than a body needs.
    pub(super) fn padded(&self) -> bool {
        self.padded
    }

    /// Whether the last chunk has come, or the framing is broken, which hyper tells.
    pub(super) fn ended(&self) -> bool {
        self.place == Place::Rest
    }

    /// Takes the next bytes of the body.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        while let Some((first, rest)) = bytes.split_first() {
            bytes = match self.place {
                Place::Rest => return,
                Place::Data(left) => {
                    let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    self.data(left - taken as u64);
                    &bytes[taken..]
                }
                Place::Size | Place::Extension => {
                    self.line(*first);
                    rest
                }
            };
        }
    }

    fn data(&mut self, left: u64) {
        self.place = if left > 0 { Place::Data(left) } else { Place::Size };
        (self.size, self.digits) = (0, 0);
    }

    fn line(&mut self, byte: u8) {
        match (byte, self.place) {
            (b'\n', _) => self.end_line(),
            (b'\r', _) => self.place = Place::Extension,
            (digit, Place::Size) if digit.is_ascii_hexdigit() => self.digit(digit),
            _ => {
                self.place = Place::Extension;
                self.extensions += 1;
                self.padded |= self.extensions > MAX_EXTENSIONS;
            }
        }
    }

    fn digit(&mut self, digit: u8) {
        let value = char::from(digit).to_digit(16).unwrap_or(0);
        self.size = self.size.saturating_mul(16).saturating_add(u64::from(value));
        self.digits += 1;
        self.padded |= self.digits > MAX_DIGITS;
    }

    fn end_line(&mut self) {
        self.place = match self.size {
            0 => Place::Rest,
            size => Place::Data(size.saturating_add(2)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole and byte by byte must agree.
    fn padded(body: &str) -> bool {
        let mut whole = ChunkScan::new();
        whole.push(body.as_bytes());
        let mut drip = ChunkScan::new();
        body.as_bytes().chunks(1).for_each(|byte| drip.push(byte));
        assert_eq!((whole.place, whole.extensions, whole.padded), (drip.place, drip.extensions, drip.padded), "{body}");
        whole.padded()
    }

    #[test]
    fn extensions_and_padding_are_counted_and_data_is_not() {
        let chunk = |extension: usize| format!("3{}\r\nabc\r\n", ";".repeat(extension));
        assert!(!padded("3\r\nabc\r\n0\r\n\r\n"));
        assert!(!padded(&format!("{}0\r\n\r\n", chunk(256))), "the most that is allowed, over the body");
        assert!(padded(&chunk(257)));
        assert!(!padded(&chunk(128).repeat(2)));
        assert!(padded(&format!("{}{}", chunk(128).repeat(2), chunk(1))));
        assert!(!padded(&format!("{}3\r\nabc\r\n", "0".repeat(31))), "32 digits");
        assert!(padded(&format!("{}3\r\nabc\r\n", "0".repeat(32))), "33 digits");
        let data = format!("400\r\n{}\r\n0\r\n\r\n", ";".repeat(0x400));
        assert!(!padded(&data), "data may hold anything");
        assert!(!padded(&format!("0\r\nTrailer: {}\r\n\r\n", "a".repeat(500))), "trailers are hyper's");
        assert!(!padded("ffffffffffffffffff\r\nabc"), "an overflowing size saturates");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_counted_alike_in_any_pieces(body in "([0-9a-f]{0,3}(;[a-z]{0,9})?\r?\n[a-z\r\n]{0,9}){0,8}.{0,9}") {
            padded(&body);
        }
    }
}
