//! The contract: what holds whichever engine is behind the store.

use countersign_core::time::Timestamp;
use countersign_store::{Begun, Derived, Due, NewObservation, NewRun, Request, Store, StoreError};

/// SHA-256 of "abc", from FIPS 180-4's worked example.
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
/// A URL with all that a hostile one may hold: NUL, quote, percent, line end, beyond-BMP text.
const FOREIGN: &str = "https://a.example/\0'%_\";\r\n\u{1F600}\u{202E}";

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// A version 7 UUID that sorts as `n` does.
fn id(n: u32) -> String {
    format!("01990000-0000-7000-8000-{n:012x}")
}

fn seen<'a>(id: &'a str, key: &'a str, when: i64) -> NewObservation<'a> {
    NewObservation {
        id,
        subject_kind: "endpoint",
        subject_key: key,
        source: "probe",
        observed_at: at(when),
        trust_class: "ours",
        run_id: None,
        outcome: "challenge",
        latency_ms: None,
        evidence_sha256: None,
        facts: "{}",
    }
}

pub(crate) async fn evidence_is_kept_once_under_its_hash(store: &Store) {
    for _ in 0..2 {
        assert_eq!(store.put_evidence(b"abc").await.unwrap(), ABC);
    }
    assert_eq!(store.evidence(ABC).await.unwrap().as_deref(), Some(&b"abc"[..]));
    assert_eq!(store.evidence("nothing").await.unwrap(), None);
    let every_byte: Vec<u8> = (0..=255).collect();
    for bytes in [&every_byte[..], b""] {
        let sha256 = store.put_evidence(bytes).await.unwrap();
        assert_eq!(store.evidence(&sha256).await.unwrap().as_deref(), Some(bytes));
    }
}

