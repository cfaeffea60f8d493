//! Configured services on loopback, over http and https, right and wrong.
#![expect(clippy::disallowed_methods, reason = "tests are their own configuration")]

use std::time::Duration;

use super::*;
use crate::testkit::{Authority, Behaviour, Leaf, Server};

/// 2026-09-01, inside the validity of an honest leaf.
const NOW: Timestamp = Timestamp::from_seconds(1_788_253_200);

fn services(roots: &[CertificateDer<'static>]) -> Services {
    Services::new(roots, Limits { first_byte: Duration::from_millis(800), body: 100_000, ..Limits::default() }).unwrap()
}

async fn http(behaviour: Behaviour, call: &Call<'_>) -> Result<Reply, ServiceError> {
    let server = Server::start_http(behaviour).await.unwrap();
    let url = ConfiguredUrl::from_configuration(&format!("http://127.0.0.1:{}/a?key=1", server.port())).unwrap();
    services(&[]).call(&url.below("checkpoint").unwrap(), call, NOW).await
}

fn say(text: &str) -> Behaviour {
    Behaviour::Say(text.into())
}

#[tokio::test]
async fn http_on_a_private_address_is_served_with_nothing_more_than_asked() {
    let get = http(Behaviour::Echo, &Call::get("text/plain")).await.unwrap();
    let seen = String::from_utf8(get.body).unwrap();
    let lines: Vec<&str> = seen.trim_end().split("\r\n").collect();
    assert_eq!((get.status, lines[0]), (402, "GET /a/checkpoint?key=1 HTTP/1.1"));
    assert!(lines[1].starts_with("host: 127.0.0.1:"));
    let agent = concat!("user-agent: countersign/", env!("CARGO_PKG_VERSION"));
    assert_eq!(lines[2..], [agent, "accept-encoding: identity", "connection: close", "accept: text/plain"]);
    let post = Call::post("text/plain", "text/x-checkpoint", b"old 1\n".to_vec());
    let seen = String::from_utf8(http(Behaviour::Echo, &post).await.unwrap().body).unwrap();
    assert!(seen.starts_with("POST /a/checkpoint?key=1 HTTP/1.1\r\n"), "{seen}");
    assert!(seen.contains("content-type: text/x-checkpoint\r\n") && seen.contains("content-length: 6\r\n"), "{seen}");
}

/// A client library signs its own head, and cannot say how the request is carried.
#[tokio::test]
async fn a_head_made_elsewhere_is_sent_and_carried_as_any_other() {
    let server = Server::start_http(Behaviour::Echo).await.unwrap();
    let url = ConfiguredUrl::from_configuration(&format!("http://127.0.0.1:{}/bucket/tile/0/000", server.port()));
    let request = hyper::Request::put("https://elsewhere.example/")
        .header("x-amz-date", "20260901T090000Z")
        .header("if-none-match", "*")
        .header("host", "elsewhere.example")
        .header("connection", "keep-alive")
        .header("transfer-encoding", "chunked")
        .body(Bytes::from_static(b"tile"))
        .unwrap();
    let got = services(&[]).exchange(&url.unwrap(), &request, NOW).await.unwrap();
    let seen = String::from_utf8(got.into_body()).unwrap();
    let mut lines: Vec<&str> = seen.trim_end().split("\r\n").collect();
    assert_eq!(lines.remove(0), "PUT /bucket/tile/0/000 HTTP/1.1");
    assert!(lines.remove(0).starts_with("host: 127.0.0.1:"));
    let agent = concat!("user-agent: countersign/", env!("CARGO_PKG_VERSION"));
    let ours = [agent, "accept-encoding: identity", "connection: close"];
    assert_eq!(
        lines,
        [&ours[..], &["x-amz-date: 20260901T090000Z", "if-none-match: *", "content-length: 4", "", "tile"]].concat()
    );
}

#[tokio::test]
async fn https_is_proved_against_the_configured_roots() {
    let authority = Authority::new().unwrap();
    for (leaf, name, roots, expected) in [
        (Leaf::Honest, "localhost", vec![authority.root()], Ok(402)),
        (Leaf::Honest, "127.0.0.1", vec![authority.root()], Ok(402)),
        (Leaf::Honest, "localhost", vec![], Err(RefusedCode::CertificateUntrusted)),
        (Leaf::Honest, "other.localhost", vec![authority.root()], Err(RefusedCode::CertificateWrongHost)),
        (Leaf::Expired, "localhost", vec![authority.root()], Err(RefusedCode::CertificateExpired)),
        (Leaf::SelfSigned, "localhost", vec![authority.root()], Err(RefusedCode::CertificateUntrusted)),
    ] {
        let server = Server::start(authority.acceptor(&[name], leaf).unwrap(), Behaviour::Echo).await.unwrap();
        let host = if name == "127.0.0.1" { name } else { "localhost" };
        let url = ConfiguredUrl::from_configuration(&format!("https://{host}:{}/", server.port())).unwrap();
        let got = services(&roots).call(&url, &Call::get("*/*"), NOW).await;
        let got = got.map(|reply| reply.status).map_err(|error| error.fault);
        assert_eq!(got, expected.map_err(Fault::Refused), "{leaf:?} {name}");
    }
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let elsewhere = Server::start_http(Behaviour::Echo).await.unwrap();
    let head =
        format!("HTTP/1.1 307 T\r\nLocation: http://127.0.0.1:{}/\r\nContent-Length: 0\r\n\r\n", elsewhere.port());
    assert_eq!(http(say(&head), &Call::get("*/*")).await.unwrap().status, 307);
    assert_eq!(elsewhere.connections(), 0);
}

/// The operator is trusted, the answer is not: half an answer is none.
#[tokio::test]
async fn a_service_that_misbehaves_is_named_and_kept_within_its_caps() {
    use Fault::{Body, Refused};
    let ok = say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    assert_eq!(http(ok, &Call::get("*/*")).await.unwrap().body, b"ok", "positive control");
    for (behaviour, fault) in [
        (Behaviour::Silent, Refused(RefusedCode::FirstByteTimeout)),
        (say(""), Refused(RefusedCode::ClosedEarly)),
        (say("SSH-2.0-x\r\n"), Refused(RefusedCode::NotHttp)),
        (say("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nx"), Body(TransportFlag::ContentEncoding)),
        (say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"), Body(TransportFlag::BodyShort)),
        (Behaviour::Flood(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), 100 << 20), Body(TransportFlag::BodyCapped)),
        (Behaviour::Drip(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()), Body(TransportFlag::BodySlow)),
    ] {
        let told = format!("{behaviour:?}");
        let error = http(behaviour, &Call::get("*/*")).await.unwrap_err();
        assert_eq!(error.fault, fault, "{}", &told[..told.len().min(60)]);
        assert!(!error.to_string().contains("key=1"), "{error}");
    }
}

#[tokio::test]
async fn nobody_listening_is_said() {
    let url = ConfiguredUrl::from_configuration("http://127.0.0.1:1/").unwrap();
    let error = services(&[]).call(&url, &Call::get("*/*"), NOW).await.unwrap_err();
    assert_eq!((error.fault.as_str(), error.origin.as_str()), ("connect_failed", "http://127.0.0.1:1"));
}
