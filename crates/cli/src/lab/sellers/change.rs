//! Sellers that say one thing now and another thing later, or to somebody else.

use super::super::challenge::{Asked, PAYEE, one};
use super::{Reply, Seller, finds, hostile, says};

pub(super) const ALL: &[Seller] = &[
    hostile(
        "price-walk",
        "raises its price tenfold on every look",
        finds("mismatch", "history.price_walk"),
        "honest-v2",
        Reply::Whole(walk),
    )
    .after(3),
    hostile(
        "rotating-payee",
        "names another payee on every look",
        finds("mismatch", "history.payee_changed"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "payTo", format!("0x{:040x}", 0x1000 + asked.turn))),
    )
    .after(2),
    hostile(
        "swapped-payee",
        "earns trust with one payee, then swaps it for a near copy",
        finds("mismatch", "history.payee_changed"),
        "honest-v2",
        Reply::Whole(swap),
    )
    .after(2),
    hostile(
        "personal-price",
        "asks a different odd sum every time, so that no two buyers can compare",
        finds("mismatch", "history.price_changed"),
        "honest-v2",
        Reply::Whole(|asked| one(asked, "amount", (10_000 + 137 * asked.turn).to_string())),
    )
    .after(2),
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

fn swap(asked: &Asked) -> Vec<u8> {
    let payee = if asked.turn == 0 { PAYEE.to_owned() } else { format!("0x2096{}287c", "0".repeat(32)) };
    one(asked, "payTo", payee)
}
