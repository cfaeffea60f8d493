use super::*;
use std::collections::BTreeSet;

#[test]
fn every_row_parses_and_is_its_own() {
    assert_eq!(table().len(), lines().count());
    let ids: BTreeSet<_> = table().iter().map(|row| row.caip2).collect();
    assert_eq!(ids.len(), table().len());
    let names: Vec<_> = table().iter().flat_map(|row| row.aliases().chain([row.name])).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    for row in table() {
        let network = Network::parse_caip2(row.caip2).unwrap();
        assert_eq!((network.family(), network.row()), (row.family, Some(row)));
        let url = row.source.split([' ', ';']).next().and_then(|url| url::Url::parse(url).ok());
        assert!(url.is_some_and(|url| url.scheme() == "https" && url.path() != "/"), "{}", row.caip2);
    }
}

#[test]
fn a_malformed_row_is_not_read() {
    assert!(row("eip155:1\tx\tevm\tmain\t-\t-\there").is_some());
    for line in ["", "eip155:1\tx", "eip155:1\tx\twhat\tmain\t-\t-\there", "eip155:1\tx\tevm\tmaybe\t-\t-\there"] {
        assert!(row(line).is_none(), "{line}");
    }
}

#[test]
fn all_seventeen_names_of_the_checking_tools_are_known() {
    let expected = [
        ("algorand", "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k"),
        ("arbitrum", "eip155:42161"),
        ("avalanche", "eip155:43114"),
        ("base", "eip155:8453"),
        ("bnb", "eip155:56"),
        ("celo", "eip155:42220"),
        ("ethereum", "eip155:1"),
        ("hyperevm", "eip155:999"),
        ("monad", "eip155:143"),
        ("optimism", "eip155:10"),
        ("polygon", "eip155:137"),
        ("robinhood", "eip155:4663"),
        ("sei", "eip155:1329"),
        ("solana", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"),
        ("tempo", "eip155:4217"),
        ("worldchain", "eip155:480"),
        ("xlayer", "eip155:196"),
    ];
    for (name, caip2) in expected {
        let read = read(name).unwrap();
        assert_eq!((read.network.as_str(), read.form), (caip2, Form::ShortName));
        assert!(!read.network.row().unwrap().testnet, "{name}");
    }
}

#[test]
fn the_form_is_told_apart() {
    let form = |text| read(text).map(|read| (read.network.to_string(), read.form));
    let base = "eip155:8453".to_owned();
    assert_eq!(form("eip155:8453"), Some((base.clone(), Form::Caip2)));
    assert_eq!(form("base"), Some((base.clone(), Form::ShortName)));
    assert_eq!(form("base-mainnet"), Some((base, Form::Alias)));
    let testnet = "algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDe".to_owned();
    assert_eq!(
        form("algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDexi9/cOUJOiI="),
        Some((testnet.clone(), Form::AlgorandLegacy))
    );
    assert_eq!(form("algorand-testnet"), Some((testnet, Form::ShortName)));
    for text in ["", "Base", "base ", "btc", "algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDexi9/cOUJOiI", "-"] {
        assert_eq!(form(text), None, "{text}");
    }
}

#[test]
fn the_legacy_ids_are_the_first_32_characters_of_the_hash_made_url_safe() {
    for (legacy, caip2) in ALGORAND_LEGACY {
        let hash = legacy.strip_prefix("algorand:").unwrap();
        assert_eq!(hash.len(), 44);
        assert_eq!(caip2, format!("algorand:{}", &hash[..32].replace('/', "_").replace('+', "-")));
    }
}

#[test]
fn caip2_has_its_two_lengths_and_alphabets() {
    for text in ["eip155:1", "abc:1", "abcdefgh:x", "a-1:A_z-9", &format!("cosmos:{}", "a".repeat(32)), "bsv:mainnet"] {
        assert!(Network::parse_caip2(text).is_ok(), "{text}");
    }
    for text in
        ["", ":", "eip155", "eip155:", ":1", "ab:1", "abcdefghi:1", "EIP155:1", "eip155:1:2", "eip155:a b", "eip155:é"]
    {
        assert_eq!(Network::parse_caip2(text), Err(NetworkError::NotCaip2), "{text}");
    }
    assert_eq!(Network::parse_caip2(&format!("cosmos:{}", "a".repeat(33))), Err(NetworkError::NotCaip2));
}

#[test]
fn an_id_that_two_bitcoin_forks_share_is_refused() {
    assert_eq!(Network::parse_caip2("bip122:000000000019d6689c085ae165831e93"), Err(NetworkError::Ambiguous));
    assert_eq!(read("bip122:000000000019d6689c085ae165831e93"), None);
}

#[test]
fn only_published_settlement_times_are_known() {
    let known: Vec<_> =
        table().iter().filter_map(|row| row.settlement_latency_ms.map(|millis| (row.name, millis))).collect();
    assert_eq!(known, [("base", 2000), ("algorand", 2820)]);
}

#[test]
fn a_network_outside_the_table_still_has_a_family() {
    let network = Network::parse_caip2("eip155:123456789").unwrap();
    assert_eq!((network.family(), network.row()), (Family::Evm, None));
    assert_eq!(Network::parse_caip2("stellar:pubnet").unwrap().family(), Family::Other);
}

/// Base in other spellings, and the same trick elsewhere: each would pass a list that denies the right one.
#[test]
fn a_network_has_one_spelling() {
    for text in
        ["eip155:0", "eip155:8453", "aptos:1", "stellar:pubnet", "hedera:mainnet", "sui:testnet", "cosmos:cosmoshub-4"]
    {
        assert!(Network::parse_caip2(text).is_ok(), "{text}");
    }
    for text in [
        "eip155:08453",
        "eip155:00",
        "eip155:0x2105",
        "eip155:2105h",
        "eip155:8453-",
        "eip155:-8453",
        "eip155:8_453",
        "aptos:01",
        "aptos:mainnet",
        "solana:mainnet",
        "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvd",
        "solana:0eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
        "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73",
        "algorand:mainnet",
        "polkadot:91B171BB158E2D3848FA23A9F1C25182",
        "cosmos:cosmoshub_4",
        "stellar:PUBNET",
        "stellar:public",
        "hedera:Mainnet",
        "sui:35834a8a",
    ] {
        assert_eq!(Network::parse_caip2(text), Err(NetworkError::NotCaip2), "{text}");
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn what_was_meant_is_guessed_from_a_slip_of_the_hand_only() {
    for (text, caip2) in [
        ("eip155:08453", "eip155:8453"),
        ("eip155:0x2105", "eip155:8453"),
        ("8453", "eip155:8453"),
        ("Eip155:8453 ", "eip155:8453"),
        ("BASE", "eip155:8453"),
        ("base_sepolia", "eip155:84532"),
        ("solana:mainnet", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"),
        ("algorand:mainnet", "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k"),
        ("SOLANA:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"),
        ("aptos:01", "aptos:1"),
    ] {
        assert_eq!(read(text), None, "{text}");
        assert_eq!(meant(text).map(|row| row.caip2), Some(caip2), "{text}");
    }
    let long = "8453".repeat(17);
    for text in ["", "basement", "eip155:845", "eip155:", "-", "btc", "eip155:99999999999999999999", &long] {
        assert_eq!(meant(text), None, "{text}");
    }
}
