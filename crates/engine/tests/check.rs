//! A check from the request to the stored document, in a fixed world: clock and randomness are values, the database
//! lives in memory, the sellers are the probe's own.

#![allow(clippy::unwrap_used, reason = "helpers of tests may end them")]

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::endpoint::ResourceUrl;
use countersign_core::policy::CheckRequest;
use countersign_core::time::Timestamp;
use countersign_engine::check::{Checked, Checker};
use countersign_engine::env::Env;
use countersign_engine::keys::Keys;
use countersign_probe::testkit::{Authority, Behaviour, Leaf, Server};
use countersign_probe::{Door, DoorConfig};
use countersign_store::{NewRun, Store};
use serde_json::{Value, json};

#[path = "check/evidence.rs"]
mod evidence;
#[path = "check/output.rs"]
mod output;
#[path = "check/sibling.rs"]
mod sibling;

const NOW: Timestamp = Timestamp::from_seconds(1_790_000_000);
const BASE_PAYEE: &str = "0x209693bc6afc0c5328ba36faf03c514ef312287c";

struct World {
    checker: Checker,
    store: Store,
    authority: Authority,
    _folder: tempfile::TempDir,
}

impl World {
    async fn new() -> Self {
        let (authority, folder) = (Authority::new().unwrap(), tempfile::tempdir().unwrap());
        let config = DoorConfig { allow_loopback: true, extra_roots: vec![authority.root()], ..DoorConfig::default() };
        let store = Store::in_memory().await.unwrap();
        let keys = Keys::load(folder.path()).unwrap();
        let env = Arc::new(Env::fixed(NOW, 7));
        let checker = Checker::new(env, Door::new(config), store.clone(), keys, vec!["allow_loopback"]);
        Self { checker, store, authority, _folder: folder }
    }

    /// Says this at `/paid`, and that there is nothing anywhere else.
    async fn seller(&self, name: &str, says: Vec<u8>) -> (Server, CheckRequest) {
        self.host(name, Behaviour::Say(says), Behaviour::Say(answer("404 Not Found", ""))).await
    }

    async fn host(&self, name: &str, paid: Behaviour, elsewhere: Behaviour) -> (Server, CheckRequest) {
        let host = format!("{name}.localhost");
        let tls = self.authority.acceptor(&[&host], Leaf::Honest).unwrap();
        let behaviour = Behaviour::At("/paid", Box::new(paid), Box::new(elsewhere));
        let server = Server::start(tls, behaviour).await.unwrap();
        let url = ResourceUrl::parse(&format!("https://{host}:{}/paid", server.port())).unwrap();
        (server, CheckRequest::new(url))
    }

    async fn check(&self, request: &CheckRequest) -> Checked {
        self.checker.check(request).await.unwrap()
    }
}

fn answer(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nCache-Control: no-store\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
}

fn option(network: &str, asset: &str, pay_to: &str, amount: &str) -> Value {
    json!({
        "scheme": "exact", "network": network, "asset": asset, "payTo": pay_to, "maxAmountRequired": amount,
        "maxTimeoutSeconds": 60, "resource": "https://x.localhost/paid", "description": "d",
        "mimeType": "application/json", "extra": {"name": "USD Coin", "version": "2"}
    })
}

fn base(amount: &str) -> Value {
    option("base", "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", BASE_PAYEE, amount)
}

fn terms(options: &[Value]) -> Vec<u8> {
    answer("402 Payment Required", &json!({"x402Version": 1, "error": "pay", "accepts": options}).to_string())
}

/// The header of a version 2 challenge that names `x.localhost`, and lines of the seller's own beside it.
fn challenged(lines: &[u8]) -> Vec<u8> {
    let mut entry = base("10000");
    entry["network"] = json!("eip155:8453");
    entry["amount"] = json!("10000");
    let resource = json!({"url": "https://x.localhost/paid", "description": "d", "mimeType": "application/json"});
    let terms = json!({"x402Version": 2, "error": "pay", "resource": resource, "accepts": [entry]}).to_string();
    let head = format!("HTTP/1.1 402 X\r\nCache-Control: no-store\r\nPAYMENT-REQUIRED: {}\r\n", STANDARD.encode(terms));
    [head.as_bytes(), lines, b"Content-Length: 2\r\n\r\n{}"].concat()
}

