//! The table holds together, honest replies say what they mean, and the floor serves over TLS.

use super::challenge::{Asked, BASE, PAYEE, USDC};
use super::sellers::Reply;
use super::{Kind, Looks, Seller, sellers, start};
use base64::Engine as _;
use countersign_core::time::Timestamp;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

fn named(name: &str) -> &'static Seller {
    sellers().iter().find(|seller| seller.name == name).unwrap_or_else(|| panic!("no seller {name}"))
}

fn hostile() -> impl Iterator<Item = &'static Seller> {
    sellers().iter().filter(|seller| seller.kind == Kind::Hostile)
}

fn asked(name: &str, method: &str) -> Asked {
    let host = format!("{name}.localhost");
    let (method, path) = (method.to_owned(), "/paid".to_owned());
    Asked { host, port: 8402, method, path, agent: String::new(), turn: 0 }
}

/// The whole reply of a seller that sends it at once.
fn raw(name: &str, method: &str) -> Vec<u8> {
    match named(name).reply {
        Reply::Whole(make) | Reply::Anywhere(make) => make(&asked(name, method)),
        other => panic!("{other:?}"),
    }
}

fn header(raw: &[u8], name: &str) -> String {
    let text = String::from_utf8_lossy(raw);
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {text}"));
    line[name.len() + 1..].trim().to_owned()
}

