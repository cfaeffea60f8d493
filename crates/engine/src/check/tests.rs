//! A whole check without a network: a strict door refuses names under `.localhost` before it sends anything.

use countersign_probe::DoorConfig;
use countersign_store::Location;

mod entries;
#[cfg(target_os = "linux")]
mod memory;

use super::*;

const NOW: Timestamp = Timestamp::from_seconds(1_788_253_200);

async fn checker(folder: &std::path::Path, env: Env) -> Checker {
    let store = Store::open(Location::Sqlite(folder.join("countersign.db"))).await.unwrap();
    let keys = Keys::load(folder).unwrap();
    Checker::new(Arc::new(env), Door::new(DoorConfig::default()), store, keys, Vec::new())
}

fn request(url: &str) -> CheckRequest {
    CheckRequest::new(ResourceUrl::parse(url).unwrap())
}

#[tokio::test]
async fn the_seventh_look_in_a_minute_at_one_domain_is_refused_and_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let checker = checker(folder.path(), Env::fixed(NOW, 1)).await;
    // Five looks at URLs, and one beside the first.
    for path in 0..5 {
        let checked = checker.check(&request(&format!("https://a.seller.localhost/{path}"))).await.unwrap();
        assert_eq!(checked.document["transport"]["refused"], "address_refused");
    }
    let seventh = "https://b.seller.localhost/";
    let limited = match checker.check(&request(seventh)).await {
        Err(CheckError::RateLimited(limited)) => limited,
        other => panic!("{other:?}"),
    };
    assert_eq!((limited.domain.as_str(), limited.retry_after_ms), ("seller.localhost", 60_000));
    let rows = checker.store.observations("endpoint", seventh, 0, 10).await.unwrap();
    assert!(rows.is_empty(), "a look that was not made is no observation");
    assert!(checker.check(&request("https://other.localhost/")).await.is_ok(), "another domain has its own minute");
}

#[tokio::test]
async fn two_processes_on_one_database_share_the_six_looks_of_a_minute() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] =
        [checker(folder.path(), Env::fixed(NOW, 1)).await, checker(folder.path(), Env::fixed(NOW, 2)).await];
    let url = |path: usize| request(&format!("https://a.seller.localhost/{path}"));
    // Five looks at URLs in turn, and one beside the first.
    for path in 0..5 {
        let checker = if path % 2 == 0 { &one } else { &other };
        checker.check(&url(path)).await.unwrap();
    }
    for checker in [&one, &other] {
        assert_eq!(checker.check(&url(5)).await.unwrap_err().code(), "rate_limited");
    }
    let later = checker(folder.path(), Env::fixed(NOW.plus_millis(60_000), 3)).await;
    assert!(later.check(&url(6)).await.is_ok(), "a minute later a third may look");
}

/// Nothing is selected where nothing may be dialled, so these are misses.
const CLOSED: &str = "https://a.seller.localhost/1";

async fn logging(folder: &std::path::Path, misses: Misses) -> Checker {
    let book = LogBook::one_shot(folder, Arc::new(Env::fixed(NOW, 2)));
    checker(folder, Env::fixed(NOW, 1)).await.with_log(Arc::new(book), misses)
}

#[tokio::test]
async fn a_miss_leaves_no_leaf_unless_misses_are_logged() {
    let folder = tempfile::tempdir().unwrap();
    let checked = logging(folder.path(), Misses::Leafless).await.check(&request(CLOSED)).await.unwrap();
    assert_eq!(checked.answer()["pq_trust"]["transparency"]["state"], "not_logged");
    assert!(!folder.path().join("log").exists(), "there is not even a log");

    let folder = tempfile::tempdir().unwrap();
    let checker = logging(folder.path(), Misses::Logged).await;
    let checked = checker.check(&request(CLOSED)).await.unwrap();
    let said = &checked.answer()["pq_trust"]["transparency"];
    assert_eq!(
        (&said["state"], &said["index"]),
        (&value!("checkpoint_signed"), &value!(1)),
        "behind the leaf of the key"
    );
    assert_eq!(said["reveal"]["document"].as_str().unwrap().as_bytes(), checked.bytes);
    let kept = checker.store.document(&receipt_id(&checked.bytes)).await.unwrap().unwrap();
    assert_eq!(Some(&crate::receipt::Receipt::parse(&kept.bytes).unwrap()), checked.transparency.receipt());
}

