//! What must not be held against a seller.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::offer::{BodyEnd, Interop, NotEvaluated, ReadingKind, Source, Word};
use serde_json::{Value, json};

use crate::common::{Answer, URL, entry, entry_1, rules, solana, v1, v2, with};

/// Header entries with these amounts, body entries with those.
fn dual(header: &[&str], body: &[&str]) -> (Word, Vec<&'static str>) {
    let entries: Vec<Value> = header.iter().map(|amount| with("amount", json!(amount))).collect();
    let old = body.iter().map(|amount| {
        let mut entry = entry_1();
        entry["maxAmountRequired"] = json!(amount);
        entry
    });
    let body = v1(old.collect()).to_string();
    let reading = Answer::of(&v2(json!(entries))).body(body).read();
    let found = rules(&reading).into_iter().filter(|rule| *rule == "channel.disagree").collect();
    (reading.word, found)
}

#[test]
fn tiers_of_one_asset_are_compared_as_multisets() {
    let cent = "10000";
    for (header, body) in [
        (&[cent][..], &[cent][..]),
        (&[cent, "50000"], &[cent, "50000"]),
        (&[cent, "50000"], &["50000", cent]),
        (&[cent, cent, "50000"], &[cent, "50000", cent]),
        (&[cent, "50000"], &[cent]),
        (&[cent], &[]),
    ] {
        assert_eq!(dual(header, body), (Word::Payable, vec![]), "{header:?} {body:?}");
    }
    for (header, body) in [
        (&[cent][..], &["20000"][..]),
        (&[cent, "50000"], &[cent, "90000"]),
        (&[cent], &[cent, "90000"]),
        (&[cent, "50000"], &[cent, cent]),
    ] {
        assert_eq!(dual(header, body), (Word::Mismatch, vec!["channel.disagree"]), "{header:?} {body:?}");
    }
}

/// Another network, another scheme or an unreadable entry in the body contradicts nothing.
#[test]
fn a_body_that_says_something_else_does_not_contradict() {
    let mut polygon = entry_1();
    (polygon["network"], polygon["asset"]) = (json!("polygon"), json!("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"));
    let mut broken = entry_1();
    broken.as_object_mut().unwrap().remove("maxAmountRequired");
    let body = v1(json!([polygon, broken, entry_1()])).to_string();
    let reading = Answer::of(&v2(json!([entry(), solana()]))).body(body).read();
    assert_eq!(reading.word, Word::Payable);
    assert!(!rules(&reading).contains(&"channel.disagree"));
}

/// Only what the header repeats in version 2's own spelling is compared, and its letter case means nothing on EVM.
#[test]
fn a_copy_of_the_header_in_the_body_agrees() {
    let challenge = v2(json!([entry(), solana()]));
    let lower = challenge
        .to_string()
        .replace("0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "0x209693bc6afc0c5328ba36faf03c514ef312287c");
    let reading = Answer::of(&challenge).body(lower).read();
    assert_eq!((reading.word, rules(&reading)), (Word::Payable, vec![]));
    assert_eq!(reading.offers.len(), 2, "nobody pays by a version 2 body");
}

/// Both channels of a dual seller are graded; the reference buyer looks at one of them.
#[test]
fn both_channels_are_graded_and_one_does_not_weigh_on_the_other() {
    let mut bad = entry_1();
    bad["payTo"] = json!("walletaddress");
    let reading = Answer::of(&v2(json!([entry()]))).body(v1(json!([bad])).to_string()).read();
    let seen: Vec<_> = reading.offers.iter().map(|offer| (offer.source, offer.subject.as_str(), offer.word)).collect();
    let body = (Source::Body, "body:accepts[0]", Word::NotPayable);
    assert_eq!(seen[1], body);
    let good = Answer::of(&v2(json!([entry()]))).body(v1(json!([entry_1()])).to_string()).read();
    let grades: Vec<_> = good.offers.iter().map(|offer| (offer.interop, offer.word)).collect();
    assert_eq!(grades, [(Interop::Pass, Word::Payable), (Interop::NotEvaluated, Word::Payable)]);
}

/// A broken standard header does weigh on the body: no current client reads on behind one.
#[test]
fn a_broken_standard_header_is_not_read_past() {
    let answer = Answer::new(402).header("PAYMENT-REQUIRED", "%%%").body(v1(json!([entry_1()])).to_string());
    let reading = answer.read();
    assert_eq!(reading.offers[0].interop, Interop::Fail("header.not_base64"));
    assert_eq!(reading.word, Word::NotPayable);
    let without = answer.without("PAYMENT-REQUIRED").read();
    assert_eq!((without.word, without.offers[0].interop), (Word::Payable, Interop::Pass));
}

#[test]
fn texts_of_the_world_are_not_hidden_text() {
    for text in [
        "Wetterbericht \u{2600}\u{fe0f} für Zürich",
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466} family plan",
        "\u{67e}\u{6cc}\u{634}\u{200c}\u{628}\u{6cc}\u{646}\u{6cc} \u{622}\u{628}\u{200c}\u{648}\u{647}\u{648}\u{627}",
        "\u{915}\u{94d}\u{200d}\u{937}",
        "line one\nline two\ttabbed",
        "Price: \u{2068}$0.01\u{2069}",
    ] {
        let mut challenge = v2(json!([entry()]));
        challenge["resource"]["description"] = json!(text);
        let reading = Answer::of(&challenge).read();
        assert_eq!((reading.word, rules(&reading)), (Word::Payable, vec![]), "{}", text.escape_unicode());
    }
    let mut hidden = v2(json!([entry()]));
    hidden["resource"]["description"] = json!("Weather\u{e0069}\u{e0067}\u{e006e}");
    assert_eq!(rules(&Answer::of(&hidden).read()), ["text.invisible"], "the control");
}

