//! Seven sellers that each wait 50 ms, on seven domains, checked together, beside one check of one of them.
//!
//! `cargo bench -p countersign-engine --bench together`. Whole checks: TLS handshake, reading, history, decision,
//! signature, storage. Every round gets a checker of its own, because a domain is asked six times a minute at most.

#![allow(clippy::unwrap_used, reason = "a bench may end")]

use std::sync::Arc;
use std::time::Duration;

use countersign_core::endpoint::ResourceUrl;
use countersign_core::policy::CheckRequest;
use countersign_engine::check::Checker;
use countersign_engine::env::Env;
use countersign_engine::keys::Keys;
use countersign_probe::testkit::{Authority, Behaviour, Leaf, Server};
use countersign_probe::{Door, DoorConfig};
use countersign_store::Store;
use divan::Bencher;
use tokio::runtime::Runtime;

const WAIT: Duration = Duration::from_millis(50);
const TERMS: &str = r#"{"x402Version":1,"error":"pay","accepts":[{"scheme":"exact","network":"base","maxAmountRequired":"10000","resource":"https://x.localhost/","description":"d","mimeType":"application/json","payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","maxTimeoutSeconds":60,"asset":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","extra":{"name":"USD Coin","version":"2"}}]}"#;

fn main() {
    divan::main();
}

struct World {
    authority: Authority,
    sellers: Vec<(Server, CheckRequest)>,
    folder: tempfile::TempDir,
}

impl World {
    async fn new(sellers: usize) -> Self {
        let (authority, folder) = (Authority::new().unwrap(), tempfile::tempdir().unwrap());
        let mut world = Self { authority, sellers: Vec::new(), folder };
        for number in 0..sellers {
            let host = format!("seller-{number}.localhost");
            let says = format!("HTTP/1.1 402 Payment Required\r\nContent-Length: {}\r\n\r\n{TERMS}", TERMS.len());
            let nothing = Behaviour::Say(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec());
            let here = Behaviour::At("/", Box::new(Behaviour::Say(says.into_bytes())), Box::new(nothing));
            let waits = Behaviour::After(WAIT, Box::new(here));
            let tls = world.authority.acceptor(&[&host], Leaf::Honest).unwrap();
            let server = Server::start(tls, waits).await.unwrap();
            let url = ResourceUrl::parse(&format!("https://{host}:{}/", server.port())).unwrap();
            world.sellers.push((server, CheckRequest::new(url)));
        }
        world
    }

    async fn checker(&self) -> Arc<Checker> {
        let roots = vec![self.authority.root()];
        let door = Door::new(DoorConfig { allow_loopback: true, extra_roots: roots, ..DoorConfig::default() });
        let keys = Keys::load(self.folder.path()).unwrap();
        let store = Store::in_memory().await.unwrap();
        Arc::new(Checker::new(Arc::new(Env::Real), door, store, keys, vec!["allow_loopback"]))
    }

    async fn check_all(&self, checker: Arc<Checker>) {
        let mut looks = tokio::task::JoinSet::new();
        for (_, request) in &self.sellers {
            let (checker, request) = (Arc::clone(&checker), request.clone());
            looks.spawn(async move { checker.check(&request).await.unwrap() });
        }
        looks.join_all().await;
    }
}

#[divan::bench(args = [1, 7], sample_count = 20, sample_size = 1)]
fn sellers(bencher: Bencher<'_, '_>, count: usize) {
    let runtime = Runtime::new().unwrap();
    let world = runtime.block_on(World::new(count));
    bencher
        .with_inputs(|| runtime.block_on(world.checker()))
        .bench_values(|checker| runtime.block_on(world.check_all(checker)));
}