/// Each way in which it shows that something was signed here: the database, a key that was replaced, the log.
#[tokio::test]
async fn a_signing_key_that_was_lost_is_not_replaced_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let lose = |names: &[&str]| {
        for entry in std::fs::read_dir(folder.path().join("keys")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if names.iter().any(|begins| name.starts_with(begins)) {
                std::fs::remove_file(&path).unwrap();
            }
        }
    };
    let begin = || logging(folder.path(), Misses::Logged);
    let Identity::First(first) = begin().await.identity().await.unwrap() else { panic!("nothing was signed yet") };
    assert_eq!(begin().await.identity().await.unwrap(), Identity::Kept(first));
    lose(&["decision-"]);
    let again = begin().await;
    let Identity::First(second) = again.identity().await.unwrap() else { panic!("it never signed") };
    let checked = again.check(&request(CLOSED)).await.unwrap();
    assert_eq!(checked.document["keyId"], second.to_string());
    assert_eq!(begin().await.identity().await.unwrap(), Identity::Kept(second), "the positive control");

    // The seeds of the two environments are fixed, so the key has the same id: what is told is that it was made.
    lose(&["decision-"]);
    assert!(matches!(begin().await.identity().await.unwrap(), Identity::Replaced(_)), "by the database");
    lose(&["decision-"]);
    for ending in ["", "-wal", "-shm"] {
        let _absent = std::fs::remove_file(folder.path().join(format!("countersign.db{ending}")));
    }
    assert!(matches!(begin().await.identity().await.unwrap(), Identity::Replaced(_)), "by the log");

    let other = tempfile::tempdir().unwrap();
    let mut keys = Keys::load(other.path()).unwrap();
    keys.current(Purpose::Decision, &Env::Real).unwrap();
    let newest = keys.rotate(Purpose::Decision, &Env::Real).unwrap().id();
    std::fs::remove_file(other.path().join(format!("keys/decision-{newest}.json"))).unwrap();
    let left = checker(other.path(), Env::fixed(NOW, 1)).await;
    assert!(matches!(left.identity().await.unwrap(), Identity::Replaced(_)), "by the key before");
}

/// They share one look, and the clock stands still.
#[tokio::test]
async fn of_many_who_arrive_at_one_decision_each_gets_its_one_receipt() {
    let folder = tempfile::tempdir().unwrap();
    let checker = Arc::new(logging(folder.path(), Misses::Logged).await);
    let mut checks = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let checker = Arc::clone(&checker);
        checks.spawn(async move { checker.check(&request(CLOSED)).await });
    }
    let answers: Vec<Checked> = checks.join_all().await.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers.len(), 20);
    for checked in &answers {
        assert_eq!(checked.bytes, answers[0].bytes, "one decision");
        let receipt = checked.transparency.receipt();
        assert_eq!(
            receipt.map(|receipt| receipt.index),
            Some(1),
            "behind the leaf of the key: {:?}",
            checked.transparency
        );
    }
    let (book, _) = checker.log.as_ref().unwrap();
    assert_eq!(book.status().unwrap().checkpoint.size, 2);
}

#[tokio::test]
async fn an_answer_verifies_as_its_decision_and_nothing_of_it_may_change() {
    let folder = tempfile::tempdir().unwrap();
    let checker = logging(folder.path(), Misses::Logged).await;
    let answer = checker.check(&request(CLOSED)).await.unwrap().answer();
    let keys = checker.keys.lock().await.verifying(Purpose::Decision);
    let verify = |answer: &Value| crate::verify::verify(answer.to_string().as_bytes(), &keys, NOW);
    assert!(verify(&answer).is_ok());
    let mut changed = answer;
    changed["word"] = value!("payable");
    assert!(verify(&changed).is_err());
}

