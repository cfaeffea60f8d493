//! Which addresses and ports we are willing to dial: globally reachable unicast, and nothing else.
//!
//! Source: the IANA special-purpose address registries for IPv4 and IPv6, widened where a block is reachable but no
//! seller lives there, and narrowed to 2000::/3 for IPv6 so that every embedded IPv4 form falls outside by itself.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Cidr, Nat64};

/// Why an address is not dialled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// It is in a block of the table below.
    Special {
        /// The block in CIDR notation.
        cidr: &'static str,
        /// What the block is for, in a few words.
        why: &'static str,
    },
    /// It is in a block that this machine's configuration denies.
    Denied(Cidr),
}

impl std::fmt::Display for Block {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Special { cidr, why } => write!(out, "{cidr} ({why})"),
            Self::Denied(cidr) => write!(out, "{cidr} (denied by configuration)"),
        }
    }
}

/// An address that a judge let pass. Nothing else is dialled, and nothing else can make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Judged(IpAddr);

impl Judged {
    /// The loopback address, for a lab that allows it.
    pub(super) const LAB: Self = Self(IpAddr::V4(Ipv4Addr::LOCALHOST));

    pub(super) const fn ip(self) -> IpAddr {
        self.0
    }
}

/// The tables below, and the blocks that configuration adds to them.
#[derive(Clone, Debug, Default)]
pub(super) struct Judge {
    denied: Vec<Cidr>,
    nat64: Vec<Nat64>,
    /// Addresses that a test of the door treats as public.
    #[cfg(test)]
    pub(super) pretended: Vec<IpAddr>,
}

impl Judge {
    /// A judge who refuses `denied` too, and judges what is behind a prefix of `nat64` as what it is translated to.
    pub(super) fn new(denied: Vec<Cidr>, nat64: Vec<Nat64>) -> Self {
        Self {
            denied,
            nat64,
            #[cfg(test)]
            pretended: Vec::new(),
        }
    }

    /// As [`judge`], and by configuration.
    pub(super) fn pass(&self, address: IpAddr) -> Result<Judged, Block> {
        let address = address.to_canonical();
        self.undenied(address)?;
        #[cfg(test)]
        if self.pretended.contains(&address) {
            return Ok(Judged(address));
        }
        let reached = self.translated(address);
        self.undenied(reached)?;
        judge(reached).map(|()| Judged(address))
    }

    /// Whether this machine's network translates, so that IPv4 addresses themselves may lead nowhere.
    pub(super) fn translates(&self) -> bool {
        !self.nat64.is_empty()
    }

    fn undenied(&self, address: IpAddr) -> Result<(), Block> {
        let block = self.denied.iter().find(|cidr| cidr.contains(address));
        block.map_or(Ok(()), |cidr| Err(Block::Denied(*cidr)))
    }

    /// Where a connection to `address` ends.
    fn translated(&self, address: IpAddr) -> IpAddr {
        match address {
            IpAddr::V4(_) => address,
            IpAddr::V6(v6) => self.nat64.iter().find_map(|prefix| prefix.inner(v6)).map_or(address, IpAddr::V4),
        }
    }
}

/// First address, prefix length, description.
type Row4 = (Ipv4Addr, u32, Block);
type Row6 = (Ipv6Addr, u32, Block);

const fn v4(a: [u8; 4], prefix: u32, cidr: &'static str, why: &'static str) -> Row4 {
    (Ipv4Addr::new(a[0], a[1], a[2], a[3]), prefix, Block::Special { cidr, why })
}

const fn v6(a: [u16; 3], prefix: u32, cidr: &'static str, why: &'static str) -> Row6 {
    (Ipv6Addr::new(a[0], a[1], a[2], 0, 0, 0, 0, 0), prefix, Block::Special { cidr, why })
}