/// Whatever a stranger puts into its head, the decision about it is one that can be signed, and says what was there.
#[tokio::test]
async fn no_header_prevents_a_decision_or_hides_the_terms_beside_it() {
    let world = World::new().await;
    let long = [b"Content-Encoding: ", b"\xff".repeat(30_000).as_slice(), b"\r\n"].concat();
    for (name, lines, flagged) in
        [("no", b"".as_slice(), false), ("long", &long, true), ("x", b"Content-Encoding: gzip\r\n", true)]
    {
        let (_server, request) = world.seller("x", challenged(lines)).await;
        let said = world.check(&request).await.document;
        assert_eq!(
            (said["selected_payment"]["payTo"].as_str(), said["signature"].is_string()),
            (Some(BASE_PAYEE), true)
        );
        assert_eq!(rules(&said).contains(&"transport.content_encoding"), flagged, "{name}");
        assert_eq!(said["transport"]["body_complete"], !flagged);
    }
    let (_server, request) =
        world.seller("no-terms", [b"HTTP/1.1 402 X\r\n", long.as_slice(), b"\r\nx"].concat()).await;
    let said = world.check(&request).await.document;
    assert_eq!((&said["word"], said["signature"].is_string()), (&json!("not_evaluated"), true));
    assert!(rules(&said).contains(&"body.stopped"));
}

fn rules(document: &Value) -> Vec<&str> {
    document["findings"].as_array().unwrap().iter().filter_map(|finding| finding["rule"].as_str()).collect()
}

#[tokio::test]
async fn a_hit_is_signed_stored_and_whole() {
    let world = World::new().await;
    let (_server, request) = world.seller("x", terms(&[base("10000")])).await;
    let checked = world.check(&request).await;
    let said = &checked.document;
    assert!(checked.selected, "{said:#}");
    assert_eq!(said["registrable_domain"], "x.localhost");
    assert_eq!(said["selected_payment"]["payTo"], BASE_PAYEE);
    assert_eq!((&said["stop_reason"], &said["readiness"]), (&json!("winner_selected"), &json!("payable")));
    assert_eq!(said["interpreted_constraints"], said["applied_constraints"]);
    assert_eq!((&said["miss_reason"], &said["offers"][0]["excluded_reason"]), (&Value::Null, &Value::Null));
    assert_eq!(said["observed"]["http_status"], 402);
    assert_eq!(said.get("payTo_age_s"), None, "present only when a change was recorded");
    let probed = |name: &str| said[name].as_u64().unwrap();
    assert_eq!(probed("unprobed_count"), probed("candidates_considered") - probed("candidates_probed"));
    let sha256 = {
        use sha2::Digest as _;
        hex::encode(sha2::Sha256::digest(&checked.bytes))
    };
    assert_eq!(world.store.document(&sha256).await.unwrap().unwrap().bytes, checked.bytes);
}

#[tokio::test]
async fn those_who_ask_at_once_share_one_observation() {
    let world = World::new().await;
    let (_server, request) = world.seller("x", terms(&[base("10000")])).await;
    let (one, two, three) = tokio::join!(world.check(&request), world.check(&request), world.check(&request));
    let id = |checked: &Checked| checked.document["evidence"]["observation_ids"][0].clone();
    assert_eq!((id(&one), id(&two)), (id(&two), id(&three)));
    let url = request.url.as_str();
    let kept = async || world.store.observations("endpoint", url, 0, 10).await.unwrap().len();
    assert_eq!(kept().await, 1);
    world.check(&request).await;
    assert_eq!(kept().await, 2, "whoever asks later looks anew");
}

#[tokio::test]
async fn a_run_that_a_crash_left_open_is_closed_as_abandoned_and_a_young_one_is_left() {
    let world = World::new().await;
    let (old, young) = ("run-of-a-dead-process", "run-of-a-living-one");
    for (id, age_ms) in [(old, 60_001), (young, 60_000)] {
        let run = NewRun { id, subject: "u", trigger: "owner", started: NOW.plus_millis(-age_ms) };
        let turn = world.store.take_turn("u", run.started, Some(run), |looks| Ok::<_, ()>(((), looks)));
        turn.await.unwrap().unwrap();
    }
    assert_eq!(world.checker.recover().await.unwrap(), 1);
    let run = world.store.run(old).await.unwrap().unwrap();
    assert_eq!((run.finished, run.outcome.as_deref()), (Some(NOW), Some("abandoned")));
    assert_eq!(world.store.run(young).await.unwrap().unwrap().finished, None);
    assert_eq!(world.checker.recover().await.unwrap(), 0, "once is enough");
}

