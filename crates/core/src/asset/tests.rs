use super::*;
use crate::address::{self, Checksum};
use data_encoding::HEXLOWER;
use sha3::{Digest as _, Keccak256};

const USDC_BASE: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

fn network(name: &str) -> Network {
    crate::network::read(name).unwrap().network
}

#[test]
fn every_row_parses_and_stands_on_a_known_network() {
    assert_eq!(lines().filter_map(row).count(), lines().count());
    for row in table() {
        let network = Network::parse_caip2(row.network).unwrap();
        assert!(network.row().is_some(), "{}", row.network);
        assert_eq!(lookup(&network, row.address), Some(row));
        assert_eq!(of(&network).filter(|other| other.address == row.address).count(), 1);
        assert!(!row.symbol.is_empty());
        assert_eq!(row.eip712_name.is_some(), row.eip712_version.is_some());
    }
}

/// What is known of a network is said: its stablecoins, or that none is known. Never both, and never nothing.
#[test]
fn every_network_has_sourced_assets_or_says_unknown() {
    let unknown: Vec<_> = lines()
        .filter_map(|line| match row(line)? {
            Line::Unknown { network, .. } => Some(network),
            Line::Asset(_) => None,
        })
        .collect();
    for row in crate::network::table() {
        let network = Network::parse_caip2(row.caip2).unwrap();
        let said = unknown.iter().filter(|other| **other == row.caip2).count();
        assert_eq!(said, usize::from(of(&network).next().is_none()), "{}", row.name);
    }
    assert!(unknown.iter().all(|id| crate::network::table().iter().any(|row| row.caip2 == *id)));
}

