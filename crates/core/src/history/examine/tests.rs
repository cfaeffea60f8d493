use super::super::{History, Outcome, Trust, offered};
use super::*;
use crate::offer::{Exchange, read};
use crate::time::Timestamp;
use serde_json::{Value, json};

const A: &str = "0x1111111111111111111111111111111111111111";
const B: &str = "0x2222222222222222222222222222222222222222";
const C: &str = "0x3333333333333333333333333333333333333333";
const NEAR_A: &str = "0x1111222222222222222222222222222222221111";

fn option(pay_to: &str, amount: &str) -> Value {
    json!({
        "scheme": "exact", "network": "base", "maxAmountRequired": amount, "payTo": pay_to,
        "asset": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "maxTimeoutSeconds": 60,
        "resource": "https://seller.example/paid", "description": "a quote", "mimeType": "application/json",
        "extra": {"name": "USD Coin", "version": "2"}
    })
}

fn polygon(pay_to: &str) -> Value {
    let mut option = option(pay_to, "5000");
    option["network"] = json!("polygon");
    option["asset"] = json!("0x3c499c542cef5e3811e1192ce70d8cc03d5c3359");
    option
}

fn challenge(options: &[Value], schema: Option<&str>) -> Reading {
    let mut body = json!({"x402Version": 1, "accepts": options});
    if let Some(schema) = schema {
        body["accepts"][0]["outputSchema"] = json!({"input": {"type": schema}});
    }
    let headers = [("cache-control".to_owned(), b"no-store".to_vec())];
    let body = body.to_string();
    let url = "https://seller.example/paid";
    let body = body.as_bytes();
    read(&Exchange {
        url,
        method: "GET",
        status: 402,
        headers: &headers,
        body,
        body_end: crate::offer::BodyEnd::Whole,
        seen_at: minute(0),
        keys: &[],
    })
}

/// A thousand days and some minutes.
fn minute(n: i64) -> Timestamp {
    Timestamp::from_seconds(1_000 * 86_400 + n * 60)
}

fn look(at: i64, reading: &Reading) -> Observed {
    Observed {
        at: minute(at),
        trust: Trust::Independent,
        outcome: Outcome::Challenge,
        offers: offered(reading),
        schema_sha256: reading.schema.as_ref().and_then(|schema| schema.whole.sha256()),
        latency_ms: Some(1),
    }
}

/// The rules, with their subjects, that the last of these readings meets after the others.
fn told_of(readings: &[(i64, Reading)], accepts: bool) -> Vec<(&'static str, String)> {
    let looks: Vec<_> = readings.iter().map(|(at, reading)| look(*at, reading)).collect();
    let (last, earlier) = looks.split_last().unwrap();
    let reading = &readings.last().unwrap().1;
    let now = minute(1_000_000);
    let found = examine(reading, last, &History::of(earlier, now).trail, &History::of(&looks, now).standing, accepts);
    found.into_iter().map(|finding| (finding.rule, finding.subject)).collect()
}

fn payees(list: &[(i64, &str)], accepts: bool) -> Vec<&'static str> {
    let readings: Vec<_> = list.iter().map(|(at, to)| (*at, challenge(&[option(to, "5000")], None))).collect();
    told_of(&readings, accepts).into_iter().map(|(rule, _)| rule).collect()
}

fn prices(list: &[(i64, &str)]) -> Vec<&'static str> {
    let readings: Vec<_> = list.iter().map(|(at, amount)| (*at, challenge(&[option(A, amount)], None))).collect();
    told_of(&readings, false).into_iter().map(|(rule, _)| rule).collect()
}

#[test]
fn the_same_terms_again_are_silent() {
    assert_eq!(payees(&[(0, A)], false), [""; 0]);
    assert_eq!(payees(&[(0, A), (1, A), (11, A), (5000, A)], false), [""; 0]);
    assert_eq!(prices(&[(0, "5000"), (1, "5000"), (60, "5000")]), [""; 0]);
}

/// How well the last of these recipients is known, and how many looks before named it.
fn known(list: &[(i64, &str)]) -> (Acquaintance, u64) {
    let looks: Vec<_> = list.iter().map(|(at, to)| look(*at, &challenge(&[option(to, "5000")], None))).collect();
    let (earlier, now) = (&looks[..looks.len() - 1], minute(1_000_000));
    let reading = challenge(&[option(list.last().unwrap().1, "5000")], None);
    acquaintance(&History::of(&looks, now).standing, &History::of(earlier, now).trail, &reading, &reading.offers[0])
        .unwrap()
}

