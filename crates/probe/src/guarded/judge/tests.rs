use super::*;

fn verdict(text: &str) -> Result<(), &'static str> {
    judge(text.parse().unwrap()).map_err(|block| match block {
        Block::Special { cidr, .. } => cidr,
        Block::Denied(_) => unreachable!("nothing is configured here"),
    })
}

/// Address before the block, first, last, address after; worked out by hand. The neighbours are public unless
/// they belong to the next block, which is then named.
#[test]
fn every_ipv4_block_ends_where_it_should() {
    let rows = [
        ("", "0.0.0.0", "0.255.255.255", "1.0.0.0"),
        ("9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"),
        ("100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"),
        ("126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"),
        ("168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17"),
        ("169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"),
        ("172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"),
        ("191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"),
        ("192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"),
        ("192.31.195.255", "192.31.196.0", "192.31.196.255", "192.31.197.0"),
        ("192.52.192.255", "192.52.193.0", "192.52.193.255", "192.52.194.0"),
        ("192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"),
        ("192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"),
        ("192.175.47.255", "192.175.48.0", "192.175.48.255", "192.175.49.0"),
        ("198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"),
        ("198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"),
        ("203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"),
        ("223.255.255.255", "224.0.0.0", "239.255.255.255", ""),
        ("", "240.0.0.0", "255.255.255.255", ""),
    ];
    assert_eq!(rows.len(), IPV4.len());
    for (before, first, last, after) in rows {
        for outside in [before, after].iter().filter(|text| !text.is_empty()) {
            assert_eq!(verdict(outside), Ok(()), "{outside}");
        }
        assert!(verdict(first).is_err(), "{first}");
        assert_eq!(verdict(first), verdict(last), "{last}");
    }
}

#[test]
fn every_ipv6_block_ends_where_it_should() {
    let rows = [
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"),
        ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", "2620:4f:8001::"),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"),
    ];
    assert_eq!(rows.len(), IPV6.len());
    for (first, last, after) in rows {
        assert!(verdict(first).is_err(), "{first}");
        assert_eq!(verdict(first), verdict(last), "{last}");
        assert_eq!(verdict(after), Ok(()), "{after}");
    }
    assert_eq!(verdict("2606:4700::1111"), Ok(()));
    assert_eq!(verdict("1fff:ffff::"), Err("outside 2000::/3"));
    assert_eq!(verdict("4000::"), Err("outside 2000::/3"));
}

#[test]
fn embedded_and_metadata_addresses_are_refused() {
    for text in [
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2001:0:7f00:1::",
        "100::1",
        "5f00::1",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "169.254.169.254",
        "169.254.170.2",
        "100.100.100.200",
        "192.0.0.192",
        "192.0.0.9",
    ] {
        assert!(verdict(text).is_err(), "{text}");
    }
    assert_eq!(verdict("::ffff:8.8.8.8"), Ok(()), "a mapped public address is public");
}

#[test]
fn ports_of_internal_services_are_refused() {
    for (port, allowed) in [
        (443, true),
        (8443, true),
        (1024, true),
        (65535, true),
        (0, false),
        (22, false),
        (80, false),
        (1023, false),
        (6379, false),
    ] {
        assert_eq!(port_allowed(port), allowed, "{port}");
    }
}

#[test]
fn configuration_denies_more_and_never_less() {
    let denied = vec!["8.8.0.0/16".parse().unwrap(), "2606:4700::/32".parse().unwrap()];
    let judge = Judge::new(denied, Vec::new());
    let refused = |text: &str| judge.pass(text.parse().unwrap()).map_err(|block| block.to_string()).err();
    assert_eq!(refused("1.1.1.1"), None, "positive control");
    assert_eq!(refused("8.8.8.8").as_deref(), Some("8.8.0.0/16 (denied by configuration)"));
    assert_eq!(refused("::ffff:8.8.8.8").as_deref(), Some("8.8.0.0/16 (denied by configuration)"));
    assert_eq!(refused("2606:4700::1").as_deref(), Some("2606:4700::/32 (denied by configuration)"));
    assert_eq!(refused("10.0.0.1").as_deref(), Some("10.0.0.0/8 (private)"));
}

/// Off unless configured; and then every IPv4 address behind the prefix is judged as it would be by itself.
#[test]
fn what_is_behind_a_translator_is_judged_as_what_it_becomes() {
    let denied = vec!["8.8.0.0/16".parse().unwrap(), "64:ff9b::101:100/120".parse().unwrap()];
    let prefixes = ["64:ff9b::/96", "2001:470:64::/48"].map(|text| text.parse().unwrap());
    let judge = Judge::new(denied, prefixes.to_vec());
    let refused = |judge: &Judge, text: &str| match judge.pass(text.parse().unwrap()) {
        Ok(judged) => {
            assert_eq!(judged.ip().to_string(), text, "the address itself is dialled");
            None
        }
        Err(block) => Some(block.to_string()),
    };
    for (outer, why) in [
        ("64:ff9b::909:909", None),
        ("2001:470:64:909:9:900::", None),
        ("64:ff9b::7f00:1", Some("127.0.0.0/8 (loopback)")),
        ("64:ff9b::a9fe:a9fe", Some("169.254.0.0/16 (link-local and cloud metadata)")),
        ("2001:470:64:a00:0:100::", Some("10.0.0.0/8 (private)")),
        ("64:ff9b::808:808", Some("8.8.0.0/16 (denied by configuration)")),
        ("64:ff9b::101:101", Some("64:ff9b::101:100/120 (denied by configuration)")),
        ("64:ff9b:1::909:909", Some("outside 2000::/3 (not global unicast)")),
    ] {
        assert_eq!(refused(&judge, outer).as_deref(), why, "{outer}");
    }
    let strict = Judge::default();
    assert_eq!(refused(&strict, "64:ff9b::909:909").as_deref(), Some("outside 2000::/3 (not global unicast)"));
    for edge in CLOSED4.iter().flat_map(|(first, last)| [*first, *last]) {
        for bits in [edge.saturating_sub(1), edge, edge.saturating_add(1)] {
            let outer = Ipv6Addr::from_bits((0x0064_ff9b << 96) | u128::from(bits));
            let open = open4(bits) && bits >> 16 != 0x0808 && bits >> 8 != 0x0001_0101;
            assert_eq!(judge.pass(outer.into()).is_ok(), open, "{outer}");
        }
    }
}

