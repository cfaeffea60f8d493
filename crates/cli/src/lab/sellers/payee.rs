//! Sellers that lie about who is paid.

use super::super::challenge::{Asked, PAYEE, USDC, edited, one, requirement};
use super::honest::solana;
use super::{Reply, Seller, finds, hostile};
use serde_json::json;

/// Begins and ends like the specification's payee, and is another address.
const NEAR_COPY: &str = "0x2096000000000000000000000000000000000000";

pub(super) const ALL: &[Seller] = &[
    hostile(
        "zero-payee",
        "has the money burnt: pays to the zero address",
        finds("not_payable", "payee.zero"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "payTo", "0x0000000000000000000000000000000000000000")),
    ),
    hostile(
        "zero-payee-solana",
        "has the money burnt on Solana: pays to the system program",
        finds("not_payable", "payee.zero"),
        "honest-solana",
        Reply::Whole(|asked| solana(asked, "payTo", "11111111111111111111111111111111")),
    ),
    hostile(
        "precompile-payee",
        "has the money locked in: pays to a precompiled contract, of which nobody has the key",
        finds("not_payable", "payee.zero"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "payTo", "0x0000000000000000000000000000000000000009")),
    ),
    hostile(
        "asset-payee",
        "has the money sent to the token's own contract",
        finds("not_payable", "payee.is_asset"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "payTo", USDC)),
    ),
    hostile(
        "bad-checksum",
        "capitalises its address wrongly, as after a changed digit",
        finds("payable_with_warnings", "payee.checksum"),
        "honest-lower",
        Reply::Whole(|asked| one(asked, "payTo", PAYEE.replacen("0x209693Bc", "0x209693bC", 1))),
    ),
    hostile(
        "homoglyph-payee",
        "writes its address with a Cyrillic letter in it",
        finds("not_payable", "payee.form"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "payTo", PAYEE.replacen('B', "\u{412}", 1))),
    ),
    hostile(
        "placeholder-payee",
        "left the word walletaddress where its address belongs",
        finds("not_payable", "payee.form"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "payTo", "walletaddress")),
    ),
    hostile(
        "short-payee",
        "lost the last digit of its address",
        finds("not_payable", "payee.form"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "payTo", PAYEE.trim_end_matches('C'))),
    ),
    hostile(
        "capital-prefix",
        "writes 0X where only 0x is an address",
        finds("not_payable", "payee.form"),
        "honest-lower",
        Reply::Whole(|asked| one(asked, "payTo", PAYEE.replacen("0x", "0X", 1))),
    ),
    hostile(
        "payee-list",
        "gives two payees where one belongs",
        finds("not_payable", "payee.form"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "payTo", json!([PAYEE, USDC]))),
    ),
    hostile(
        "poisoned-payee",
        "hides a second option whose payee begins and ends like the first's",
        finds("mismatch", "payee.look_alike"),
        "honest-networks",
        Reply::Whole(poisoned),
    ),
];

/// The near copy keeps the payee's last four digits too.
fn poisoned(asked: &Asked) -> Vec<u8> {
    edited(asked, |challenge| {
        let mut other = requirement();
        let tail = PAYEE.len() - 4;
        other["payTo"] = json!(format!("{}{}", &NEAR_COPY[..tail], &PAYEE[tail..]).to_ascii_lowercase());
        challenge["accepts"] = json!([requirement(), other]);
    })
}
