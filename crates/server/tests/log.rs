//! The read API over a real connection: status, headers and bodies as a caller gets them.

#![allow(clippy::unwrap_used, reason = "a helper of a test ends the test")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::leaf::LeafType;
use countersign_engine::env::Env;
use countersign_engine::log::{DirTiles, LogBook};
use countersign_engine::published::Published;
use countersign_server::Bounds;
use countersign_tlog::checkpoint::Origin;
use countersign_tlog::sequencer::{self, Config, Entry, Keys, Log};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A log and a server over it.
struct Served {
    /// Where the log is, and who holds it open.
    _kept: Option<(tempfile::TempDir, LogBook)>,
    public: Published,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    runtime: tokio::runtime::Runtime,
}

impl Served {
    fn new(leaves: u64) -> Self {
        Self::within(Bounds::new(64), leaves)
    }

    fn within(bounds: Bounds, leaves: u64) -> Self {
        let data = tempfile::tempdir().unwrap();
        let book = LogBook::serving(data.path(), Arc::new(Env::Real));
        let public = Published::new(book.hold().unwrap());
        std::thread::scope(|scope| {
            for thread in 0..leaves.min(16) {
                let book = &book;
                scope.spawn(move || {
                    for n in (thread..leaves).step_by(16) {
                        book.append(LeafType::decision(), format!("{{\"n\":{n}}}").as_bytes()).unwrap();
                    }
                });
            }
        });
        Self { _kept: Some((data, book)), ..Self::over(bounds, public) }
    }

    fn over(bounds: Bounds, public: Published) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let routes = countersign_server::log(public.clone());
        runtime.spawn(countersign_server::serve(listener, routes, bounds, async { drop(stopped.await) }));
        Self { _kept: None, public, address, stop: Some(stop), runtime }
    }

    #[allow(clippy::disallowed_methods, reason = "a test is the caller here, and the address is its own")]
    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    fn raw(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        Answer { head, body: bytes[end + 4..].to_vec() }
    }

    fn ask(&self, method: &str, path: &str) -> Answer {
        self.raw(&format!("{method} {path} HTTP/1.1\r\nhost: log\r\nconnection: close\r\n\r\n"))
    }
}

