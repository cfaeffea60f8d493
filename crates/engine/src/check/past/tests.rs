use countersign_core::history::{Offered, Outcome, Trust};
use countersign_store::NewObservation;
use proptest::prelude::*;

use super::*;

const URL: &str = "https://a.example/";
const NOW: i64 = 1_788_253_200_000;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn look_at(at_ms: i64, trust: Trust, pay_to: &str) -> Observed {
    let [network, asset, pay_to] = ["eip155:8453", "usdc", pay_to].map(str::to_owned);
    let offers = vec![Offered { network, asset, pay_to, amount: Some("5".to_owned()), complete: true }];
    Observed { at: at(at_ms), trust, outcome: Outcome::Challenge, offers, schema_sha256: None, latency_ms: Some(7) }
}

async fn append(store: &Store, look: &Observed, nth: usize) {
    let row = NewObservation {
        id: &format!("00000000-0000-7000-8000-{nth:012x}"),
        subject_kind: KIND,
        subject_key: URL,
        source: "challenge",
        observed_at: look.at,
        trust_class: look.trust.as_str(),
        run_id: None,
        outcome: look.outcome.as_str(),
        latency_ms: Some(7),
        evidence_sha256: None,
        facts: &serde_json::to_string(look).unwrap(),
    };
    store.append_observation(&row).await.unwrap();
}

/// Looks one every quarter of an hour, tentative ones between.
async fn looks(store: &Store, count: i64) {
    for n in 0..count {
        let trust = if n % 3 == 0 { Trust::Tentative } else { Trust::Scheduled };
        append(store, &look_at(NOW - (count - n) * 900_000, trust, "0xa"), usize::try_from(n).unwrap()).await;
    }
}

async fn upto(store: &Store) -> Option<i64> {
    store.derived(KIND, URL).await.unwrap().map(|kept| kept.upto)
}

/// Late looks, looks from a clock that is ahead, and looks made just now, read at instants that go to and fro.
fn steps() -> impl Strategy<Value = Vec<(Observed, Option<i64>)>> {
    let trust = prop_oneof![Just(Trust::Scheduled), Just(Trust::Independent), Just(Trust::Tentative)];
    let when = prop_oneof![4 => -40_000_000..0_i64, 1 => 0..8_000_000_i64, 1 => -50_000..1_i64];
    let look = (when, trust, prop_oneof![Just("0xa"), Just("0xb")])
        .prop_map(|(when, trust, pay_to)| look_at(NOW + when, trust, pay_to));
    let read = prop_oneof![12 => Just(None), 1 => (-3_000_000..9_000_000_i64).prop_map(Some)];
    prop::collection::vec((look, read), 0..300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn what_is_kept_changes_no_answer(steps in steps()) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let store = Store::in_memory().await.unwrap();
            let mut all = Vec::new();
            for (nth, (look, asked)) in steps.into_iter().enumerate() {
                append(&store, &look, nth).await;
                all.push(look);
                if let Some(now) = asked.map(|moved| at(NOW + moved)) {
                    assert_eq!(read(&store, URL, now).await.unwrap(), History::of(&all, now));
                }
            }
            assert_eq!(read(&store, URL, at(NOW)).await.unwrap(), History::of(&all, at(NOW)));
        });
    }
}

/// On SQLite always, and on PostgreSQL where one answers.
macro_rules! on_both {
    ($($case:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test]
            async fn $case() {
                super::$case(&countersign_store::Store::in_memory().await.unwrap()).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test]
            async fn $case() {
                let Some(schema) = countersign_store::testkit::Schema::new().await.unwrap() else { return };
                let store = schema.open().await.unwrap();
                super::$case(&store).await;
                store.close().await;
                schema.drop().await.unwrap();
            })*
        }
    };
}
on_both!(fewer_than_sixty_four_settled_looks_are_left_to_read, only_what_fits_the_looks_is_used);

async fn fewer_than_sixty_four_settled_looks_are_left_to_read(store: &Store) {
    looks(store, 1300).await;
    let whole = read(store, URL, at(NOW)).await.unwrap();
    // Pages of 500: the last one has 300.
    assert_eq!(upto(store).await, Some(1300));
    assert_eq!(read(store, URL, at(NOW)).await.unwrap(), whole);
    for nth in 1300..1363 {
        append(store, &look_at(NOW - 61_000, Trust::Scheduled, "0xb"), nth).await;
    }
    read(store, URL, at(NOW)).await.unwrap();
    assert_eq!(upto(store).await, Some(1300), "63 are read again rather than written");
    append(store, &look_at(NOW - 61_000, Trust::Scheduled, "0xb"), 1363).await;
    read(store, URL, at(NOW)).await.unwrap();
    assert_eq!(upto(store).await, Some(1364));
}

#[tokio::test]
async fn looks_of_the_last_minute_and_those_of_a_clock_ahead_are_not_kept() {
    for (when, kept) in [(-60_000, true), (-59_999, false), (1, false), (AHEAD_MS, false), (AHEAD_MS + 1, true)] {
        let store = Store::in_memory().await.unwrap();
        for nth in 0..64 {
            append(&store, &look_at(NOW + when, Trust::Scheduled, "0xa"), nth).await;
        }
        read(&store, URL, at(NOW)).await.unwrap();
        assert_eq!(upto(&store).await.is_some(), kept, "{when}");
    }
}

/// What is kept is used, which the first case shows by a sum that is not that of the looks; nothing else is.
async fn only_what_fits_the_looks_is_used(store: &Store) {
    looks(store, 100).await;
    let whole = read(store, URL, at(NOW)).await.unwrap();
    let good =
        Derived { bytes: History::default().to_bytes().unwrap(), ..store.derived(KIND, URL).await.unwrap().unwrap() };
    let cases = [
        (good.clone(), false),
        (Derived { form: History::FORM + 1, ..good.clone() }, true),
        (Derived { upto_id: "00000000-0000-7000-8000-00000000000a".to_owned(), ..good.clone() }, true),
        (Derived { upto: 101, ..good.clone() }, true),
        (Derived { bytes: b"{}".to_vec(), ..good }, true),
    ];
    for (derived, made_anew) in cases {
        store.keep_derived(KIND, URL, &derived).await.unwrap();
        assert_eq!(read(store, URL, at(NOW)).await.unwrap() == whole, made_anew, "{derived:?}");
    }
    assert_eq!(upto(store).await, Some(100), "and kept again");
}

#[tokio::test]
async fn ten_thousand_tentative_looks_leave_an_established_recipient() {
    let store = Store::in_memory().await.unwrap();
    looks(&store, 6).await;
    let look = look_at(NOW - 61_000, Trust::Tentative, "0xb");
    for nth in 6..10_100 {
        append(&store, &look, nth).await;
    }
    let history = read(&store, URL, at(NOW)).await.unwrap();
    let payees: Vec<_> = history.standing.all_payees().map(|payee| payee.pay_to.as_str()).collect();
    assert_eq!(payees, ["0xa"]);
    // For docs/performance.md: `cargo test -p countersign-engine ten_thousand_tentative -- --nocapture`
    let timed = async || {
        let begun = std::time::Instant::now();
        read(&store, URL, at(NOW)).await.unwrap();
        begun.elapsed()
    };
    let kept = timed().await;
    store
        .keep_derived(KIND, URL, &Derived { form: 0, upto: 0, upto_id: String::new(), bytes: Vec::new() })
        .await
        .unwrap();
    println!("10,100 looks: {kept:?} with what is kept, {:?} without", timed().await);
}