/// One look establishes nobody, and neither do many within ten minutes.
#[test]
fn a_recipient_is_first_then_seen_then_established() {
    use Acquaintance::{Changed, Established, First, Seen};
    assert_eq!(known(&[(0, A)]), (First, 0));
    assert_eq!(known(&[(0, A), (9, A)]), (Seen, 1));
    assert_eq!(known(&[(0, A), (3, A), (6, A), (9, A)]), (Seen, 3));
    assert_eq!(known(&[(0, A), (10, A)]), (Established, 1));
    assert_eq!(known(&[(0, A), (10, A), (11, A)]), (Established, 2));
    assert_eq!(known(&[(0, A), (10, A), (20, B)]), (Changed, 0));
    assert_eq!(known(&[(0, A), (10, A), (20, B), (29, B)]), (Changed, 1));
    assert_eq!(known(&[(0, A), (10, A), (20, B), (30, B)]), (Established, 1));
}

/// It was not kept, so that it was never seen before is not known.
#[test]
fn of_a_recipient_that_nobody_can_pay_no_history_is_told() {
    let reading = challenge(&[option("walletaddress", "5000"), option(A, "5000"), polygon(B)], None);
    let past = [look(0, &challenge(&[option(A, "5000")], None))];
    let (now, trail) = (minute(1000), History::of(&past, minute(1000)).trail);
    let standing = History::of(&past, now).standing.with(&look(20, &reading), now);
    let known = reading.offers.iter().map(|offer| acquaintance(&standing, &trail, &reading, offer));
    let wanted = [None, Some((Acquaintance::Established, 1)), Some((Acquaintance::New, 0))];
    assert_eq!(known.collect::<Vec<_>>(), wanted);
}

#[test]
fn a_changed_recipient_is_filed_by_what_it_replaces() {
    assert_eq!(payees(&[(0, A), (20, B)], false), ["history.payee_changed"]);
    assert_eq!(payees(&[(0, A), (10, A), (20, B)], false), ["history.payee_swapped"]);
    assert_eq!(payees(&[(0, A), (10, A), (20, B), (29, B)], false), ["history.payee_swapped"], "not yet confirmed");
    assert_eq!(payees(&[(0, A), (10, A), (20, B), (30, B)], false), [""; 0], "confirmed by a second look");
    assert_eq!(payees(&[(0, A), (9, B)], false), ["history.payee_unstable"]);
    assert_eq!(payees(&[(0, A), (20, B), (40, C)], false), ["history.payee_unstable"]);
    assert_eq!(payees(&[(0, A), (20, B), (40, A)], false), [""; 0], "the known one is back");
}

/// The known one is paid at every other look: it is held against both, until ten minutes went by without a turn.
#[test]
fn a_known_recipient_that_takes_turns_with_another_is_told() {
    assert_eq!(payees(&[(0, A), (1, B), (2, A)], false), ["history.payee_unstable"]);
    assert_eq!(payees(&[(0, A), (1, B), (2, A), (3, A)], false), ["history.payee_unstable"], "the turn is remembered");
    assert_eq!(payees(&[(0, A), (10, A), (20, B), (29, A)], false), ["history.payee_unstable"], "established as well");
    assert_eq!(payees(&[(0, A), (10, A), (20, B), (30, A)], false), [""; 0], "ten minutes later");
    assert_eq!(payees(&[(0, A), (1, B), (2, A)], true), ["history.payee_accepted"]);
    let (a, b) = (option(A, "5000"), option(B, "5000"));
    let told = |list: &[&[Value]]| {
        let readings: Vec<_> = (0..).zip(list).map(|(at, options)| (at, challenge(options, None))).collect();
        told_of(&readings, false).into_iter().map(|(rule, _)| rule).collect::<Vec<_>>()
    };
    let (both, one) = (&[a.clone(), b][..], &[a.clone()][..]);
    assert_eq!(told(&[both, both, one, both]), ["history.payee_unstable"], "B went and came");
    assert_eq!(told(&[both, both, one]), [""; 0], "fewer options are not another recipient");
    assert_eq!(told(&[one, &[polygon(C)], one]), ["history.payee_unstable"], "turns across networks");
    assert_eq!(told(&[one, &[a.clone(), polygon(C)], one]), [""; 0], "an option that came and went beside it");
}

#[test]
fn a_buyer_may_accept_a_change_but_not_a_forgery() {
    for list in [&[(0, A), (20, B)][..], &[(0, A), (10, A), (20, B)], &[(0, A), (9, B)]] {
        assert_eq!(payees(list, true), ["history.payee_accepted"], "{list:?}");
    }
    for accepts in [false, true] {
        assert_eq!(payees(&[(0, A), (20, NEAR_A)], accepts), ["history.payee_near_copy"]);
    }
}

#[test]
fn a_swap_on_the_second_network_is_told_at_its_own_option() {
    let both = |to: &str| challenge(&[option(A, "5000"), polygon(to)], None);
    let told = told_of(&[(0, both(B)), (10, both(B)), (20, both(C))], false);
    assert_eq!(told, [("history.payee_swapped", "accepts[1].payTo".to_owned())]);
    let one = challenge(&[option(A, "5000")], None);
    let joined = told_of(&[(0, one.clone()), (10, one.clone()), (20, both(C))], false);
    assert_eq!(joined, [("history.payee_new", "accepts[1].payTo".to_owned())]);
    assert_eq!(told_of(&[(0, one.clone()), (10, one.clone()), (20, both(A))], false), [], "the known one elsewhere");
    let moved = told_of(&[(0, one.clone()), (10, one), (20, challenge(&[polygon(C)], None))], false);
    assert_eq!(moved, [("history.payee_swapped", "accepts[0].payTo".to_owned())]);
}