/// The same question asked of a table that was written apart from the code, as ranges of numbers and not as
/// prefixes: from the IANA special-purpose registries, with what this product refuses beyond them.
const CLOSED4: [(u32, u32); 19] = [
    (0x0000_0000, 0x00ff_ffff),
    (0x0a00_0000, 0x0aff_ffff),
    (0x6440_0000, 0x647f_ffff),
    (0x7f00_0000, 0x7fff_ffff),
    (0xa83f_8110, 0xa83f_8110),
    (0xa9fe_0000, 0xa9fe_ffff),
    (0xac10_0000, 0xac1f_ffff),
    (0xc000_0000, 0xc000_00ff),
    (0xc000_0200, 0xc000_02ff),
    (0xc01f_c400, 0xc01f_c4ff),
    (0xc034_c100, 0xc034_c1ff),
    (0xc058_6300, 0xc058_63ff),
    (0xc0a8_0000, 0xc0a8_ffff),
    (0xc0af_3000, 0xc0af_30ff),
    (0xc612_0000, 0xc613_ffff),
    (0xc633_6400, 0xc633_64ff),
    (0xcb00_7100, 0xcb00_71ff),
    (0xe000_0000, 0xefff_ffff),
    (0xf000_0000, 0xffff_ffff),
];

/// Upper 64 bits; no block of ours is smaller than a /64.
const CLOSED6: [(u64, u64); 7] = [
    (0x0000_0000_0000_0000, 0x1fff_ffff_ffff_ffff),
    (0x2001_0000_0000_0000, 0x2001_01ff_ffff_ffff),
    (0x2001_0db8_0000_0000, 0x2001_0db8_ffff_ffff),
    (0x2002_0000_0000_0000, 0x2002_ffff_ffff_ffff),
    (0x2620_004f_8000_0000, 0x2620_004f_8000_ffff),
    (0x3fff_0000_0000_0000, 0x3fff_0fff_ffff_ffff),
    (0x4000_0000_0000_0000, 0xffff_ffff_ffff_ffff),
];

fn open4(bits: u32) -> bool {
    !CLOSED4.iter().any(|(first, last)| (*first..=*last).contains(&bits))
}

fn open6(bits: u128) -> bool {
    if bits >> 32 == 0xffff {
        return open4(u32::try_from(bits & 0xffff_ffff).unwrap());
    }
    let high = u64::try_from(bits >> 64).unwrap();
    !CLOSED6.iter().any(|(first, last)| (*first..=*last).contains(&high))
}

#[test]
fn every_boundary_and_its_neighbours_are_judged_as_the_ranges_say() {
    for edge in CLOSED4.iter().flat_map(|(first, last)| [*first, *last]) {
        for bits in [edge.saturating_sub(1), edge, edge.saturating_add(1)] {
            let address = Ipv4Addr::from_bits(bits);
            assert_eq!(judge(address.into()).is_ok(), open4(bits), "{address}");
            assert_eq!(judge(address.to_ipv6_mapped().into()).is_ok(), open4(bits), "mapped {address}");
        }
    }
    for (first, last) in CLOSED6 {
        let (first, last) = (u128::from(first) << 64, (u128::from(last) << 64) | u128::from(u64::MAX));
        for bits in [first.saturating_sub(1), first, first + 1, last - 1, last, last.saturating_add(1)] {
            let address = Ipv6Addr::from_bits(bits);
            assert_eq!(judge(address.into()).is_ok(), open6(bits), "{address}");
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(20_000))]

    #[test]
    fn any_ipv4_address_is_judged_as_the_ranges_say(bits: u32) {
        assert_eq!(judge(Ipv4Addr::from_bits(bits).into()).is_ok(), open4(bits), "{}", Ipv4Addr::from_bits(bits));
    }

    /// Half of them inside 2000::/3, where it matters, and near the blocks there.
    #[test]
    fn any_ipv6_address_is_judged_as_the_ranges_say(bits: u128, block in 0_usize..12, inside: bool) {
        let near = CLOSED6.get(block).map_or(bits, |(first, _)| (u128::from(*first) << 64) ^ (bits >> 12));
        let bits = if inside { near } else { bits };
        assert_eq!(judge(Ipv6Addr::from_bits(bits).into()).is_ok(), open6(bits), "{}", Ipv6Addr::from_bits(bits));
    }
}
