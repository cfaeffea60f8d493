//! What is asked beside a URL: once a day for each folder, never at the cost of the URL's own answer.

use std::time::Duration;

use super::*;

/// A check, and how many requests it sent.
async fn asked_again(world: &World, server: &Server, request: &CheckRequest) -> (Value, usize) {
    let before = server.connections();
    let said = world.check(request).await.document;
    (said, server.connections() - before)
}

fn unseen(document: &Value) -> Option<&str> {
    let all = document["not_evaluated"].as_array().unwrap();
    all.iter().find(|one| one["what"] == "other paths of the host").and_then(|one| one["why"].as_str())
}

#[tokio::test]
async fn a_host_that_sells_any_path_is_warned_of_and_no_other() {
    for (elsewhere, seen) in [
        (challenged(b""), "challenge"),
        (answer("404 Not Found", ""), "closed"),
        (answer("402 Payment Required", ""), "closed"),
        (answer("200 OK", "welcome"), "page"),
        (answer("405 Method Not Allowed", ""), "no_get"),
        (answer("503 Oops", ""), "nothing"),
        (b"220 mail ESMTP\r\n".to_vec(), "nothing"),
    ] {
        let world = World::new().await;
        let (_server, request) = world.host("x", Behaviour::Say(challenged(b"")), Behaviour::Say(elsewhere)).await;
        let said = world.check(&request).await.document;
        assert_eq!((&said["payTo"], &said["other_paths"]["answer"]), (&json!(BASE_PAYEE), &json!(seen)), "{said:#}");
        assert_eq!(rules(&said).contains(&"http.wildcard"), seen == "challenge");
        assert_eq!(rules(&said).contains(&"http.catch_all"), seen == "page");
        assert_eq!(unseen(&said).is_some(), ["no_get", "nothing"].contains(&seen), "{seen}");
    }
}

/// Neither a name that leads nowhere nor a certificate for another host lets a request out, and both are remembered.
#[tokio::test]
async fn where_nothing_was_sent_nothing_is_said_to_have_been_asked() {
    let world = World::new().await;
    let tls = world.authority.acceptor(&["other.localhost"], Leaf::Honest).unwrap();
    let server = Server::start(tls, Behaviour::Echo).await.unwrap();
    let wrong_host = format!("https://x.localhost:{}/paid", server.port());
    for (url, refused, why) in [
        (
            wrong_host.as_str(),
            "certificate_wrong_host",
            "the certificate is for another host, so nobody proved to be the seller",
        ),
        ("https://y.localhost:6379/paid", "port_refused", "the port belongs to a service that is no seller"),
    ] {
        let request = CheckRequest::new(ResourceUrl::parse(url).unwrap());
        for look in ["first", "remembered"] {
            let said = world.check(&request).await.document;
            assert_eq!(said["transport"]["refused"], refused, "{look} {url}");
            let expected = format!("a path that cannot exist could not be asked: {why}");
            assert_eq!((unseen(&said), &said["other_paths"]), (Some(expected.as_str()), &Value::Null), "{look} {url}");
            assert_eq!(
                said["evidence"]["evidence_sha256"].as_array().unwrap().len(),
                2,
                "why is evidence, {look} {url}"
            );
        }
    }
}

/// In this world the first draw names the run and the second the path. SHA-256 of the seed 7 and the turn 1, eight bytes
/// each, begins 4f f1 90: modulo 32 that is 15, 17 and 16, which are `p`, `r` and `q`.
#[tokio::test]
async fn the_path_is_made_up_from_the_worlds_randomness_in_the_same_folder() {
    let world = World::new().await;
    let (_server, request) = world.seller("x", challenged(b"")).await;
    let said = world.check(&request).await.document;
    let asked = said["other_paths"]["asked"].as_str().unwrap();
    let name = asked.strip_prefix(&request.url.as_str().replace("paid", "")).unwrap();
    assert_eq!(name, "prqucftmz5nx7aeht53n");
}

#[tokio::test]
async fn a_folder_is_asked_once_a_day_and_what_it_said_is_evidence_of_every_check() {
    let world = World::new().await;
    let (server, request) = world.host("x", Behaviour::Say(challenged(b"")), Behaviour::Say(challenged(b""))).await;
    let (first, asked) = asked_again(&world, &server, &request).await;
    assert_eq!(asked, 2);
    let (second, asked) = asked_again(&world, &server, &request).await;
    assert_eq!(asked, 1, "only the URL itself");
    for said in [&first, &second] {
        let (ids, hashes) = (&said["evidence"]["observation_ids"], &said["evidence"]["evidence_sha256"]);
        assert_eq!((ids.as_array().unwrap().len(), hashes.as_array().unwrap().len()), (2, 2));
        let kept = world.store.evidence(hashes[1].as_str().unwrap()).await.unwrap().unwrap();
        let kept: Value = serde_json::from_slice(&kept).unwrap();
        assert_eq!((&kept["url"], &kept["status"]), (&said["other_paths"]["asked"], &json!(402)));
        assert!(rules(said).contains(&"http.wildcard"));
    }
    assert_eq!(first["evidence"]["observation_ids"][1], second["evidence"]["observation_ids"][1]);
    assert_ne!(first["evidence"]["observation_ids"][0], second["evidence"]["observation_ids"][0]);
    let rows = world.store.observations("siblings", request.url.folder(), 0, 9).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.outcome.as_str()).collect::<Vec<_>>(), ["challenge"]);
}