#[test]
fn prices_that_walk_jump_or_differ_from_look_to_look() {
    assert_eq!(prices(&[(0, "10000"), (20, "10001")]), ["history.price_raised"]);
    assert_eq!(prices(&[(0, "10000"), (20, "9999")]), [""; 0], "cheaper is no finding");
    assert_eq!(prices(&[(0, "10000"), (9, "9999")]), ["history.price_unstable"], "two prices at once are");
    assert_eq!(prices(&[(0, "10000"), (20, "15000"), (40, "20000")]), ["history.price_walk"]);
    // Corpus C59: a cent, ten, fifty, a dollar.
    let steps = [(0, "10000"), (20, "100000"), (40, "500000"), (60, "1000000")];
    assert_eq!(prices(&steps), ["history.price_walk"]);
    assert_eq!(prices(&[(0, "10000"), (20, "15000"), (40, "19999")]), ["history.price_raised"], "below twice");
    assert_eq!(prices(&[(0, "10000"), (20, "20000")]), ["history.price_raised"], "one step is no walk");
    assert_eq!(prices(&[(0, "10000"), (20, "15000"), (40, "20000"), (60, "20000")]), ["history.price_walk"]);
    assert_eq!(prices(&[(0, "10000"), (20, "15000"), (40, "12000"), (60, "20000")]), ["history.price_raised"]);
    // Thirty days are 43,200 minutes.
    assert_eq!(prices(&[(0, "10000"), (20, "15000"), (43_200, "20000")]), ["history.price_walk"]);
    assert_eq!(prices(&[(0, "10000"), (20, "15000"), (43_201, "20000")]), ["history.price_raised"]);
}

#[test]
fn an_anonymous_look_counts_against_a_seller_and_never_for_a_recipient() {
    let (cheap, dear) = (challenge(&[option(A, "5000")], None), challenge(&[option(A, "6000")], None));
    let tentative = |at, reading| Observed { trust: Trust::Tentative, ..look(at, reading) };
    let now = minute(1000);
    let trail = History::of(&[tentative(0, &cheap)], now).trail;
    let found = examine(&dear, &tentative(5, &dear), &trail, &Standing::default(), false);
    assert_eq!(found.iter().map(|one| one.rule).collect::<Vec<_>>(), ["history.price_unstable"]);
    assert_eq!(History::of(&[tentative(0, &cheap), tentative(20, &cheap)], now).standing, Standing::default());
}

#[test]
fn a_look_older_than_the_newest_is_compared_with_nothing() {
    let (cheap, dear) = (challenge(&[option(A, "5000")], None), challenge(&[option(A, "6000")], None));
    let trail = History::of(&[look(5, &cheap)], minute(1000)).trail;
    for (at, expected) in [(5, 0), (4, 0), (6, 1)] {
        assert_eq!(examine(&dear, &look(at, &dear), &trail, &Standing::default(), false).len(), expected, "{at}");
    }
}

#[test]
fn a_changed_schema_is_told_once() {
    let told = |list: &[(i64, Option<&str>)]| {
        let readings = list.iter().map(|(at, schema)| (*at, challenge(&[option(A, "5000")], *schema)));
        told_of(&readings.collect::<Vec<_>>(), false).len()
    };
    assert_eq!(told(&[(0, Some("http")), (20, Some("http"))]), 0);
    assert_eq!(told(&[(0, Some("http")), (20, Some("mcp"))]), 1);
    assert_eq!(told(&[(0, Some("http")), (20, None), (40, Some("mcp"))]), 1, "an absent one is not a change");
    assert_eq!(told(&[(0, Some("http")), (20, Some("mcp")), (40, Some("mcp"))]), 0);
}

#[test]
fn findings_enter_the_word() {
    let old = challenge(&[option(A, "5000")], None);
    let word = |new: Reading, at: i64| {
        let (before, now) = ([look(0, &old), look(10, &old)], minute(1000));
        let last = look(at, &new);
        let found = examine(
            &new,
            &last,
            &History::of(&before, now).trail,
            &History::of(&before, now).standing.with(&last, now),
            false,
        );
        new.and(found).word
    };
    assert_eq!(word(old.clone(), 20), Word::Payable);
    assert_eq!(word(challenge(&[option(B, "5000")], None), 20), Word::NotPayable);
    assert_eq!(word(challenge(&[option(A, "5001")], None), 20), Word::PayableWithWarnings);
    assert_eq!(word(challenge(&[option(A, "5001")], None), 19), Word::Mismatch);
}
