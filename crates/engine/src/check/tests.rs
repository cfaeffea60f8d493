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
