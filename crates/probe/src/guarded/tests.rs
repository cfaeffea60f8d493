//! The door against real TLS servers on loopback, right and wrong.

use std::time::{Duration, Instant};

use countersign_core::endpoint::ResourceUrl;

mod names;
mod servers;
mod spellings;
mod wire;

use super::*;
use crate::testkit::{Authority, Behaviour, Clear, Leaf, Server};

/// 2026-09-01, inside the validity of an honest leaf.
const NOW: Timestamp = Timestamp::from_seconds(1_788_253_200);
const HOST: &str = "seller.localhost";

fn url(port: u16) -> ResourceUrl {
    ResourceUrl::parse(&format!("https://{HOST}:{port}/paid?q=1")).unwrap()
}

fn lab(authority: &Authority, limits: Limits) -> Door {
    Door::new(DoorConfig { allow_loopback: true, extra_roots: vec![authority.root()], limits, ..DoorConfig::default() })
}

async fn ask(leaf: Leaf, name: &str, behaviour: Behaviour) -> Result<Answer, Refused> {
    let authority = Authority::new().unwrap();
    let server = Server::start(authority.acceptor(&[name], leaf).unwrap(), behaviour).await.unwrap();
    let request = Request { url: url(server.port()), method: Method::Get, body: None };
    let limits = Limits { first_byte: Duration::from_millis(800), ..Limits::default() };
    lab(&authority, limits).fetch(&request, NOW).await
}

async fn say(bytes: &str) -> Result<Answer, Refused> {
    ask(Leaf::Honest, HOST, Behaviour::Say(bytes.into())).await
}

async fn refused(bytes: &str) -> RefusedCode {
    say(bytes).await.unwrap_err().code
}

#[tokio::test]
async fn an_honest_server_sees_our_request_and_nothing_more() {
    let answer = ask(Leaf::Honest, HOST, Behaviour::Echo).await.unwrap();
    let seen = String::from_utf8(answer.body).unwrap();
    let lines: Vec<&str> = seen.trim_end().split("\r\n").collect();
    assert_eq!(lines[0], "GET /paid?q=1 HTTP/1.1");
    assert_eq!(lines[1], format!("host: {HOST}:{}", answer.peer.port()));
    let agent = concat!("user-agent: countersign/", env!("CARGO_PKG_VERSION"));
    assert_eq!(lines[2..], [agent, "accept-encoding: identity", "connection: close", "accept: application/json"]);
    assert_eq!((answer.status, answer.body_complete, answer.interim, answer.chain.len()), (402, true, 0, 1));
    assert_eq!(answer.flags, [TransportFlag::LoopbackAllowed, TransportFlag::ExtraRoots]);
    assert!(answer.peer.ip().is_loopback() && answer.head_bytes > 40);
}

#[tokio::test]
async fn a_huge_body_is_cut_at_the_cap() {
    let flood = Behaviour::Flood(b"HTTP/1.1 402 X\r\n\r\n".to_vec(), 100 << 20);
    let answer = ask(Leaf::Honest, HOST, flood).await.unwrap();
    assert_eq!((answer.body.len(), answer.body_complete), (1 << 20, false));
    assert!(answer.flags.contains(&TransportFlag::BodyCapped));
}

#[tokio::test]
async fn a_dripping_body_ends_the_wait_and_keeps_the_head() {
    let started = Instant::now();
    let answer = ask(Leaf::Honest, HOST, Behaviour::Drip(b"HTTP/1.1 402 X\r\nA: b\r\n\r\n".to_vec())).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert!(!answer.body_complete && answer.flags.contains(&TransportFlag::BodySlow));
    assert_eq!(answer.headers, [("a".to_owned(), b"b".to_vec())]);
}

#[tokio::test]
async fn silence_and_a_dripping_head_end_at_the_deadline() {
    for behaviour in [Behaviour::Silent, Behaviour::Drip(b"HTTP/1.1 402 ".to_vec())] {
        let refused = ask(Leaf::Honest, HOST, behaviour).await.unwrap_err();
        assert_eq!(refused.code, RefusedCode::FirstByteTimeout);
        assert_eq!(refused.chain.len(), 1, "the chain is evidence all the same");
    }
}

