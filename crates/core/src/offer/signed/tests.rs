use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::*;
use crate::offer::{Word, read};

const URL: &str = "https://api.example.com/paid";
const NOW: i64 = 1_800_000_000;

mod bits;

/// Signed by eth-account and jwcrypto; the script that made it stands beside the file.
fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../tests/data/signed_offers.json")).unwrap()
}

fn artifact(kind: &str, name: &str) -> Value {
    let vectors = vectors();
    let all = vectors[kind].as_array().unwrap();
    all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("no vector {name}"))["artifact"].clone()
}

/// The terms that the vectors' payee signs.
fn entry() -> Value {
    json!({
        "scheme": "exact", "network": "eip155:8453", "amount": "10000",
        "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "payTo": "0xb87eB5270d4BCc84C78651261442670688cDdDcf",
        "maxTimeoutSeconds": 60, "extra": {"name": "USD Coin", "version": "2"}
    })
}

fn challenge(entries: Value, offers: Value) -> Value {
    json!({
        "x402Version": 2, "resource": {"url": URL}, "accepts": entries,
        "extensions": {"offer-receipt": {"info": {"offers": offers}, "schema": {}}}
    })
}

fn reading_at(challenge: &Value, now: i64) -> Reading {
    reading_with(challenge, now, &[])
}

fn reading_with(challenge: &Value, now: i64, keys: &[KnownKey]) -> Reading {
    let header = STANDARD.encode(challenge.to_string()).into_bytes();
    let headers = [
        ("PAYMENT-REQUIRED".to_owned(), header),
        ("Cache-Control".to_owned(), b"no-store".to_vec()),
        ("Access-Control-Allow-Origin".to_owned(), b"*".to_vec()),
        ("Access-Control-Expose-Headers".to_owned(), b"PAYMENT-REQUIRED".to_vec()),
    ];
    let seen_at = Timestamp::from_seconds(now);
    read(&Exchange {
        url: URL,
        method: "GET",
        status: 402,
        headers: &headers,
        body: b"{}",
        body_end: crate::offer::BodyEnd::Whole,
        seen_at,
        keys,
    })
}

fn reading(challenge: &Value) -> Reading {
    reading_at(challenge, NOW)
}

/// The reading of one signed offer beside the entry it was made for.
fn one(artifact: Value) -> (State, Option<&'static str>, Word) {
    let reading = reading(&challenge(json!([entry()]), json!([artifact])));
    let signed = &reading.signatures.offers[0];
    (signed.state, signed.why, reading.word)
}

fn rules(reading: &Reading) -> Vec<&'static str> {
    reading.findings.iter().map(|finding| finding.rule).collect()
}

#[test]
fn digests_and_signers_are_those_of_eth_account() {
    let vectors = vectors();
    for vector in vectors["eip712"].as_array().unwrap() {
        let text = vector["artifact"].to_string();
        let doc = crate::json::parse(text.as_bytes(), crate::json::Profile::Signed, &Default::default()).unwrap();
        let artifact = Artifact::read(doc.root()).unwrap();
        let payload = Terms::read(artifact.payload.unwrap()).unwrap();
        let digest = eip712::digest(&payload);
        assert_eq!(vector["digest"], hex::encode(digest), "{}", vector["name"]);
        let signature = hex::decode(&artifact.signature[2..]).unwrap();
        let address = format!("0x{}", hex::encode(recover_address(&digest, &signature).unwrap()));
        assert_eq!(vector["address"], address, "{}", vector["name"]);
    }
    assert_eq!(vectors["eip712"].as_array().unwrap().len(), 5);
}

#[test]
fn an_offer_signed_by_pay_to_is_valid_and_changes_no_word() {
    let reading = reading(&challenge(json!([entry()]), json!([artifact("eip712", "payee")])));
    assert_eq!((reading.word, rules(&reading)), (Word::Payable, vec!["signature.offer.valid"]));
    let signed = &reading.signatures.offers[0];
    assert_eq!(signed.signer, Signer::Address("0xb87eb5270d4bcc84c78651261442670688cdddcf".to_owned()));
    assert_eq!((signed.accepts_index, signed.valid_until), (Some(0), Some(1_900_000_000)));
    assert_eq!(reading.findings[0].subject, "accepts[0].signature");
}

#[test]
fn another_signer_than_pay_to_proves_nothing() {
    let mut entry = entry();
    entry["payTo"] = json!("0x209693Bc6afc0C5328bA36FaF03C514EF312287C");
    let reading = reading(&challenge(json!([entry]), json!([artifact("eip712", "other recipient")])));
    let signed = &reading.signatures.offers[0];
    assert_eq!((signed.state, signed.why), (State::Unproven, Some("signer_is_not_pay_to")));
    assert_eq!(reading.word, Word::Payable);
}

