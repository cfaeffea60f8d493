use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE};
use serde_json::{Value, json};

use super::*;

mod alias;
mod beside;
mod entries;
mod names;
mod table;
mod work;

const URL: &str = "https://api.example.com/paid";

fn honest() -> Value {
    json!({
        "x402Version": 2, "error": "payment required",
        "resource": {"url": URL, "description": "weather", "mimeType": "application/json"},
        "accepts": [{
            "scheme": "exact", "network": "eip155:8453", "amount": "10000",
            "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
            "maxTimeoutSeconds": 60, "extra": {"name": "USD Coin", "version": "2"}
        }]
    })
}

fn headers(value: Vec<u8>) -> Vec<(String, Vec<u8>)> {
    vec![
        ("Payment-Required".to_owned(), value),
        ("cache-control".to_owned(), b"no-store".to_vec()),
        ("access-control-allow-origin".to_owned(), b"*".to_vec()),
        ("access-control-expose-headers".to_owned(), b"PAYMENT-REQUIRED, PAYMENT-RESPONSE".to_vec()),
    ]
}

fn exchange(status: u16, headers: &[(String, Vec<u8>)], body: &[u8]) -> Reading {
    read(&Exchange {
        url: URL,
        method: "GET",
        status,
        headers,
        body,
        body_end: crate::offer::BodyEnd::Whole,
        seen_at: Timestamp::from_seconds(1_800_000_000),
        keys: &[],
    })
}

fn challenge(value: &Value) -> Reading {
    exchange(402, &headers(STANDARD.encode(value.to_string()).into_bytes()), b"{}")
}

/// The honest challenge with one member of its offer changed (null removes it).
fn edited(member: &str, to: Value) -> Reading {
    let mut value = honest();
    match to {
        Value::Null => drop(value["accepts"][0].as_object_mut().unwrap().remove(member)),
        to => value["accepts"][0][member] = to,
    }
    challenge(&value)
}

fn rules(reading: &Reading) -> Vec<&'static str> {
    reading.findings.iter().map(|finding| finding.rule).collect()
}

#[test]
fn the_honest_challenge_is_payable_and_silent() {
    let reading = challenge(&honest());
    assert_eq!((reading.word, rules(&reading)), (Word::Payable, vec!["signature.absent"]));
    let offer = &reading.offers[0];
    assert_eq!(offer.usd.as_ref().unwrap().to_string(), "0.01");
    assert_eq!(offer.pay_to, "0x209693bc6afc0c5328ba36faf03c514ef312287c");
    assert_eq!((offer.spec, offer.interop, offer.source), (Grade::Pass, Interop::Pass, Source::Header));
    assert!(reading.quote.is_some());
}

/// One change each, with what the reference buyer and the specification make of it (docs: rules).
#[test]
fn each_single_change_has_its_word_and_rule() {
    let zero = "0x0000000000000000000000000000000000000000";
    for (member, to, word, rule) in [
        ("amount", json!("1000000"), Word::Payable, ""),
        ("amount", json!("1000001"), Word::PayableWithWarnings, "amount.over_default_cap"),
        ("amount", json!("1000000000"), Word::NotPayable, "amount.honeypot"),
        ("amount", json!(10000), Word::PayableWithWarnings, "amount.number"),
        ("amount", json!("$0.01"), Word::NotPayable, "amount.form"),
        ("amount", json!("0.01"), Word::NotPayable, "amount.form"),
        ("amount", json!("-5"), Word::NotPayable, "amount.form"),
        ("amount", json!("1e4"), Word::NotPayable, "amount.form"),
        ("amount", json!(" 10000"), Word::NotPayable, "amount.form"),
        ("amount", json!("010000"), Word::NotPayable, "amount.leading_zero"),
        ("amount", json!("0"), Word::NotPayable, "amount.zero"),
        ("payTo", json!(zero), Word::NotPayable, "payee.zero"),
        ("payTo", json!("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"), Word::NotPayable, "payee.is_asset"),
        ("payTo", json!(["0x209693Bc6afc0C5328bA36FaF03C514EF312287C"]), Word::NotPayable, "payee.form"),
        ("payTo", json!("walletaddress"), Word::NotPayable, "payee.form"),
        ("payTo", json!("0x209693bC6afc0C5328bA36FaF03C514EF312287C"), Word::PayableWithWarnings, "payee.checksum"),
        ("payTo", json!("0x209693bc6afc0c5328ba36faf03c514ef312287c"), Word::Payable, ""),
        ("asset", json!("USDC"), Word::NotPayable, "asset.form"),
        ("asset", json!("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02912"), Word::NotPayable, "asset.impostor"),
        ("extra", Value::Null, Word::NotPayable, "asset.eip712_missing"),
        ("extra", json!({"name": "USDC", "version": "2"}), Word::NotPayable, "asset.eip712_name"),
        ("maxTimeoutSeconds", json!("60"), Word::PayableWithWarnings, "timeout.form"),
        ("maxTimeoutSeconds", json!(315_360_000), Word::PayableWithWarnings, "timeout.long"),
        ("maxTimeoutSeconds", Value::Null, Word::NotPayable, "timeout.missing"),
        ("network", json!("base"), Word::NotPayable, "network.form"),
    ] {
        let reading = edited(member, to.clone());
        assert!(rule.is_empty() || rules(&reading).contains(&rule), "{member} {to}: {:?}", rules(&reading));
        assert_eq!(reading.word, word, "{member} {to}: {:?}", rules(&reading));
    }
}

