use super::*;
use proptest::prelude::*;

const UINT256_MAX: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

#[test]
fn an_amount_is_plain_digits_up_to_uint256() {
    for text in ["0", "1", "10000", UINT256_MAX] {
        assert_eq!(Amount::parse(text).map(|amount| amount.to_string()), Ok(text.to_owned()));
    }
    let above = "115792089237316195423570985008687907853269984665640564039457584007913129639936";
    assert_eq!(Amount::parse(above), Err(AmountError::TooLarge));
    assert_eq!(Amount::parse(&"9".repeat(100_000)), Err(AmountError::TooLarge));
}

#[test]
fn other_spellings_of_an_amount_are_refused() {
    assert_eq!(Amount::parse(""), Err(AmountError::Empty));
    for text in ["01", "00", "000123"] {
        assert_eq!(Amount::parse(text), Err(AmountError::LeadingZero), "{text}");
    }
    for text in ["-1", "+1", " 1", "1 ", "1.0", "1e6", "0x10", "1_000", "1,000", "١", "１", "NaN"] {
        assert_eq!(Amount::parse(text), Err(AmountError::NotDigits), "{text}");
    }
}

#[test]
fn amounts_order_by_value_not_by_text() {
    let amount = |text| Amount::parse(text).unwrap();
    assert!(amount("9") < amount("10"));
    assert!(amount("18446744073709551616") > Amount::from(u64::MAX));
    assert!(amount("0").is_zero() && !amount("1").is_zero());
}

#[test]
fn dollars_follow_the_decimals_of_the_token() {
    let usd = |text, decimals| Amount::parse(text).unwrap().usd(decimals).to_string();
    assert_eq!(usd("10000", 6), "0.01");
    assert_eq!(usd("1000000", 6), "1");
    assert_eq!(usd("1000000", 18), "0.000000000001");
    assert_eq!(usd("5", 0), "5");
    assert_eq!(usd("1", 255), format!("0.{}1", "0".repeat(254)));
    assert_eq!(usd(UINT256_MAX, 0), UINT256_MAX);
}

#[test]
fn dollars_print_the_shortest_text() {
    for (text, shortest) in
        [("0", "0"), ("0.0", "0"), ("0.005", "0.005"), ("0.0050", "0.005"), ("3.00", "3"), ("12.5", "12.5")]
    {
        assert_eq!(Usd::parse(text).map(|usd| usd.to_string()), Ok(shortest.to_owned()));
    }
}

#[test]
fn other_spellings_of_dollars_are_refused() {
    for text in ["", ".5"] {
        assert_eq!(Usd::parse(text), Err(AmountError::Empty), "{text}");
    }
    for text in ["5.", "-1", "+1", "1e3", "$1", "1,5", "1.2.3", " 1", "1. 5", "inf", "NaN", "."] {
        assert_eq!(Usd::parse(text), Err(AmountError::NotDigits), "{text}");
    }
    assert_eq!(Usd::parse("00.5"), Err(AmountError::LeadingZero));
    assert_eq!(Usd::parse("0.0000000000000000001"), Err(AmountError::TooFine));
    assert!(Usd::parse("0.000000000000000001").is_ok());
    assert_eq!(Usd::parse(&"1".repeat(79)), Err(AmountError::TooLarge));
}

#[test]
fn a_price_that_a_float_cannot_hold_compares_exactly() {
    let usd = |text| Usd::parse(text).unwrap();
    assert_eq!(usd("0.1") + usd("0.2"), usd("0.3"));
    assert!(usd("0.100000000000000001") > usd("0.1"));
    assert_eq!(Amount::from(300_000).usd(6), usd("0.3"));
}

proptest! {
    #[test]
    fn an_amount_survives_its_text(units in any::<u128>()) {
        let amount = Amount::parse(&units.to_string()).unwrap();
        prop_assert_eq!(amount.to_string(), units.to_string());
    }

    #[test]
    fn dollars_order_and_add_as_the_integers_they_stand_for(a in any::<u64>(), b in any::<u64>(), decimals in any::<u8>()) {
        let (left, right) = (Amount::from(a).usd(decimals), Amount::from(b).usd(decimals));
        prop_assert_eq!(left.cmp(&right), a.cmp(&b));
        let sum = Amount::parse(&(u128::from(a) + u128::from(b)).to_string()).unwrap();
        prop_assert_eq!(left + right, sum.usd(decimals));
    }

    #[test]
    fn dollars_survive_their_text(units in any::<u64>(), decimals in 0u8..=18) {
        let usd = Amount::from(units).usd(decimals);
        prop_assert_eq!(Usd::parse(&usd.to_string()), Ok(usd));
    }

    #[test]
    fn no_text_panics(text in ".*") {
        let _ = (Amount::parse(&text), Usd::parse(&text));
    }
}