/// The challenge was changed and the signed offer was not: a mismatch, whichever member it is.
#[test]
fn a_challenge_that_contradicts_its_signature_is_a_mismatch() {
    for (member, to) in [
        ("amount", json!("10001")),
        ("payTo", json!("0x209693Bc6afc0C5328bA36FaF03C514EF312287C")),
        ("scheme", json!("upto")),
    ] {
        let mut entry = entry();
        entry[member] = to;
        entry["extra"]["facilitatorAddress"] = json!("0x1111111111111111111111111111111111111111");
        for signed in [artifact("eip712", "payee"), artifact("jws", "EdDSA key"), artifact("jws", "ES256 web")] {
            let reading = reading(&challenge(json!([entry]), json!([signed])));
            let found = &reading.signatures.offers[0];
            assert_eq!((found.state, found.why), (State::Differs, Some(member)), "{member}");
            assert_eq!(reading.word, Word::Mismatch, "{member}");
        }
    }
}

#[test]
fn terms_for_another_token_network_or_resource_differ() {
    let mut polygon = entry();
    polygon["network"] = json!("eip155:137");
    polygon["asset"] = json!("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359");
    let signed = artifact("eip712", "payee");
    let elsewhere = reading(&challenge(json!([polygon]), json!([signed])));
    assert_eq!(elsewhere.signatures.offers[0].why, Some("asset"));
    let signed = artifact("eip712", "long and not ascii");
    let mut payee = entry();
    payee["payTo"] = signed["payload"]["payTo"].clone();
    let other = reading(&challenge(json!([payee]), json!([signed])));
    assert_eq!(other.signatures.offers[0].why, Some("resourceUrl"));
    assert_eq!(other.word, Word::Mismatch);
}

/// What the challenge says it is for has rules of its own.
#[test]
fn a_resource_that_the_challenge_itself_names_is_not_told_twice() {
    let signed = artifact("eip712", "long and not ascii");
    let mut payee = entry();
    payee["payTo"] = signed["payload"]["payTo"].clone();
    let mut value = challenge(json!([payee]), json!([signed]));
    value["resource"]["url"] =
        value["extensions"]["offer-receipt"]["info"]["offers"][0]["payload"]["resourceUrl"].clone();
    assert_eq!(reading(&value).signatures.offers[0].state, State::Valid);
}

#[test]
fn fields_decide_which_entry_is_meant_and_the_pointer_does_not() {
    let mut dear = entry();
    dear["amount"] = json!("20000");
    for pointer in [json!(0), json!(1), json!(99)] {
        let mut signed = artifact("eip712", "payee");
        signed["acceptIndex"] = pointer;
        let reading = reading(&challenge(json!([dear, entry()]), json!([signed])));
        assert_eq!(
            (reading.signatures.offers[0].state, reading.signatures.offers[0].accepts_index),
            (State::Valid, Some(1))
        );
        let bare = reading.findings.iter().find(|finding| finding.rule == "signature.offer.uncovered").unwrap();
        assert_eq!(bare.subject, "accepts[0].signature");
    }
}

#[test]
fn an_offer_ends_after_its_last_second() {
    let value = challenge(json!([entry()]), json!([artifact("eip712", "payee")]));
    let at = |now| (reading_at(&value, now).signatures.offers[0].state, reading_at(&value, now).word);
    assert_eq!(at(1_900_000_000), (State::Valid, Word::Payable));
    assert_eq!(at(1_900_000_001), (State::Expired, Word::PayableWithWarnings));
    let endless = artifact("eip712", "no end");
    let mut payee = entry();
    payee["payTo"] = endless["payload"]["payTo"].clone();
    assert_eq!(
        reading_at(&challenge(json!([payee]), json!([endless])), i64::MAX / 1000).signatures.offers[0].state,
        State::Valid
    );
}

#[test]
fn the_letter_case_of_a_signature_is_free_and_nothing_else_is() {
    let signed = artifact("eip712", "payee");
    let hex = signed["signature"].as_str().unwrap()[2..].to_owned();
    let with = |signature: String| {
        let mut changed = signed.clone();
        changed["signature"] = json!(signature);
        one(changed)
    };
    assert_eq!(with(format!("0x{}", hex.to_uppercase())).0, State::Valid);
    for (signature, state, why) in [
        (hex.clone(), State::Malformed, "signature"),
        (format!("0x{}", &hex[..129]), State::Malformed, "signature"),
        (format!("0x{}", &hex[..128]), State::Invalid, "signature_length"),
        (format!("0x{}1d", &hex[..128]), State::Invalid, "signature_v"),
        (format!("0x{}1b", "0".repeat(128)), State::Invalid, "signature_out_of_range"),
        (format!("0x{}{}1b", &hex[..64], "f".repeat(64)), State::Invalid, "signature_out_of_range"),
    ] {
        assert_eq!(with(signature.clone()), (state, Some(why), Word::PayableWithWarnings), "{signature}");
    }
}