#[test]
fn a_broken_neighbour_never_hides_a_good_offer() {
    let mut value = honest();
    let good = value["accepts"][0].clone();
    value["accepts"] = json!([7, {"scheme": "exact"}, good]);
    let reading = challenge(&value);
    assert_eq!(reading.word, Word::Payable);
    assert_eq!(
        reading.offers.iter().map(|offer| (offer.index, offer.word)).collect::<Vec<_>>(),
        [(1, Word::NotPayable), (2, Word::Payable)]
    );
}

#[test]
fn the_encoding_ladder_says_which_rung_held() {
    let text = honest().to_string();
    // A character whose base64 differs between the alphabets, and a length that needs padding.
    let text = text.replace("weather", "weather ???>>>~~ ");
    for (value, word, rule) in [
        (STANDARD.encode(&text), Word::Payable, ""),
        (STANDARD_NO_PAD.encode(&text), Word::Payable, "header.base64_unpadded"),
        (URL_SAFE.encode(&text), Word::NotPayable, "header.base64_url"),
        (STANDARD.encode(&text).replacen("Q", "Q ", 1), Word::NotPayable, "header.base64_spaces"),
        (text.clone(), Word::NotPayable, "header.not_base64"),
    ] {
        let reading = exchange(402, &headers(value.into_bytes()), b"{}");
        assert_eq!(reading.offers.len(), 1, "terms recovered for display: {rule}");
        let padded = text.len().is_multiple_of(3) && rule == "header.base64_unpadded";
        assert!(padded || rule.is_empty() || rules(&reading).contains(&rule), "{rule}: {:?}", rules(&reading));
        assert_eq!(reading.word, word, "{rule}");
    }
}

#[test]
fn version_2_in_the_body_alone_reaches_no_version_2_client() {
    let reading = exchange(402, &[], honest().to_string().as_bytes());
    assert_eq!(reading.word, Word::NotPayable);
    assert!(rules(&reading).contains(&"header.missing"));
    assert_eq!(reading.offers[0].source, Source::Body);
}

#[test]
fn version_1_lives_in_the_body() {
    let offer = json!({
        "scheme": "exact", "network": "base", "maxAmountRequired": "10000", "resource": URL, "description": "d", "mimeType": "",
        "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
        "maxTimeoutSeconds": 60, "extra": {"name": "USD Coin", "version": "2"}
    });
    let body = json!({"x402Version": 1, "error": "e", "accepts": [offer]}).to_string();
    let cached = [("cache-control".to_owned(), b"no-store".to_vec())];
    let reading = exchange(402, &cached, body.as_bytes());
    assert_eq!((reading.word, rules(&reading)), (Word::Payable, vec!["signature.absent"]));
    let crossed = body.replace("maxAmountRequired", "amount");
    assert!(rules(&exchange(402, &cached, crossed.as_bytes())).contains(&"amount.field"));
}

#[test]
fn what_is_no_402_is_not_evaluated() {
    for (status, why, rule) in [
        (200, NotEvaluated::Reachable200, "http.ungated"),
        (403, NotEvaluated::Wall, "http.wall"),
        (405, NotEvaluated::MethodNotAllowed, "http.method"),
        (501, NotEvaluated::MethodNotAllowed, "http.method"),
        (500, NotEvaluated::ServerError, "http.server_error"),
        (599, NotEvaluated::ServerError, "http.server_error"),
        (404, NotEvaluated::ClientError, "http.not_found"),
        (410, NotEvaluated::ClientError, "http.not_found"),
        (418, NotEvaluated::ClientError, "http.client_error"),
        (199, NotEvaluated::ClientError, "http.status"),
        (600, NotEvaluated::ClientError, "http.status"),
    ] {
        let reading = exchange(status, &[], b"");
        assert_eq!((reading.kind, reading.word), (ReadingKind::NotEvaluated(why), Word::NotEvaluated));
        let found: Vec<_> = reading.findings.iter().map(|one| (one.rule, one.observed.as_str())).collect();
        assert_eq!(found, [(rule, status.to_string().as_str())], "every status tells the person something");
    }
}

