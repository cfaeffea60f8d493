use super::super::{MOST_PLACES, Offered, Outcome, Trust};
use super::*;
use proptest::prelude::*;

const BASE: &str = "eip155:8453";
const PAYEES: [&str; 3] = ["0xA", "0xB", "0xC"];

/// Ten thousand seconds and these.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(10_000 + seconds)
}

fn asks(asset: &str, pay_to: &str, amount: u64) -> Offered {
    let [network, asset, pay_to] = [BASE, asset, pay_to].map(str::to_owned);
    Offered { network, asset, pay_to, amount: Some(amount.to_string()), complete: true }
}

fn seen(seconds: i64, trust: Trust, offers: Vec<Offered>) -> Observed {
    let schema_sha256 = Some("aa".to_owned());
    Observed { at: at(seconds), trust, outcome: Outcome::Challenge, offers, schema_sha256, latency_ms: Some(7) }
}

/// Looks within two hours, so that spacing, lateness and being ahead of the clock all happen.
fn look() -> impl Strategy<Value = Observed> {
    let trust =
        prop_oneof![Just(Trust::Scheduled), Just(Trust::Independent), Just(Trust::Settled), Just(Trust::Tentative)];
    let offers = prop::collection::vec((0..3_usize, 0..3_usize, 1..4_u64), 0..3);
    let outcome = prop_oneof![Just(Outcome::Challenge), Just(Outcome::NoChallenge), Just(Outcome::Unreachable)];
    let schema = prop::option::of(prop_oneof![Just("aa"), Just("bb")]);
    (0..7200_i64, trust, outcome, offers, schema, prop::option::of(0..900_u64)).prop_map(
        |(seconds, trust, outcome, offers, schema, latency_ms)| {
            let offers = offers.into_iter().map(|(asset, payee, amount)| asks(PAYEES[asset], PAYEES[payee], amount));
            let schema_sha256 = schema.map(str::to_owned);
            Observed { outcome, schema_sha256, latency_ms, ..seen(seconds, trust, offers.collect()) }
        },
    )
}