#[test]
fn a_host_in_ones_own_script_is_no_imitation() {
    for (host, deceives) in [
        ("api.xn--zrich-kva.example", false),
        ("xn--80adxhks.example", false),
        ("xn--r8jz45g.example", false),
        ("api.seller.example", false),
        ("xn--pypal-4ve.example", true),
        ("xn--80ak6aa92e.example", true),
    ] {
        let url = format!("https://{host}/paid");
        let challenge = v2(json!([entry()])).to_string().replace(URL, &url);
        let answer = Answer::new(402).header("PAYMENT-REQUIRED", STANDARD.encode(challenge));
        assert_eq!(rules(&answer.read_as(&url, BodyEnd::Whole)).contains(&"host.homograph"), deceives, "{host}");
    }
}

/// A tier of ten times the price is a tier; a hundred times is what a decoy looks like.
#[test]
fn tiers_are_not_decoys() {
    let spread = |dear: &str| {
        let reading = Answer::of(&v2(json!([entry(), with("amount", json!(dear))]))).read();
        rules(&reading).contains(&"amount.spread")
    };
    assert!(!spread("100000"));
    assert!(!spread("999999"));
    assert!(spread("1000000"));
}

/// Defects and texts inside one entry are that entry's.
#[test]
fn what_is_wrong_inside_an_entry_stays_there() {
    let text = v2(json!([entry(), entry()])).to_string();
    let at = text.rfind("\"payTo\"").unwrap();
    let twice = format!("{}\"payTo\":\"0x1\",{}", &text[..at], &text[at..]);
    let reading = Answer::new(402).header("PAYMENT-REQUIRED", STANDARD.encode(twice)).read();
    let words: Vec<_> = reading.offers.iter().map(|offer| offer.word).collect();
    assert_eq!((words[0], words[1]), (Word::Payable, Word::NotPayable));
    let first = reading.findings.iter().find(|finding| finding.rule == "json.duplicate").unwrap();
    assert_eq!(first.subject, "accepts[1]");
}

/// What a header of one cent and this body come to, without `body.beside_header`, which only tells that the body is read.
fn beside(body: &str) -> (Word, Vec<&'static str>) {
    let reading = Answer::of(&v2(json!([entry()]))).body(body).read();
    let found = rules(&reading).into_iter().filter(|rule| *rule != "body.beside_header").collect();
    (reading.word, found)
}