pub(crate) async fn observations_come_back_as_they_went_in(store: &Store) {
    let (first, second) = (id(1), id(2));
    let full = NewObservation {
        run_id: Some("run"),
        latency_ms: Some(i64::MAX),
        evidence_sha256: Some(ABC),
        facts: r#"{"n":1,"text":"\u0000é"}"#,
        ..seen(&first, FOREIGN, i64::MIN)
    };
    assert_eq!(store.append_observation(&full).await.unwrap(), first);
    store.append_observation(&seen(&second, FOREIGN, i64::MAX)).await.unwrap();
    let rows = store.observations("endpoint", FOREIGN, 0, 10).await.unwrap();
    assert_eq!(rows.len(), 2);
    let row = &rows[0];
    assert_eq!((row.id.as_str(), row.subject_key.as_str(), row.observed_at), (first.as_str(), FOREIGN, at(i64::MIN)));
    assert_eq!(
        (row.subject_kind.as_str(), row.source.as_str(), row.trust_class.as_str()),
        ("endpoint", "probe", "ours")
    );
    assert_eq!(
        (row.run_id.as_deref(), row.outcome.as_str(), row.latency_ms),
        (Some("run"), "challenge", Some(i64::MAX))
    );
    assert_eq!((row.evidence_sha256.as_deref(), row.facts.as_str()), (Some(ABC), r#"{"n":1,"text":"\u0000é"}"#));
    let bare = &rows[1];
    assert_eq!((&bare.run_id, bare.latency_ms, &bare.evidence_sha256), (&None, None, &None));
}

pub(crate) async fn observations_come_in_the_order_of_their_arrival(store: &Store) {
    // Neither their ids nor their times are in order, and two are of the same millisecond.
    for (n, when) in [(1, 30), (4, 10), (3, 20), (2, 20)] {
        store.append_observation(&seen(&id(n), "a", when)).await.unwrap();
    }
    store.append_observation(&seen(&id(9), "A", 25)).await.unwrap();
    store.append_observation(&NewObservation { subject_kind: "domain", ..seen(&id(8), "a", 25) }).await.unwrap();
    let listed = async |arrival, limit| {
        let rows = store.observations("endpoint", "a", arrival, limit).await.unwrap();
        rows.into_iter().map(|row| (row.arrival, row.id)).collect::<Vec<_>>()
    };
    let all = [(1, id(1)), (2, id(4)), (3, id(3)), (4, id(2))];
    assert_eq!((listed(0, 10).await, listed(2, 2).await), (all.to_vec(), all[1..3].to_vec()));
    assert_eq!((listed(5, 10).await, listed(0, 0).await), (Vec::new(), Vec::new()));
    let last = async |kind, key| store.last_observation(kind, key).await.unwrap().map(|row| (row.arrival, row.id));
    assert_eq!((last("endpoint", "a").await, last("endpoint", "A").await), (Some((4, id(2))), Some((1, id(9)))));
    assert_eq!((last("domain", "a").await, last("domain", "A").await), (Some((1, id(8))), None));
}

/// Of two subjects, none in the order of its id.
pub(crate) async fn three_out_of_order(store: &Store) {
    for (n, key) in [(3, "a"), (1, "a"), (2, "b")] {
        store.append_observation(&seen(&id(n), key, 5)).await.unwrap();
    }
}

/// What [`three_out_of_order`] wrote, numbered by a step of the tables; the next one goes on from there.
pub(crate) async fn numbered_by_their_ids(store: &Store) {
    store.append_observation(&seen(&id(0), "a", 5)).await.unwrap();
    for (key, wanted) in [("a", vec![(1, id(1)), (2, id(3)), (3, id(0))]), ("b", vec![(1, id(2))])] {
        let rows = store.observations("endpoint", key, 0, 10).await.unwrap();
        assert_eq!(rows.into_iter().map(|row| (row.arrival, row.id)).collect::<Vec<_>>(), wanted);
    }
}

/// Sixteen writers of one subject, and a reader beside them that must never see a later one without an earlier one.
pub(crate) async fn arrivals_are_numbered_without_a_gap_however_many_write(store: &Store) {
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..16 {
        let store = store.clone();
        writers.spawn(async move {
            for n in 0..20 {
                store.append_observation(&seen(&id(1000 * writer + n), "a", 5)).await.unwrap();
            }
        });
    }
    let numbers = async || {
        let rows = store.observations("endpoint", "a", 0, 1000).await.unwrap();
        rows.iter().map(|row| row.arrival).collect::<Vec<_>>()
    };
    while !writers.is_empty() {
        let seen = numbers().await;
        assert!(seen.iter().copied().eq(1..=i64::try_from(seen.len()).unwrap()), "{seen:?}");
        while writers.try_join_next().is_some_and(|done| done.is_ok()) {}
    }
    assert_eq!(numbers().await, (1..=320).collect::<Vec<_>>());
}

pub(crate) async fn what_is_derived_is_kept_once_a_subject(store: &Store) {
    assert_eq!(store.derived("endpoint", FOREIGN).await.unwrap(), None);
    let kept = |upto, bytes: &[u8]| Derived { form: u32::MAX, upto, upto_id: id(1), bytes: bytes.to_vec() };
    store.keep_derived("domain", FOREIGN, &kept(1, b"other")).await.unwrap();
    for derived in [kept(i64::MAX, b"\0\xff"), kept(3, b"")] {
        store.keep_derived("endpoint", FOREIGN, &derived).await.unwrap();
        assert_eq!(store.derived("endpoint", FOREIGN).await.unwrap(), Some(derived));
    }
    assert_eq!(store.derived("domain", FOREIGN).await.unwrap(), Some(kept(1, b"other")));
}

pub(crate) async fn an_observation_is_never_replaced(store: &Store) {
    let id = id(1);
    store.append_observation(&seen(&id, "a", 1)).await.unwrap();
    let error = store.append_observation(&seen(&id, "a", 2)).await.unwrap_err();
    assert!(matches!(error, StoreError::Taken { what: "observation", .. }), "{error}");
    let rows = store.observations("endpoint", "a", 0, 10).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.observed_at).collect::<Vec<_>>(), [at(1)]);
}

pub(crate) async fn what_is_no_observation_is_refused(store: &Store) {
    let good = id(1);
    for wrong in ["", "1", "01990000-0000-4000-8000-000000000001", "01990000-0000-7000-8000-00000000000A"] {
        let error = store.append_observation(&seen(wrong, "a", 1)).await.unwrap_err();
        assert!(matches!(error, StoreError::Invalid { field: "id", .. }), "{wrong}: {error}");
    }
    for facts in ["", "{", "{}x", "nul"] {
        let error = store.append_observation(&NewObservation { facts, ..seen(&good, "a", 1) }).await.unwrap_err();
        assert!(matches!(error, StoreError::Invalid { field: "facts", .. }), "{facts}: {error}");
    }
    let error = store.append_observation(&NewObservation { outcome: "a\0", ..seen(&good, "a", 1) }).await.unwrap_err();
    assert!(matches!(error, StoreError::Invalid { field: "text", .. }), "{error}");
    store.append_observation(&seen(&good, "a", 1)).await.unwrap();
}