#[test]
fn each_way_to_name_a_key_has_its_answer() {
    for alg in ["EdDSA", "ES256", "ES256K"] {
        for (form, state, why) in [
            ("key", State::Unproven, "key_names_only_itself"),
            ("jwk", State::Unproven, "key_names_only_itself"),
            ("web with jwk", State::Unproven, "key_came_with_the_offer"),
            ("web", State::KeyNotResolved, "kid_needs_a_look_up"),
        ] {
            let found = one(artifact("jws", &format!("{alg} {form}")));
            assert_eq!(found, (state, Some(why), Word::Payable), "{alg} {form}");
        }
    }
}

/// The key of a did:web name, once it was fetched, says who may sign: the site, and only with that key.
#[test]
fn a_published_key_is_the_sites_and_another_one_is_refused() {
    let published = |key: &PublicKey, artifact: Value| {
        let name = "did:web:api.example.com#key-1".to_owned();
        let keys = [KnownKey { name, place: KeyPlace::DidWeb, key: key.clone() }];
        let reading = reading_with(&challenge(json!([entry()]), json!([artifact])), NOW, &keys);
        (reading.signatures.offers[0].state, reading.signatures.offers[0].why)
    };
    let key = |name: &str| {
        let vectors = vectors();
        let kid = vectors["jws"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap()["kid"].clone();
        PublicKey::from_did(kid.as_str().unwrap()).unwrap()
    };
    for alg in ["EdDSA", "ES256", "ES256K"] {
        let (own, web) = (key(&format!("{alg} key")), artifact("jws", &format!("{alg} web")));
        assert_eq!(published(&own, web.clone()), (State::Published, None));
        assert_eq!(published(&own, artifact("jws", &format!("{alg} web with jwk"))), (State::Published, None));
        let other = PublicKey::from_did("did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp").unwrap();
        assert_eq!(published(&other, web).0, State::Invalid);
        let brought = published(&other, artifact("jws", &format!("{alg} web with jwk")));
        assert_eq!(brought, (State::Invalid, Some("jwk_is_not_kid")));
    }
}

/// The token with its header replaced (so the signature no longer holds, if it is ever reached).
fn headed(name: &str, edit: impl FnOnce(&mut Value)) -> (State, Option<&'static str>) {
    let mut signed = artifact("jws", name);
    let token = signed["signature"].as_str().unwrap().to_owned();
    let (head, rest) = token.split_once('.').unwrap();
    let mut header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(head).unwrap()).unwrap();
    edit(&mut header);
    signed["signature"] = json!(format!("{}.{rest}", URL_SAFE_NO_PAD.encode(header.to_string())));
    let (state, why, _) = one(signed);
    (state, why)
}

#[test]
fn headers_that_ask_for_trust_get_none() {
    let other = artifact("jws", "ES256 web with jwk")["signature"].as_str().unwrap().to_owned();
    let other = URL_SAFE_NO_PAD.decode(other.split('.').next().unwrap()).unwrap();
    let other: Value = serde_json::from_slice(&other).unwrap();
    let malformed = |why| (State::Malformed, Some(why));
    let invalid = |why| (State::Invalid, Some(why));
    assert_eq!(headed("EdDSA key", |head| head["alg"] = json!("none")), malformed("alg"));
    assert_eq!(headed("EdDSA key", |head| head["alg"] = json!("HS256")), malformed("alg"));
    assert_eq!(headed("EdDSA key", |head| head["crit"] = json!(["b64"])), malformed("header"));
    assert_eq!(headed("EdDSA key", |head| drop(head.as_object_mut().unwrap().remove("kid"))), malformed("kid"));
    assert_eq!(headed("EdDSA key", |head| head["jwk"] = json!({"kty": "oct", "k": "AA"})), malformed("jwk"));
    assert_eq!(headed("EdDSA key", |head| head["jwk"] = other["jwk"].clone()), invalid("jwk_is_not_kid"));
    assert_eq!(headed("EdDSA key", |head| head["alg"] = json!("ES256")), invalid("alg_is_not_the_keys"));
    assert_eq!(headed("EdDSA key", |head| head["typ"] = json!("JWT")), invalid("signature_does_not_hold"));
}

