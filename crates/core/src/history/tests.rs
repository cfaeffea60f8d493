use super::*;
use crate::time::Timestamp;
use proptest::prelude::*;

const A: &str = "0x1111111111111111111111111111111111111111";
const B: &str = "0x2222222222222222222222222222222222222222";
const BASE: &str = "eip155:8453";
const SOLANA: &str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
const USDC: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

/// A thousand days, so that every minute of a test lies after the epoch.
fn minute(n: i64) -> Timestamp {
    Timestamp::from_seconds(1_000 * 86_400 + n * 60)
}

fn seen(at: i64, trust: Trust, pay_to: &str) -> Observed {
    Observed {
        at: minute(at),
        trust,
        outcome: Outcome::Challenge,
        offers: vec![asks(BASE, USDC, pay_to, "5000")],
        schema_sha256: Some("aa".to_owned()),
        latency_ms: Some(100),
    }
}

fn asks(network: &str, asset: &str, pay_to: &str, amount: &str) -> Offered {
    let [network, asset, pay_to, amount] = [network, asset, pay_to, amount].map(str::to_owned);
    Offered { network, asset, pay_to, amount: Some(amount), complete: true }
}

fn offering(at: i64, offers: &[Offered]) -> Observed {
    Observed { offers: offers.to_vec(), ..seen(at, Trust::Scheduled, A) }
}

fn after(observations: &[Observed]) -> Standing {
    History::of(observations, minute(1_000_000)).standing
}

fn scheduled(list: &[(i64, &str)]) -> Standing {
    after(&list.iter().map(|(at, pay_to)| seen(*at, Trust::Scheduled, pay_to)).collect::<Vec<_>>())
}

fn of(standing: &Standing, wanted: impl Fn(&Payee) -> bool) -> Option<&str> {
    let mut found = standing.payees(BASE, USDC).iter().filter(|payee| wanted(payee));
    let one = found.next().map(|payee| payee.pay_to.as_str());
    assert_eq!(found.next(), None, "at most one of a kind in these tests");
    one
}

fn known(standing: &Standing) -> Option<&str> {
    of(standing, Payee::stands)
}

fn pending(standing: &Standing) -> Option<&str> {
    of(standing, |payee| payee.role == Role::Pending)
}

fn established(standing: &Standing) -> Option<&str> {
    of(standing, |payee| payee.role == Role::Established)
}

#[test]
fn nothing_seen_is_nothing_known() {
    let standing = after(&[]);
    assert_eq!((known(&standing), standing.week(minute(0))), (None, Week::default()));
}

#[test]
fn two_trusted_looks_ten_minutes_apart_establish_a_first_recipient() {
    let first = scheduled(&[(0, A)]);
    assert_eq!((known(&first), established(&first), first.pay_to_changed_at), (Some(A), None, None));
    assert_eq!(established(&scheduled(&[(0, A), (9, A)])), None);
    assert_eq!(established(&scheduled(&[(0, A), (10, A)])), Some(A));
}

#[test]
fn rule_1_the_known_recipient_again_clears_a_pending_one() {
    let standing = scheduled(&[(0, A), (10, A), (20, B), (30, A)]);
    assert_eq!((established(&standing), pending(&standing)), (Some(A), None));
    assert_eq!(standing.pay_to_changed_at, Some(minute(20)), "that it happened is kept");
}

#[test]
fn rule_2_another_recipient_waits_and_the_known_one_is_kept() {
    let standing = scheduled(&[(0, A), (10, A), (20, B)]);
    assert_eq!((known(&standing), established(&standing), pending(&standing)), (Some(A), Some(A), Some(B)));
    assert_eq!(standing.pay_to_changed_at, Some(minute(20)));
}

#[test]
fn rule_2_a_third_recipient_takes_the_pending_place_and_starts_anew() {
    let c = "0x3333333333333333333333333333333333333333";
    let standing = scheduled(&[(0, A), (10, A), (20, B), (40, c), (60, B)]);
    assert_eq!((known(&standing), pending(&standing)), (Some(A), Some(B)));
    assert_eq!(standing.pay_to_changed_at, Some(minute(60)));
}

#[test]
fn rule_3_the_pending_recipient_seen_again_is_established() {
    let standing = scheduled(&[(0, A), (10, A), (20, B), (30, B)]);
    assert_eq!((established(&standing), pending(&standing)), (Some(B), None));
    assert_eq!(standing.pay_to_changed_at, Some(minute(20)));
    let soon = scheduled(&[(0, A), (10, A), (20, B), (29, B)]);
    assert_eq!((established(&soon), pending(&soon)), (Some(A), Some(B)), "nine minutes are not independent");
    let later = scheduled(&[(0, A), (10, A), (20, B), (29, B), (30, B)]);
    assert_eq!(established(&later), Some(B), "the ten minutes run from the first look at it");
}

