//! The two scalar encodings every text format of this crate shares: strict base64 and strict decimal.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::merkle::Hash;

/// Standard alphabet with padding, as all C2SP text formats write bytes.
pub(crate) fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Only the one spelling `to_base64` writes: padding required, trailing bits zero, no white space.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// A hash written as base64 of exactly 32 bytes.
pub(crate) fn hash_from_base64(text: &str) -> Option<Hash> {
    let bytes: [u8; 32] = from_base64(text)?.try_into().ok()?;
    Some(Hash::from_bytes(bytes))
}

/// ASCII digits without a leading zero (`0` itself is allowed) that fit in 64 bits.
pub(crate) fn decimal(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let minimal = text == "0" || !text.starts_with('0');
    (digits && minimal).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_spelling() {
        assert_eq!(decimal("0"), Some(0));
        assert_eq!(decimal("18446744073709551615"), Some(u64::MAX));
        for text in ["", "00", "01", "+1", "-1", " 1", "1 ", "1_0", "18446744073709551616", "\u{661}"] {
            assert_eq!(decimal(text), None, "{text:?}");
        }
    }

    #[test]
    fn base64_has_one_spelling() {
        assert_eq!(from_base64("AA=="), Some(vec![0]));
        for text in ["AA", "AB==", "AA= =", "AA==\n", "_w==", "A"] {
            assert_eq!(from_base64(text), None, "{text:?}");
        }
    }
}
