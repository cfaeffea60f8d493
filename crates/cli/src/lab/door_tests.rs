//! The real door against every seller: refusals carry the code that the table promises, all others give an answer.

use super::{Kind, Lab, Seller, sellers, start};
use countersign_core::endpoint::ResourceUrl;
use countersign_core::time::Timestamp;
use countersign_core::{address, asset, network};
use countersign_probe::{Answer, Door, DoorConfig, Method, Refused, Request};
use std::sync::Arc;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;

/// The door judges certificates at this instant, whatever the machine's clock says.
const NOW: Timestamp = Timestamp::from_seconds(1_790_000_000);

fn door(lab: &Lab) -> Arc<Door> {
    let extra_roots = vec![CertificateDer::from_pem_slice(lab.ca_pem.as_bytes()).unwrap()];
    Arc::new(Door::new(DoorConfig { allow_loopback: true, extra_roots, ..DoorConfig::default() }))
}

async fn knock(door: &Door, url: &str, method: Method) -> Result<Answer, Refused> {
    let url = ResourceUrl::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
    door.fetch(&Request { url, method, body: None }, NOW).await
}

/// What the door says of a seller, in one word: the status, or the refusal.
async fn word(door: &Door, url: &str) -> String {
    if let Err(error) = ResourceUrl::parse(url) {
        return error.code().to_owned();
    }
    match knock(door, url, Method::Get).await {
        Ok(answer) => answer.status.to_string(),
        Err(refused) => refused.code.as_str().to_owned(),
    }
}

#[tokio::test]
async fn the_door_refuses_whom_the_table_says_and_hears_everybody_else() {
    let lab = start(0, NOW).unwrap();
    let door = door(&lab);
    let mut visits = tokio::task::JoinSet::new();
    for seller in sellers() {
        let (door, url) = (Arc::clone(&door), lab.url(seller));
        visits.spawn(async move { (seller, word(&door, &url).await) });
    }
    let wrong: Vec<_> = visits.join_all().await.into_iter().filter(|(seller, word)| !promised(seller, word)).collect();
    let lines: Vec<_> = wrong.iter().map(|(seller, word)| format!("{} {word}", seller.name)).collect();
    assert!(lines.is_empty(), "{lines:#?}");
}

fn promised(seller: &Seller, word: &str) -> bool {
    match seller.expect.refused {
        Some(code) => word == code,
        None if seller.kind == Kind::Honest => word == "402" || (seller.name == "honest-post" && word == "405"),
        None => word.len() == 3,
    }
}

#[test]
fn the_near_copies_are_near_and_the_honest_addresses_right() {
    let base = network::Network::parse_caip2(super::challenge::BASE).unwrap();
    assert!(asset::lookup(&base, super::challenge::USDC).is_some());
    assert!(asset::look_alike(&base, "0x8335000000000000000000000000000000002913").is_some());
    assert!(asset::look_alike(&base, "0x5afe00000000000000000000000000000000c0de").is_none());
    let checked = address::check(network::Family::Evm, super::challenge::PAYEE).unwrap();
    assert_eq!(checked.checksum, address::Checksum::Right);
}