const IPV4: &[Row4] = &[
    v4([0, 0, 0, 0], 8, "0.0.0.0/8", "this network"),
    v4([10, 0, 0, 0], 8, "10.0.0.0/8", "private"),
    v4([100, 64, 0, 0], 10, "100.64.0.0/10", "carrier-grade NAT"),
    v4([127, 0, 0, 0], 8, "127.0.0.0/8", "loopback"),
    v4([168, 63, 129, 16], 32, "168.63.129.16/32", "cloud wire server"),
    v4([169, 254, 0, 0], 16, "169.254.0.0/16", "link-local and cloud metadata"),
    v4([172, 16, 0, 0], 12, "172.16.0.0/12", "private"),
    v4([192, 0, 0, 0], 24, "192.0.0.0/24", "protocol assignments"),
    v4([192, 0, 2, 0], 24, "192.0.2.0/24", "documentation"),
    v4([192, 31, 196, 0], 24, "192.31.196.0/24", "AS112"),
    v4([192, 52, 193, 0], 24, "192.52.193.0/24", "AMT"),
    v4([192, 88, 99, 0], 24, "192.88.99.0/24", "6to4 relay"),
    v4([192, 168, 0, 0], 16, "192.168.0.0/16", "private"),
    v4([192, 175, 48, 0], 24, "192.175.48.0/24", "AS112"),
    v4([198, 18, 0, 0], 15, "198.18.0.0/15", "benchmarking"),
    v4([198, 51, 100, 0], 24, "198.51.100.0/24", "documentation"),
    v4([203, 0, 113, 0], 24, "203.0.113.0/24", "documentation"),
    v4([224, 0, 0, 0], 4, "224.0.0.0/4", "multicast"),
    v4([240, 0, 0, 0], 4, "240.0.0.0/4", "reserved and broadcast"),
];

/// What is refused inside 2000::/3; everything outside is refused before this table is read.
const IPV6: &[Row6] = &[
    v6([0x2001, 0, 0], 23, "2001::/23", "protocol assignments, Teredo and ORCHID"),
    v6([0x2001, 0xdb8, 0], 32, "2001:db8::/32", "documentation"),
    v6([0x2002, 0, 0], 16, "2002::/16", "6to4"),
    v6([0x2620, 0x4f, 0x8000], 48, "2620:4f:8000::/48", "AS112"),
    v6([0x3fff, 0, 0], 20, "3fff::/20", "documentation"),
];

const OUTSIDE: Block = Block::Special { cidr: "outside 2000::/3", why: "not global unicast" };

/// Ports of services that must never receive a request of ours, whoever asks for it.
const PORTS: &[u16] =
    &[1080, 2375, 2379, 3306, 5432, 5601, 5984, 6379, 8086, 8500, 9000, 9092, 9200, 11211, 15672, 27017];

/// Says whether `address` may be dialled. An IPv4-mapped IPv6 address is judged as the IPv4 address it stands for.
///
/// # Errors
/// The [`Block`] that forbids it.
pub fn judge(address: IpAddr) -> Result<(), Block> {
    let block = match address.to_canonical() {
        IpAddr::V4(v4) => judge_v4(v4),
        IpAddr::V6(v6) => judge_v6(v6),
    };
    block.map_or(Ok(()), Err)
}

/// Says whether `port` may be dialled: 443, and 1024 upward except the ports of well-known internal services.
pub fn port_allowed(port: u16) -> bool {
    port == 443 || (port >= 1024 && !PORTS.contains(&port))
}

fn judge_v4(address: Ipv4Addr) -> Option<Block> {
    let bits = address.to_bits();
    IPV4.iter().find(|(first, prefix, _)| (bits ^ first.to_bits()) >> (32 - prefix) == 0).map(|row| row.2)
}

fn judge_v6(address: Ipv6Addr) -> Option<Block> {
    let bits = address.to_bits();
    if bits >> 125 != 1 {
        return Some(OUTSIDE);
    }
    IPV6.iter().find(|(first, prefix, _)| (bits ^ first.to_bits()) >> (128 - prefix) == 0).map(|row| row.2)
}

#[cfg(test)]
mod tests;