/// Buyers of version 1 take `accepts` from the body however it is spelled and whatever its version says (x402-fetch
/// 1.2.0: `const { x402Version, accepts } = await response.json()`).
#[test]
fn no_spelling_hides_the_second_story_of_a_body() {
    let mut dear = entry_1();
    dear["maxAmountRequired"] = json!("900000");
    let deep = format!("{}{}", "[".repeat(250), "]".repeat(250));
    for (cent, odd) in [(entry_1(), false), (dear, true)] {
        let text = v1(json!([cent])).to_string();
        let amount = cent["maxAmountRequired"].to_string();
        let hex = if odd { "\"0xdbba0\"" } else { "\"0x2710\"" };
        let word = if odd { Word::Mismatch } else { Word::Payable };
        let told = |more: &[&'static str]| [more, if odd { &["channel.disagree"] } else { &[] }].concat();
        for (spelled, also) in [
            (text.clone(), &[][..]),
            (text.replace("\"accepts\"", "\"accept\\u0073\""), &[]),
            (text.replace("\"x402Version\":1", "\"x402Version\":1.0"), &[]),
            (text.replace("\"x402Version\":1", "\"x402Version\":2"), &[]),
            (text.replace("\"x402Version\":1", "\"v\":1"), &["version.form"]),
            (text.replace("\"x402Version\":1", "\"x402Version\":null"), &["version.form"]),
            (format!("\u{feff}{text}"), &["json.bom"]),
        ] {
            assert_eq!(beside(&spelled), (word, told(also)), "{spelled}");
        }
        // What we cannot read and others can is never passed over.
        let unread = beside(&text.replace(&amount, hex));
        assert_eq!(unread, (Word::Mismatch, vec!["amount.form", "channel.disagree"]), "{hex}");
        let deeper = beside(&text.replacen('{', &format!("{{\"note\":{deep},"), 1));
        assert_eq!(deeper, (word, told(&[])), "other readers go this deep");
    }
}

/// A body of version 2 that states version 1's amount too is read by both kinds of buyers.
#[test]
fn an_entry_that_states_both_amounts_is_compared_by_each() {
    let hybrid = |amount: &str, most: &str| {
        let mut both = with("amount", json!(amount));
        both["maxAmountRequired"] = json!(most);
        beside(&v2(json!([both])).to_string())
    };
    assert_eq!(hybrid("10000", "10000"), (Word::Payable, vec![]));
    assert_eq!(hybrid("10000", "90000000"), (Word::Mismatch, vec!["channel.disagree"]));
    assert_eq!(hybrid("90000000", "10000"), (Word::Mismatch, vec!["channel.disagree"]));
    assert_eq!(hybrid("90000000", "90000000"), (Word::Mismatch, vec!["channel.disagree"]));
}

/// JSON that we do not read, or of which two readers see two things, is told; a page, a text or `{}` is no such thing.
#[test]
fn a_body_that_only_others_can_read_is_told() {
    let terms = v1(json!([entry_1()])).to_string();
    let utf16: Vec<u8> = terms.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin = [&b"{\"note\":\"Z\xfcrich\","[..], &terms.as_bytes()[1..]].concat();
    for body in [
        b"{\"accepts\": [".to_vec(),
        terms.replace("\"error\"", "\"odd\":NaN,\"error\"").into_bytes(),
        format!("{terms}{{}}").into_bytes(),
        utf16,
        latin,
        format!("{{\"page\":\"{}\"}}", "x".repeat(70_000)).into_bytes(),
        format!("{{\"page\":{}{}}}", "[".repeat(256), "]".repeat(256)).into_bytes(),
    ] {
        let reading = Answer::of(&v2(json!([entry()]))).body(body.clone()).read();
        let shown = String::from_utf8_lossy(&body).chars().take(20).collect::<String>();
        assert_eq!((reading.word, rules(&reading)), (Word::PayableWithWarnings, vec!["body.unreadable"]), "{shown}");
    }
    let twice = beside(&v2(json!([entry()])).to_string().replacen("\"accepts\"", "\"accepts\":[],\"accepts\"", 1));
    assert_eq!(twice, (Word::PayableWithWarnings, vec!["body.unreadable"]));
    for body in
        ["", "{}", "null", "Payment Required", "<!doctype html>{}", "[1, 2", "\u{1}\u{2}aaaa", "{\"a\":1,\"a\":2}"]
    {
        assert_eq!(beside(body), (Word::Payable, vec![]), "{body}");
    }
}

/// A seller of another rail is not a broken seller of this one.
#[test]
fn a_402_by_another_rail_is_not_evaluated() {
    let asked = |schemes: &str| Answer::new(402).body("").header("WWW-Authenticate", schemes).read();
    let both = asked(r#"L402 macaroon="x", invoice="y", Payment id="z", x402"#);
    assert_eq!(both.kind, ReadingKind::NotEvaluated(NotEvaluated::OtherRail));
    assert_eq!((both.word, rules(&both)), (Word::NotEvaluated, vec!["terms.other_rail"]));
    assert_eq!(both.findings[0].observed, "l402, mpp");
    for no_rail in ["x402", "Basic realm=\"L402\"", ""] {
        let reading = asked(no_rail);
        assert_eq!((reading.word, rules(&reading)), (Word::NotPayable, vec!["terms.none"]), "{no_rail}");
    }
    let broken = Answer::new(402).header("PAYMENT-REQUIRED", "%%%").header("WWW-Authenticate", "L402 macaroon=\"x\"");
    assert_eq!(broken.read().word, Word::NotPayable, "what it says of x402 is still judged");
}