/// A receipt is signed by the same key in the same form, and is no offer (the two differ in shape only).
#[test]
fn what_has_another_shape_is_no_signed_offer() {
    let good = artifact("eip712", "payee");
    let receipt = json!({"version": 1, "network": "eip155:8453", "resourceUrl": URL, "payer": "0x0", "issuedAt": 1, "transaction": ""});
    for (path, to, why) in [
        ("payload", receipt, "scheme"),
        ("payload", Value::Null, "payload"),
        ("format", json!("jwt"), "format"),
        ("format", json!("jws"), "payload"),
        ("acceptIndex", json!("0"), "acceptIndex"),
        ("signature", json!(7), "signature"),
    ] {
        let mut changed = good.clone();
        changed[path] = to;
        assert_eq!(one(changed), (State::Malformed, Some(why), Word::PayableWithWarnings), "{path}");
    }
    for (member, to) in
        [("version", json!(2)), ("version", json!("1")), ("amount", json!(10000)), ("validUntil", json!(1.5))]
    {
        let mut changed = good.clone();
        changed["payload"][member] = to;
        assert_eq!(one(changed).1, Some(member));
    }
    assert_eq!(one(json!("text")).0, State::Malformed);
}

#[test]
fn a_flood_of_signed_offers_is_cut() {
    let many = vec![json!({}); 33];
    let reading = reading(&challenge(json!([entry()]), json!(many)));
    assert_eq!(reading.signatures.offers.len(), 32);
    assert!(reading.findings.iter().any(|finding| finding.observed == "33 signed offers, 32 read"));
}

/// Version 1 writes other members and short names; what is signed is the same (section 4.2).
#[test]
fn version_1_terms_are_signed_as_version_2_has_them() {
    let mut old = entry();
    let entry = old.as_object_mut().unwrap();
    entry.insert("network".to_owned(), json!("base"));
    entry.insert("resource".to_owned(), json!(URL));
    entry.insert("description".to_owned(), json!("d"));
    entry.insert("mimeType".to_owned(), json!(""));
    let amount = entry.remove("amount").unwrap();
    entry.insert("maxAmountRequired".to_owned(), amount);
    let offers = json!([artifact("eip712", "payee")]);
    let body = json!({"x402Version": 1, "error": "e", "accepts": [old], "extensions": {"offer-receipt": {"info": {"offers": offers}}}});
    let read_body = |body: &Value, headers: &[(String, Vec<u8>)]| {
        let (body, seen_at) = (body.to_string(), Timestamp::from_seconds(NOW));
        read(&Exchange {
            url: URL,
            method: "GET",
            status: 402,
            headers,
            body: body.as_bytes(),
            body_end: crate::offer::BodyEnd::Whole,
            seen_at,
            keys: &[],
        })
    };
    let alone = read_body(&body, &[("Cache-Control".to_owned(), b"no-store".to_vec())]);
    assert_eq!(alone.signatures.offers[0].state, State::Valid);
    assert_eq!(alone.word, Word::Payable, "{:?}", rules(&alone));
    let mut dear = body.clone();
    dear["accepts"][0]["maxAmountRequired"] = json!("20000");
    assert_eq!(read_body(&dear, &[]).word, Word::Mismatch);
    // Beside a header each channel is held against its own signatures.
    let header = STANDARD.encode(challenge(json!([super::tests::entry()]), json!([])).to_string()).into_bytes();
    let both = read_body(
        &dear,
        &[("PAYMENT-REQUIRED".to_owned(), header), ("Cache-Control".to_owned(), b"no-store".to_vec())],
    );
    let found = both.findings.iter().find(|finding| finding.rule == "signature.offer.differs").unwrap();
    assert_eq!(found.subject, "body:accepts[0].signature");
}

proptest::proptest! {
    #[test]
    fn signed_offers_never_panic(text in ".{0,60}", index in proptest::prelude::any::<u64>(), bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..70)) {
        let token = format!("{}.{}.{}", URL_SAFE_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(&bytes), text);
        let hex = format!("0x{}", hex::encode(&bytes));
        let mut good = artifact("eip712", "payee");
        good["signature"] = json!(hex);
        good["acceptIndex"] = json!(index);
        good["payload"]["payTo"] = json!(text);
        let offers = json!([good, {"format": "jws", "signature": token}, {"format": "jws", "signature": text}, text]);
        proptest::prop_assert_eq!(reading(&challenge(json!([entry()]), offers)).signatures.offers.len(), 4);
    }
}
