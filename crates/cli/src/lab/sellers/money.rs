//! Sellers that lie about the money: amount, asset, network, time to pay.

use super::super::challenge::{Asked, edited, one, requirement, respelled, without};
use super::honest::solana;
use super::{Reply, Seller, finds, hostile, says};
use serde_json::{Value, json};

/// One more than the largest 256-bit number.
const TWO_TO_256: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639936";

/// Begins and ends like the mint of USD Coin, and is 32 other bytes.
const LOOK_ALIKE_MINT: &str = "EPjFakeMintakeMintakeMintakeMintakeMintXDt1v";

/// Whoever is paid there is paid never again.
const NOBODY: &str = "0x0000000000000000000000000000000000000000";

pub(super) const ALL: &[Seller] = &[
    hostile(
        "decoy-first",
        "lists a one-cent option first and a $900 one behind it",
        finds("payable_with_warnings", "amount.spread"),
        "honest-networks",
        Reply::Whole(decoy),
    ),
    hostile(
        "dear-first",
        "asks 90 cents in its first option, which a client without limits signs, and one cent in its second",
        says("payable", None),
        "honest-tiers",
        Reply::Whole(|asked| two(asked, |first| first["amount"] = json!("900000"))),
    ),
    hostile(
        "burn-first",
        "asks for a payment to nobody in its first option, which the reference client signs, and is honest in its second",
        finds("payable_with_warnings", "selection.stock_client"),
        "honest-tiers",
        Reply::Whole(|asked| two(asked, |first| first["payTo"] = json!(NOBODY))),
    ),
    hostile(
        "cheap-for-ever",
        "asks a millionth of a dollar less in an option whose authorisation never ends",
        finds("payable_with_warnings", "timeout.form"),
        "honest-tiers",
        Reply::Whole(|asked| {
            two(asked, |first| {
                first["amount"] = json!("9999");
                first["maxTimeoutSeconds"] = json!("60");
            })
        }),
    ),
    hostile(
        "honeypot-price",
        "asks $5,000 for one call",
        finds("not_payable", "amount.honeypot"),
        "honest-dear",
        Reply::Whole(|asked| one(asked, "amount", "5000000000")),
    ),
    hostile(
        "testnet-asset",
        "names a test network with the main network's asset",
        finds("not_payable", "asset.other_network"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "network", "eip155:84532")),
    ),
    hostile(
        "wrong-chain",
        "names Ethereum with the asset of Base",
        finds("not_payable", "asset.other_network"),
        "honest-networks",
        Reply::Whole(|asked| one(asked, "network", "eip155:1")),
    ),
    hostile(
        "fake-usdc",
        "calls an unknown token USD Coin",
        finds("not_payable", "asset.impostor"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "asset", "0x5afe00000000000000000000000000000000c0de")),
    ),
    hostile(
        "fake-ticker",
        "calls an unknown token usdc, as its name is on other networks",
        finds("not_payable", "asset.impostor"),
        "honest-v2",
        Reply::Whole(|asked| fake(asked, "usdc ")),
    ),
    hostile(
        "fake-letters",
        "calls an unknown token USD Coin with a Cyrillic letter in it",
        finds("not_payable", "asset.impostor"),
        "honest-v2",
        Reply::Whole(|asked| fake(asked, "USD C\u{43e}in")),
    ),
    hostile(
        "play-money",
        "asks a cent of play money on a test network",
        finds("payable_with_warnings", "network.test"),
        "honest-v2",
        Reply::Whole(play_money),
    ),
    hostile(
        "look-alike-usdc",
        "uses a token whose address begins and ends like USDC's",
        finds("not_payable", "asset.look_alike"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "asset", "0x8335000000000000000000000000000000002913")),
    ),
    hostile(
        "look-alike-mint",
        "uses a Solana mint that begins and ends like USDC's",
        finds("not_payable", "asset.look_alike"),
        "honest-solana",
        Reply::Whole(|asked| solana(asked, "asset", LOOK_ALIKE_MINT)),
    ),
    hostile(
        "homoglyph-asset",
        "writes the asset with a Cyrillic letter in it",
        finds("not_payable", "asset.look_alike"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "asset", "0x833589f\u{421}D6eDb6E08f4c7C32D4f71b54bdA02913")),
    ),
    hostile(
        "decimals-claim",
        "claims 18 decimals so that $10,000 looks like nothing",
        finds("not_payable", "amount.honeypot"),
        "honest-v2",
        Reply::Whole(decimals),
    ),
    hostile(
        "amount-decimal",
        "writes the amount as 0.01",
        finds("not_payable", "amount.form"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "amount", "0.01")),
    ),
    hostile(
        "amount-dollars",
        "writes the amount as $0.01",
        finds("not_payable", "amount.form"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "amount", "$0.01")),
    ),
    hostile(
        "amount-number",
        "writes the amount as a JSON number",
        finds("payable_with_warnings", "amount.number"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "amount", 10_000)),
    ),
    hostile(
        "amount-float",
        "writes the amount as the JSON number 1e4",
        finds("not_payable", "amount.spelling"),
        "honest-v2",
        Reply::Whole(|asked| respelled(asked, "\"10000\"", "1e4")),
    ),
    hostile(
        "amount-exponent",
        "writes the amount as the text 1e4",
        finds("not_payable", "amount.form"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "amount", "1e4")),
    ),
    hostile(
        "amount-negative",
        "asks for less than nothing",
        finds("not_payable", "amount.form"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "amount", "-5")),
    ),
    hostile(
        "amount-overflow",
        "asks for 2^256, which a careless reader takes for 0",
        finds("not_payable", "amount.form"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "amount", TWO_TO_256)),
    ),
    hostile(
        "amount-octal",
        "writes a leading zero, which some readers take for octal",
        finds("not_payable", "amount.leading_zero"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "amount", "010000")),
    ),
    hostile(
        "amount-spaced",
        "writes a space before the amount",
        finds("not_payable", "amount.form"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "amount", " 10000")),
    ),
    hostile(
        "amount-zero",
        "asks for nothing, and a signature all the same",
        finds("not_payable", "amount.zero"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "amount", "0")),
    ),
    hostile(
        "amount-absent",
        "leaves the amount out so that a cap has nothing to compare",
        finds("not_payable", "amount.form"),
        "honest-v2",
        Reply::Whole(|asked| without(asked, "amount")),
    ),
    hostile(
        "two-prices",
        "asks one cent by the name of version 2 and $9 by that of version 1, in one entry",
        finds("mismatch", "amount.two_names"),
        "honest-dual",
        Reply::Whole(|asked| one(asked, "maxAmountRequired", "9000000")),
    ),
    hostile(
        "fee-beside",
        "asks one cent and declares a fee of $9 beside it",
        finds("payable_with_warnings", "fee.above_price"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "serviceFee", "9000000")),
    ),
    hostile(
        "fee-percent",
        "declares a fee in a form that nobody can add up",
        finds("payable_with_warnings", "fee.form"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "feePercent", "35")),
    ),
    hostile(
        "timeout-text",
        "writes 60 seconds as text, which makes the reference buyer sign until the year 7661",
        finds("payable_with_warnings", "timeout.form"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "maxTimeoutSeconds", "60")),
    ),
    hostile(
        "timeout-zero",
        "leaves no time at all: what the buyer signs has ended already",
        finds("not_payable", "timeout.past"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "maxTimeoutSeconds", 0)),
    ),
    hostile(
        "own-scheme",
        "asks by a scheme that no specification knows",
        finds("not_payable", "scheme.unknown"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "scheme", "exactly")),
    ),
    hostile(
        "timeout-decade",
        "wants an authorisation that stays good for ten years",
        finds("payable_with_warnings", "timeout.long"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "maxTimeoutSeconds", 315_360_000)),
    ),
    hostile(
        "wrong-domain-name",
        "names the token's signing domain wrongly: the buyer signs what nobody can settle",
        finds("not_payable", "asset.eip712_name"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "extra", json!({"name": "US Dollar Coin", "version": "2"}))),
    ),
    hostile(
        "no-domain-name",
        "leaves the signing domain out",
        finds("not_payable", "asset.eip712_missing"),
        "honest-v2",
        Reply::Whole(|asked| without(asked, "extra")),
    ),
];

