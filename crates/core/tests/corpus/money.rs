//! Money, asset, network, recipient.

use countersign_core::amount::Usd;
use countersign_core::endpoint::ResourceUrl;
use countersign_core::history::Standing;
use countersign_core::offer::{Grade, Interop, RailSeen, Word};
use countersign_core::policy::{CheckRequest, Facts, decide};
use countersign_core::time::Timestamp;
use serde_json::{Value, json};

use crate::common::{Answer, PAYEE, URL, USDC, alone, entry, entry_1, only, rules, solana, v1, v2, with};

/// USDC on Monad, whose EIP-712 name is USDC.
fn monad(name: &str) -> Value {
    let mut entry = entry();
    entry["network"] = json!("eip155:143");
    entry["asset"] = json!("0x754704Bc059F8C67012fEd69BC8A327a5aafb603");
    entry["extra"]["name"] = json!(name);
    entry
}

/// The reference buyer signs it, and nobody can settle what it signs.
#[test]
fn c13_the_signing_name_of_another_network() {
    let wrong = alone(monad("USD Coin"));
    assert_eq!((wrong.word, rules(&wrong)), (Word::NotPayable, vec!["asset.eip712_name"]));
    assert_eq!(wrong.findings[0].expected.as_deref(), Some("USDC / 2"));
    assert_eq!(only(&wrong).interop, Interop::Pass);
    assert_eq!(alone(monad("USDC")).word, Word::Payable);
}

#[test]
fn c39_extra_without_name_and_version() {
    for extra in [Value::Null, json!({}), json!({"name": "USD Coin"}), json!({"name": "", "version": ""})] {
        let reading = alone(with("extra", extra.clone()));
        assert_eq!((reading.word, rules(&reading)), (Word::NotPayable, vec!["asset.eip712_missing"]), "{extra}");
        assert_eq!(only(&reading).interop, Interop::Fail("asset.eip712_missing"));
    }
    let permit2 = alone(with("extra", json!({"assetTransferMethod": "permit2"})));
    assert_eq!(permit2.word, Word::Payable, "permit2 signs under its own name");
}

/// Each network family has its own name for the facilitator, and the cap is told as a cap.
#[test]
fn c41_how_upto_names_the_facilitator() {
    let upto = |mut entry: Value, member: &str| {
        entry["scheme"] = json!("upto");
        entry["extra"][member] = json!("0x1111111111111111111111111111111111111111");
        alone(entry)
    };
    for (entry, member) in [(entry(), "facilitatorAddress"), (solana(), "facilitator")] {
        let reading = upto(entry, member);
        assert_eq!((reading.word, rules(&reading)), (Word::Payable, vec!["scheme.upto"]));
        assert_eq!(only(&reading).interop, Interop::NotEvaluated);
    }
    for (entry, member) in [(entry(), "facilitator"), (solana(), "facilitatorAddress")] {
        let reading = upto(entry, member);
        assert_eq!(rules(&reading), ["scheme.upto", "upto.facilitator_name"]);
        assert_eq!(
            (reading.word, reading.findings[1].observed.as_str()),
            (Word::NotPayable, &*format!("extra.{member}"))
        );
    }
    assert!(rules(&alone(with("scheme", json!("upto")))).contains(&"upto.facilitator_missing"));
}

/// The offer is right; what an old client misses is its own cap.
#[test]
fn c42_a_right_amount_that_an_old_client_does_not_read() {
    let reading = alone(entry());
    assert_eq!((reading.word, rules(&reading)), (Word::Payable, vec![]));
    assert_eq!(only(&reading).amount.as_ref().unwrap().to_string(), "10000");
    let absent = Answer::of(&v2(json!([with("amount", Value::Null)]))).read();
    assert_eq!((only(&absent).amount.as_ref(), absent.word), (None, Word::NotPayable), "absent is never zero");
    // And no cap lets through what it cannot read: not even one that a price of nothing would meet.
    let mut other = entry();
    other["maxAmountRequired"] = other.as_object_mut().unwrap().remove("amount").unwrap();
    for reading in [absent, alone(other)] {
        let mut request = CheckRequest::new(ResourceUrl::parse(URL).unwrap());
        request.max_price_usd = Usd::parse("1000000").ok();
        let now = Timestamp::from_seconds(1_796_083_200);
        let decision = decide(&request, &reading, &Standing::default(), &Facts::default(), now);
        assert_eq!((decision.selected, decision.payable), (None, false));
    }
}

