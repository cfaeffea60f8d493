//! Header, encoding, status: how the terms arrive.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use countersign_core::offer::{BodyEnd, Grade, Interop, NotEvaluated, ReadingKind, Source, Word};
use serde_json::json;

use crate::common::{Answer, PAYEE, entry, entry_1, only, rules, v1, v2};

fn encoded(text: &str) -> String {
    STANDARD.encode(text)
}

/// Spec fails for the encoding, the terms are shown, the reference buyer refuses.
#[test]
fn c1_raw_json_where_base64_belongs() {
    let reading = Answer::new(402).header("PAYMENT-REQUIRED", v2(json!([entry()])).to_string()).read();
    assert_eq!(reading.word, Word::NotPayable);
    assert_eq!(rules(&reading), ["header.not_base64"]);
    let offer = only(&reading);
    assert_eq!((offer.spec, offer.interop), (Grade::Fail, Interop::Fail("header.not_base64")));
    assert_eq!(offer.amount.as_ref().unwrap().to_string(), "10000");
}

/// The header is named as missing; a free trial before it is not evaluated, and never "free".
#[test]
fn c2_version_2_in_the_body_alone() {
    let reading = Answer::new(402).body(v2(json!([entry()])).to_string()).read();
    assert_eq!((reading.word, rules(&reading)), (Word::NotPayable, vec!["header.missing"]));
    assert_eq!(only(&reading).interop, Interop::Fail("header.missing"));
    let trial = Answer::new(200).body("{\"weather\":\"fine\"}").read();
    assert_eq!(trial.kind, ReadingKind::NotEvaluated(NotEvaluated::Reachable200));
    assert_eq!((trial.word, rules(&trial)), (Word::NotEvaluated, vec!["http.ungated"]));
}

#[test]
fn c4_one_bare_requirement_with_a_number_for_an_amount() {
    let mut bare = entry();
    bare["amount"] = json!(10_000);
    let reading = Answer::of(&bare).read();
    assert_eq!((reading.kind, reading.word), (ReadingKind::NoTerms, Word::NotPayable));
    assert_eq!(rules(&reading), ["envelope.missing", "amount.number"]);
    assert_eq!(only(&reading).pay_to, PAYEE.to_ascii_lowercase(), "shown all the same");
}

#[test]
fn c5_an_alias_header_with_one_object_for_accepts() {
    let mut odd = entry();
    odd["price"] = json!("$0.01");
    odd.as_object_mut().unwrap().remove("asset");
    odd.as_object_mut().unwrap().remove("maxTimeoutSeconds");
    let reading = Answer::new(402).header("X-PAYMENT-REQUIREMENTS", encoded(&v2(odd).to_string())).read();
    assert_eq!((reading.word, reading.offers.len()), (Word::NotPayable, 0));
    assert_eq!(rules(&reading), ["header.alias", "accepts.form"]);
    assert_eq!(reading.findings[0].subject, "header:X-PAYMENT-REQUIREMENTS");
}

/// The header is authoritative: what only the body has is not merged in. The reference buyer signs.
#[test]
fn c6_resource_and_extensions_only_in_the_body() {
    let mut header = v2(json!([entry()]));
    let mut body = header.clone();
    header.as_object_mut().unwrap().remove("resource");
    body["extensions"] = json!({"bazaar": {"info": {"input": {"type": "http"}}, "schema": {}}});
    let reading = Answer::of(&header).body(body.to_string()).read();
    assert_eq!((reading.word, rules(&reading)), (Word::PayableWithWarnings, vec!["resource.missing"]));
    assert_eq!((reading.extensions.len(), reading.schema.is_none()), (0, true));
    assert_eq!((only(&reading).spec, only(&reading).interop), (Grade::Fail, Interop::Pass));
}

/// The specification is silent on the alphabet; the reference buyer is not.
#[test]
fn c7_the_url_safe_alphabet() {
    let mut challenge = v2(json!([entry()]));
    challenge["resource"]["description"] = json!("???>>>~~~");
    let value = URL_SAFE.encode(challenge.to_string());
    assert!(value.contains(['-', '_']), "a value that tells the alphabets apart");
    let reading = Answer::new(402).header("PAYMENT-REQUIRED", value).read();
    assert_eq!((reading.word, rules(&reading)), (Word::NotPayable, vec!["header.base64_url"]));
    assert_eq!(only(&reading).amount.as_ref().unwrap().to_string(), "10000", "the terms are shown");
    assert_eq!((only(&reading).spec, only(&reading).interop), (Grade::Pass, Interop::Fail("header.base64_url")));
}