/// A run begins with a turn that nobody refuses.
async fn begin(store: &Store, id: &str, subject: &str, time: i64) -> Result<(), StoreError> {
    let run = NewRun { id, subject, trigger: "cli", started: at(time) };
    let turn = store.take_turn("begun.example", at(time), Some(run), |_| Ok::<_, ()>(((), Vec::new()))).await?;
    turn.map_err(|()| unreachable!("nobody refuses"))
}

pub(crate) async fn a_run_ends_once(store: &Store) {
    begin(store, "r1", FOREIGN, 5).await.unwrap();
    let run = store.run("r1").await.unwrap().unwrap();
    assert_eq!((run.subject.as_str(), run.trigger.as_str(), run.started, run.finished), (FOREIGN, "cli", at(5), None));
    assert!(store.finish_run("r1", at(7)).await.unwrap());
    assert!(!store.finish_run("r1", at(8)).await.unwrap());
    assert!(!store.finish_run("r2", at(8)).await.unwrap());
    assert_eq!(store.run("r1").await.unwrap().unwrap().finished, Some(at(7)));
    let error = begin(store, "r1", "b", 9).await.unwrap_err();
    assert!(matches!(error, StoreError::Taken { what: "run", .. }), "{error}");
    assert_eq!(store.run("r2").await.unwrap(), None);
}

/// A turn where fewer than `most` were taken; how many there were otherwise.
async fn turn(store: &Store, domain: &str, time: i64, run: Option<&str>, most: usize) -> Result<(), usize> {
    let run = run.map(|id| NewRun { id, subject: "a", trigger: "cli", started: at(time) });
    let judge = |mut looks: Vec<Timestamp>| {
        let taken = looks.len();
        looks.push(at(time));
        if taken < most { Ok(((), looks)) } else { Err(taken) }
    };
    store.take_turn(domain, at(time), run, judge).await.unwrap()
}

pub(crate) async fn a_turn_is_judged_by_all_there_were_and_taken_with_its_run(store: &Store) {
    assert_eq!(turn(store, "example.com", 5, Some("r1"), 2).await, Ok(()));
    assert_eq!(turn(store, "example.com", 6, None, 2).await, Ok(()));
    assert_eq!(turn(store, "example.com", 7, Some("r2"), 2).await, Err(2));
    assert_eq!(turn(store, "example.org", 8, None, 1).await, Ok(()), "another domain");
    assert_eq!(store.run("r1").await.unwrap().unwrap().started, at(5));
    assert_eq!(store.run("r2").await.unwrap(), None, "what is refused changes nothing");
    let seen = |looks: Vec<Timestamp>| Err::<((), Vec<Timestamp>), _>(looks);
    assert_eq!(store.take_turn("example.com", at(9), None, seen).await.unwrap(), Err(vec![at(5), at(6)]));
    assert_eq!(store.forget_turns(at(8)).await.unwrap(), 1);
    assert_eq!(store.take_turn("example.com", at(9), None, seen).await.unwrap(), Err(Vec::new()));
    assert_eq!(store.take_turn("example.org", at(9), None, seen).await.unwrap(), Err(vec![at(8)]));
}

pub(crate) async fn of_twenty_that_ask_at_once_as_many_get_a_turn_as_may(store: &Store) {
    let mut asked = tokio::task::JoinSet::new();
    for n in 0..20 {
        let store = store.clone();
        asked.spawn(async move { turn(&store, "example.com", n, None, 6).await });
    }
    let taken = asked.join_all().await.into_iter().filter(Result::is_ok).count();
    assert_eq!(taken, 6);
}

pub(crate) async fn a_document_is_the_bytes_that_were_put_in(store: &Store) {
    store.put_document("d1", "decision", ABC, b"abc", at(3)).await.unwrap();
    for key in ["d1", ABC] {
        let found = store.document(key).await.unwrap().unwrap();
        assert_eq!((found.id.as_str(), found.kind.as_str(), found.sha256.as_str()), ("d1", "decision", ABC));
        assert_eq!((found.bytes.as_slice(), found.issued_at), (&b"abc"[..], at(3)));
    }
    assert_eq!(store.document("D1").await.unwrap(), None);
    let error = store.put_document("d2", "decision", ABC, b"abd", at(3)).await.unwrap_err();
    assert!(matches!(error, StoreError::Invalid { field: "sha256", .. }), "{error}");
    assert_eq!(store.document("d2").await.unwrap(), None);
}