#[tokio::test]
async fn heads_are_capped_and_large_ones_are_marked() {
    let head = |size: usize| format!("HTTP/1.1 402 X\r\nA: {}\r\nContent-Length: 0\r\n\r\n", "a".repeat(size));
    let fits = say(&head(40_000)).await.unwrap();
    assert!(fits.flags.contains(&TransportFlag::HeadAbove8KiB) && fits.flags.contains(&TransportFlag::HeadAbove16KiB));
    assert_eq!(refused(&head(90_000)).await, RefusedCode::HeadTooLarge);
    let many: String = (0..5_000).map(|n| format!("X-{n}: 1\r\n")).collect();
    assert_eq!(refused(&format!("HTTP/1.1 402 X\r\n{many}\r\n")).await, RefusedCode::HeadTooLarge);
    let endless = Behaviour::Flood(b"HTTP/1.1 402 X\r\nA: ".to_vec(), 100 << 20);
    assert_eq!(ask(Leaf::Honest, HOST, endless).await.unwrap_err().code, RefusedCode::HeadTooLarge);
}

#[tokio::test]
async fn ambiguous_or_broken_responses_are_refused() {
    use RefusedCode as C;
    let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(1000);
    for (bytes, code) in [
        (
            "HTTP/1.1 402 X\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            C::LengthAndChunked,
        ),
        ("HTTP/1.1 402 X\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde", C::LengthConflict),
        ("HTTP/1.1 402 X\r\nX-Bad: a\0b\r\nContent-Length: 0\r\n\r\n", C::ControlInHead),
        ("HTTP/1.1 402 X\r\nFoo : 1\r\nContent-Length: 2\r\n\r\nok", C::HeadMalformed),
        ("<html>hello</html>", C::NotHttp),
        ("HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", C::SwitchingProtocols),
        ("HTTP/1.1 402 X\r\nA: b", C::ClosedEarly),
        ("", C::ClosedEarly),
        (&interim, C::TooManyInterim),
    ] {
        assert_eq!(refused(bytes).await, code, "{}", &bytes[..bytes.len().min(70)]);
    }
}

#[tokio::test]
async fn lies_about_length_are_marked() {
    let short = say("HTTP/1.1 402 X\r\nContent-Length: 100\r\n\r\nabc").await.unwrap();
    assert_eq!((short.body.as_slice(), short.body_complete), (&b"abc"[..], false));
    assert!(short.flags.contains(&TransportFlag::BodyShort));
    let long = say("HTTP/1.1 402 X\r\nContent-Length: 3\r\n\r\nabcdefgh").await.unwrap();
    assert_eq!((long.body.as_slice(), long.body_complete), (&b"abc"[..], true));
    assert!(long.flags.contains(&TransportFlag::BodyLong));
    let lf = say("HTTP/1.1 402 X\nContent-Length: 2\n\nok").await.unwrap();
    assert!(lf.flags.contains(&TransportFlag::BareLf) && !lf.flags.contains(&TransportFlag::BodyLong));
}

#[tokio::test]
async fn a_redirect_is_recorded_and_not_followed() {
    let answer = say("HTTP/1.1 302 F\r\nLocation: https://10.0.0.1/\r\nContent-Length: 0\r\n\r\n").await.unwrap();
    assert_eq!(answer.status, 302);
    assert!(answer.headers.contains(&("location".to_owned(), b"https://10.0.0.1/".to_vec())));
}