#[tokio::test]
async fn every_option_says_why_it_was_not_chosen() {
    let world = World::new().await;
    let solana = option(
        "solana",
        "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
        "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4",
        "10000",
    );
    let (_server, mut request) =
        world.seller("x", terms(&[base("10000"), base("30000"), base("0"), base("20000"), solana])).await;
    request.max_price_usd = countersign_core::amount::Usd::parse("0.02").ok();
    request.max_total_cost_usd = countersign_core::amount::Usd::parse("5").ok();
    let said = world.check(&request).await.document;
    let why: Vec<_> = (0..4).map(|at| said["offers"][at]["excluded_reason"].clone()).collect();
    assert_eq!(
        why,
        [json!(null), json!("constraints_unmet"), json!("incomplete_payment"), json!("ranked_below_winner")]
    );
    assert_eq!(said["offers"][1]["excluded_by"], json!([{"constraint": "max_price_usd", "why": "outside"}]));
}

#[tokio::test]
async fn what_is_unknown_under_a_bound_fails_closed_and_is_named() {
    let world = World::new().await;
    let (_server, mut request) = world.seller("x", terms(&[base("10000")])).await;
    request.max_service_latency_ms = Some(1_000_000);
    request.min_observed_success = countersign_core::policy::Share::parse("0.1").ok();
    let said = world.check(&request).await.document;
    assert_eq!(said["miss_reason"], "constraints_unmet");
    let unknown = |name: &str| {
        let unmet = said["unmet_constraints"].as_array().unwrap().contains(&json!(name));
        let told = said["not_evaluated"].as_array().unwrap().iter().any(|one| one["what"] == name);
        (unmet, told)
    };
    assert_eq!(unknown("min_observed_success"), (true, true));
}

#[tokio::test]
async fn a_miss_is_called_by_the_word_of_the_closed_list() {
    let world = World::new().await;
    let rows = [
        ("free", answer("200 OK", "{}"), "reachable_200"),
        ("broken", answer("500 Oops", ""), "upstream_5xx"),
        ("walled", answer("403 Forbidden", ""), "no_402_envelope"),
        ("empty", answer("402 Payment Required", ""), "no_402_envelope"),
        ("strange", b"220 mail ESMTP\r\n".to_vec(), "no_402_envelope"),
    ];
    for (name, says, wanted) in rows {
        let (_server, request) = world.seller(name, says).await;
        let said = world.check(&request).await.document;
        assert_eq!((&said["miss_reason"], &said["live"]), (&json!(wanted), &json!(false)), "{name}");
    }
}

/// An earlier look by our sweep, `minutes` ago, whose row arrived as the `nth`.
async fn swept(world: &World, url: &str, nth: u8, minutes: i64, pay_to: &str) {
    let at = NOW.plus_millis(-minutes * 60_000);
    let facts = json!({
        "at": at.millis(), "trust": "scheduled", "outcome": "challenge", "schema_sha256": null, "latency_ms": 9,
        "offers": [{
            "network": "eip155:8453", "asset": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "pay_to": pay_to,
            "amount": "10000"
        }],
    });
    let row = countersign_store::NewObservation {
        id: &format!("00000000-00{nth:02}-7000-8000-000000000000"),
        subject_kind: "endpoint",
        subject_key: url,
        source: "challenge",
        observed_at: at,
        trust_class: "scheduled",
        run_id: None,
        outcome: "challenge",
        latency_ms: Some(9),
        evidence_sha256: None,
        facts: &facts.to_string(),
    };
    world.store.append_observation(&row).await.unwrap();
}

#[tokio::test]
async fn an_old_look_that_arrives_late_rewrites_nothing() {
    let other = "0x5afe00000000000000000000000000000000c0de";
    for (last, changed) in [((3, 20), false), ((3, 12), true)] {
        let world = World::new().await;
        let (_server, request) = world.seller("x", terms(&[base("10000")])).await;
        let url = request.url.as_str();
        swept(&world, url, 1, 30, BASE_PAYEE).await;
        swept(&world, url, 2, 15, BASE_PAYEE).await;
        swept(&world, url, last.0, last.1, other).await;
        let said = world.check(&request).await.document;
        assert_eq!(said["changes"]["payTo_changed_at"].is_string(), changed, "{last:?}");
        assert_eq!((&said["payTo_changed"], said["payTo_age_s"].is_number()), (&json!(false), changed));
    }
}
