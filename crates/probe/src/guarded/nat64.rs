//! IPv6 addresses that a translator (NAT64) of this machine's network turns into IPv4 addresses (RFC 6052).

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use super::{Cidr, CidrError};

/// A prefix behind which a translator stands: `64:ff9b::/96`, or one that the network chose for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nat64(Cidr);

/// A text is no prefix of a translator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Nat64Error {
    /// It is no block of addresses at all.
    #[error(transparent)]
    Cidr(#[from] CidrError),
    /// It is a block of IPv4 addresses.
    #[error("a NAT64 prefix is a block of IPv6 addresses")]
    Family,
    /// Its length is none of those that RFC 6052 section 2.2 lays out.
    #[error("a NAT64 prefix has 32, 40, 48, 56, 64 or 96 bits")]
    Length,
    /// It sets bits 64 to 71, which RFC 6052 section 2.2 keeps at zero.
    #[error("bits 64 to 71 of a NAT64 prefix are zero")]
    Reserved,
    /// It lies among addresses that are not public, so that the machine it names is one of a private network.
    #[error("a NAT64 prefix is 64:ff9b::/96, lies in 64:ff9b:1::/48 or among public addresses (2000::/3)")]
    Private,
}

impl Nat64 {
    /// The IPv4 address that the translator reads in `address` (RFC 6052 section 2.3): the 32 bits behind the prefix,
    /// without the octet at bits 64 to 71. None where `address` does not begin with the prefix.
    pub fn inner(self, address: Ipv6Addr) -> Option<Ipv4Addr> {
        if !self.0.contains(IpAddr::V6(address)) {
            return None;
        }
        let octets = address.octets();
        let behind = octets.iter().enumerate().skip(usize::from(self.0.prefix() / 8)).filter(|(at, _)| *at != 8);
        let mut inner = [0; 4];
        inner.iter_mut().zip(behind).for_each(|(to, (_, from))| *to = *from);
        Some(inner.into())
    }
}

/// Whether addresses behind the prefix can lead to a translator and not to a machine of a private network: the prefixes
/// that RFC 6052 and RFC 8215 set aside for translators, and global unicast (RFC 4291).
fn set_aside(first: Ipv6Addr, bits: u8) -> bool {
    match first.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => bits == 96,
        [0x64, 0xff9b, 1, ..] => bits >= 48,
        [top, ..] => top >> 13 == 1,
    }
}

impl FromStr for Nat64 {
    type Err = Nat64Error;

    fn from_str(text: &str) -> Result<Self, Nat64Error> {
        let cidr: Cidr = text.parse()?;
        let IpAddr::V6(first) = cidr.first() else { return Err(Nat64Error::Family) };
        if !matches!(cidr.prefix(), 32 | 40 | 48 | 56 | 64 | 96) {
            return Err(Nat64Error::Length);
        }
        if first.octets()[8] != 0 {
            return Err(Nat64Error::Reserved);
        }
        if !set_aside(first, cidr.prefix()) {
            return Err(Nat64Error::Private);
        }
        Ok(Self(cidr))
    }
}

impl fmt::Display for Nat64 {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inner(prefix: &str, address: &str) -> Option<String> {
        prefix.parse::<Nat64>().unwrap().inner(address.parse().unwrap()).map(|inner| inner.to_string())
    }

    /// RFC 6052 section 2.4, tables 2 and 3: 192.0.2.33 behind a prefix of every length.
    #[test]
    fn the_examples_of_rfc_6052_are_read() {
        for (prefix, address) in [
            ("2001:db8::/32", "2001:db8:c000:221::"),
            ("2001:db8:100::/40", "2001:db8:1c0:2:21::"),
            ("2001:db8:122::/48", "2001:db8:122:c000:2:2100::"),
            ("2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"),
            ("2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"),
            ("2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33"),
            ("64:ff9b::/96", "64:ff9b::192.0.2.33"),
        ] {
            assert_eq!(inner(prefix, address).as_deref(), Some("192.0.2.33"), "{prefix}");
        }
        assert_eq!(inner("64:ff9b::/96", "64:ff9b:0:0:0:1:c000:221"), None, "another block");
        let reserved = "2001:db8:122:344:ffc0:2:21ff:ffff";
        assert_eq!(
            inner("2001:db8:122:344::/64", reserved).as_deref(),
            Some("192.0.2.33"),
            "what is not read is not judged"
        );
    }

    #[test]
    fn what_is_no_prefix_of_a_translator_is_named() {
        for (text, error) in [
            ("10.0.0.0/8", Nat64Error::Family),
            ("64:ff9b::/95", Nat64Error::Length),
            ("64:ff9b::", Nat64Error::Length),
            ("2001:db8:0:0:100::/96", Nat64Error::Reserved),
            ("64:ff9b::/x", Nat64Error::Cidr(CidrError::Prefix)),
            ("fd00::/32", Nat64Error::Private),
            ("fd00:1:2::/96", Nat64Error::Private),
            ("fe80::/64", Nat64Error::Private),
            ("::/32", Nat64Error::Private),
            ("64:ff9b::/32", Nat64Error::Private),
            ("64:ff9b:2::/48", Nat64Error::Private),
            ("::ffff:0:0/96", Nat64Error::Cidr(CidrError::Mapped)),
        ] {
            assert_eq!(text.parse::<Nat64>(), Err(error), "{text}");
        }
        for text in ["2001:db8::/32", "3fff:ffff::/32", "64:ff9b:1:fffe::/96"] {
            assert!(text.parse::<Nat64>().is_ok(), "{text}");
        }
        assert_eq!("64:ff9b:1::/48".parse::<Nat64>().unwrap().to_string(), "64:ff9b:1::/48");
    }
}
