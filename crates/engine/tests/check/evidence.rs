//! What a check keeps, so that anybody can read again what was received.

use countersign_core::offer::{self, BodyEnd, Exchange};
use sha2::{Digest, Sha256};

use super::*;

/// The documents that the decision names, in their order; each is found under the hash of its bytes.
async fn kept(world: &World, decision: &Value) -> Vec<Value> {
    let mut documents = Vec::new();
    for sha256 in decision["evidence"]["evidence_sha256"].as_array().unwrap() {
        let bytes = world.store.evidence(sha256.as_str().unwrap()).await.unwrap().unwrap();
        assert_eq!(sha256, &json!(hex::encode(Sha256::digest(&bytes))));
        documents.push(serde_json::from_slice(&bytes).unwrap());
    }
    documents
}

fn bytes(document: &Value, member: &str) -> Vec<u8> {
    hex::decode(document[member].as_str().unwrap()).unwrap()
}

/// The lines of the last head, as `docs/evidence.md` says that they are read.
fn lines(heads: &[u8]) -> Vec<(String, Vec<u8>)> {
    let text = String::from_utf8(heads.to_vec()).unwrap();
    let last = text.trim_end().rsplit("\r\n\r\n").next().unwrap();
    let fields = last.split("\r\n").skip(1).map(|line| line.split_once(':').unwrap());
    fields.map(|(name, value)| (name.to_lowercase(), value.trim().as_bytes().to_vec())).collect()
}

/// An interim answer first, names in another case and another order than a map would have them.
fn odd() -> Vec<u8> {
    let plain = String::from_utf8(challenged(b"")).unwrap();
    let mixed = plain.replacen("\r\n", "\r\nX-Z: 1\r\nX-A:  2\r\nX-Z: 3\r\n", 1);
    format!("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n{mixed}").into_bytes()
}

#[tokio::test]
async fn the_same_reading_can_be_made_again_from_what_is_kept() {
    let world = World::new().await;
    let (_server, request) = world.seller("x", odd()).await;
    let said = world.check(&request).await.document;
    let [of_url, beside] = &kept(&world, &said).await[..] else { panic!("the URL and a path beside it") };
    assert_eq!([bytes(of_url, "head"), bytes(of_url, "body")].concat(), odd(), "byte for byte");
    assert!(bytes(of_url, "sent").starts_with(b"GET /paid HTTP/1.1\r\nhost: x.localhost:"));
    let reading = offer::read(&Exchange {
        url: of_url["url"].as_str().unwrap(),
        method: of_url["method"].as_str().unwrap(),
        status: 402,
        headers: &lines(&bytes(of_url, "head")),
        body: &bytes(of_url, "body"),
        body_end: BodyEnd::Whole,
        seen_at: NOW,
        keys: &[],
    });
    let quote = reading.quote.as_ref().and_then(|quote| quote.sha256());
    assert!(quote.is_some());
    assert_eq!((json!(quote), json!(reading.word)), (said["quote_sha256"].clone(), said["word"].clone()));
    let head = "HTTP/1.1 404 Not Found\r\n";
    assert!(bytes(beside, "head").starts_with(head.as_bytes()), "{beside}");
}

#[tokio::test]
async fn a_head_that_was_refused_is_kept_too() {
    let world = World::new().await;
    let head = "HTTP/1.1 402 X\r\nno colon\r\n\r\n";
    let (_server, request) = world.seller("x", head.into()).await;
    let said = world.check(&request).await.document;
    let of_url = &kept(&world, &said).await[0];
    assert_eq!((&of_url["refused"], bytes(of_url, "received")), (&json!("head_malformed"), head.into()));
    assert_eq!(of_url["certificates"].as_array().unwrap().len(), 1);
}
