//! Sellers that say one thing now and another thing later, or to somebody else.

use super::super::challenge::{Asked, PAYEE, edited, one};
use super::honest::options;
use super::{Looks, Reply, Seller, finds, hostile, says};

/// An address that has nothing in common with the payee's.
const STRANGER: &str = "0x5afe00000000000000000000000000000000c0de";

pub(super) const ALL: &[Seller] = &[
    hostile(
        "price-walk",
        "raises its price tenfold on every look",
        finds("mismatch", "history.price_walk"),
        "honest-v2",
        Reply::Whole(walk),
    )
    .after(Looks::Apart(3)),
    hostile(
        "rotating-payee",
        "names another payee on every look",
        finds("mismatch", "history.payee_unstable"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "payTo", format!("0x{:040x}", 0x5afe_0000 + asked.turn))),
    )
    .after(Looks::AtOnce(2)),
    hostile(
        "moved-payee",
        "names another payee at the second look",
        finds("mismatch", "history.payee_changed"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "payTo", if asked.turn == 0 { PAYEE } else { STRANGER })),
    )
    .after(Looks::Apart(2)),
    hostile(
        "swapped-payee",
        "earns trust with one payee, then swaps it for another",
        finds("not_payable", "history.payee_swapped"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "payTo", if asked.turn < 2 { PAYEE } else { STRANGER })),
    )
    .after(Looks::Apart(3)),
    hostile(
        "copied-payee",
        "earns trust with one payee, then swaps it for a near copy",
        finds("not_payable", "history.payee_near_copy"),
        "honest-v2",
        Reply::Whole(copied),
    )
    .after(Looks::Apart(2)),
    hostile(
        "swapped-on-polygon",
        "earns trust on three networks, then swaps the payee of the second (the others stay payable)",
        finds("payable", "history.payee_swapped"),
        "honest-networks",
        Reply::Whole(|asked| on_polygon(asked, asked.turn >= 2)),
    )
    .after(Looks::Apart(3)),
    hostile(
        "added-payee",
        "slips in a second network with a payee of its own",
        finds("payable", "history.payee_new"),
        "honest-networks",
        Reply::Whole(|asked| if asked.turn == 0 { edited(asked, |_| ()) } else { on_polygon(asked, true) }),
    )
    .after(Looks::Apart(2)),
    hostile(
        "decoy-keeps-payee",
        "moves the known payee into an option that nobody can choose, and asks for a stranger beside it",
        finds("mismatch", "history.payee_changed"),
        "honest-networks",
        Reply::Whole(|asked| displaced(asked, |known| known["scheme"] = "batch-settlement".into())),
    )
    .after(Looks::Apart(2)),
    hostile(
        "dear-known-payee",
        "raises the price of the known payee ninetyfold, and asks the old price for a stranger",
        finds("payable_with_warnings", "history.price_raised"),
        "honest-networks",
        Reply::Whole(|asked| displaced(asked, |known| known["amount"] = "900000".into())),
    )
    .after(Looks::Apart(2)),
    hostile(
        "personal-price",
        "asks a different odd sum every time, so that no two buyers can compare",
        finds("mismatch", "history.price_unstable"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "amount", (10_000 + 137 * asked.turn).to_string())),
    )
    .after(Looks::AtOnce(2)),
    hostile(
        "creeping-price",
        "asks one cent more at the second look",
        finds("payable_with_warnings", "history.price_raised"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "amount", (10_000 * (asked.turn + 1)).to_string())),
    )
    .after(Looks::Apart(2)),
    hostile(
        "changing-schema",
        "asks for other input at the second look",
        finds("payable_with_warnings", "history.schema_changed"),
        "honest-schema",
        Reply::Whole(other_schema),
    )
    .after(Looks::Apart(2)),
    hostile(
        "cloaked",
        "shows honest terms to checkers and $90 to everybody else",
        says("payable", None),
        "honest-v2",
        Reply::Whole(|asked| {
            one(asked, "amount", if asked.agent.contains("countersign") { "10000" } else { "90000000" })
        }),
    ),
];

/// One cent, ten cents, one dollar, and no further than $1,000.
fn walk(asked: &Asked) -> Vec<u8> {
    let steps = u32::try_from(asked.turn.min(5)).unwrap_or(5);
    one(asked, "amount", (10_000 * 10_u64.pow(steps)).to_string())
}

/// Begins and ends like the specification's payee, and is another address.
fn copied(asked: &Asked) -> Vec<u8> {
    let payee = if asked.turn == 0 { PAYEE.to_owned() } else { format!("0x2096{}287c", "0".repeat(32)) };
    one(asked, "payTo", payee)
}

/// Three networks; on the second, when `swapped`, a stranger is paid.
fn on_polygon(asked: &Asked, swapped: bool) -> Vec<u8> {
    edited(asked, |challenge| {
        challenge["accepts"] = options();
        if swapped {
            challenge["accepts"][1]["payTo"] = STRANGER.into();
        }
    })
}

/// One option; from the second look on it is changed so that few will take it, and a stranger is paid on Polygon.
fn displaced(asked: &Asked, change: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    edited(asked, |challenge| {
        let mut offered = options();
        if let (true, Some(all)) = (asked.turn > 0, offered.as_array_mut()) {
            all.truncate(2);
            all.iter_mut().take(1).for_each(&change);
            all.iter_mut().skip(1).for_each(|added| added["payTo"] = STRANGER.into());
        } else if let Some(all) = offered.as_array_mut() {
            all.truncate(1);
        }
        challenge["accepts"] = offered;
    })
}

fn other_schema(asked: &Asked) -> Vec<u8> {
    let name = if asked.turn == 0 { "city" } else { "passport_number" };
    edited(asked, |challenge| {
        challenge["extensions"] = serde_json::json!({"bazaar": {
            "info": {"input": {"type": "http", "method": "GET", "queryParams": {name: "x"}}},
            "schema": {"type": "object", "properties": {"input": {"type": "object"}}, "required": ["input"]}
        }});
    })
}