/// Body-only probes called such endpoints dead.
#[test]
fn c44_a_header_and_an_empty_body() {
    for body in ["", "{}", "null"] {
        let reading = Answer::of(&v2(json!([entry()]))).body(body).read();
        assert_eq!((reading.word, rules(&reading)), (Word::Payable, vec![]), "{body:?}");
    }
}

#[test]
fn c46_placeholders_in_version_1() {
    let mut odd = entry_1();
    (odd["asset"], odd["payTo"]) = (json!(""), json!("walletaddress"));
    let mut challenge = v1(json!([odd]));
    challenge["error"] = json!("");
    let reading = Answer::new(402).body(challenge.to_string()).read();
    assert_eq!((reading.word, rules(&reading)), (Word::NotPayable, vec!["asset.form", "payee.form"]));
    assert_eq!((only(&reading).spec, only(&reading).payee()), (Grade::Fail, None));
}

#[test]
fn c48_algorands_whole_genesis_hash() {
    let offer = json!({
        "scheme": "exact", "network": "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=", "amount": "10000",
        "asset": "31566704", "payTo": "7ZUECA7HFLZTXENRV24SHLU4AVPUTMTTDUFUBNBD64C73F3UHRTHAIOF6Q",
        "maxTimeoutSeconds": 60, "extra": {}
    });
    let reading = alone(offer);
    assert_eq!((reading.word, rules(&reading)), (Word::Payable, vec!["network.legacy"]));
    let network = only(&reading).network.as_ref().unwrap();
    assert_eq!(network.as_str(), "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k");
    assert_eq!((only(&reading).spec, only(&reading).interop), (Grade::Fail, Interop::Pass), "clients normalise it");
}

/// Symbols come from the table; an unknown token has none, and no price.
#[test]
fn c50_an_asset_the_table_does_not_know() {
    let mut strange = entry();
    strange["asset"] = json!("0x1234567890123456789012345678901234567890");
    strange["extra"] = json!({"name": "Ether", "version": "1"});
    let reading = Answer::of(&v2(json!([entry(), strange]))).read();
    let seen: Vec<_> =
        reading.offers.iter().map(|offer| (offer.asset_row.map(|row| row.symbol), offer.usd.is_some())).collect();
    assert_eq!(seen, [(Some("USDC"), true), (None, false)]);
    assert_eq!((reading.offers[0].word, reading.offers[1].word), (Word::Payable, Word::PayableWithWarnings));
    assert_eq!(reading.offers[1].interop, Interop::Fail("asset.unknown"));
}

/// MegaUSD has 18 decimals: a cent is 10^16 units. 78 digits are a uint256, 79 are none.
#[test]
fn c51_amounts_of_eighteen_decimals() {
    let mega = |amount: &str| {
        let mut entry = with("amount", json!(amount));
        (entry["network"], entry["asset"]) =
            (json!("eip155:4326"), json!("0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7"));
        entry["extra"] = json!({"name": "MegaUSD", "version": "1", "assetTransferMethod": "permit2"});
        alone(entry)
    };
    let cent = mega("10000000000000000");
    assert_eq!((cent.word, only(&cent).usd.as_ref().unwrap().to_string()), (Word::Payable, "0.01".to_owned()));
    let dollar = mega("1000000000000000000");
    assert_eq!((dollar.word, only(&dollar).usd.as_ref().unwrap().to_string()), (Word::Payable, "1".to_owned()));
    let most = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    assert_eq!(only(&mega(most)).amount.as_ref().unwrap().to_string(), most);
    assert_eq!(rules(&mega(&format!("1{most}"))), ["amount.form"]);
}

/// Valid by its profile, no payment on a chain, and nothing of ours to judge it by.
#[test]
fn c53_the_cloudflare_profile() {
    let offer = json!({
        "scheme": "batch-settlement", "network": "cloudflare:402", "amount": "5", "asset": "USD",
        "payTo": "merchant", "extra": {"version": "1.0.0"}
    });
    let reading = alone(offer);
    assert_eq!((reading.word, rules(&reading)), (Word::NotEvaluated, vec!["scheme.unjudged", "profile.cloudflare"]));
    assert_eq!((only(&reading).spec, only(&reading).interop), (Grade::Pass, Interop::NotEvaluated));
    assert_eq!(
        (only(&reading).network.as_ref(), only(&reading).usd.as_ref()),
        (None, None),
        "no bound of a chain fits"
    );
    let mut zero = v2(json!([{
        "scheme": "batch-settlement", "network": "cloudflare:402", "amount": "5", "asset": "dollars",
        "payTo": "merchant", "maxTimeoutSeconds": 0
    }]));
    assert!(rules(&Answer::of(&zero).read()).contains(&"asset.form"), "a currency has three letters");
    zero["accepts"][0]["asset"] = json!("EUR");
    assert_eq!(Answer::of(&zero).read().word, Word::NotEvaluated, "zero seconds promise no price");
}

