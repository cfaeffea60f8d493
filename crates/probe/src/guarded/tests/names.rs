//! The whole door with names of our own name server: only an address that was judged is dialled.
//!
//! Addresses that tests can serve from are loopback, so these doors pretend that one of them is public.

use std::net::IpAddr;

use super::*;
use crate::testkit::dns::{NameServer, Reply, a};

/// A port on which nobody listens: allowed for sellers, and never given out by the system for port 0 (above 32767).
const CLOSED: u16 = 1025;

fn door_at(server: &NameServer, authority: &Authority, pretended: &[&str]) -> Door {
    let mut door = Door::new(DoorConfig {
        extra_roots: vec![authority.root()],
        name_server: Some(server.address()),
        ..DoorConfig::default()
    });
    door.judge.pretended = pretended.iter().map(|text| text.parse().unwrap()).collect();
    door
}

fn get(host: &str, port: u16) -> Request {
    let url = ResourceUrl::parse(&format!("https://{host}:{port}/paid")).unwrap();
    Request { url, method: Method::Get, body: None }
}

/// A second address of this machine, and a server on it. Linux gives all of 127.0.0.0/8 to loopback.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_name_that_turns_after_it_was_judged_is_dialled_at_the_judged_address() {
    let authority = Authority::new().unwrap();
    let acceptor = authority.acceptor(&["turn.example"], Leaf::Honest).unwrap();
    let honest = Server::start_at("127.0.0.2", acceptor, Behaviour::Echo).await.unwrap();
    let turns = vec![Reply::records([a("127.0.0.2")]), Reply::records([a("127.0.0.1")])];
    let names = NameServer::start([("turn.example".to_owned(), turns)]).await.unwrap();
    let door = door_at(&names, &authority, &["127.0.0.2"]);
    let first = door.fetch(&get("turn.example", honest.port()), NOW).await.unwrap();
    assert_eq!(first.peer.ip(), "127.0.0.2".parse::<IpAddr>().unwrap());
    assert_eq!(names.asked("turn.example"), 2, "one question for each family, and none after the judgement");
    assert!(String::from_utf8(first.body).unwrap().contains("host: turn.example:"));
    let second = door.fetch(&get("turn.example", honest.port()), NOW).await.unwrap_err();
    assert_eq!((second.code, second.chain.len()), (RefusedCode::AddressRefused, 0));
}

/// The certificate must be the name's own, whatever the address; the host that was asked for is what is proved.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_alias_is_proved_under_the_name_in_the_url() {
    use crate::testkit::dns::cname;
    let authority = Authority::new().unwrap();
    let acceptor = authority.acceptor(&["target.example"], Leaf::Honest).unwrap();
    let server = Server::start_at("127.0.0.2", acceptor, Behaviour::Echo).await.unwrap();
    let alias = Reply::records([cname("target.example"), a("127.0.0.2").of("target.example")]);
    let zone = [("alias.example", alias), ("target.example", Reply::records([a("127.0.0.2")]))]
        .map(|(name, reply)| (name.to_owned(), vec![reply]));
    let names = NameServer::start(zone).await.unwrap();
    let door = door_at(&names, &authority, &["127.0.0.2"]);
    assert!(door.fetch(&get("target.example", server.port()), NOW).await.is_ok(), "positive control");
    let refused = door.fetch(&get("alias.example", server.port()), NOW).await.unwrap_err();
    assert_eq!(refused.code, RefusedCode::CertificateWrongHost);
}

/// A public address of this very machine is still this machine.
#[tokio::test]
async fn this_machine_is_not_dialled_under_a_public_address() {
    let authority = Authority::new().unwrap();
    let acceptor = authority.acceptor(&["self.example"], Leaf::Honest).unwrap();
    let server = Server::start(acceptor, Behaviour::Echo).await.unwrap();
    let names = NameServer::start([("self.example".to_owned(), vec![Reply::records([a("127.0.0.1")])])]).await.unwrap();
    let refused =
        door_at(&names, &authority, &["127.0.0.1"]).fetch(&get("self.example", server.port()), NOW).await.unwrap_err();
    assert_eq!((refused.code, refused.chain.len()), (RefusedCode::AddressRefused, 0));
    assert!(refused.detail.contains("this machine"), "{}", refused.detail);
}

/// Configuration may close what the tables leave open, and it comes first.
#[tokio::test]
async fn a_block_denied_by_configuration_is_refused_before_anything_is_dialled() {
    let authority = Authority::new().unwrap();
    let zone = [("near.example".to_owned(), vec![Reply::records([a("127.0.0.3")])])];
    let names = NameServer::start(zone).await.unwrap();
    let config = DoorConfig {
        name_server: Some(names.address()),
        extra_roots: vec![authority.root()],
        deny: vec!["127.0.0.3/32".parse().unwrap()],
        ..DoorConfig::default()
    };
    let mut door = Door::new(config);
    door.judge.pretended = vec!["127.0.0.3".parse().unwrap()];
    let refused = door.fetch(&get("near.example", CLOSED), NOW).await.unwrap_err();
    assert_eq!(refused.code, RefusedCode::AddressRefused);
    assert!(refused.detail.contains("denied by configuration"), "{}", refused.detail);
    let open = door_at(&names, &authority, &["127.0.0.3"]);
    let dialled = open.fetch(&get("near.example", CLOSED), NOW).await.unwrap_err();
    assert_eq!(dialled.code, RefusedCode::ConnectFailed, "positive control: without the rule it is dialled");
}

/// The lab switch opens `.localhost` and nothing else: a name in DNS may not mean loopback even then.
#[tokio::test]
async fn the_lab_switch_opens_no_name_of_dns() {
    let names = NameServer::start([("in.example".to_owned(), vec![Reply::records([a("127.0.0.1")])])]).await.unwrap();
    let config = DoorConfig { allow_loopback: true, name_server: Some(names.address()), ..DoorConfig::default() };
    let refused = Door::new(config).fetch(&get("in.example", 8443), NOW).await.unwrap_err();
    assert_eq!(refused.code, RefusedCode::AddressRefused);
    assert_eq!(names.asked("in.example"), 2);
}

/// A seller with one machine down is reached at another, as a client that pays would reach it; not at the fourth.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_address_that_refuses_gives_way_to_the_next_judged_one() {
    let authority = Authority::new().unwrap();
    let acceptor = authority.acceptor(&["two.example", "four.example"], Leaf::Honest).unwrap();
    let server = Server::start_at("127.0.0.2", acceptor, Behaviour::Echo).await.unwrap();
    let down = || ["127.0.0.3", "127.0.0.4", "127.0.0.5"].map(a).to_vec();
    let zone = [
        ("two.example", vec![a("127.0.0.3"), a("127.0.0.2")]),
        ("four.example", [down(), vec![a("127.0.0.2")]].concat()),
    ]
    .map(|(name, records)| (name.to_owned(), vec![Reply::records(records)]));
    let names = NameServer::start(zone).await.unwrap();
    let door = door_at(&names, &authority, &["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"]);
    let answer = door.fetch(&get("two.example", server.port()), NOW).await.unwrap();
    assert_eq!(answer.peer.ip(), "127.0.0.2".parse::<IpAddr>().unwrap(), "the one that answered is named");
    let refused = door.fetch(&get("four.example", server.port()), NOW).await.unwrap_err();
    assert_eq!(refused.code, RefusedCode::ConnectFailed);
    assert!(refused.detail.starts_with("127.0.0.5:"), "{}", refused.detail);
}