struct Answer {
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

#[test]
fn every_answer_has_the_type_and_the_life_the_specification_asks_for() {
    let served = Served::new(260);
    for (path, content_type, cache) in [
        ("/log/checkpoint", "text/plain; charset=utf-8", "public, max-age=1"),
        ("/log/trust", "text/plain; charset=utf-8", "public, max-age=300"),
        ("/log/receipt/259", "application/json", "public, max-age=1"),
        ("/log/tile/0/000", "application/octet-stream", "public, max-age=31536000, immutable"),
        ("/log/tile/entries/000", "application/octet-stream", "public, max-age=31536000, immutable"),
        ("/log/tile/0/001.p/4", "application/octet-stream", "public, max-age=86400, immutable"),
        ("/log/tile/1/000.p/1", "application/octet-stream", "public, max-age=86400, immutable"),
        ("/log/tile/entries/000.p/7", "application/octet-stream", "public, max-age=86400, immutable"),
    ] {
        let got = served.ask("GET", path);
        assert_eq!(got.status(), 200, "{path}");
        assert_eq!(got.header("content-type"), Some(content_type), "{path}");
        assert_eq!(got.header("cache-control"), Some(cache), "{path}");
        assert_eq!(got.header("access-control-allow-origin"), Some("*"), "{path}");
        assert_eq!(got.header("x-request-id").map(str::len), Some(36), "{path}");
        assert_eq!(got.header("content-length"), Some(got.body.len().to_string().as_str()), "{path}");
        let head = served.ask("HEAD", path);
        assert_eq!((head.status(), head.body.len()), (200, 0), "HEAD {path}");
        assert_eq!(head.header("content-type"), Some(content_type), "HEAD {path}");
        assert_eq!(head.header("content-length"), got.header("content-length"), "HEAD {path}");
    }
    assert_eq!(served.ask("GET", "/log/tile/0/000").body.len(), 8192);
    assert_eq!(served.ask("GET", "/log/tile/0/000").body, served.public.tile("tile/0/000").unwrap().bytes);
    assert_eq!(served.ask("GET", "/log/checkpoint").body, served.public.checkpoint().into_bytes());
}

#[test]
fn failures_have_one_shape_and_are_never_cached() {
    let served = Served::new(3);
    for (method, path, status, code, retryable) in [
        ("GET", "/log/tile/0/001.p/1", 404, "log_outside", true),
        ("GET", "/log/tile/0/000", 404, "log_outside", true),
        ("GET", "/log/cosigned", 404, "log_not_cosigned", true),
        ("GET", "/log/receipt/3", 404, "log_outside", true),
        ("GET", "/log/receipt/03", 400, "index_malformed", false),
        ("GET", "/log/receipt/-1", 400, "index_malformed", false),
        ("GET", "/log/receipt/%30", 400, "index_malformed", false),
        ("GET", "/log/tile/00/000", 400, "tile_level", false),
        ("GET", "/log/tile/64/000", 400, "tile_level", false),
        ("GET", "/log/tile/0/0", 400, "tile_index", false),
        ("GET", "/log/tile/0/1000", 400, "tile_index", false),
        ("GET", "/log/tile/0/x000/000", 400, "tile_index", false),
        ("GET", "/log/tile/0/000.p/0", 400, "tile_width", false),
        ("GET", "/log/tile/0/000.p/256", 400, "tile_width", false),
        ("GET", "/log/tile/0/000.p/01", 400, "tile_width", false),
        ("GET", "/log/tile/0/000%2Ep/3", 400, "tile_index", false),
        ("GET", "/log/tile/../checkpoint", 400, "tile_level", false),
        ("GET", "/log/nothing", 404, "no_such_path", false),
        ("GET", "/", 404, "no_such_path", false),
        ("POST", "/log/checkpoint", 405, "method_not_allowed", false),
    ] {
        let got = served.ask(method, path);
        let error = &got.json()["error"];
        assert_eq!((got.status(), error["code"].as_str()), (status, Some(code)), "{method} {path}");
        assert_eq!(error["retryable"], retryable, "{method} {path}");
        assert_eq!(error["request_id"].as_str(), got.header("x-request-id"), "{method} {path}");
        let members: Vec<_> = error.as_object().unwrap().keys().cloned().collect();
        assert_eq!(members, ["code", "message", "request_id", "retryable"], "{method} {path}");
        assert_eq!(got.header("cache-control"), Some("no-store"), "{method} {path}");
        assert_eq!(got.header("content-type"), Some("application/json"), "{method} {path}");
        assert_eq!(got.header("access-control-allow-origin"), Some("*"), "{method} {path}");
    }
    assert_eq!(served.ask("GET", "/log/tile/0/000.p/3").status(), 200, "the control");
    assert_eq!(served.ask("POST", "/log/checkpoint").header("allow"), Some("GET,HEAD"));
}

/// Leaves of a log with one full tile at level 1, and enough behind it that no segment reaches back to it.
const LONG: u64 = 69_000;

/// The log in this folder, which begins when there is none.
fn long(dir: &Path) -> Log {
    let origin = Origin::parse("log.example.test/served").unwrap();
    let (queue, remember_for) = (LONG as usize, Duration::ZERO);
    let config = Config { segment_bytes: 4000, remember: 50, remember_for, queue, ..Config::one_shot() };
    if !dir.join("identity").exists() {
        sequencer::init(dir, &origin, &config.disk).unwrap();
    }
    let keys = Keys::from_seeds(&origin, &[1; 32], &[2; 32]).unwrap();
    Log::open(dir, config, keys, Arc::new(|| 1_764_500_000), Arc::new(DirTiles::new(dir))).unwrap()
}

/// Whoever got a damaged tile would keep it for a year, and so would every cache on the way.
#[test]
fn a_damaged_tile_or_bundle_is_told_as_one_and_no_byte_of_it_is_given_out() {
    let dir = tempfile::tempdir().unwrap();
    let log = long(dir.path());
    for n in 0..LONG {
        let mut idempotency_key = [0; 32];
        idempotency_key[..8].copy_from_slice(&n.to_be_bytes());
        log.append(Entry { idempotency_key, leaf: format!("entry-{n}").into_bytes() }, |done| drop(done.unwrap()));
    }
    log.flush();
    while !dir.path().join("tile/0/268").exists() {
        std::thread::yield_now();
    }
    log.close();
    for (name, bit, asked) in [
        ("tile/0/003", 77, ["/log/tile/0/003", "/log/tile/0/003.p/9", "/log/receipt/800"]),
        ("tile/1/000", 77, ["/log/tile/1/000", "/log/tile/0/003", "/log/receipt/800"]),
        ("tile/entries/003", 77, ["/log/tile/entries/003", "/log/tile/entries/003.p/9", "/log/receipt/800"]),
    ] {
        let file = dir.path().join(name);
        let whole = fs::read(&file).unwrap();
        let mut spoilt = whole.clone();
        spoilt[bit / 8] ^= 1 << (bit % 8);
        let put = |bytes: &[u8]| fs::remove_file(&file).and_then(|()| fs::write(&file, bytes)).unwrap();
        put(&spoilt);
        let served = Served::over(Bounds::new(64), Published::new(Arc::new(long(dir.path()))));
        for path in asked {
            let got = served.ask("GET", path);
            let error = &got.json()["error"];
            assert_eq!((got.status(), error["code"].as_str()), (500, Some("tile_damaged")), "{path} over {name}");
            assert_eq!((got.header("cache-control"), &error["retryable"]), (Some("no-store"), &true.into()), "{path}");
            assert!(error["message"].as_str().unwrap().contains(name), "{error}");
        }
        assert_eq!(served.ask("GET", "/log/receipt/68999").status(), 200, "what is whole is served");
        drop(served);
        put(&whole);
        let served = Served::over(Bounds::new(64), Published::new(Arc::new(long(dir.path()))));
        for path in asked {
            assert_eq!(served.ask("GET", path).status(), 200, "the control: {path}");
        }
        assert_eq!(served.ask("GET", &format!("/log/{name}")).body, whole);
    }
}

#[test]
fn a_receipt_by_index_tells_everything_but_the_document() {
    let served = Served::new(3);
    let got = served.ask("GET", "/log/receipt/2").json();
    let members: Vec<_> = got.as_object().unwrap().keys().cloned().collect();
    assert_eq!(members, ["checkpoint", "inclusion_path", "index", "leaf_hash", "log_origin", "schema"]);
    assert_eq!((&got["schema"], &got["index"]), (&"countersign/receipt/v1".into(), &2.into()));
    assert_eq!(
        got["inclusion_path"].as_array().unwrap().len(),
        1,
        "leaf 2 of 3 has the root of the first two beside it"
    );
    assert_eq!(got["checkpoint"].as_str().unwrap().lines().nth(1), Some("3"));
}

#[test]
fn web_pages_may_ask_beforehand() {
    let served = Served::new(1);
    let got = served.ask("OPTIONS", "/log/checkpoint");
    assert_eq!((got.status(), got.header("access-control-allow-origin")), (204, Some("*")));
    assert_eq!(got.header("access-control-allow-methods"), Some("GET, HEAD, OPTIONS"));
}

#[test]
fn a_head_that_is_too_large_is_refused_and_others_are_served() {
    let served = Served::new(1);
    let long = format!("GET /log/checkpoint HTTP/1.1\r\nhost: log\r\nx: {}\r\n\r\n", "a".repeat(20_000));
    assert_eq!(served.raw(&long).status(), 431);
    assert_eq!(served.ask("GET", "/log/checkpoint").status(), 200);
}

#[test]
fn a_stop_closes_the_port() {
    let mut served = Served::new(1);
    assert_eq!(served.ask("GET", "/log/checkpoint").status(), 200, "the control");
    served.stop.take().unwrap().send(()).unwrap();
    let address = served.address;
    let refused = served.runtime.block_on(async move {
        // The port closes when the task has seen the stop; until then connections are accepted.
        loop {
            match TcpListener::bind(address).await {
                Ok(_) => return true,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    });
    assert!(refused);
}

/// A caller who asks and never reads, until the server takes no more.
fn deaf(served: &Served) -> TcpStream {
    let mut stream = served.connect();
    stream.set_nonblocking(true).unwrap();
    while stream.write(b"GET /log/tile/entries/000 HTTP/1.1\r\nhost: log\r\n\r\n").is_ok() {}
    stream
}

/// Whether the only other connection of this source that there may be is answered.
fn answered(served: &Served) -> bool {
    let mut stream = served.connect();
    let asked = stream.write_all(b"GET /log/checkpoint HTTP/1.1\r\nhost: log\r\nconnection: close\r\n\r\n");
    let mut bytes = Vec::new();
    asked.and_then(|()| stream.read_to_end(&mut bytes)).is_ok() && bytes.starts_with(b"HTTP/1.1 200 ")
}

#[test]
fn a_caller_who_never_reads_holds_a_place_for_its_life_only() {
    let long = Duration::from_secs(3600);
    let served = Served::within(Bounds { connections: 2, life: long, last_answer: long }, 260);
    let held = deaf(&served);
    assert!(!answered(&served), "the control: one source has half of the places, and this one has given its away");
    drop((held, served));
    let short = Duration::from_millis(100);
    let served = Served::within(Bounds { connections: 2, life: short, last_answer: short }, 260);
    let _held = deaf(&served);
    while !answered(&served) {
        std::thread::yield_now();
    }
}