/// Two options of one cent, the first of them changed.
fn two(asked: &Asked, change: impl Fn(&mut Value)) -> Vec<u8> {
    edited(asked, |challenge| {
        let mut first = requirement();
        change(&mut first);
        challenge["accepts"] = json!([first, requirement()]);
    })
}

fn decoy(asked: &Asked) -> Vec<u8> {
    edited(asked, |challenge| {
        let mut dear = requirement();
        dear["amount"] = json!("900000000");
        challenge["accepts"] = json!([requirement(), dear]);
    })
}

/// An unknown token under this name.
fn fake(asked: &Asked, name: &str) -> Vec<u8> {
    edited(asked, |challenge| {
        challenge["accepts"][0]["asset"] = json!("0x5afe00000000000000000000000000000000c0de");
        challenge["accepts"][0]["extra"]["name"] = json!(name);
    })
}

/// Base Sepolia's own USDC.
fn play_money(asked: &Asked) -> Vec<u8> {
    edited(asked, |challenge| {
        let one = &mut challenge["accepts"][0];
        one["network"] = json!("eip155:84532");
        one["asset"] = json!("0x036CbD53842c5426634e7929541eC2318f3dCF7e");
        one["extra"]["name"] = json!("USDC");
    })
}

fn decimals(asked: &Asked) -> Vec<u8> {
    edited(asked, |challenge| {
        challenge["accepts"][0]["amount"] = json!("10000000000");
        challenge["accepts"][0]["extra"]["decimals"] = json!(18);
    })
}