#[test]
fn rule_4_a_tentative_look_moves_nothing() {
    let before = scheduled(&[(0, A), (10, A), (20, B)]);
    for at in [21, 30, 500] {
        assert_eq!(before.with(&seen(at, Trust::Tentative, B), minute(1000)), before, "{at}");
    }
    let positive = before.with(&seen(30, Trust::Settled, B), minute(1000));
    assert_eq!(established(&positive), Some(B));
}

#[test]
fn rule_4_an_older_late_look_never_rewrites_newer_state() {
    let before = scheduled(&[(0, A), (10, A), (20, B)]);
    for (at, pay_to) in [(20, A), (19, A), (15, B), (-100, B)] {
        assert_eq!(before.with(&seen(at, Trust::Scheduled, pay_to), minute(1000)), before, "{at} {pay_to}");
    }
}

#[test]
fn a_look_from_the_future_counts_for_nothing() {
    let before = scheduled(&[(0, A)]);
    assert_eq!(before.with(&seen(50, Trust::Scheduled, B), minute(49)), before);
    assert_eq!(pending(&before.with(&seen(50, Trust::Scheduled, B), minute(50))), Some(B));
}

#[test]
fn the_owners_looks_count_once_in_ten_minutes() {
    let looks = |times: &[i64]| {
        let seen: Vec<_> = times.iter().map(|at| seen(*at, Trust::Independent, A)).collect();
        History::of(&seen, minute(100)).standing.week(minute(100)).n_7d
    };
    assert_eq!(looks(&[0, 1, 5, 9]), 1);
    assert_eq!(looks(&[0, 10]), 2);
    assert_eq!(looks(&[0, 9, 18]), 2, "a look that did not count does not restart the ten minutes");
}

#[test]
fn evm_recipients_are_compared_without_case_and_others_byte_for_byte() {
    let (mixed, lower) = ("0xAbCd111111111111111111111111111111111111", "0xabcd111111111111111111111111111111111111");
    let look = |at, network: &str, pay_to: &str| offering(at, &[asks(network, USDC, pay_to, "5000")]);
    let evm = after(&[look(0, BASE, mixed), look(10, BASE, lower)]);
    assert_eq!((established(&evm), evm.pay_to_changed_at), (Some(lower), None));
    let svm = after(&[look(0, SOLANA, "AbCd"), look(10, SOLANA, "abcd")]);
    let roles: Vec<_> = svm.payees(SOLANA, USDC).iter().map(|payee| (payee.pay_to.as_str(), payee.role)).collect();
    assert_eq!(roles, [("AbCd", Role::First), ("abcd", Role::Pending)]);
}

#[test]
fn a_swap_on_the_second_network_is_a_change() {
    let (base, honest, swapped) =
        (asks(BASE, USDC, A, "1"), asks(SOLANA, "token", "Honest", "1"), asks(SOLANA, "token", "Thief", "1"));
    let both = [offering(0, &[base.clone(), honest.clone()]), offering(10, &[base.clone(), honest])];
    let roles =
        |standing: &Standing| standing.payees(SOLANA, "token").iter().map(|payee| payee.role).collect::<Vec<_>>();
    assert_eq!(roles(&after(&both)), [Role::Established]);
    let then = after(&[&both[..], &[offering(20, &[base.clone(), swapped.clone()])]].concat());
    assert_eq!((established(&then), roles(&then)), (Some(A), vec![Role::Established, Role::Pending]));
    assert_eq!(then.pay_to_changed_at, Some(minute(20)));
    let again = after(&[&both[..], &[20, 30].map(|at| offering(at, &[base.clone(), swapped.clone()]))].concat());
    assert_eq!(again.payees(SOLANA, "token")[0].pay_to, "Thief", "established by the second look, the first one gone");
}

#[test]
fn a_new_network_joins_beside_a_known_recipient_and_changes_it_without() {
    let (base, other) = (asks(BASE, USDC, A, "1"), asks(SOLANA, "token", "New", "1"));
    let role = |looks: &[Observed]| after(looks).payees(SOLANA, "token").first().map(|payee| payee.role);
    let known = offering(0, std::slice::from_ref(&base));
    assert_eq!(role(&[known.clone(), offering(10, &[base.clone(), other.clone()])]), Some(Role::Joined));
    let decoy = Offered { complete: false, ..base.clone() };
    assert_eq!(role(&[known.clone(), offering(10, &[decoy, other.clone()])]), Some(Role::Pending), "beside a decoy");
    assert_eq!(role(&[known.clone(), offering(10, std::slice::from_ref(&other))]), Some(Role::Pending));
    assert_eq!(role(&[offering(0, &[base, other.clone()])]), Some(Role::First));
    assert_eq!(
        role(&[known, offering(10, std::slice::from_ref(&other)), offering(20, &[other])]),
        Some(Role::Established)
    );
}

#[test]
fn two_recipients_of_one_place_stand_together() {
    let two = [asks(BASE, USDC, A, "1"), asks(BASE, USDC, B, "2")];
    let standing = after(&[offering(0, &two), offering(10, &two)]);
    assert_eq!((standing.payees(BASE, USDC).len(), standing.pay_to_changed_at), (2, None));
    let one_left = standing.with(&offering(20, &two[..1]), minute(1000));
    assert_eq!(one_left.payees(BASE, USDC).len(), 1);
}

