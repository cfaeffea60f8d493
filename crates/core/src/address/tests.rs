use super::*;
use proptest::prelude::*;

fn checksum(family: Family, text: &str) -> Result<Checksum, AddressError> {
    check(family, text).map(|checked| checked.checksum)
}

/// The test cases that EIP-55 itself gives: two all capitals, two all lower, four mixed.
#[test]
fn the_addresses_of_eip_55_are_right() {
    for text in [
        "0x52908400098527886E0F7030069857D2E4169EE7",
        "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
        "0xde709f2102306220921060314715629080e2fb77",
        "0x27b1fdb04752bbc536007a920d24acb045561c26",
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
        "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
        "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    ] {
        let checked = check(Family::Evm, text).unwrap();
        assert_eq!((checked.checksum, checked.display.as_str()), (Checksum::Right, text));
        assert_eq!(checked.normal, text.to_lowercase());
    }
}

#[test]
fn one_case_hex_has_no_checksum_and_another_mixture_is_wrong() {
    let right = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    assert_eq!(checksum(Family::Evm, &right.to_lowercase()), Ok(Checksum::None));
    assert_eq!(checksum(Family::Evm, &right.to_uppercase().replace("0X", "0x")), Ok(Checksum::None));
    let wrong = check(Family::Evm, "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed").unwrap();
    assert_eq!((wrong.checksum, wrong.display.as_str()), (Checksum::Wrong, right));
}

#[test]
fn other_shapes_are_no_evm_address() {
    let digits = "5aaeb6053f3e94c9b9a09f33669435e7ef1beaed";
    for text in [digits.to_owned(), format!("0X{digits}"), format!("0x{digits}0"), format!("0x{}", &digits[1..])] {
        assert_eq!(checksum(Family::Evm, &text), Err(AddressError::NotEvm), "{text}");
    }
    for text in [
        "",
        "0x",
        "vitalik.eth",
        "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaeg",
        " 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beae",
    ] {
        assert_eq!(checksum(Family::Evm, text), Err(AddressError::NotEvm), "{text}");
    }
}

#[test]
fn a_solana_address_is_base58_of_32_bytes() {
    for text in ["EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "11111111111111111111111111111111"] {
        assert_eq!(checksum(Family::Svm, text), Ok(Checksum::None), "{text}");
    }
    let thirty_one_bytes = "1".repeat(31);
    let with_zero = "0PjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
    let thirty_three_bytes = "1".repeat(33);
    for text in ["", &thirty_one_bytes, &thirty_three_bytes, with_zero, &"z".repeat(44), &"z".repeat(100_000)] {
        assert_eq!(checksum(Family::Svm, text), Err(AddressError::NotSolana));
    }
}

/// The zero address of Algorand: 32 zero bytes; the last characters are the checksum.
const ALGORAND_ZERO: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAY5HFKQ";

#[test]
fn an_algorand_address_carries_its_checksum() {
    assert_eq!(checksum(Family::Avm, ALGORAND_ZERO), Ok(Checksum::Right));
    assert_eq!(checksum(Family::Avm, &ALGORAND_ZERO.replacen('A', "B", 1)), Err(AddressError::AlgorandChecksum));
    let trailing_bits = ALGORAND_ZERO.replace("FKQ", "FKR");
    for text in
        ["", &ALGORAND_ZERO[1..], &ALGORAND_ZERO.to_lowercase(), &trailing_bits, &"1".repeat(58), &"é".repeat(29)]
    {
        assert_eq!(checksum(Family::Avm, text), Err(AddressError::NotAlgorand), "{text}");
    }
}

#[test]
fn an_address_of_another_family_is_short_printable_ascii() {
    assert_eq!(checksum(Family::Other, "GBRPYHIL2CI3FNQ4BXLFMNDLFJUNPU2HY3ZMFSHONUCEOASW7QC7OX2H"), Ok(Checksum::None));
    for text in ["", "a b", "a\nb", "é", &"a".repeat(129)] {
        assert_eq!(checksum(Family::Other, text), Err(AddressError::NotText), "{text}");
    }
}

proptest! {
    #[test]
    fn what_is_displayed_checks_as_right(bytes in any::<[u8; 20]>()) {
        let checked = check(Family::Evm, &format!("0x{}", hex::encode(bytes))).unwrap();
        let again = check(Family::Evm, &checked.display).unwrap();
        prop_assert_eq!(again.checksum, Checksum::Right);
        prop_assert_eq!(again.normal, checked.normal);
    }

    #[test]
    fn no_text_panics(text in ".{0,70}") {
        for family in [Family::Evm, Family::Svm, Family::Avm, Family::Other] {
            let _ = check(family, &text);
        }
    }
}