/// Space around a value is HTTP's own; inside it the reference buyer refuses. Bytes that are no UTF-8 are no JSON.
#[test]
fn c8_space_and_bytes_of_another_encoding() {
    let mut challenge = v2(json!([entry()]));
    challenge["resource"]["description"] = json!("Wetter für Zürich");
    let value = encoded(&challenge.to_string());
    let padded = Answer::new(402).header("PAYMENT-REQUIRED", format!("  {value}\t")).read();
    assert_eq!((padded.word, rules(&padded)), (Word::Payable, vec![]));
    let wrapped = Answer::new(402).header("PAYMENT-REQUIRED", format!("{} {}", &value[..76], &value[76..])).read();
    assert_eq!((wrapped.word, rules(&wrapped)), (Word::NotPayable, vec!["header.base64_spaces"]));
    assert_eq!((only(&wrapped).spec, only(&wrapped).interop), (Grade::Pass, Interop::Fail("header.base64_spaces")));
    let latin: Vec<u8> = challenge.to_string().chars().map(|one| u8::try_from(u32::from(one)).unwrap()).collect();
    let broken = Answer::new(402).header("PAYMENT-REQUIRED", STANDARD.encode(latin)).read();
    assert_eq!((broken.word, rules(&broken)), (Word::NotPayable, vec!["json.syntax"]));
}

/// Parsed for evidence, never graded as the standard header, and no obstacle to a good body.
#[test]
fn c9_an_alias_in_either_encoding() {
    let text = v2(json!([entry()])).to_string();
    for (value, extra) in [(encoded(&text), None), (text.clone(), Some("header.not_base64"))] {
        let answer = Answer::new(402).header("X-PAYMENT-REQUIRED", value);
        let reading = answer.read();
        assert_eq!(rules(&reading), ["header.alias"].into_iter().chain(extra).collect::<Vec<_>>());
        assert_eq!((reading.word, only(&reading).interop), (Word::NotPayable, Interop::Fail("header.alias")));
        let both = answer.body(v1(json!([entry_1()])).to_string()).read();
        let words: Vec<_> = both.offers.iter().map(|offer| (offer.source, offer.word, offer.interop)).collect();
        let good = (Source::Body, Word::Payable, Interop::Pass);
        assert_eq!(words, [(Source::Header, Word::NotPayable, Interop::Fail("header.alias")), good]);
        assert_eq!(both.word, Word::Payable);
    }
}

#[test]
fn c11_json_inside_a_page() {
    let page = format!("<!doctype html><script>window.x402 = {}</script>", v1(json!([entry_1()])));
    let reading = Answer::new(402).body(page).read();
    assert_eq!((reading.kind, reading.word), (ReadingKind::NoTerms, Word::NotPayable));
    assert_eq!((rules(&reading), reading.offers.len()), (vec!["terms.none"], 0));
}

#[test]
fn c12_a_402_and_nothing_else() {
    for body in ["", "{}", "Payment Required", "null", "[]"] {
        let reading = Answer::new(402).body(body).read();
        assert_eq!((reading.word, rules(&reading)), (Word::NotPayable, vec!["terms.none"]), "{body:?}");
    }
}

#[test]
fn c14_terms_that_a_shared_cache_may_replay() {
    let answer = Answer::of(&v2(json!([entry()]))).without("Cache-Control");
    assert_eq!((answer.read().word, rules(&answer.read())), (Word::Payable, vec!["cache.shared"]));
    let said = answer.header("Cache-Control", "private").header("cache-control", "No-Store");
    assert_eq!(rules(&said.read()), Vec::<&str>::new(), "two lines are one list");
}