#[test]
fn a_price_changes_within_one_asset_only() {
    let look = |at, asset: &str, amount: &str| offering(at, &[asks(BASE, asset, A, amount)]);
    let other = "0x4444444444444444444444444444444444444444";
    let changed = |looks: &[Observed]| after(looks).price_changed_at;
    assert_eq!(changed(&[look(0, USDC, "5000"), look(10, USDC, "5000")]), None);
    assert_eq!(changed(&[look(0, USDC, "5000"), look(10, USDC, "5001")]), Some(minute(10)));
    assert_eq!(changed(&[look(0, USDC, "5000"), look(10, other, "9")]), None);
    assert_eq!(changed(&[look(0, USDC, "5000"), look(10, other, "9"), look(20, USDC, "5000")]), None);
    assert_eq!(changed(&[look(0, USDC, "5000"), look(10, &USDC.to_ascii_lowercase(), "6000")]), Some(minute(10)));
    let unread = offering(10, &[Offered { amount: None, ..asks(BASE, USDC, A, "0") }]);
    assert_eq!(changed(&[look(0, USDC, "5000"), unread]), None, "not read is not changed");
    let dearer = |at| offering(at, &[asks(BASE, USDC, A, "70000"), asks(BASE, USDC, A, "5000")]);
    assert_eq!(changed(&[look(0, USDC, "5000"), dearer(10)]), None, "the cheapest offer is the price");
}

#[test]
fn a_schema_changes_when_its_digest_does() {
    let look = |at, schema: Option<&str>| Observed {
        schema_sha256: schema.map(str::to_owned),
        ..seen(at, Trust::Scheduled, A)
    };
    assert_eq!(after(&[look(0, Some("aa")), look(10, Some("aa"))]).schema_changed_at, None);
    assert_eq!(after(&[look(0, Some("aa")), look(10, None), look(20, Some("bb"))]).schema_changed_at, Some(minute(20)));
    assert_eq!(after(&[look(0, Some("aa")), look(10, None)]).schema_changed_at, None);
}

#[test]
fn the_week_counts_successes_and_takes_the_lower_median() {
    let look = |at, outcome, latency_ms| Observed { outcome, latency_ms, ..seen(at, Trust::Scheduled, A) };
    let fresh = History::of(
        &[
            look(0, Outcome::Challenge, Some(400)),
            look(10, Outcome::Unreachable, None),
            look(20, Outcome::NoChallenge, Some(100)),
        ],
        minute(20),
    )
    .standing;
    assert_eq!(fresh.week(minute(20)), Week { n_7d: 3, success_7d: 1, p50_ms: Some(100) });
    let week = 7 * 24 * 60;
    assert_eq!(fresh.week(minute(week)).n_7d, 3, "exactly seven days old still counts");
    assert_eq!(fresh.week(minute(week + 1)).n_7d, 2);
    assert_eq!(fresh.week(minute(week + 21)), Week::default());
}

#[test]
fn an_observation_survives_storage() {
    let mut stored = seen(3, Trust::Independent, A);
    stored.at = stored.at.plus_millis(7);
    let text = serde_json::to_string(&stored).unwrap();
    assert!(text.contains(r#""trust":"independent","outcome":"challenge""#), "{text}");
    assert_eq!(serde_json::from_str::<Observed>(&text).unwrap(), stored);
    for trust in [Trust::Scheduled, Trust::Independent, Trust::Settled, Trust::Tentative] {
        assert_eq!(serde_json::to_value(trust).unwrap(), trust.as_str());
    }
    for outcome in [Outcome::Challenge, Outcome::NoChallenge, Outcome::Unreachable] {
        assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.as_str());
    }
}

fn look() -> impl Strategy<Value = Observed> {
    let trust =
        prop_oneof![Just(Trust::Scheduled), Just(Trust::Independent), Just(Trust::Settled), Just(Trust::Tentative)];
    (0i64..200, trust, prop_oneof![Just(A), Just(B)]).prop_map(|(at, trust, pay_to)| seen(at, trust, pay_to))
}

proptest! {
    #[test]
    fn late_looks_in_any_order_never_rewrite(looks in prop::collection::vec(look(), 0..30),
                                             late in prop::collection::vec(look(), 0..30)) {
        let before = after(&[looks, vec![seen(200, Trust::Settled, A)]].concat());
        let then = late.iter().fold(before.clone(), |standing, look| standing.with(look, minute(1_000_000)));
        prop_assert_eq!(then, before);
    }

    #[test]
    fn tentative_looks_alone_establish_nothing(looks in prop::collection::vec(look(), 0..30)) {
        let tentative: Vec<_> = looks.into_iter().map(|look| Observed { trust: Trust::Tentative, ..look }).collect();
        prop_assert_eq!(after(&tentative), Standing::default());
    }
}