/// As a program does that keeps its history after these many looks, as of another instant, and goes on from there.
fn in_two(looks: &[Observed], cut: usize, then: Timestamp, now: Timestamp) -> History {
    let kept = History::of(&looks[..cut], then).to_bytes().unwrap();
    match History::from_bytes(&kept).filter(|kept| kept.holds_at(now)) {
        None => History::of(looks, now),
        Some(mut history) => {
            looks[cut..].iter().for_each(|look| history.add(look, now));
            history
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]
    #[test]
    fn a_kept_history_goes_on_as_if_it_had_never_been_kept(
        looks in prop::collection::vec(look(), 0..40),
        cut in 0..40_usize, then in 0..7200_i64, now in 0..7200_i64,
    ) {
        let cut = cut.min(looks.len());
        let whole = History::of(&looks, at(now));
        prop_assert_eq!(in_two(&looks, cut, at(then), at(now)), whole);
        // What may be used is used: nothing kept is refused that holds the same looks.
        let same = |look: &Observed| (look.at <= at(then)) == (look.at <= at(now));
        let holds = History::of(&looks[..cut], at(then)).holds_at(at(now));
        prop_assert_eq!(holds, looks[..cut].iter().all(same));
    }

    #[test]
    fn tentative_looks_move_no_recipient_however_many_there_are(
        looks in prop::collection::vec(look(), 0..30), tentative in prop::collection::vec(look(), 0..30),
    ) {
        let tentative = tentative.into_iter().map(|look| Observed { trust: Trust::Tentative, ..look });
        let both: Vec<Observed> = looks.iter().cloned().chain(tentative).collect();
        prop_assert_eq!(History::of(&both, at(7200)).standing, History::of(&looks, at(7200)).standing);
    }
}

#[test]
fn a_history_holds_from_its_newest_look_until_one_that_was_left_out() {
    let looks = [5, 30, 2].map(|seconds| seen(seconds, Trust::Scheduled, Vec::new()));
    let history = History::of(&looks, at(10));
    let held: Vec<bool> = [4, 5, 29, 30].map(|now| history.holds_at(at(now))).to_vec();
    assert_eq!(held, [false, true, true, false]);
    assert!(History::default().holds_at(Timestamp::from_millis(i64::MIN)));
}

/// A hundred thousand looks that anybody can cause used to push what was established out of what was read.
#[test]
fn a_hundred_thousand_tentative_looks_leave_an_established_recipient() {
    let pays = |seconds, trust, payee: &str| seen(seconds, trust, vec![asks("usdc", payee, 5)]);
    let (now, trusted) = (at(10_000_000), |seconds| pays(seconds, Trust::Scheduled, "0xA"));
    let mut history = History::of(&[trusted(0), trusted(600)], now);
    (0..100_000).for_each(|n| history.add(&pays(700 + 60 * n, Trust::Tentative, "0xB"), now));
    let payees: Vec<_> = history.standing.payees(BASE, "usdc").iter().map(|payee| payee.pay_to.as_str()).collect();
    assert_eq!((payees, history.standing.pay_to_changed_at), (vec!["0xa"], None));
    assert!(history.to_bytes().unwrap().len() < 100_000);
}

#[test]
fn a_seller_that_offers_new_places_at_each_look_makes_no_history_without_end() {
    let offers = |n: i64| (0..32).map(|at| asks(&format!("asset-{n}-{at}"), &format!("0xA{n}-{at}"), 5)).collect();
    let looks: Vec<_> = (0..1000).map(|n| seen(600 * n, Trust::Scheduled, offers(n))).collect();
    let history = History::of(&looks, at(600_000));
    let size = |looks: &[Observed]| History::of(looks, at(600_000)).to_bytes().unwrap().len();
    assert!(size(&looks) < size(&looks[..100]) + 100 * 1000, "{} {}", size(&looks), size(&looks[..100]));
    let followed = |n: i64| history.standing.payees(BASE, &format!("asset-{n}-0")).len();
    assert_eq!((followed(0), followed(3), followed(4)), (1, 1, 0), "four looks of 32 places make 128");
    assert_eq!(MOST_PLACES, 128);
    assert_eq!((history.trail.looks("0xa999-0"), history.trail.looks("0xa0-0")), (1, 0));
    let last = history.trail.turnover(&(BASE.to_owned(), "asset-999-0".to_owned()), "0xb", at(599_401));
    assert_eq!(last, super::super::trail::Turnover::Unstable, "of the trail the newest are followed");
}

/// Whoever changes this text or what looks add up to raises [`History::FORM`] as well.
#[test]
fn the_form_of_version_2() {
    assert_eq!(History::FORM, 2);
    let looks = [
        seen(0, Trust::Scheduled, vec![asks("usdc", "0xA", 5)]),
        seen(600, Trust::Independent, vec![asks("usdc", "0xA", 6)]),
        seen(700, Trust::Tentative, vec![asks("usdc", "0xB", 7)]),
        seen(9000, Trust::Scheduled, Vec::new()),
    ];
    let text = r#"{"standing":{"pay_to_changed_at":null,"price_changed_at":10600000,"schema_changed_at":null,"last_trusted_at":10600000,"payees":[[["eip155:8453","usdc"],[{"pay_to":"0xa","since":10000000,"role":"established"}]]],"prices":[[["eip155:8453","usdc"],"6"]],"schema_sha256":"aa","samples":[[10000000,true,7],[10600000,true,7]]},"trail":{"last_at":10700000,"schema_sha256":"aa","places":[[["eip155:8453","usdc"],{"at":10700000,"prices":[[10000000,"5"],[10600000,"6"],[10700000,"7"]],"payees":["0xb"],"payees_before":["0xa"]}]],"recent":[{"at":10600000,"offered":[[["eip155:8453","usdc"],["0xa"]]]},{"at":10700000,"offered":[[["eip155:8453","usdc"],["0xb"]]]}],"looks":{"0xa":2,"0xb":1}},"newest":10700000,"left_out":19000000}"#;
    assert_eq!(String::from_utf8(History::of(&looks, at(800)).to_bytes().unwrap()).unwrap(), text);
}

#[test]
fn what_is_no_kept_history_is_none() {
    let good = History::default().to_bytes().unwrap();
    assert_eq!(History::from_bytes(&good), Some(History::default()));
    for bytes in [&b""[..], b"{}", b"null", &good[..good.len() - 1], &[&good[..], b"x"].concat()] {
        assert_eq!(History::from_bytes(bytes), None, "{}", String::from_utf8_lossy(bytes));
    }
}