/// A server pays; a page in a browser cannot read the header.
#[test]
fn c15_a_header_that_is_not_exposed() {
    let answer = Answer::of(&v2(json!([entry()]))).without("Access-Control-Expose-Headers");
    assert_eq!((answer.read().word, rules(&answer.read())), (Word::Payable, vec!["cors.hidden"]));
    let any = answer.clone().header("Access-Control-Expose-Headers", "*");
    assert_eq!(rules(&any.read()), Vec::<&str>::new());
    let version_1 = Answer::new(402).without("Access-Control-Expose-Headers").body(v1(json!([entry_1()])).to_string());
    assert_eq!(rules(&version_1.read()), Vec::<&str>::new(), "its terms are in the body");
}

/// The half that one answer shows.
#[test]
fn c16_an_answer_no_page_may_read() {
    let reading = Answer::of(&v2(json!([entry()]))).without("Access-Control-Allow-Origin").read();
    assert_eq!((reading.word, rules(&reading)), (Word::Payable, vec!["cors.closed"]));
}

/// Flags above 8 and 16 KiB, and above 64 KiB no decoding.
#[test]
fn c18_a_header_of_any_size() {
    let sized = |bytes: usize| {
        let mut challenge = v2(json!([entry()]));
        let short = encoded(&challenge.to_string()).len();
        challenge["extensions"] = json!({"padding": {"info": "x".repeat((bytes - short) * 3 / 4)}});
        Answer::of(&challenge).read()
    };
    assert_eq!((sized(7 << 10).word, rules(&sized(7 << 10))), (Word::Payable, vec![]));
    assert_eq!((sized(10 << 10).word, rules(&sized(10 << 10))), (Word::PayableWithWarnings, vec!["header.large"]));
    let huge = sized(20 << 10);
    assert_eq!((huge.word, rules(&huge)), (Word::PayableWithWarnings, vec!["header.huge"]));
    assert_eq!(only(&huge).interop, Interop::Fail("header.huge"));
    let bomb = sized(70 << 10);
    assert_eq!((bomb.word, rules(&bomb)), (Word::NotPayable, vec!["header.payload_too_large"]));
    assert!(bomb.offers.is_empty());
}

/// A page for people is fine as long as the header comes with it.
#[test]
fn c19_a_page_for_people_with_and_without_the_header() {
    let page = "<!doctype html><title>Pay</title>";
    assert_eq!(Answer::of(&v2(json!([entry()]))).body(page).read().word, Word::Payable);
    assert_eq!(rules(&Answer::new(402).body(page).read()), ["terms.none"]);
}

/// Announcing headers that never come changes nothing for a buyer.
#[test]
fn c20_headers_that_do_not_exist_are_announced() {
    let answer = Answer::of(&v2(json!([entry()]))).header("Access-Control-Expose-Headers", "Payment-Error");
    assert_eq!((answer.read().word, rules(&answer.read())), (Word::Payable, vec![]));
}

/// The reference buyer joins the lines, and what comes of that is no base64.
#[test]
fn a_header_that_stands_twice_is_read_by_no_fetch_client() {
    let value = encoded(&v2(json!([entry()])).to_string());
    let reading = Answer::new(402).header("PAYMENT-REQUIRED", value.clone()).header("payment-required", value).read();
    assert_eq!((reading.word, rules(&reading)), (Word::NotPayable, vec!["header.repeated"]));
}

/// Terms from a body that never ended are no terms, readable or not; terms in the header stand.
#[test]
fn a_body_that_does_not_end() {
    let body = v1(json!([entry_1()])).to_string();
    let broken = Answer::new(402).body(body.clone()).read_as(crate::common::URL, BodyEnd::CutOff);
    assert_eq!(broken.kind, ReadingKind::NotEvaluated(NotEvaluated::BrokenOff));
    assert_eq!((broken.word, rules(&broken)), (Word::NotEvaluated, vec!["body.incomplete"]));
    let stopped = Answer::new(402).body(body.clone()).read_as(crate::common::URL, BodyEnd::Stopped);
    assert_eq!(stopped.kind, ReadingKind::NotEvaluated(NotEvaluated::BrokenOff));
    assert_eq!(
        (stopped.word, rules(&stopped)),
        (Word::NotEvaluated, vec!["body.stopped"]),
        "we stopped: no accusation"
    );
    let header = Answer::of(&v2(json!([entry()]))).body(body).read_as(crate::common::URL, BodyEnd::Stopped);
    assert_eq!((header.word, rules(&header)), (Word::Payable, vec!["body.unread"]));
}
