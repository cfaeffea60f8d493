//! Addresses people are paid at: is the text one, what is its normal form, and does its checksum
//! hold. A wrong EIP-55 checksum is reported, not refused: the address is still unambiguous, and
//! the rules decide what it weighs.

use crate::network::Family;
use data_encoding::BASE32_NOPAD;
use sha2::{Digest as _, Sha512_256};
use sha3::Keccak256;

/// What the checksum inside an address says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Checksum {
    /// There is one and it is right.
    Right,
    /// There is one and it is wrong; only EIP-55 letter case can be wrong in an accepted address.
    Wrong,
    /// This text carries none (one-case hex, base58).
    None,
}

/// An address that has the right shape for its family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What ids and signed documents use: EVM in lower case, others byte for byte.
    pub normal: String,
    /// What people are shown: EVM in EIP-55 form, others byte for byte.
    pub display: String,
    /// The checksum of the text as given.
    pub checksum: Checksum,
}

/// Why a text is not an address of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Not `0x` and 40 hex digits.
    #[error("an EVM address is 0x and 40 hexadecimal digits")]
    NotEvm,
    /// Not base58 of exactly 32 bytes.
    #[error("a Solana address is base58 of 32 bytes")]
    NotSolana,
    /// Not 58 base32 characters.
    #[error("an Algorand address is 58 base32 characters")]
    NotAlgorand,
    /// The last four bytes of an Algorand address do not match the rest.
    #[error("the checksum of the Algorand address is wrong")]
    AlgorandChecksum,
    /// No printable text of 1 to 128 ASCII characters.
    #[error("an address is 1 to 128 printable ASCII characters")]
    NotText,
}

impl AddressError {
    /// Stable code for callers.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotEvm => "address_not_evm",
            Self::NotSolana => "address_not_solana",
            Self::NotAlgorand => "address_not_algorand",
            Self::AlgorandChecksum => "address_algorand_checksum",
            Self::NotText => "address_not_text",
        }
    }
}

/// Checks an address by the rules of its family. For [`Family::Other`] only that it is short
/// printable ASCII (the shape CAIP-10 allows for).
///
/// # Errors
/// [`AddressError`] names the rule that the text breaks.
pub fn check(family: Family, text: &str) -> Result<Checked, AddressError> {
    match family {
        Family::Evm => evm(text),
        Family::Svm => solana(text),
        Family::Avm => algorand(text),
        Family::Other => other(text),
    }
}

fn evm(text: &str) -> Result<Checked, AddressError> {
    let digits = text.strip_prefix("0x").ok_or(AddressError::NotEvm)?;
    if digits.len() != 40 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(AddressError::NotEvm);
    }
    let lower = digits.to_ascii_lowercase();
    let display = format!("0x{}", eip55(&lower));
    let one_case = digits == lower || digits == digits.to_ascii_uppercase();
    let checksum = match text == display {
        true => Checksum::Right,
        false if one_case => Checksum::None,
        false => Checksum::Wrong,
    };
    Ok(Checked { normal: format!("0x{lower}"), display, checksum })
}

/// EIP-55: a letter is a capital when the same nibble of the Keccak-256 of the text is 8 or more.
fn eip55(lower: &str) -> String {
    let hash = Keccak256::digest(lower.as_bytes());
    let nibbles = hash.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    let mut cased = String::with_capacity(lower.len());
    let of = |(digit, nibble): (char, u8)| if nibble >= 8 { digit.to_ascii_uppercase() } else { digit };
    cased.extend(lower.chars().zip(nibbles).map(of));
    cased
}

fn solana(text: &str) -> Result<Checked, AddressError> {
    // 32 bytes are 32 to 44 base58 digits; the length check keeps a hostile text from costing time.
    if !(32..=44).contains(&text.len()) {
        return Err(AddressError::NotSolana);
    }
    match bs58::decode(text).into_vec() {
        Ok(bytes) if bytes.len() == 32 => Ok(as_given(text, Checksum::None)),
        _ => Err(AddressError::NotSolana),
    }
}

/// 32 bytes of key and the last four bytes of its SHA-512/256.
fn algorand(text: &str) -> Result<Checked, AddressError> {
    if text.len() != 58 {
        return Err(AddressError::NotAlgorand);
    }
    let bytes = BASE32_NOPAD.decode(text.as_bytes()).map_err(|_| AddressError::NotAlgorand)?;
    let (key, sum) = bytes.split_at_checked(32).ok_or(AddressError::NotAlgorand)?;
    let hash = Sha512_256::digest(key);
    if hash.ends_with(sum) && sum.len() == 4 {
        Ok(as_given(text, Checksum::Right))
    } else {
        Err(AddressError::AlgorandChecksum)
    }
}

fn other(text: &str) -> Result<Checked, AddressError> {
    if !(1..=128).contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(AddressError::NotText);
    }
    Ok(as_given(text, Checksum::None))
}

fn as_given(text: &str, checksum: Checksum) -> Checked {
    Checked { normal: text.to_owned(), display: text.to_owned(), checksum }
}

#[cfg(test)]
mod tests;