/// The 17 networks a buyer may name, each with the first stablecoin of its row.
#[test]
fn the_seventeen_networks_of_the_checking_tools_have_a_stablecoin() {
    let expected = [
        ("algorand", "USDC", "31566704"),
        ("arbitrum", "USDC", "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"),
        ("avalanche", "USDC", "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E"),
        ("base", "USDC", USDC_BASE),
        ("bnb", "USDT", "0x55d398326f99059fF775485246999027B3197955"),
        ("celo", "USDC", "0xcebA9300f2b948710d2653dD7B07f33A8B32118C"),
        ("ethereum", "USDC", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"),
        ("hyperevm", "USDC", "0xb88339CB7199b77E23DB6E890353E22632Ba630f"),
        ("monad", "USDC", "0x754704Bc059F8C67012fEd69BC8A327a5aafb603"),
        ("optimism", "USDC", "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"),
        ("polygon", "USDC", "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"),
        ("robinhood", "USDG", "0x5fc5360D0400a0Fd4f2af552ADD042D716F1d168"),
        ("sei", "USDC", "0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392"),
        ("solana", "USDC", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
        ("tempo", "pathUSD", "0x20C0000000000000000000000000000000000000"),
        ("worldchain", "USDC", "0x79A02482A880bCE3F13e09Da970dC34db4CD24d1"),
        ("xlayer", "USDC", "0xB6CEceAB302E2E4948951eE7843FC24E92933061"),
    ];
    for (name, symbol, address) in expected {
        let row = of(&network(name)).next().unwrap();
        assert_eq!((row.symbol, row.address, row.usd_pegged), (symbol, address, true), "{name}");
    }
}

#[test]
fn every_line_names_a_source_that_anybody_can_open() {
    for line in lines() {
        let (Line::Asset(AssetRow { source, .. }) | Line::Unknown { source, .. }) = row(line).unwrap();
        let url = source.split([' ', ';']).next().and_then(|url| url::Url::parse(url).ok());
        assert!(url.is_some_and(|url| url.scheme() == "https" && url.path() != "/"), "{line}");
    }
}

#[test]
fn every_address_in_the_table_passes_its_own_checksum() {
    for row in table() {
        match Network::parse_caip2(row.network).unwrap().family() {
            Family::Evm => {
                assert_eq!(address::check(Family::Evm, row.address).unwrap().checksum, Checksum::Right, "{row:?}");
            }
            Family::Svm => assert!(address::check(Family::Svm, row.address).is_ok(), "{row:?}"),
            Family::Avm => assert!(row.address.parse::<u64>().is_ok(), "{row:?}"),
            Family::Other => panic!("no asset of another family has a source: {row:?}"),
        }
    }
}

#[test]
fn a_malformed_row_is_not_read() {
    assert!(row("eip155:1\t0x0\tX\t6\t-\t-\tusd\t-\t-\there").is_some());
    for line in [
        "",
        "eip155:1\t0x0",
        "eip155:1\t0x0\tX\t256\t-\t-\tusd\t-\t-\there",
        "eip155:1\t0x0\tX\t6\t-\t-\tusd\t-\tno\there",
        "eip155:1\t0x0\tX\t6\t-\t-\teur\t-\t-\there",
        "eip155:1\tunknown\tX\t6\t-\t-\tusd\t-\t-\there",
    ] {
        assert!(row(line).is_none(), "{line}");
    }
}

#[test]
fn evm_assets_match_in_any_case_and_others_exactly() {
    let row = lookup(&network("base"), &USDC_BASE.to_lowercase()).unwrap();
    assert_eq!(
        (row.symbol, row.decimals, row.eip712_name, row.eip712_version),
        ("USDC", 6, Some("USD Coin"), Some("2"))
    );
    assert!(row.usd_pegged);
    let mint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
    assert!(lookup(&network("solana"), mint).is_some());
    assert_eq!(lookup(&network("solana"), &mint.to_lowercase()), None);
    assert_eq!(lookup(&network("algorand"), "31566704").map(|row| row.method), Some("axfer"));
}

#[test]
fn an_asset_of_another_network_is_unknown_here() {
    assert_eq!(lookup(&network("base-sepolia"), USDC_BASE), None);
    assert_eq!(lookup(&network("base"), "USDC"), None);
}

#[test]
fn decimals_and_names_that_surprise_are_in_the_table() {
    let first = |name| of(&network(name)).next().unwrap();
    assert_eq!((first("megaeth").symbol, first("megaeth").decimals), ("MegaUSD", 18));
    assert_eq!(first("flare").eip712_name, Some("USD₮0"));
    assert_eq!(first("monad").eip712_name, Some("USDC"));
    assert_eq!(of(&network("bnb")).next().map(|row| row.decimals), Some(18));
}

#[test]
fn a_vanity_copy_is_a_look_alike_and_the_original_is_not() {
    let base = network("base");
    let copy = "0x8335000000000000000000000000000000002913";
    assert_eq!(look_alike(&base, copy).map(|row| row.address), Some(USDC_BASE));
    assert_eq!(look_alike(&base, &copy.to_uppercase().replace("0X", "0x")).map(|row| row.address), Some(USDC_BASE));
    for text in [USDC_BASE, "0x8335000000000000000000000000000000002914", "0x83352913", "", "0x"] {
        assert_eq!(look_alike(&base, text), None, "{text}");
    }
    assert_eq!(look_alike(&network("ethereum"), copy), None);
}

/// The mint of USD Coin on Solana, from Circle's list of contract addresses; the copies differ in their middle.
#[test]
fn a_mint_with_the_ends_of_a_known_one_is_a_look_alike() {
    const MINT: &str = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
    let solana = network("solana");
    for copy in [MINT.replace("ZwyTDt", "ZwzTDt"), MINT.replace("SSqe", "SSqf")] {
        assert_eq!(look_alike(&solana, &copy).map(|row| row.address), Some(MINT), "{copy}");
    }
    for other in [MINT, &MINT.replacen("EPjF", "EPjf", 1), "EPjFDt1v", "So11111111111111111111111111111111111111112"] {
        assert_eq!(look_alike(&solana, other), None, "{other}");
    }
}

#[test]
fn letters_of_other_scripts_are_a_look_alike() {
    let base = network("base");
    let cyrillic = USDC_BASE.replace('c', "с");
    assert_eq!(look_alike(&base, &cyrillic).map(|row| row.address), Some(USDC_BASE));
    for ticker in ["USDС", "ＵＳＤＣ", "UЅDC"] {
        assert_eq!(look_alike(&base, ticker).map(|row| row.symbol), Some("USDC"), "{ticker}");
    }
    assert_eq!(look_alike(&base, "USDC"), None);
    assert_eq!(look_alike(&base, "日本"), None);
}

/// What `DOMAIN_SEPARATOR()` of these contracts answers, as others published it who read it on chain. It is a hash of the
/// name, the version, the chain and the address, so a row with one of them wrong gives another (EIP-712).
const SEPARATORS: [(&str, &str, &str); 16] = [
    ("base", "USDC", "02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f"),
    ("base-sepolia", "USDC", "71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818"),
    ("ethereum", "USDC", "06c37168a7db5138defc7866392bb87a741f9b3d104deb5094588ce041cae335"),
    ("polygon", "USDC", "caa2ce1a5703ccbe253a34eb3166df60a705c561b44b192061e28f2a985be2ca"),
    ("polygon-amoy", "USDC", "5cddc98319864e897e4469bd1d13c2288c677047b54b8cca12bd342adb6be9eb"),
    ("arbitrum", "USDC", "08d11903f8419e68b1b8721bcbe2e9fc68569122a77ef18c216f10b3b5112c78"),
    ("avalanche", "USDC", "bbea200329a938bc3438984a49cb0732e66d66d7bd59c127abacc1710e77f7b3"),
    ("celo", "USDC", "b2ce31d2838445fa765a491f550e7c78ac7280ab0f3bc9d6063a86df9c3fb578"),
    ("monad", "USDC", "fe22123edc0dd4aeb912eb7948c5f0e531592c2053b3067612f427db342c93c6"),
    ("sei", "USDC", "0a19136106ae98d2c245cbbd451f3cb2bbbb1670e1ee191abacb5a5e255c0255"),
    ("optimism", "USDC", "26d9c34bb1a1c312f69c53b2d93b8be20faafba63af2438c6811713c9b1f933f"),
    ("worldchain", "USDC", "936533d5f85622a8261854e20bb87f4e849dde486f429bc1fb66202b7cde09ec"),
    ("hyperevm", "USDC", "70a72998ad787d1a9152a8f88ccfe0766b1cb293b6b4011b34523035da10b0a3"),
    ("arbitrum", "USDT", "566af68fb471b22d6421762f84aa7bd761c670a2e4d5c8a47d4085d5957b127c"),
    ("avalanche", "USDT", "f6d4d20bf85d69d29f5cd682e5fb2884425e4aa291bb7318e203fd68c96cc0f4"),
    ("robinhood", "USDG", "7a3d7400b27830f4f91c2c16a082486d67c1befecaec2f53b33f1f35d5b62036"),
];

#[test]
fn a_signing_domain_in_the_table_is_the_one_its_contract_answers_with() {
    for (name, symbol, separator) in SEPARATORS {
        let row = of(&network(name)).find(|row| row.symbol == symbol).unwrap();
        assert_eq!(domain_separator(row), separator, "{symbol} on {name}");
    }
}

/// In hexadecimal.
fn domain_separator(row: &AssetRow) -> String {
    let keccak = |bytes: &[u8]| <[u8; 32]>::from(Keccak256::digest(bytes));
    let hex = |bytes: &[u8]| HEXLOWER.encode(bytes);
    let padded = |digits: &str| HEXLOWER.decode(format!("{digits:0>64}").as_bytes()).unwrap();
    let chain: u64 = row.network.strip_prefix("eip155:").unwrap().parse().unwrap();
    let parts = [
        &keccak(b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")[..],
        &keccak(row.eip712_name.unwrap().as_bytes()),
        &keccak(row.eip712_version.unwrap().as_bytes()),
        &padded(&hex(&chain.to_be_bytes())),
        &padded(&row.address[2..].to_ascii_lowercase()),
    ];
    hex(&keccak(&parts.concat()))
}
