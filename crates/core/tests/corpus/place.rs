//! Method, status, URL.

use countersign_core::offer::{Grade, Interop, NotEvaluated, ReadingKind, Word};
use serde_json::{Value, json};

use crate::common::{Answer, entry, entry_1, only, rules, v1, v2, with};

/// Why there was nothing to grade, and what was found.
fn not_evaluated(status: u16) -> (Option<NotEvaluated>, Vec<&'static str>) {
    let reading = Answer::new(status).read();
    assert_eq!((reading.word, reading.offers.len()), (Word::NotEvaluated, 0), "{status}");
    let why = if let ReadingKind::NotEvaluated(why) = reading.kind { Some(why) } else { None };
    (why, rules(&reading))
}

/// Fails open, or is ungated: seen, and never read as a price of nothing.
#[test]
fn c22_c23_an_answer_without_payment() {
    assert_eq!(not_evaluated(200), (Some(NotEvaluated::Reachable200), vec!["http.ungated"]));
    assert_eq!(not_evaluated(204), (Some(NotEvaluated::Reachable200), vec!["http.ungated"]));
}

/// Grading the GET of an endpoint that sells by POST would be a false accusation; what to say instead is told.
#[test]
fn c24_a_method_that_is_not_answered() {
    assert_eq!(not_evaluated(405), (Some(NotEvaluated::MethodNotAllowed), vec!["http.method"]));
}

#[test]
fn c25_a_server_error_where_a_body_was_needed() {
    assert_eq!(not_evaluated(500), (Some(NotEvaluated::ServerError), vec!["http.server_error"]));
}

/// We did not see terms, so nothing is said of them; that discovery cannot see them either is told.
#[test]
fn c26_validation_before_payment() {
    assert_eq!(not_evaluated(400), (Some(NotEvaluated::ClientError), vec!["http.validated_first"]));
    assert_eq!(not_evaluated(422), (Some(NotEvaluated::ClientError), vec!["http.validated_first"]));
    assert_eq!(
        not_evaluated(404),
        (Some(NotEvaluated::ClientError), vec!["http.not_found"]),
        "not there is another matter"
    );
}

/// An MCP endpoint that asks by HTTP is read as HTTP.
#[test]
fn c28_http_terms_on_an_mcp_endpoint() {
    let body = r#"{"jsonrpc":"2.0","id":1,"error":{"code":402,"message":"Payment required"}}"#;
    let reading = Answer::of(&v2(json!([entry()]))).body(body).read();
    assert_eq!((reading.word, rules(&reading)), (Word::Payable, vec![]));
    let alone = Answer::new(402).body(body).read();
    assert_eq!(
        (alone.word, rules(&alone)),
        (Word::NotPayable, vec!["terms.none"]),
        "the error by itself names no terms"
    );
}

/// Behind a proxy: another scheme is a warning, another host a mismatch, and neither fails the payment.
#[test]
fn c30_a_resource_as_seen_behind_the_proxy() {
    for (named, word, rule) in [
        ("http://api.seller.example/paid", Word::PayableWithWarnings, "resource.scheme"),
        ("http://api.seller.example:3000/paid", Word::PayableWithWarnings, "resource.scheme"),
        ("http://10.0.0.5:3000/paid", Word::Mismatch, "resource.other_domain"),
        ("http://seller-backend:8080/paid", Word::Mismatch, "resource.other_domain"),
    ] {
        let mut challenge = v2(json!([entry()]));
        challenge["resource"]["url"] = json!(named);
        let reading = Answer::of(&challenge).read();
        assert_eq!((reading.word, rules(&reading)), (word, vec![rule]), "{named}");
        assert_eq!((only(&reading).spec, only(&reading).interop), (Grade::Pass, Interop::Pass), "{named}");
    }
}

#[test]
fn c32_a_redirect_is_not_followed_and_not_graded() {
    for status in [301, 302, 303, 307, 308] {
        let rules = vec!["http.redirect", "http.redirect_nowhere"];
        assert_eq!(not_evaluated(status), (Some(NotEvaluated::Redirect), rules), "{status}: without a Location");
    }
}

/// Version 1 with version 2's network, its bazaar inside the entry, and no description.
#[test]
fn c35_version_1_with_parts_of_version_2() {
    let mut odd = entry_1();
    odd["network"] = json!("eip155:8453");
    odd["extensions"] = json!({"bazaar": {"info": {"input": {"type": "http"}}}});
    odd.as_object_mut().unwrap().remove("description");
    let reading = Answer::new(402).body(v1(json!([odd])).to_string()).read();
    assert_eq!(rules(&reading), ["network.version1_form", "description.missing"]);
    let offer = only(&reading);
    assert_eq!((offer.spec, offer.interop), (Grade::Fail, Interop::Fail("network.version1_form")));
    assert!(reading.schema.is_none(), "nobody reads it there");
}

/// A wall says nothing about what is behind it.
#[test]
fn a_wall_is_named_as_one() {
    for status in [401, 403, 429] {
        assert_eq!(not_evaluated(status), (Some(NotEvaluated::Wall), vec!["http.wall"]), "{status}");
    }
}

/// A chain id in another spelling is no id, so the network is unknown and no list of denied ones is passed by. The finding
/// names the id that was meant, and nothing else is wrong: asset and payee are right where they belong.
#[test]
fn another_spelling_of_a_network_is_no_network_and_is_told_with_the_right_one() {
    for network in [
        json!("eip155:08453"),
        json!("eip155:0x2105"),
        json!("EIP155:8453"),
        json!("eip155-8453"),
        json!("Base"),
        json!("base mainnet"),
        json!(8453),
    ] {
        let mut one = entry();
        one["network"] = network.clone();
        let reading = Answer::of(&v2(json!([one]))).read();
        assert_eq!(rules(&reading), ["network.form"], "{network}");
        let told = reading.findings.iter().find(|finding| finding.rule == "network.form").unwrap();
        assert_eq!(
            (&*told.subject, told.expected.as_deref()),
            ("accepts[0].network", Some("eip155:8453")),
            "{network}"
        );
        assert_eq!((&reading.offers[0].network, reading.word), (&None, Word::NotPayable), "{network}");
        assert_eq!(reading.word_rule(), Some("network.form"), "{network}");
    }
    let mut old = entry_1();
    old["network"] = json!("Base");
    let reading = Answer::new(402).body(v1(json!([old])).to_string()).read();
    let told: Vec<_> = reading.findings.iter().filter(|finding| finding.rule == "network.form").collect();
    assert_eq!((told.len(), told[0].expected.as_deref()), (1, Some("base")), "version 1 writes the short name");
}

/// What is wrong on every network is told beside it.
#[test]
fn an_unreadable_network_hides_neither_a_missing_asset_nor_a_missing_payee() {
    let mut one = with("network", json!("eip155:08453"));
    (one["asset"], one["payTo"]) = (json!(""), Value::Null);
    let reading = Answer::of(&v2(json!([one]))).read();
    assert_eq!(rules(&reading), ["network.form", "asset.form", "payee.form"]);
}