pub(crate) async fn the_same_document_twice_is_one_and_another_under_its_id_is_refused(store: &Store) {
    for _ in 0..2 {
        store.put_document("d1", "decision", ABC, b"abc", at(3)).await.unwrap();
    }
    let other = store.put_evidence(b"other").await.unwrap();
    for (kind, sha256, bytes, when) in
        [("decision", other.as_str(), &b"other"[..], 3), ("verdict", ABC, b"abc", 3), ("decision", ABC, b"abc", 4)]
    {
        let error = store.put_document("d1", kind, sha256, bytes, at(when)).await.unwrap_err();
        assert!(matches!(error, StoreError::Taken { what: "document", .. }), "{error}");
    }
    let kept = store.document("d1").await.unwrap().unwrap();
    assert_eq!((kept.kind.as_str(), kept.bytes.as_slice(), kept.issued_at), ("decision", &b"abc"[..], at(3)));
}

pub(crate) async fn what_is_due_is_the_longest_overdue_first(store: &Store) {
    let entry = |job: &str, key: &str, shard, when| Due {
        job: job.into(),
        subject_kind: "endpoint".into(),
        subject_key: key.into(),
        shard,
        next_at: at(when),
    };
    for (job, key, shard, when) in
        [("probe", "late", 0, 10), ("probe", FOREIGN, 1, 5), ("probe", "later", 0, 21), ("audit", "other", 0, 1)]
    {
        store.schedule(&entry(job, key, shard, when)).await.unwrap();
    }
    let due = async |shard, limit| store.due("probe", shard, at(20), limit).await.unwrap();
    assert_eq!(due(None, 9).await, [entry("probe", FOREIGN, 1, 5), entry("probe", "late", 0, 10)]);
    assert_eq!(due(Some(0), 9).await, [entry("probe", "late", 0, 10)]);
    assert_eq!(due(None, 1).await, [entry("probe", FOREIGN, 1, 5)]);
    store.schedule(&entry("probe", FOREIGN, 2, 20)).await.unwrap();
    assert_eq!(due(None, 9).await, [entry("probe", "late", 0, 10), entry("probe", FOREIGN, 2, 20)]);
}

pub(crate) async fn one_of_many_gets_the_lease(store: &Store) {
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..16 {
        let store = store.clone();
        tasks.spawn(async move { store.claim_lease("sequencer", &format!("node-{n}"), at(0), 100).await.unwrap() });
    }
    let granted: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
    assert_eq!(granted.iter().map(|lease| lease.fence).collect::<Vec<_>>(), [1]);
    assert_eq!(granted[0].expires_at, at(100));
}

pub(crate) async fn a_fence_rises_with_every_holder_and_a_stale_one_holds_nothing(store: &Store) {
    let first = store.claim_lease("log", "a", at(0), 100).await.unwrap().unwrap();
    assert_eq!(store.claim_lease("log", "b", at(99), 100).await.unwrap(), None);
    assert_eq!(store.claim_lease("log", "a", at(99), 100).await.unwrap(), None);
    let renewed = store.renew_lease(&first, at(99), 100).await.unwrap().unwrap();
    assert_eq!((renewed.fence, renewed.expires_at), (1, at(199)));
    // Run out: it cannot be renewed, and the next holder has a higher fence.
    assert_eq!(store.renew_lease(&renewed, at(199), 100).await.unwrap(), None);
    let second = store.claim_lease("log", "b", at(199), 100).await.unwrap().unwrap();
    assert_eq!(second.fence, 2);
    assert_eq!(store.renew_lease(&renewed, at(200), 100).await.unwrap(), None);
    assert!(!store.release_lease(&renewed, at(200)).await.unwrap());
    // Given back: free at once, and the fence still rises.
    assert!(store.release_lease(&second, at(201)).await.unwrap());
    assert_eq!(store.claim_lease("log", "a", at(201), 100).await.unwrap().unwrap().fence, 3);
    assert_eq!(store.claim_lease("other", "a", at(201), 100).await.unwrap().unwrap().fence, 1);
}