#[tokio::test]
async fn the_receipt_in_an_answer_is_that_of_its_decision_or_refused() {
    use crate::receipt::{BesideError, beside};
    let folder = tempfile::tempdir().unwrap();
    let checker = logging(folder.path(), Misses::Logged).await;
    let checked = checker.check(&request(CLOSED)).await.unwrap();
    let other = checker.check(&request("https://b.seller.localhost/2")).await.unwrap().answer();
    let read = |answer: &Value| beside(answer.to_string().as_bytes());
    let answer = checked.answer();
    assert_eq!(read(&answer).unwrap().as_ref(), checked.transparency.receipt());
    let changed = |path: &str, to: Value| {
        let mut changed = answer.clone();
        *changed.pointer_mut(path).unwrap() = to;
        read(&changed)
    };
    let of = |path: &str| other.pointer(path).unwrap().clone();
    let (all, inside) = ("/pq_trust/transparency", "/pq_trust/transparency/receipt/index");
    assert_eq!(changed(all, of(all)), Err(BesideError::OtherDocument), "a sound receipt of another decision");
    assert_eq!(changed("/word", value!("payable")), Err(BesideError::OtherDocument));
    assert_eq!(changed("/pq_trust/transparency/reveal", Value::Null), Err(BesideError::OtherDocument));
    assert_eq!(changed(inside, value!(7)), Err(BesideError::Contradicts));
    assert_eq!(changed("/pq_trust/transparency/index", value!(7)), Err(BesideError::Contradicts));
    assert_eq!(changed("/pq_trust/transparency/state", value!("not_logged")), Err(BesideError::Contradicts));
    assert_eq!(changed("/pq_trust/transparency/receipt", Value::Null), Err(BesideError::Contradicts));
    for broken in [value!("x"), value!([]), value!({})] {
        let error = changed("/pq_trust/transparency/receipt", broken.clone()).unwrap_err();
        assert!(matches!(error, BesideError::Receipt(_)), "{broken}");
    }
    assert_eq!(changed("/pq_trust", value!({})), Ok(None));
    assert_eq!(read(&checked.document), Ok(None));
}

#[tokio::test]
async fn a_log_that_cannot_be_used_costs_the_receipt_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log"), "in the way").unwrap();
    let checker = logging(folder.path(), Misses::Logged).await;
    let plain = checker.check(&request(CLOSED)).await.unwrap();
    let said = &plain.answer()["pq_trust"]["transparency"];
    assert_eq!((&said["state"], &said["receipt"]), (&value!("unavailable"), &Value::Null));
    assert!(said["hint"].as_str().is_some_and(|hint| !hint.is_empty()));
    assert_eq!(plain.demand, Demand::None);
    let strict = CheckRequest { require_transparency: true, ..request(CLOSED) };
    assert_eq!(checker.check(&strict).await.unwrap().demand, Demand::Unmet);
}

#[tokio::test]
async fn a_demand_for_a_receipt_is_met_by_a_signed_checkpoint_only() {
    let folder = tempfile::tempdir().unwrap();
    let strict = CheckRequest { require_transparency: true, ..request(CLOSED) };
    let leafless = logging(folder.path(), Misses::Leafless).await;
    assert_eq!(leafless.check(&strict).await.unwrap().demand, Demand::Unmet);
    let folder = tempfile::tempdir().unwrap();
    let logged = logging(folder.path(), Misses::Logged).await;
    assert_eq!(logged.check(&strict).await.unwrap().demand, Demand::Met);
}

/// One observation of `url` with these facts, as if an earlier check had left it.
async fn seen(checker: &Checker, url: &str, facts: &str) {
    let id = checker.env.row_id().unwrap();
    let observation = NewObservation {
        id: &id,
        subject_kind: "endpoint",
        subject_key: url,
        source: "challenge",
        observed_at: NOW.plus_millis(-3_600_000),
        trust_class: "independent",
        run_id: None,
        outcome: "challenge",
        latency_ms: Some(1),
        evidence_sha256: None,
        facts,
    };
    checker.store.append_observation(&observation).await.unwrap();
}

#[tokio::test]
async fn a_history_row_that_does_not_read_ends_the_check_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let checker = checker(folder.path(), Env::fixed(NOW, 1)).await;
    let sound =
        r#"{"at":1788249600000,"trust":"independent","outcome":"challenge","schema_sha256":null,"latency_ms":1}"#;
    seen(&checker, "https://sound.localhost/", sound).await;
    assert!(checker.check(&request("https://sound.localhost/")).await.is_ok(), "the positive control");
    for (url, facts) in [
        ("https://cut.localhost/", r#"{"at":1788249600000}"#),
        ("https://other.localhost/", "[]"),
        ("https://word.localhost/", &sound.replace("independent", "indépendent")),
    ] {
        seen(&checker, url, facts).await;
        let error = checker.check(&request(url)).await.unwrap_err();
        assert_eq!(error.code(), "history_damaged", "{error}");
        assert!(error.to_string().contains(url) && error.hint().contains("backup"), "{error}");
        let rows = checker.store.observations("endpoint", url, 0, 10).await.unwrap();
        assert_eq!(rows.iter().map(|row| row.facts.as_str()).collect::<Vec<_>>(), [facts], "nothing came of it");
    }
}
