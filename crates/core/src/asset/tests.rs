use super::*;
use crate::address::{self, Checksum};

const USDC_BASE: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

fn network(name: &str) -> Network {
    crate::network::read(name).unwrap().network
}

#[test]
fn every_row_parses_and_stands_on_a_known_network() {
    assert_eq!(table().len(), lines().count());
    for row in table() {
        let network = Network::parse_caip2(row.network).unwrap();
        assert!(network.row().is_some(), "{}", row.network);
        assert_eq!(lookup(&network, row.address), Some(row));
        assert_eq!(of(&network).filter(|other| other.address == row.address).count(), 1);
        assert!(!row.source.is_empty() && !row.symbol.is_empty());
        assert_eq!(row.eip712_name.is_some(), row.eip712_version.is_some());
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
    assert!(row("eip155:1\t0x0\tX\t6\t-\t-\tusd\t-\there").is_some());
    for line in
        ["", "eip155:1\t0x0", "eip155:1\t0x0\tX\t256\t-\t-\tusd\t-\there", "eip155:1\t0x0\tX\t6\t-\t-\teur\t-\there"]
    {
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