const ASKED: Request<'_> = Request { scope: "check", key_sha256: "k", request_sha256: "r" };

pub(crate) async fn a_key_is_done_once_and_answers_with_its_document(store: &Store) {
    let begin = async |now, until| store.begin(ASKED, at(now), at(until)).await.unwrap();
    assert_eq!(begin(0, 100).await, Begun::Started);
    assert_eq!(begin(1, 100).await, Begun::InProgress);
    // Work that failed gives the key back.
    assert!(store.abandon(ASKED).await.unwrap());
    assert!(!store.complete(ASKED, "d0").await.unwrap());
    assert_eq!(begin(2, 100).await, Begun::Started);
    assert!(store.complete(ASKED, "d1").await.unwrap());
    assert!(!store.complete(ASKED, "d2").await.unwrap());
    assert!(!store.abandon(ASKED).await.unwrap());
    assert_eq!(begin(99, 999).await, Begun::Done { document_id: "d1".into() });
    assert_eq!(begin(100, 200).await, Begun::Started);
}

pub(crate) async fn a_key_for_another_request_is_a_conflict(store: &Store) {
    let other = Request { request_sha256: "r2", ..ASKED };
    assert_eq!(store.begin(ASKED, at(0), at(100)).await.unwrap(), Begun::Started);
    assert_eq!(store.begin(other, at(1), at(100)).await.unwrap(), Begun::Conflict);
    assert!(!store.complete(other, "d1").await.unwrap());
    assert!(!store.abandon(other).await.unwrap());
    let elsewhere = Request { scope: "route", ..other };
    assert_eq!(store.begin(elsewhere, at(1), at(100)).await.unwrap(), Begun::Started);
    assert!(store.complete(ASKED, "d1").await.unwrap());
    assert_eq!(store.begin(other, at(2), at(100)).await.unwrap(), Begun::Conflict);
}

pub(crate) async fn of_many_at_once_one_begins(store: &Store) {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let store = store.clone();
        tasks.spawn(async move { store.begin(ASKED, at(0), at(100)).await.unwrap() });
    }
    let begun = tasks.join_all().await;
    assert_eq!(begun.iter().filter(|begun| **begun == Begun::Started).count(), 1);
    assert_eq!(begun.iter().filter(|begun| **begun == Begun::InProgress).count(), 15);
}

/// What one check writes, in its order.
async fn write_a_check(store: &Store, n: u32) -> Result<(), StoreError> {
    let (id, run) = (id(n), format!("run-{n}"));
    begin(store, &run, "a", 1).await?;
    let sha256 = store.put_evidence_from(|| n.to_be_bytes()).await?;
    store.append_observation(&seen(&id, "a", 2)).await?;
    store.finish_run(&run, at(3)).await?;
    for kind in ["decision", "receipt"] {
        store.put_document(&format!("{kind}-{n}"), kind, &sha256, &n.to_be_bytes(), at(4)).await?;
    }
    Ok(())
}

pub(crate) async fn the_writes_of_five_hundred_checks_at_once_are_all_there(store: &Store) {
    let mut checks = tokio::task::JoinSet::new();
    for n in 0..500 {
        let store = store.clone();
        checks.spawn(async move { write_a_check(&store, n).await });
    }
    let failed: Vec<_> = checks.join_all().await.into_iter().filter_map(Result::err).collect();
    assert!(failed.is_empty(), "{}: {}", failed.len(), failed[0]);
    assert_eq!(store.observations("endpoint", "a", 0, 1000).await.unwrap().len(), 500);
    for n in 0..500_u32 {
        assert_eq!(store.run(&format!("run-{n}")).await.unwrap().unwrap().finished, Some(at(3)));
        for kind in ["decision", "receipt"] {
            let found = store.document(&format!("{kind}-{n}")).await.unwrap().unwrap();
            assert_eq!((found.kind.as_str(), found.bytes.as_slice()), (kind, &n.to_be_bytes()[..]));
        }
    }
}

pub(crate) async fn the_memory_database_keeps_the_contract_too(_: &Store) {
    let store = Store::in_memory().await.unwrap();
    of_many_at_once_one_begins(&store).await;
    observations_come_back_as_they_went_in(&store).await;
    one_of_many_gets_the_lease(&store).await;
}
