//! A whole check without a network: a strict door refuses names under `.localhost` before it sends anything.

use countersign_probe::DoorConfig;
use countersign_store::Location;

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
    for path in 0..6 {
        let checked = checker.check(&request(&format!("https://a.seller.localhost/{path}"))).await.unwrap();
        assert_eq!(checked.document["transport"]["refused"], "address_refused");
    }
    let seventh = "https://b.seller.localhost/";
    let limited = match checker.check(&request(seventh)).await {
        Err(CheckError::RateLimited(limited)) => limited,
        other => panic!("{other:?}"),
    };
    assert_eq!((limited.domain.as_str(), limited.retry_after_ms), ("seller.localhost", 60_000));
    let rows = checker.store.observations("endpoint", seventh, Timestamp::from_seconds(0), 10).await.unwrap();
    assert!(rows.is_empty(), "a look that was not made is no observation");
    assert!(checker.check(&request("https://other.localhost/")).await.is_ok(), "another domain has its own minute");
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
    assert_eq!((&said["state"], &said["index"]), (&value!("checkpoint_signed"), &value!(0)));
    assert_eq!(said["reveal"]["document"].as_str().unwrap().as_bytes(), checked.bytes);
    let kept = checker.store.document(&receipt_id(&checked.bytes)).await.unwrap().unwrap();
    assert_eq!(Some(&crate::receipt::Receipt::parse(&kept.bytes).unwrap()), checked.transparency.receipt());
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
