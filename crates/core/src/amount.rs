//! Amounts of money, exactly. An [`Amount`] counts atomic units of one asset, as an offer states
//! them; a [`Usd`] is a decimal number of US dollars. Neither ever passes through a float: a price
//! that was rounded once cannot be compared with a limit afterwards.

use num_bigint::BigUint;
use std::{fmt, ops::Add, str::FromStr, sync::LazyLock};

/// Digits after the point that [`Usd::parse`] accepts.
const USD_FRACTION_DIGITS: usize = 18;
/// Decimal places a [`Usd`] keeps. Every `u8` of token decimals fits, so no conversion ever rounds.
const USD_SCALE: u32 = 255;
/// Digits of 2^256-1, the longest text an [`Amount`] can have.
const UINT256_DIGITS: usize = 78;
/// Digits before the point that [`Usd::parse`] reads, so that a hostile text costs little.
const USD_WHOLE_DIGITS: usize = 78;

/// A count of atomic units, 0 to 2^256-1 (the range of a Solidity `uint256`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(BigUint);

/// Why a text is not an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// No characters at all.
    #[error("an amount cannot be empty")]
    Empty,
    /// A character other than `0` to `9` (and, for dollars, one `.`).
    #[error("an amount is written with the digits 0 to 9 only")]
    NotDigits,
    /// A zero in front of other digits.
    #[error("an amount has no leading zeros")]
    LeadingZero,
    /// Above 2^256-1, or for dollars more than 78 digits before the point.
    #[error("the amount is larger than 2^256-1")]
    TooLarge,
    /// More than 18 digits after the point of a dollar value.
    #[error("a dollar amount has at most 18 digits after the point")]
    TooFine,
}

impl AmountError {
    /// Stable code for callers.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Empty => "amount_empty",
            Self::NotDigits => "amount_not_digits",
            Self::LeadingZero => "amount_leading_zero",
            Self::TooLarge => "amount_too_large",
            Self::TooFine => "amount_too_fine",
        }
    }
}

impl Amount {
    /// Reads ASCII digits: no sign, no spaces, no leading zero except `"0"` itself, at most 2^256-1.
    ///
    /// # Errors
    /// [`AmountError`] says which of these the text breaks.
    pub fn parse(text: &str) -> Result<Self, AmountError> {
        check_digits(text)?;
        if text.len() > UINT256_DIGITS {
            return Err(AmountError::TooLarge);
        }
        let value = BigUint::from_str(text).map_err(|_| AmountError::NotDigits)?;
        if value.bits() > 256 { Err(AmountError::TooLarge) } else { Ok(Self(value)) }
    }

    /// Whether this is the amount zero.
    pub fn is_zero(&self) -> bool {
        self.0.bits() == 0
    }

    /// Whether this is at least `times` times `other`.
    pub fn reaches(&self, times: u32, other: &Self) -> bool {
        self.0 >= &other.0 * times
    }

    /// Whether these come to more than this.
    pub fn exceeded_by<'a>(&self, parts: impl Iterator<Item = &'a Self>) -> bool {
        parts.map(|part| &part.0).sum::<BigUint>() > self.0
    }

    /// The dollars this amount stands for when one whole token is one dollar and has `decimals`
    /// decimal places. Exact. Ask for it only when the asset table says `usd_pegged`.
    pub fn usd(&self, decimals: u8) -> Usd {
        Usd(&self.0 * ten_to(USD_SCALE - u32::from(decimals)))
    }
}

impl From<u64> for Amount {
    fn from(units: u64) -> Self {
        Self(BigUint::from(units))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl serde::Serialize for Amount {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Amount {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(input)?).map_err(serde::de::Error::custom)
    }
}

/// An exact number of US dollars, never negative. Prints the shortest text: `0.005`, `3`, `0`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Usd(BigUint);

impl Usd {
    /// Reads `digits` or `digits.digits`: no sign, no exponent, no spaces, no leading zero except a
    /// single one before the point, at least one digit on both sides of it, at most 18 after it.
    ///
    /// # Errors
    /// [`AmountError`] says which of these the text breaks.
    pub fn parse(text: &str) -> Result<Self, AmountError> {
        let (whole, fraction) = match text.split_once('.') {
            Some((_, "")) => return Err(AmountError::NotDigits),
            Some(parts) => parts,
            None => (text, ""),
        };
        check_digits(whole)?;
        check_fraction(fraction)?;
        if whole.len() > USD_WHOLE_DIGITS {
            return Err(AmountError::TooLarge);
        }
        let value = BigUint::from_str(&format!("{whole}{fraction}")).map_err(|_| AmountError::NotDigits)?;
        // At most 18 fraction digits were let through, so they fit a u32 and stay below the scale.
        let places = u32::try_from(fraction.len()).map_err(|_| AmountError::TooFine)?;
        Ok(Self(value * ten_to(USD_SCALE - places)))
    }

    /// This many times as much.
    #[must_use]
    pub fn times(&self, factor: u8) -> Self {
        Self(&self.0 * factor)
    }

    /// Whether this is zero dollars.
    pub fn is_zero(&self) -> bool {
        self.0.bits() == 0
    }
}

impl Add for Usd {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = ten_to(USD_SCALE);
        let (whole, rest) = (&self.0 / &one, &self.0 % &one);
        let fraction = format!("{rest:0>width$}", rest = rest.to_string(), width = USD_SCALE as usize);
        match fraction.trim_end_matches('0') {
            "" => write!(out, "{whole}"),
            shortest => write!(out, "{whole}.{shortest}"),
        }
    }
}

impl serde::Serialize for Usd {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

fn check_digits(text: &str) -> Result<(), AmountError> {
    match text.as_bytes() {
        [] => Err(AmountError::Empty),
        bytes if !bytes.iter().all(u8::is_ascii_digit) => Err(AmountError::NotDigits),
        [b'0', _, ..] => Err(AmountError::LeadingZero),
        _ => Ok(()),
    }
}

fn check_fraction(text: &str) -> Result<(), AmountError> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(AmountError::NotDigits);
    }
    if text.len() > USD_FRACTION_DIGITS { Err(AmountError::TooFine) } else { Ok(()) }
}

/// Powers of ten; those a price needs are made once.
fn ten_to(power: u32) -> BigUint {
    static POWERS: LazyLock<Vec<BigUint>> =
        LazyLock::new(|| (0..=USD_SCALE).map(|power| BigUint::from(10u8).pow(power)).collect());
    let made = usize::try_from(power).ok().and_then(|at| POWERS.get(at));
    made.cloned().unwrap_or_else(|| BigUint::from(10u8).pow(power))
}

#[cfg(test)]
mod tests;
