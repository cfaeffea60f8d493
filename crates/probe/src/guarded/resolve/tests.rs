//! The resolver against a name server of our own: what each kind of answer comes to.

use std::sync::Arc;

use super::*;
use crate::testkit::dns::{NameServer, Reply, a, aaaa, cname};

fn chosen(texts: &[&str]) -> Result<String, RefusedCode> {
    let answers: Vec<IpAddr> = texts.iter().map(|text| text.parse().unwrap()).collect();
    outcome(choose(&answers, &Judge::default()))
}

/// The addresses in the order of dialling, with a space between them.
fn outcome(result: Result<Vec<Judged>, Failure>) -> Result<String, RefusedCode> {
    let spelled = |judged: Vec<Judged>| judged.iter().map(|judged| judged.ip().to_string()).collect::<Vec<_>>();
    result.map(|judged| spelled(judged).join(" ")).map_err(|failure| failure.code)
}

async fn ask(server: &NameServer, host: &str) -> Result<String, RefusedCode> {
    let dns = resolver(Some(server.address()));
    outcome(resolve(dns.as_ref(), host, false, &Judge::default()).await)
}

#[test]
fn one_bad_answer_refuses_them_all() {
    let both = Ok("8.8.8.8 2606:4700::1111".into());
    assert_eq!(chosen(&["2606:4700::1111", "8.8.8.8"]), both, "positive control");
    assert_eq!(chosen(&["9.9.9.9", "8.8.8.8"]), Ok("9.9.9.9 8.8.8.8".into()), "in the name server's order");
    assert_eq!(chosen(&["2606:4700::1111"]), Ok("2606:4700::1111".into()));
    assert_eq!(chosen(&["::ffff:8.8.8.8"]), Ok("8.8.8.8".into()), "dialled as the address it stands for");
    assert_eq!(chosen(&["8.8.8.8", "10.0.0.1"]), Err(RefusedCode::AddressMixed));
    assert_eq!(chosen(&["8.8.8.8", "fd00:ec2::254"]), Err(RefusedCode::AddressMixed));
    assert_eq!(chosen(&["127.0.0.1"]), Err(RefusedCode::AddressRefused), "a public name may not mean loopback");
    assert_eq!(chosen(&["127.0.0.1", "10.0.0.1"]), Err(RefusedCode::AddressRefused));
    assert_eq!(chosen(&[]), Err(RefusedCode::NoAddress));
    assert_eq!(chosen(&["8.8.8.8"; 16]), Ok("8.8.8.8".into()));
    assert_eq!(chosen(&["8.8.8.8"; 17]), Err(RefusedCode::TooManyAddresses));
}

/// Behind a translator the machine may have no IPv4 of its own (RFC 6147 5.1 keeps the A record beside the made one).
#[test]
fn ipv6_goes_first_where_the_network_translates() {
    let judge = Judge::new(Vec::new(), vec!["64:ff9b::/96".parse().unwrap()]);
    let chosen = |texts: [&str; 2]| outcome(choose(&texts.map(|text| text.parse().unwrap()), &judge));
    assert_eq!(chosen(["8.8.8.8", "64:ff9b::808:808"]), Ok("64:ff9b::808:808 8.8.8.8".into()));
    assert_eq!(chosen(["8.8.8.8", "9.9.9.9"]), Ok("8.8.8.8 9.9.9.9".into()), "where there is one");
    assert_eq!(chosen(["8.8.8.8", "64:ff9b::a00:1"]), Err(RefusedCode::AddressMixed));
}

#[test]
fn localhost_needs_the_flag_and_only_the_real_suffix_counts() {
    assert_eq!(outcome(local("a.localhost", true)), Ok("127.0.0.1".into()));
    assert_eq!(outcome(local("a.localhost", false)), Err(RefusedCode::AddressRefused));
    assert!(is_local("localhost") && is_local("seller.localhost"));
    assert!(!is_local("notlocalhost") && !is_local("localhost.example.com"));
}

