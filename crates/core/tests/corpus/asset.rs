//! Assets that borrow a name, that nobody can compare, and that stand where a recipient should.

use countersign_core::offer::{Grade, Interop, Word};
use serde_json::{Value, json};

use crate::common::{USDC, alone, only, rules, with};

/// The name and ticker of a well-known token as a person reads them, on any network; a token that bears another is unknown.
#[test]
fn a_borrowed_name_in_any_spelling() {
    let strange = |network: &str, extra: Value| {
        let mut entry = with("asset", json!("0x3333333333333333333333333333333333333333"));
        (entry["network"], entry["extra"]) = (json!(network), extra);
        let reading = alone(entry);
        let rules: Vec<_> = rules(&reading).into_iter().filter(|rule| *rule != "text.invisible").collect();
        (reading.word, rules, reading.findings[0].expected.clone())
    };
    let known = Some(USDC.to_owned());
    for name in [
        "USD Coin",
        "USDC",
        "usd coin",
        "USD Coin ",
        "USD C\u{43e}in",
        "USD-Coin",
        "U\u{200b}SDC",
        "\u{ff35}SDC",
        "USD C0in",
        "USD Co1n",
        "UЅDС",
    ] {
        let told = strange("eip155:8453", json!({"name": name, "version": "2"}));
        assert_eq!(told, (Word::NotPayable, vec!["asset.impostor"], known.clone()), "{name}");
    }
    let ticker = strange("eip155:8453", json!({"name": "Foo", "version": "2", "symbol": "usdc"}));
    assert_eq!(ticker, (Word::NotPayable, vec!["asset.impostor"], known));
    for name in ["Foo", "USD Coin Classic", "USDCx", "Dollar"] {
        let told = strange("eip155:8453", json!({"name": name, "version": "2"}));
        assert_eq!(told, (Word::PayableWithWarnings, vec!["asset.unknown"], None), "{name}");
    }
    let world = strange("eip155:480", json!({"name": "USDC", "version": "2"}));
    let known = Some("0x79A02482A880bCE3F13e09Da970dC34db4CD24d1".to_owned());
    assert_eq!(world, (Word::NotPayable, vec!["asset.impostor"], known));
}

/// Which token is USDC on these networks is not in our table, the first two of which say so: that is no mark against
/// the seller, and no dollars either.
#[test]
fn an_asset_that_can_be_compared_with_none_is_not_evaluated() {
    for network in ["eip155:2741", "eip155:4689", "eip155:123456789"] {
        let mut entry = with("network", json!(network));
        entry["asset"] = json!("0x1234567890123456789012345678901234567890");
        let reading = alone(entry);
        assert_eq!((reading.word, rules(&reading)), (Word::NotEvaluated, vec!["asset.unjudged"]), "{network}");
        let offer = only(&reading);
        assert_eq!((offer.interop, offer.usd.is_none()), (Interop::Fail("asset.unjudged"), true), "{network}");
    }
}

/// Whoever is paid in one token at the contract of another is not paid.
#[test]
fn the_contract_of_another_token_is_no_recipient() {
    let paid_to = |payee: &str| {
        let mut entry = with("network", json!("eip155:42220"));
        entry["asset"] = json!("0xcebA9300f2b948710d2653dD7B07f33A8B32118C");
        entry["extra"] = json!({"name": "USDC", "version": "2"});
        entry["payTo"] = json!(payee);
        let reading = alone(entry);
        (reading.word, rules(&reading))
    };
    let tether = paid_to("0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e");
    assert_eq!(tether, (Word::NotPayable, vec!["payee.is_asset"]));
    let seller = paid_to("0x209693Bc6afc0C5328bA36FaF03C514EF312287C");
    assert_eq!(seller, (Word::Payable, vec![]), "the control");
}

/// Tether on Ethereum is what it says, and no default asset of the reference SDK: its buyer refuses it unless told
/// otherwise (asset table of @x402/evm 2.27.0, where chain 1 has USDC alone).
#[test]
fn a_known_asset_beside_the_defaults_of_the_reference_buyer() {
    let mut entry = with("network", json!("eip155:1"));
    entry["asset"] = json!("0xdAC17F958D2ee523a2206206994597C13D831ec7");
    entry["extra"] = json!({"name": "Tether USD", "version": "1"});
    let reading = alone(entry);
    let told = vec!["asset.not_default", "asset.eip712_unjudged"];
    assert_eq!((reading.word, rules(&reading)), (Word::PayableWithWarnings, told));
    let offer = only(&reading);
    assert_eq!((offer.interop, offer.spec), (Interop::Fail("asset.not_default"), Grade::Pass));
    assert_eq!(offer.usd.as_ref().map(ToString::to_string).as_deref(), Some("0.01"), "and its price is known");
}