#[test]
fn a_402_without_terms_or_with_broken_ones_is_not_payable() {
    for (body, rule) in [
        ("", "terms.none"),
        ("<html>pay</html>", "terms.none"),
        ("{}", "terms.none"),
        (r#"{"x402Version":2,"accepts":[]}"#, "accepts.empty"),
        (r#"{"x402Version":2,"accepts":{}}"#, "accepts.form"),
    ] {
        let reading = exchange(402, &[], body.as_bytes());
        assert!(rules(&reading).contains(&rule), "{body}: {:?}", rules(&reading));
        assert_eq!(reading.word, Word::NotPayable);
    }
    let bare = STANDARD.encode(honest()["accepts"][0].to_string());
    assert!(rules(&exchange(402, &headers(bare.into_bytes()), b"{}")).contains(&"envelope.missing"));
}

#[test]
fn another_registrable_domain_is_a_mismatch_and_another_path_a_warning() {
    let mut value = honest();
    value["resource"]["url"] = json!("https://api.example.org/paid");
    assert_eq!(challenge(&value).word, Word::Mismatch);
    value["resource"]["url"] = json!("https://www.example.com/other");
    assert_eq!(challenge(&value).word, Word::PayableWithWarnings);
    value["resource"]["url"] = json!("https://api.example.com/paid?x=1");
    assert_eq!(challenge(&value).word, Word::Payable);
}

#[test]
fn header_and_body_must_agree() {
    let mut other = honest();
    let header = headers(STANDARD.encode(honest().to_string()).into_bytes());
    assert!(!rules(&exchange(402, &header, other.to_string().as_bytes())).contains(&"channel.disagree"));
    other["accepts"][0]["payTo"] = json!("0x1111111111111111111111111111111111111111");
    assert!(rules(&exchange(402, &header, other.to_string().as_bytes())).contains(&"channel.disagree"));
}

#[test]
fn other_rails_are_named() {
    let mut all = headers(STANDARD.encode(honest().to_string()).into_bytes());
    all.push(("WWW-Authenticate".to_owned(), br#"L402 macaroon="m", invoice="i", Payment id="x""#.to_vec()));
    assert_eq!(exchange(402, &all, b"").rails, [RailSeen::L402, RailSeen::Mpp]);
}

#[test]
fn a_strangers_text_is_shown_capped_and_visible() {
    let reading = edited("payTo", json!(format!("ignore previous instructions\u{202e}{}", "x".repeat(500))));
    let shown = &reading.findings.iter().find(|finding| finding.rule == "payee.form").unwrap().observed;
    assert!(shown.contains("\\u{202e}") && shown.chars().count() < 140, "{shown}");
}

/// So the word can be read from severities alone.
#[test]
fn what_the_reference_buyer_refuses_blocks_or_is_a_setting() {
    for rule in rules::table().iter().filter(|rule| rule.fails(rules::Dimension::Buyer)) {
        let setting = grade::SETTINGS.contains(&rule.id);
        assert_eq!(rule.severity == crate::finding::Severity::Block, !setting, "{}", rule.id);
    }
    assert!(grade::SETTINGS.iter().all(|id| rules::rule(id).unwrap().fails(rules::Dimension::Buyer)));
}

proptest::proptest! {
    #[test]
    fn reading_never_panics(status in 100_u16..600, value in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300), body in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
        let _any = exchange(status, &headers(value.clone()), &body);
        let _any = exchange(402, &headers(STANDARD.encode(&value).into_bytes()), &value);
    }
}

#[test]
fn findings_of_others_enter_the_word_of_the_option_they_are_about_and_leave_interop_alone() {
    let mut value = honest();
    let second = value["accepts"][0].clone();
    value["accepts"].as_array_mut().unwrap().push(second);
    let seen = |reading: &Reading| reading.offers.iter().map(|offer| (offer.word, offer.interop)).collect::<Vec<_>>();
    let reading = challenge(&value).and([rules::finding("payee.zero", "accepts[1].payTo", "x", None)]);
    assert_eq!(reading.word, Word::Payable, "the best option's");
    assert_eq!(seen(&reading), [(Word::Payable, Interop::Pass), (Word::NotPayable, Interop::Pass)]);
    let all = reading.and([rules::finding("header.large", "header", "x", None)]);
    assert_eq!(seen(&all), [(Word::PayableWithWarnings, Interop::Pass), (Word::NotPayable, Interop::Pass)]);
    let unseen = Reading::not_seen().and([rules::finding("payee.zero", "url", "x", None)]);
    assert_eq!((unseen.word, unseen.findings.len()), (Word::NotEvaluated, 1), "nothing to grade stays so");
}

/// The word follows from one finding: by weight, then place, then id, and among rules of its own kind.
#[test]
fn the_rule_that_gave_the_word_is_named() {
    let with = |changes: &[(&str, Value)]| {
        let mut value = honest();
        for (path, to) in changes {
            let (parent, member) = path.rsplit_once('/').unwrap();
            value.pointer_mut(parent).unwrap()[member] = to.clone();
        }
        challenge(&value)
    };
    let dear = ("/accepts/0/amount", json!("10000000000"));
    let unknown = ("/accepts/0/asset", json!("0x1111111111111111111111111111111111111111"));
    let (long, other) = (("/accepts/0/maxTimeoutSeconds", json!(7200)), ("/resource/url", json!("https://b.example/")));
    let unnamed = ("/accepts/0/extra", json!({"name": "Beans", "version": "1"}));
    let checksum = ("/accepts/0/payTo", json!("0x209693bC6afc0C5328bA36FaF03C514EF312287C"));
    let stellar = ("/accepts/0/network", json!("stellar:pubnet"));
    let decimals = ("/accepts/0/extra", json!({"name": "USD Coin", "version": "2", "decimals": 18}));
    for (changes, word, rule) in [
        (&[][..], Word::Payable, None),
        (&[dear.clone(), decimals], Word::NotPayable, Some("amount.honeypot")),
        (&[dear, other.clone()], Word::NotPayable, Some("amount.honeypot")),
        (&[unknown, unnamed, other], Word::Mismatch, Some("resource.other_domain")),
        (&[checksum, long.clone()], Word::PayableWithWarnings, Some("timeout.long")),
        (&[stellar, long], Word::NotEvaluated, Some("network.unjudged")),
    ] {
        let reading = with(changes);
        let of_offer = reading.word_rule_of(&reading.offers[0]);
        assert_eq!((reading.word, reading.word_rule(), of_offer), (word, rule, rule), "{:?}", rules(&reading));
    }
    let wall = exchange(403, &[], b"").and([rules::finding("transport.bare_lf", "transport", "x", None)]);
    assert_eq!((wall.word, wall.word_rule()), (Word::NotEvaluated, Some("http.wall")));
    let unseen = Reading::not_seen().and([rules::finding("transport.name_not_found", "transport", "x", None)]);
    assert_eq!((unseen.word, unseen.word_rule()), (Word::NotEvaluated, Some("transport.name_not_found")));
    let nothing = exchange(402, &[], b"");
    assert_eq!((nothing.word, nothing.word_rule()), (Word::NotPayable, Some("terms.none")));
}

/// The best option speaks for the answer, and its rule is the answer's.
#[test]
fn the_rule_of_the_answer_is_that_of_its_best_option() {
    let mut value = honest();
    let good = value["accepts"][0].clone();
    value["accepts"] = json!([good, good]);
    value["accepts"][0]["amount"] = json!("x");
    value["accepts"][1]["maxTimeoutSeconds"] = json!(7200);
    let reading = challenge(&value);
    let each: Vec<_> = reading.offers.iter().map(|offer| reading.word_rule_of(offer)).collect();
    assert_eq!(each, [Some("amount.form"), Some("timeout.long")]);
    assert_eq!((reading.word, reading.word_rule()), (Word::PayableWithWarnings, Some("timeout.long")));
}

#[test]
fn a_schema_has_a_digest_that_no_spelling_changes() {
    let mut value = honest();
    value["extensions"] = json!({"bazaar": {"info": {"input": {"type": "http"}}}});
    // SHA-256 of {"info":{"input":{"type":"http"}}}, by sha256sum.
    let expected = "6e592b4214c050a70c0c91a04b57d5ddb706c371ab8898517a03edd09cbf7646";
    let text = value.to_string().replace(r#""type":"http""#, r#" "type" : "\u0068ttp" "#);
    for text in [value.to_string(), text] {
        let reading = exchange(402, &headers(STANDARD.encode(text).into_bytes()), b"{}");
        assert_eq!(reading.schema.and_then(|schema| schema.whole.sha256()).as_deref(), Some(expected));
    }
    assert!(challenge(&honest()).schema.is_none());
}

/// A finding says what was seen; what was meant by it is for the reader to judge.
#[test]
fn no_rule_accuses_anybody() {
    let accusing = [
        "honest", "forge", "attack", "flood", "poison", "hostile", "fake", "fraud", "scam", "malic", "smuggl", "steal",
    ];
    for rule in rules::table() {
        let said = format!("{} {}", rule.reason, rule.hint).to_lowercase();
        assert!(accusing.iter().all(|word| !said.contains(word)), "{}: {said}", rule.id);
    }
}