#[test]
fn c54_another_rail_and_a_second_network_beside() {
    let answer = Answer::of(&v2(json!([entry(), solana()])));
    let reading = answer.header("WWW-Authenticate", r#"Payment id="p1", method="tempo""#).read();
    assert_eq!((reading.word, rules(&reading)), (Word::Payable, vec![]));
    assert_eq!(reading.rails, [RailSeen::Mpp]);
    assert!(reading.offers.iter().all(|offer| offer.word == Word::Payable && offer.interop == Interop::Pass));
}

#[test]
fn c56_nothing_accepted_and_twins_in_snake_case() {
    let empty = Answer::of(&v2(json!([]))).read();
    assert_eq!((empty.word, rules(&empty)), (Word::NotPayable, vec!["accepts.empty"]));
    let mut twins = entry();
    (twins["pay_to"], twins["price"], twins["max_timeout_seconds"]) = (json!(USDC), json!("$5"), json!(1));
    let reading = alone(twins);
    assert_eq!((reading.word, rules(&reading)), (Word::Payable, vec![]));
    assert_eq!(only(&reading).pay_to, PAYEE.to_ascii_lowercase());
    let mut bare = with("extra", json!({}));
    (bare["pay_to"], bare["price"]) = (json!(USDC), json!("$5"));
    let reading = alone(bare);
    assert_eq!((reading.word, rules(&reading)), (Word::NotPayable, vec!["asset.eip712_missing"]), "as in C39");
}

/// What a scheme needs, per network family.
#[test]
fn a_solana_offer_without_a_fee_payer_cannot_be_built() {
    let mut offer = solana();
    offer["extra"] = json!({});
    let reading = alone(offer);
    assert_eq!((reading.word, rules(&reading)), (Word::NotPayable, vec!["extra.fee_payer_missing"]));
}

/// Each of the specification's schemes is known; whatever is none of them is refused by name.
#[test]
fn schemes_are_known_judged_or_refused() {
    for (scheme, word, rule) in [
        ("batch-settlement", Word::NotEvaluated, "scheme.unjudged"),
        ("auth-capture", Word::NotEvaluated, "scheme.unjudged"),
        ("Exact", Word::NotPayable, "scheme.unknown"),
        ("streaming", Word::NotPayable, "scheme.unknown"),
    ] {
        let reading = alone(with("scheme", json!(scheme)));
        assert_eq!((reading.word, rules(&reading)), (word, vec![rule]), "{scheme}");
    }
}

/// Money sent there is lost, on every kind of network.
#[test]
fn addresses_that_nobody_can_spend_from() {
    let algorand = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAY5HFKQ";
    let avm = json!({
        "scheme": "exact", "network": "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k", "amount": "10000",
        "asset": "31566704", "payTo": algorand, "maxTimeoutSeconds": 60, "extra": {}
    });
    let mut svm = solana();
    svm["payTo"] = json!("11111111111111111111111111111111");
    for dead in [with("payTo", json!("0x000000000000000000000000000000000000dEaD")), svm, avm] {
        let reading = alone(dead.clone());
        assert_eq!((reading.word, rules(&reading)), (Word::NotPayable, vec!["payee.zero"]), "{dead}");
        assert_eq!(only(&reading).interop, Interop::Pass, "the reference buyer signs it");
    }
}

/// What a payment of one cent costs beside it. A fee of 5 USD is 5,000,000 millionths.
#[test]
fn fees_and_gas_are_known_only_where_the_offer_says_so_plainly() {
    let fees = |extra: serde_json::Value| {
        let mut one = entry();
        for (name, value) in extra.as_object().unwrap() {
            one["extra"][name] = value.clone();
        }
        alone(one).offers[0].fees.as_ref().map(ToString::to_string)
    };
    let known = |text: &str| Some(text.to_owned());
    assert_eq!(fees(json!({})), known("0"));
    assert_eq!(fees(json!({"assetTransferMethod": "eip3009", "paymentFlow": "authorization"})), known("0"));
    assert_eq!(fees(json!({"fee": "5000000"})), known("5"));
    assert_eq!(fees(json!({"fee": 5_000_000, "feeAmount": "20000", "coffee": "9"})), known("5.02"));
    assert_eq!(fees(json!({"fee": null, "feePayer": "x"})), known("0"));
    for unknown in [
        json!({"assetTransferMethod": "permit2"}),
        json!({"assetTransferMethod": "erc7710"}),
        json!({"assetTransferMethod": null}),
        json!({"assetTransferMethod": 1}),
        json!({"paymentFlow": "upfront"}),
        json!({"fee": "1.5"}),
        json!({"fee": "-1"}),
        json!({"fee": {"amount": "1"}}),
        json!({"feeBps": "30"}),
        json!({"unheardOfFee": "1"}),
    ] {
        assert_eq!(fees(unknown.clone()), None, "{unknown}");
    }
    let mut beside = entry();
    beside["fee"] = json!("20000");
    assert_eq!(alone(beside).offers[0].fees.as_ref().map(ToString::to_string), known("0.02"), "beside extra as well");
}

/// One cent is 10,000 units; at most as much again may be asked for beside it.
#[test]
fn declared_fees_are_judged_against_the_price() {
    let beside = |fees: Value| {
        let mut one = entry();
        for (name, value) in fees.as_object().unwrap() {
            one["extra"][name] = value.clone();
        }
        let reading = alone(one);
        (reading.word, rules(&reading))
    };
    for fees in [json!({"fee": "10000"}), json!({"fee": "5000", "gasFee": 5000}), json!({"fee": "0"})] {
        assert_eq!(beside(fees.clone()), (Word::Payable, vec![]), "{fees}");
    }
    // 10^14 dollars, one unit more than the price, and two that come to one unit more.
    for fees in
        [json!({"fee": "100000000000000000000"}), json!({"fee": 10_001}), json!({"fee": "10000", "gasFee": "1"})]
    {
        assert_eq!(beside(fees.clone()), (Word::PayableWithWarnings, vec!["fee.above_price"]), "{fees}");
    }
    for fees in [json!({"fee": "1.5"}), json!({"fee": {"amount": "1"}}), json!({"feeBps": "30"}), json!({"fee": ""})] {
        assert_eq!(beside(fees.clone()), (Word::PayableWithWarnings, vec!["fee.form"]), "{fees}");
    }
    let mut other = solana();
    other["serviceFee"] = json!("10001");
    let reading = alone(other);
    assert_eq!((reading.word, rules(&reading)), (Word::PayableWithWarnings, vec!["fee.above_price"]));
    assert_eq!(reading.findings[0].subject, "accepts[0].serviceFee");
}

/// A client of version 2 pays `amount`, one of version 1 `maxAmountRequired`.
#[test]
fn one_entry_with_two_prices_is_a_mismatch() {
    let both = |other: Value| alone(with("maxAmountRequired", other));
    for same in [json!("10000"), json!(10_000), Value::Null] {
        let reading = both(same.clone());
        assert_eq!((reading.word, rules(&reading)), (Word::Payable, vec![]), "{same}");
    }
    for other in [json!("10001"), json!("900000000"), json!("0.01"), json!("010000"), json!({})] {
        let reading = both(other.clone());
        assert_eq!((reading.word, rules(&reading)), (Word::Mismatch, vec!["amount.two_names"]), "{other}");
    }
    let mut old = entry_1();
    old["amount"] = json!("10001");
    let reading = Answer::new(402).body(v1(json!([old])).to_string()).read();
    assert_eq!((reading.word, rules(&reading)), (Word::Mismatch, vec!["amount.two_names"]));
    assert_eq!(reading.findings[0].subject, "accepts[0].amount");
}

/// USDC on Base Sepolia is worth nothing, though the reference buyer signs it and counts it against its cap.
#[test]
fn play_money_has_no_price_in_dollars() {
    let sepolia = |amount: &str| {
        let mut entry = with("amount", json!(amount));
        (entry["network"], entry["asset"]) =
            (json!("eip155:84532"), json!("0x036CbD53842c5426634e7929541eC2318f3dCF7e"));
        entry["extra"]["name"] = json!("USDC");
        alone(entry)
    };
    let cent = sepolia("10000");
    assert_eq!((cent.word, rules(&cent)), (Word::PayableWithWarnings, vec!["network.test"]));
    let offer = only(&cent);
    assert_eq!((offer.usd.is_none(), offer.fees.is_none(), offer.interop), (true, true, Interop::Pass));
    assert_eq!(only(&sepolia("1000001")).interop, Interop::Fail("amount.over_default_cap"));
}