/// Every name is looked up over the wire: what the name server says on the left, what it comes to on the right.
#[tokio::test]
async fn every_kind_of_answer_has_its_own_word() {
    use RefusedCode as C;
    let long = "a.".repeat(3) + "chain.example";
    let rows: Vec<(&str, Reply, Result<&str, C>)> = vec![
        ("v4.example", Reply::records([a("8.8.8.8")]), Ok("8.8.8.8")),
        ("v6.example", Reply::records([aaaa("2606:4700::1111")]), Ok("2606:4700::1111")),
        ("both.example", Reply::records([aaaa("2606:4700::1111"), a("8.8.8.8")]), Ok("8.8.8.8 2606:4700::1111")),
        ("alias.example", Reply::records([cname("v4.example"), a("8.8.8.8").of("v4.example")]), Ok("8.8.8.8")),
        ("bare-alias.example", Reply::records([cname("v4.example")]), Ok("8.8.8.8")),
        (
            "alias-in.example",
            Reply::records([cname("in.example"), a("10.0.0.1").of("in.example")]),
            Err(C::AddressRefused),
        ),
        ("bare-alias-in.example", Reply::records([cname("private.example")]), Err(C::AddressRefused)),
        (&long, Reply::records([cname("alias-in.example")]), Err(C::AddressRefused)),
        ("in.example", Reply::records([a("10.0.0.1")]), Err(C::AddressRefused)),
        ("private.example", Reply::records([a("10.0.0.1")]), Err(C::AddressRefused)),
        ("metadata.example", Reply::records([a("169.254.169.254")]), Err(C::AddressRefused)),
        ("mixed.example", Reply::records([a("8.8.8.8"), a("192.168.1.1")]), Err(C::AddressMixed)),
        ("mixed-families.example", Reply::records([a("8.8.8.8"), aaaa("fd00:ec2::254")]), Err(C::AddressMixed)),
        ("mapped.example", Reply::records([aaaa("::ffff:127.0.0.1")]), Err(C::AddressRefused)),
        ("compatible.example", Reply::records([aaaa("::127.0.0.1")]), Err(C::AddressRefused)),
        ("nat64.example", Reply::records([aaaa("64:ff9b::7f00:1")]), Err(C::AddressRefused)),
        ("6to4.example", Reply::records([aaaa("2002:7f00:1::")]), Err(C::AddressRefused)),
        ("teredo.example", Reply::records([aaaa("2001:0:7f00:1::")]), Err(C::AddressRefused)),
        ("empty.example", Reply::records([]), Err(C::NoAddress)),
        ("missing.example", Reply::NxDomain, Err(C::NameNotFound)),
        ("servfail.example", Reply::ServFail, Err(C::Dns)),
        ("refused.example", Reply::Refused, Err(C::Dns)),
        ("silent.example", Reply::Silence, Err(C::DnsTimeout)),
        ("garbage.example", Reply::Garbage, Err(C::DnsTimeout)),
        ("sixteen.example", Reply::records(vec![a("8.8.8.8"); 16]), Ok("8.8.8.8")),
        ("seventeen.example", Reply::records(vec![a("8.8.8.8"); 17]), Err(C::TooManyAddresses)),
        ("thousand.example", Reply::records(vec![a("8.8.8.8"); 1000]), Err(C::TooManyAddresses)),
    ];
    let server = NameServer::start(rows.iter().map(|(name, reply, _)| ((*name).to_owned(), vec![reply.clone()])));
    let server = server.await.unwrap();
    let server = Arc::new(server);
    let mut looks = tokio::task::JoinSet::new();
    for (name, _, expected) in rows {
        let (server, name, expected) = (Arc::clone(&server), name.to_owned(), expected.map(str::to_owned));
        looks.spawn(async move { (ask(&server, &name).await, expected, name) });
    }
    let wrong: Vec<_> = looks.join_all().await.into_iter().filter(|(got, expected, _)| got != expected).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What a person reads: a sentence about the name, and nothing of the machinery that asked.
#[tokio::test]
async fn a_failed_look_up_is_told_in_a_sentence() {
    let rows = [
        ("missing.example", Reply::NxDomain, "there is no name missing.example"),
        ("empty.example", Reply::records([]), "empty.example has no address"),
        ("servfail.example", Reply::ServFail, "the name server failed to look up servfail.example"),
        ("refused.example", Reply::Refused, "the name server refuses to look up refused.example"),
        ("silent.example", Reply::Silence, "the name server did not answer in time"),
        ("private.example", Reply::records([a("10.0.0.1")]), "10.0.0.1 is in 10.0.0.0/8 (private)"),
    ];
    let zone = rows.clone().map(|(name, reply, _)| (name.to_owned(), vec![reply]));
    let server = NameServer::start(zone).await.unwrap();
    let dns = resolver(Some(server.address()));
    for (name, _, sentence) in rows {
        let failure = resolve(dns.as_ref(), name, false, &Judge::default()).await.unwrap_err();
        assert_eq!(failure.into_detail(), sentence);
    }
    let unasked = explain("a.example", &NetError::from(std::io::Error::from(std::io::ErrorKind::ConnectionRefused)));
    assert_eq!(unasked.into_detail(), "the name server cannot be asked: connection refused");
}

/// Names that spell an address inside themselves are names like any other: what they resolve to is what counts.
#[tokio::test]
async fn names_of_metadata_services_are_judged_by_their_address() {
    let rows = [
        ("metadata.google.internal", "169.254.169.254"),
        ("metadata.tencentyun.com", "169.254.0.23"),
        ("metadata.packet.net", "192.80.8.124"),
        ("169.254.169.254.nip.io", "169.254.169.254"),
        ("app-169-254-169-254.nip.io", "169.254.169.254"),
        ("10-0-0-1.sslip.io", "10.0.0.1"),
        ("100.100.100.200.nip.io", "100.100.100.200"),
        ("192.0.0.192.nip.io", "192.0.0.192"),
    ];
    let zone = rows.map(|(name, address)| (name.to_owned(), vec![Reply::records([a(address)])]));
    let server = NameServer::start(zone).await.unwrap();
    for (name, address) in rows {
        let expected =
            if address == "192.80.8.124" { Ok(address.to_owned()) } else { Err(RefusedCode::AddressRefused) };
        assert_eq!(ask(&server, name).await, expected, "{name}");
    }
}

/// Nothing of one look-up serves the next: a name that turns is judged again, whatever its TTL says.
#[tokio::test]
async fn a_name_that_turns_between_look_ups_is_judged_each_time() {
    let turns = vec![Reply::records([a("8.8.8.8")]), Reply::records([a("127.0.0.1")])];
    let server = NameServer::start([("turn.example".to_owned(), turns)]).await.unwrap();
    assert_eq!(ask(&server, "turn.example").await, Ok("8.8.8.8".into()));
    assert_eq!(ask(&server, "turn.example").await, Err(RefusedCode::AddressRefused));
}

/// A loop of aliases ends by itself; a machine without name servers says so.
#[tokio::test]
async fn a_loop_of_aliases_ends() {
    let zone = [("a.example", "b.example"), ("b.example", "a.example")]
        .map(|(name, target)| (name.to_owned(), vec![Reply::records([cname(target)])]));
    let server = NameServer::start(zone).await.unwrap();
    let got = ask(&server, "a.example").await.unwrap_err();
    assert!([RefusedCode::Dns, RefusedCode::NoAddress].contains(&got), "{got}");
    let without = resolve(None, "a.example", false, &Judge::default()).await;
    assert_eq!(without.unwrap_err().code, RefusedCode::NoNameServer);
}