#[tokio::test]
async fn a_refused_certificate_is_named_and_kept() {
    let (expired, other) = ("the certificate expired at 2021-01-01T00:00:00Z", "the certificate is not for ");
    let unknown = "no authority that this door trusts issued the certificate";
    for (leaf, name, code, sentence) in [
        (Leaf::Expired, HOST, RefusedCode::CertificateExpired, expired.to_owned()),
        (Leaf::Honest, "other.localhost", RefusedCode::CertificateWrongHost, format!("{other}{HOST}")),
        (Leaf::SelfSigned, HOST, RefusedCode::CertificateUntrusted, unknown.to_owned()),
    ] {
        let refused = ask(leaf, name, Behaviour::Echo).await.unwrap_err();
        assert_eq!((refused.code, refused.chain.len(), refused.detail), (code, 1, sentence));
    }
}

#[tokio::test]
async fn the_certificate_is_judged_at_the_given_instant() {
    let authority = Authority::new().unwrap();
    let acceptor = authority.acceptor(&[HOST], Leaf::Expired).unwrap();
    let server = Server::start(acceptor, Behaviour::Echo).await.unwrap();
    let request = Request { url: url(server.port()), method: Method::Get, body: None };
    let door = lab(&authority, Limits::default());
    let at = |text: &str| Timestamp::parse(text).unwrap();
    assert!(door.fetch(&request, at("2020-06-01T00:00:00Z")).await.is_ok());
    let early = door.fetch(&request, at("2019-06-01T00:00:00Z")).await.unwrap_err();
    assert_eq!(early.code, RefusedCode::CertificateNotYetValid);
    assert_eq!(early.detail, "the certificate is not valid before 2020-01-01T00:00:00Z");
}

#[tokio::test]
async fn both_lab_switches_are_needed_and_off_by_default() {
    let authority = Authority::new().unwrap();
    let acceptor = authority.acceptor(&[HOST], Leaf::Honest).unwrap();
    let server = Server::start(acceptor, Behaviour::Echo).await.unwrap();
    let request = Request { url: url(server.port()), method: Method::Get, body: None };
    let strict = Door::new(DoorConfig::default()).fetch(&request, NOW).await.unwrap_err();
    assert_eq!((strict.code, strict.chain.len()), (RefusedCode::AddressRefused, 0));
    let loopback = Door::new(DoorConfig { allow_loopback: true, ..DoorConfig::default() });
    let refused = loopback.fetch(&request, NOW).await.unwrap_err();
    assert_eq!((refused.code, refused.chain.len()), (RefusedCode::CertificateUntrusted, 1));
}

#[tokio::test]
async fn a_bad_root_closes_the_door() {
    let door = Door::new(DoorConfig { extra_roots: vec![vec![1, 2, 3].into()], ..DoorConfig::default() });
    let request = Request { url: url(8443), method: Method::Get, body: None };
    assert_eq!(door.fetch(&request, NOW).await.unwrap_err().code, RefusedCode::RootsUnusable);
}

#[test]
fn a_file_of_roots_is_read_or_explained() {
    let authority = Authority::new().unwrap();
    assert_eq!(roots_from_pem(authority.pem().as_bytes()), Ok(vec![authority.root()]));
    assert_eq!(roots_from_pem(b""), Err(RootsError::Empty));
    let broken = b"-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n";
    assert!(matches!(roots_from_pem(broken), Err(RootsError::NotPem(_))));
    let no_cert = b"-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n";
    assert!(matches!(roots_from_pem(no_cert), Err(RootsError::Unusable(_))));
}

/// Sixty-four bad servers at once: each ends in its own way, in time, with no more than a capped body in hand.
#[tokio::test]
async fn many_hostile_servers_at_once_end_within_the_deadline() {
    let started = Instant::now();
    let mut looks = tokio::task::JoinSet::new();
    for number in 0..64 {
        let head = b"HTTP/1.1 402 X\r\n\r\n".to_vec();
        let behaviour = match number % 3 {
            0 => Behaviour::Flood(head, 100 << 20),
            1 => Behaviour::Drip(head),
            _ => Behaviour::Silent,
        };
        looks.spawn(ask(Leaf::Honest, HOST, behaviour));
    }
    let held: usize = looks.join_all().await.into_iter().flatten().map(|answer| answer.body.len()).sum();
    assert!(held <= 64 << 20, "{held}");
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}
