//! A block of addresses, as configuration names it.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A block in CIDR notation (RFC 4632 3.1, RFC 4291 2.3): `10.0.0.0/8`, or one address alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    first: IpAddr,
    prefix: u8,
}

/// A text is no block of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CidrError {
    /// The part before the slash is no address.
    #[error("there is no address before the slash")]
    Address,
    /// The part after the slash is no prefix length for this family.
    #[error("the prefix is not 0 to 32 (IPv4) or 0 to 128 (IPv6)")]
    Prefix,
    /// The address has bits beyond the prefix, so that two readers could mean two blocks.
    #[error("the address has bits set beyond the prefix")]
    HostBits,
    /// IPv4 addresses in their IPv6 spelling. They are judged as IPv4, so this block would never be met.
    #[error("a block inside ::ffff:0:0/96 is written as the IPv4 block it stands for")]
    Mapped,
}

impl Cidr {
    /// The lowest address.
    pub(super) fn first(self) -> IpAddr {
        self.first
    }

    /// How many leading bits are fixed.
    pub(super) fn prefix(self) -> u8 {
        self.prefix
    }

    /// Whether `address` is in the block. Families are compared as written: canonicalise a mapped address first.
    pub fn contains(self, address: IpAddr) -> bool {
        self.first.is_ipv4() == address.is_ipv4() && masked(address, self.prefix) == bits(self.first)
    }
}

impl FromStr for Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        let (address, prefix) = text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
        let first: IpAddr = address.parse().map_err(|_| CidrError::Address)?;
        let digits = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let prefix = match prefix {
            None => width(first),
            Some(text) => Some(text).filter(digits).and_then(|text| text.parse().ok()).ok_or(CidrError::Prefix)?,
        };
        if prefix > width(first) {
            return Err(CidrError::Prefix);
        }
        if masked(first, prefix) != bits(first) {
            return Err(CidrError::HostBits);
        }
        match first {
            IpAddr::V6(v6) if prefix >= 96 && v6.to_ipv4_mapped().is_some() => Err(CidrError::Mapped),
            _ => Ok(Self { first, prefix }),
        }
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.first, self.prefix)
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => v4.to_bits().into(),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

/// The address with everything beyond `prefix` cleared; `prefix` is at most the family's width.
fn masked(address: IpAddr, prefix: u8) -> u128 {
    let spare = u32::from(width(address).saturating_sub(prefix));
    u128::MAX.checked_shl(spare).unwrap_or(0) & bits(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(block: &str, address: &str) -> bool {
        block.parse::<Cidr>().unwrap().contains(address.parse().unwrap())
    }

    #[test]
    fn a_block_ends_where_it_should() {
        for (block, inside, outside) in [
            ("8.8.0.0/16", "8.8.255.255", "8.9.0.0"),
            ("8.8.8.8", "8.8.8.8", "8.8.8.9"),
            ("0.0.0.0/0", "255.255.255.255", "::1"),
            ("::/0", "ffff::", "1.2.3.4"),
            ("2606:4700::/32", "2606:4700:ffff::", "2606:4701::"),
            ("2606::1/128", "2606::1", "2606::2"),
        ] {
            assert!(contains(block, inside), "{block} {inside}");
            assert!(!contains(block, outside), "{block} {outside}");
        }
    }

    #[test]
    fn what_is_no_block_is_named() {
        for (text, error) in [
            ("", CidrError::Address),
            ("example.com/8", CidrError::Address),
            ("10.0.0.0/33", CidrError::Prefix),
            ("::/129", CidrError::Prefix),
            ("10.0.0.0/", CidrError::Prefix),
            ("10.0.0.0/+8", CidrError::Prefix),
            ("10.0.0.0/999", CidrError::Prefix),
            ("10.0.0.1/8", CidrError::HostBits),
            ("::ffff:10.0.0.0/104", CidrError::Mapped),
            ("::ffff:8.8.8.8", CidrError::Mapped),
        ] {
            assert_eq!(text.parse::<Cidr>(), Err(error), "{text}");
        }
        assert_eq!("10.0.0.0/8".parse::<Cidr>().unwrap().to_string(), "10.0.0.0/8");
    }
}