/// A look of this many minutes ago, as an earlier check would have left it.
async fn looked(world: &World, request: &CheckRequest, minutes: i64, seen: &str) {
    let row = countersign_store::NewObservation {
        id: "00000000-0001-7000-8000-000000000000",
        subject_kind: "siblings",
        subject_key: request.url.folder(),
        source: "sibling",
        observed_at: NOW.plus_millis(-minutes * 60_000),
        trust_class: "independent",
        run_id: None,
        outcome: seen,
        latency_ms: None,
        evidence_sha256: Some("00"),
        facts: &json!({"asked": "https://x.localhost/made-up", "seen": seen}).to_string(),
    };
    world.store.append_observation(&row).await.unwrap();
}

#[tokio::test]
async fn what_is_remembered_stands_for_a_day_with_its_age_and_a_failure_for_ten_minutes() {
    for (minutes, seen, requests) in
        [(180, "challenge", 1), (1439, "closed", 1), (1440, "challenge", 2), (9, "nothing", 1), (10, "nothing", 2)]
    {
        let world = World::new().await;
        let (server, request) = world.seller("x", challenged(b"")).await;
        looked(&world, &request, minutes, seen).await;
        let (said, asked) = asked_again(&world, &server, &request).await;
        assert_eq!(asked, requests, "{minutes} {seen}");
        let remembered = requests == 1;
        let age = if remembered { minutes * 60 } else { 0 };
        assert_eq!(said["other_paths"]["age_s"], json!(age), "{minutes} {seen}");
        let wild = said["findings"].as_array().unwrap().iter().find(|one| one["rule"] == "http.wildcard");
        let observed = wild.map(|one| one["observed"].as_str().unwrap());
        assert_eq!(observed, (minutes == 180).then_some("3 h ago: 402 with terms at made-up"));
    }
}

#[tokio::test]
async fn a_row_that_does_not_read_is_asked_again_and_ends_no_check() {
    let world = World::new().await;
    let (server, request) = world.seller("x", challenged(b"")).await;
    looked(&world, &request, 1, "another word").await;
    let (said, asked) = asked_again(&world, &server, &request).await;
    assert_eq!((asked, &said["other_paths"]["answer"]), (2, &json!("closed")));
}

#[tokio::test]
async fn those_who_ask_in_one_folder_at_once_share_what_was_asked_beside_them() {
    let world = World::new().await;
    let (server, request) = world.seller("x", challenged(b"")).await;
    let other = CheckRequest::new(ResourceUrl::parse(&request.url.as_str().replace("paid", "other")).unwrap());
    let (one, two) = tokio::join!(world.check(&request), world.check(&other));
    assert_eq!(server.connections(), 3);
    let id = |checked: &Checked| checked.document["evidence"]["observation_ids"][1].clone();
    assert!(id(&one).is_string());
    assert_eq!(id(&one), id(&two));
}

/// Four looks at other folders leave two turns, and two are kept for what a check itself needs.
#[tokio::test]
async fn without_a_spare_turn_nothing_is_asked_beside_the_url() {
    let world = World::new().await;
    let (server, request) = world.seller("x", challenged(b"")).await;
    let folder = |name: &str| {
        CheckRequest::new(ResourceUrl::parse(&request.url.as_str().replace("paid", &format!("{name}/x"))).unwrap())
    };
    for (name, requests) in [("a", 2), ("b", 2), ("c", 1), ("d", 1)] {
        let (said, asked) = asked_again(&world, &server, &folder(name)).await;
        assert_eq!(asked, requests, "{name}");
        assert_eq!(unseen(&said).is_some(), requests == 1, "{said:#}");
        assert_eq!(said["other_paths"].is_null(), requests == 1);
    }
    assert_eq!(world.checker.check(&folder("e")).await.unwrap_err().code(), "rate_limited");
}

#[tokio::test]
async fn a_slow_sibling_does_not_hold_up_the_answer_and_is_not_asked_again_at_once() {
    let world = World::new().await;
    let (server, request) = world.host("x", Behaviour::Say(challenged(b"")), Behaviour::Silent).await;
    let started = tokio::time::Instant::now();
    let (said, asked) = asked_again(&world, &server, &request).await;
    assert!(started.elapsed() < Duration::from_secs(3), "the door itself waits three for a first byte");
    assert_eq!((asked, &said["payTo"], &said["other_paths"]["answer"]), (2, &json!(BASE_PAYEE), &json!("nothing")));
    assert!(unseen(&said).is_some());
    assert_eq!(asked_again(&world, &server, &request).await.1, 1);
}