/// The JSON in the payment header.
fn challenge(raw: &[u8]) -> Value {
    let bytes = base64::engine::general_purpose::STANDARD.decode(header(raw, "PAYMENT-REQUIRED")).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn body(raw: &[u8]) -> Value {
    let at = raw.windows(4).rposition(|four| four == b"\r\n\r\n").unwrap() + 4;
    assert_eq!(header(raw, "Content-Length").parse::<usize>().unwrap(), raw.len() - at);
    serde_json::from_slice(&raw[at..]).unwrap()
}

#[test]
fn names_are_unique_and_are_host_labels() {
    let names: BTreeSet<_> = sellers().iter().map(|seller| seller.name).collect();
    assert_eq!(names.len(), sellers().len());
    let label = |name: &str| name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    for name in names {
        assert!(label(name) && name.len() <= 63 && !name.starts_with('-') && !name.ends_with('-'), "{name}");
    }
}

#[test]
fn at_least_forty_are_hostile_and_each_has_an_honest_twin() {
    assert!(hostile().count() >= 40, "{}", hostile().count());
    for seller in hostile() {
        assert_eq!(named(seller.twin).kind, Kind::Honest, "{}", seller.name);
    }
}

#[test]
fn honest_sellers_are_their_own_twins_and_payable() {
    for seller in sellers().iter().filter(|seller| seller.kind == Kind::Honest) {
        assert_eq!((seller.twin, seller.expect.word, seller.looks), (seller.name, Some("payable"), Looks::AtOnce(1)));
    }
}

#[test]
fn expectations_use_the_five_words_and_one_reason() {
    let words = ["payable", "payable_with_warnings", "not_payable", "mismatch", "not_evaluated"];
    for seller in sellers() {
        assert!(seller.expect.word.is_none_or(|word| words.contains(&word)), "{}", seller.name);
        assert!(seller.expect.word.is_some() || seller.expect.refused.is_some(), "{}", seller.name);
        assert!(seller.expect.rule.is_none() || seller.expect.refused.is_none(), "{}", seller.name);
        assert!(!seller.does.is_empty() && !seller.does.contains('\n'), "{}", seller.name);
    }
}

#[test]
fn the_v2_seller_asks_one_cent_of_usdc_on_base() {
    let challenge = challenge(&raw("honest-v2", "GET"));
    assert_eq!(challenge["x402Version"], 2);
    assert_eq!(challenge["resource"]["url"], "https://honest-v2.localhost:8402/paid");
    let offer = &challenge["accepts"][0];
    assert_eq!((&offer["amount"], &offer["network"]), (&"10000".into(), &BASE.into()));
    assert_eq!((&offer["asset"], &offer["payTo"]), (&USDC.into(), &PAYEE.into()));
}

#[test]
fn the_v1_seller_says_it_in_the_body() {
    let body = body(&raw("honest-v1", "GET"));
    assert_eq!(body["x402Version"], 1);
    assert_eq!(body["accepts"][0]["maxAmountRequired"], "10000");
    assert_eq!(body["accepts"][0]["network"], "base");
}

#[test]
fn both_halves_of_the_dual_seller_agree() {
    let raw = raw("honest-dual", "GET");
    let (header, body) = (challenge(&raw), body(&raw));
    assert_eq!(header["accepts"][0]["amount"], body["accepts"][0]["maxAmountRequired"]);
    assert_eq!(header["accepts"][0]["payTo"], body["accepts"][0]["payTo"]);
}

#[test]
fn the_post_seller_points_from_get_to_post() {
    let get = raw("honest-post", "GET");
    assert!(get.starts_with(b"HTTP/1.1 405 "));
    assert_eq!(header(&get, "Allow"), "POST");
    assert_eq!(challenge(&raw("honest-post", "POST"))["accepts"][0]["amount"], "10000");
}

#[test]
fn the_seller_of_several_networks_offers_three() {
    let challenge = challenge(&raw("honest-networks", "GET"));
    let networks: Vec<_> = challenge["accepts"].as_array().unwrap().iter().map(|offer| &offer["network"]).collect();
    assert_eq!(networks, ["eip155:8453", "eip155:137", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"]);
}

#[test]
fn the_chunked_seller_sends_the_v1_body_in_two_parts() {
    let raw = String::from_utf8(raw("honest-chunked", "GET")).unwrap();
    let parts: Vec<_> = raw.split("\r\n\r\n").nth(1).unwrap().split("\r\n").collect();
    let text = format!("{}{}", parts[1], parts[3]);
    assert_eq!(usize::from_str_radix(parts[0], 16).unwrap(), parts[1].len());
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["x402Version"], 1);
}

#[test]
fn every_other_honest_seller_asks_in_a_v2_header() {
    for name in ["honest-l402", "honest-lower", "honest-words", "honest-schema", "honest-interim", "honest-spaced"] {
        let challenge = challenge(&raw(name, "GET"));
        assert_eq!(challenge["accepts"][0]["amount"], "10000", "{name}");
    }
    assert_eq!(challenge(&raw("honest-dear", "GET"))["accepts"][0]["amount"], "1000000");
    assert!(raw("honest-ample", "GET").len() > 40_000);
}

#[test]
fn a_walking_price_grows_tenfold_and_stops() {
    let Reply::Whole(make) = named("price-walk").reply else { panic!("whole") };
    let at = |turn| {
        let raw = make(&Asked { turn, ..asked("price-walk", "GET") });
        challenge(&raw)["accepts"][0]["amount"].clone()
    };
    assert_eq!([at(0), at(1), at(2)], ["10000", "100000", "1000000"]);
    assert_eq!(at(u64::MAX), "1000000000");
}

#[test]
fn near_copies_keep_both_ends_and_the_length_of_an_address() {
    let challenge = challenge(&raw("poisoned-payee", "GET"));
    let copy = challenge["accepts"][1]["payTo"].as_str().unwrap().to_owned();
    let real = PAYEE.to_ascii_lowercase();
    assert_eq!((copy.len(), &copy[..6], &copy[38..]), (42, &real[..6], &real[38..]));
    assert_ne!(copy, real);
}

/// This client's verifier reads the machine's clock, so the lab starts at its time.
fn now() -> Timestamp {
    countersign_engine::env::Env::Real.now()
}

/// Connects to `name` as `host`, trusting only the lab, and returns all it says.
#[allow(clippy::disallowed_methods, reason = "a test of the server itself, with requests that the door never sends")]
async fn visit(port: u16, ca_pem: &str, name: &str, path: &str, host: &str) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca_pem.as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let server = ServerName::try_from(format!("{name}.localhost")).unwrap();
    let stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await?;
    let mut stream = TlsConnector::from(Arc::new(config)).connect(server, stream).await?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await?;
    let mut text = Vec::new();
    stream.read_to_end(&mut text).await?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[tokio::test]
async fn sellers_answer_over_tls_until_the_lab_is_dropped() {
    let lab = start(0, now()).unwrap();
    let (port, ca) = (lab.port, lab.ca_pem.clone());
    let url = lab.url(named("honest-v2"));
    assert_eq!(url, format!("https://honest-v2.localhost:{port}/paid"));
    let paid = visit(port, &ca, "honest-v2", "/paid", &format!("honest-v2.localhost:{port}")).await.unwrap();
    assert_eq!(challenge(paid.as_bytes())["resource"]["url"], url);
    drop(lab);
    tokio::task::yield_now().await;
    assert!(visit(port, &ca, "honest-v2", "/paid", "honest-v2.localhost").await.is_err());
}

#[tokio::test]
async fn only_the_asked_name_and_path_are_sold_except_by_the_wildcard() {
    let lab = start(0, now()).unwrap();
    let say = async |name: &str, path: &str, host: &str| visit(lab.port, &lab.ca_pem, name, path, host).await.unwrap();
    assert!(say("honest-v2", "/else", "honest-v2.localhost").await.starts_with("HTTP/1.1 404 "));
    assert!(say("honest-v2", "/paid", "cloaked.localhost").await.starts_with("HTTP/1.1 421 "));
    assert!(say("wildcard", "/else", "wildcard.localhost").await.starts_with("HTTP/1.1 402 "));
    for seller in sellers().iter().filter(|seller| seller.answers_anything() && seller.name != "wildcard") {
        let host = format!("{}.localhost", seller.name);
        assert!(say(seller.name, "/else", &host).await.starts_with("HTTP/1.1 404 "), "{}", seller.name);
    }
}

#[tokio::test]
async fn bad_certificates_are_bad_and_good_ones_good() {
    let lab = start(0, now()).unwrap();
    for name in ["other-certificate", "expired-certificate", "own-certificate", "no-tls"] {
        assert!(visit(lab.port, &lab.ca_pem, name, "/paid", name).await.is_err(), "{name}");
    }
    assert!(visit(lab.port, &lab.ca_pem, "honest-v1", "/paid", "honest-v1.localhost").await.is_ok());
}

#[tokio::test]
async fn a_second_look_sees_the_next_turn_and_one_at_another_path_takes_none() {
    let lab = start(0, now()).unwrap();
    let mut amounts = Vec::new();
    for _ in 0..2 {
        let beside = visit(lab.port, &lab.ca_pem, "price-walk", "/else", "price-walk.localhost").await.unwrap();
        assert!(beside.starts_with("HTTP/1.1 404 "));
        let text = visit(lab.port, &lab.ca_pem, "price-walk", "/paid", "price-walk.localhost").await.unwrap();
        amounts.push(challenge(text.as_bytes())["accepts"][0]["amount"].clone());
    }
    assert_eq!(amounts, ["10000", "100000"]);
}
