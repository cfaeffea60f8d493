use proptest::prelude::*;
use serde_json::Value;

use super::component::Form;
use super::field::Kind;
use super::*;
use crate::sign::stranger::{Algorithm, PublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

mod work;

type Headers = Vec<(String, Vec<u8>)>;

fn headers(lines: &[(&str, &str)]) -> Headers {
    lines.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect()
}

fn url(text: &str) -> ResourceUrl {
    ResourceUrl::parse(text).unwrap()
}

/// RFC 9421 appendix B.1.3, as the JWK's coordinates.
fn p256() -> PublicKey {
    let x = URL_SAFE_NO_PAD.decode("qIVYZVLCrPZHGHjP17CTW0_-D9Lfw0EkjqF7xB4FivA").unwrap();
    let y = URL_SAFE_NO_PAD.decode("Mc4nN9LTDOBhfoUeg8Ye9WedFRhnZXZJA12Qp0zZ6F0").unwrap();
    PublicKey::from_bytes(Algorithm::P256, &[&[4], x.as_slice(), &y].concat()).unwrap()
}

/// RFC 9421 appendix B.1.4.
fn ed25519() -> PublicKey {
    let bytes = STANDARD.decode("JrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=").unwrap();
    PublicKey::from_bytes(Algorithm::Ed25519, &bytes).unwrap()
}

const BODY: &[u8] = br#"{"message": "good dog"}"#;

/// The response of RFC 9421 appendix B.2 with the signature of B.2.4.
fn b24() -> Headers {
    headers(&[
        ("Date", "Tue, 20 Apr 2021 02:07:56 GMT"),
        ("Content-Type", "application/json"),
        (
            "Content-Digest",
            "sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:",
        ),
        ("Content-Length", "23"),
        (
            "Signature-Input",
            r#"sig-b24=("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256""#,
        ),
        (
            "Signature",
            "sig-b24=:wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==:",
        ),
    ])
}

fn checked(status: u16, headers: &[(String, Vec<u8>)]) -> Result<Vec<Signature>, Malformed> {
    let url = url("https://example.com/foo?param=Value&Pet=dog");
    let message = Message { status, headers, method: "POST", url: &url };
    verify(&message, |keyid| (keyid == "test-key-ecc-p256").then(p256))
}

#[test]
fn the_signed_response_of_rfc_9421_holds() {
    let found = checked(200, &b24()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].label.as_str(), found[0].outcome), ("sig-b24", Outcome::Holds));
    assert_eq!(found[0].created, Some(1_618_884_473));
    assert_eq!(found[0].components, ["\"@status\"", "\"content-type\"", "\"content-digest\"", "\"content-length\""]);
    assert_eq!(content_digest(&b24(), BODY), Digested::Same);
}

/// Appendix B.2.6 signs a request; its base and signature check the key type alone.
#[test]
fn the_ed25519_signature_of_rfc_9421_holds() {
    let base = "\"date\": Tue, 20 Apr 2021 02:07:55 GMT\n\"@method\": POST\n\"@path\": /foo\n\"@authority\": example.com\n\"content-type\": application/json\n\"content-length\": 18\n\"@signature-params\": (\"date\" \"@method\" \"@path\" \"@authority\" \"content-type\" \"content-length\");created=1618884473;keyid=\"test-key-ed25519\"";
    let signature = STANDARD
        .decode("wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==")
        .unwrap();
    assert!(ed25519().verifies(base.as_bytes(), &signature));
    assert!(!ed25519().verifies(&base.as_bytes()[1..], &signature));
}

struct Vector {
    headers: Headers,
    url: ResourceUrl,
    key: PublicKey,
}

/// Signed by the PyPI package http-message-signatures; the script that made it stands beside the file.
fn vector(name: &str) -> Vector {
    let all: Value = serde_json::from_str(include_str!("../../tests/data/signed_responses.json")).unwrap();
    let one = all["responses"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap().clone();
    let line = |line: &Value| (line[0].as_str().unwrap().to_owned(), line[1].as_str().unwrap().as_bytes().to_vec());
    Vector {
        headers: one["headers"].as_array().unwrap().iter().map(line).collect(),
        url: url(one["url"].as_str().unwrap()),
        key: PublicKey::from_did(one["did"].as_str().unwrap()).unwrap(),
    }
}

impl Vector {
    fn outcome(&self, status: u16) -> Result<Outcome, Malformed> {
        let message = Message { status, headers: &self.headers, method: "GET", url: &self.url };
        let keyid = if self.key.algorithm() == Algorithm::P256 { "p256" } else { "ed25519" };
        verify(&message, |asked| (asked == keyid).then(|| self.key.clone())).map(|all| all[0].outcome)
    }

    fn edit(&mut self, name: &str, from: &str, to: &str) {
        let line = self.headers.iter_mut().find(|line| line.0 == name).unwrap();
        let text = String::from_utf8(line.1.clone()).unwrap();
        assert!(text.contains(from), "{text}");
        line.1 = text.replacen(from, to, 1).into_bytes();
    }
}

#[test]
fn responses_signed_by_another_implementation_hold() {
    for name in ["x402", "p256", "everything", "forms"] {
        assert_eq!(vector(name).outcome(402), Ok(Outcome::Holds), "{name}");
        assert_eq!(vector(name).outcome(200), Ok(Outcome::Invalid("signature_does_not_hold")), "{name}");
    }
    let mut moved = vector("x402");
    moved.url = url("https://api.example.com/other?city=Bern");
    assert_eq!(moved.outcome(402), Ok(Outcome::Invalid("signature_does_not_hold")));
    moved.url = url("https://api.example.com/paid?city=Basel");
    assert_eq!(moved.outcome(402), Ok(Outcome::Holds), "the query is not covered");
}

/// Every bit of every header that takes part, and every one of the status and the address.
#[test]
fn every_single_bit_counts() {
    for name in ["x402", "p256", "everything"] {
        for line in 0..vector(name).headers.len() {
            let covered = name == "everything" || vector(name).headers[line].0 != "Content-Digest";
            for bit in 0..vector(name).headers[line].1.len() * 8 {
                let mut changed = vector(name);
                changed.headers[line].1[bit / 8] ^= 1 << (bit % 8);
                let outcome = changed.outcome(402);
                assert_eq!(outcome == Ok(Outcome::Holds), !covered, "{name} line {line} bit {bit}: {outcome:?}");
            }
        }
        for bit in 0..16 {
            assert_ne!(vector(name).outcome(402 ^ (1 << bit)), Ok(Outcome::Holds));
        }
    }
}

#[test]
fn what_is_no_signature_is_refused_with_its_reason() {
    let input = "Signature-Input";
    let one = |name: &str, from: &str, to: &str| {
        let mut vector = vector("x402");
        vector.edit(name, from, to);
        vector.outcome(402)
    };
    for (from, to, outcome) in [
        ("\"@status\"", "\"@status\" \"@status\"", Outcome::Malformed("component_twice")),
        ("\"@status\"", "\"@status\" \"x-none\"", Outcome::Invalid("component_missing")),
        ("\"@status\"", "\"Payment-Required\"", Outcome::Malformed("component")),
        ("\"@status\"", "\"@path\"", Outcome::Malformed("component")),
        ("\"@status\"", "\"@status\";req", Outcome::Malformed("component")),
        ("\"@status\"", "\"@signature-params\"", Outcome::Malformed("component")),
        ("\"@status\"", "\"@invented\";req", Outcome::Malformed("component")),
        ("\"@status\"", "token", Outcome::Malformed("component")),
        ("\"@status\"", "\"content-digest\";tr", Outcome::NotSupported("component_parameter")),
        ("\"@status\"", "\"@status\";sf", Outcome::Malformed("component")),
        ("\"@status\"", "\"content-digest\";bs;sf", Outcome::Malformed("component")),
        ("\"@status\"", "\"content-digest\";key=\"sha-256\";bs", Outcome::Malformed("component")),
        ("\"@status\"", "\"content-digest\";key=sha-256", Outcome::Malformed("component")),
        ("\"@status\"", "\"content-digest\";sf=?0", Outcome::Malformed("component")),
        ("\"@status\"", "\"content-digest\";key=\"md5\"", Outcome::Invalid("component_missing")),
        ("\"@status\"", "\"x-none\";bs", Outcome::Invalid("component_missing")),
        ("\"@status\"", "\"payment-required\";key=\"a\"", Outcome::Invalid("component_not_structured")),
        ("\"@status\"", "\"payment-required\";sf", Outcome::NotSupported("structured_field")),
        ("\"@status\"", "\"accept\";req", Outcome::NotSupported("request_field")),
        ("\"@path\";req", "\"@path\";req=?0", Outcome::Malformed("component")),
        (";keyid=\"ed25519\"", "", Outcome::Malformed("keyid")),
        (";keyid=\"ed25519\"", ";keyid=ed25519", Outcome::Malformed("parameter")),
        ("created=1800000000", "created=\"1800000000\"", Outcome::Malformed("parameter")),
        ("keyid=\"ed25519\"", "keyid=\"another\"", Outcome::KeyNotFound),
        (";tag", ";alg=\"ecdsa-p256-sha256\";tag", Outcome::Invalid("alg_is_not_the_keys")),
        (";tag", ";alg=\"rsa-pss-sha512\";tag", Outcome::NotSupported("alg")),
        (";tag", ";alg=\"ed25519\";tag", Outcome::Invalid("signature_does_not_hold")),
        (
            "\"@authority\";req \"@path\";req",
            "\"@path\";req \"@authority\";req",
            Outcome::Invalid("signature_does_not_hold"),
        ),
    ] {
        assert_eq!(one(input, from, to), Ok(outcome), "{from} -> {to}");
    }
    for (name, from, to, why) in [
        (input, "resp=", "other=", "signature"),
        (input, "resp=(", "resp=", "signature_input"),
        (
            input,
            "resp=(\"@status\" \"payment-required\" \"@authority\";req \"@path\";req)",
            "resp=1",
            "signature_input",
        ),
        ("Signature", "resp=:", "resp=", "signature"),
        ("Signature", "resp=", "resp=:AA==:, more=", "labels"),
        ("Signature", "resp=", "resp=:AA==:, resp=", "signature"),
    ] {
        assert_eq!(one(name, from, to), Err(Malformed(why)), "{name}: {from} -> {to}");
    }
    let mut bare = vector("x402");
    bare.headers.retain(|line| line.0 != "Signature");
    assert_eq!(bare.outcome(402), Err(Malformed("signature")));
}

/// RFC 9421 section 2.1: lines of one name are one value, outer space does not count.
#[test]
fn header_lines_are_trimmed_and_joined() {
    let lines = headers(&[("X-A", "  one "), ("Other", "no"), ("x-a", "two\t"), ("X-A", "")]);
    assert_eq!(base::field(&lines, "x-a"), Ok(Some("one, two, ".to_owned())));
    assert_eq!(base::field(&lines, "x-b"), Ok(None));
    assert_eq!(base::field(&[("x-a".to_owned(), vec![0xc3, 0xa4])], "x-a"), Err(base::NotAscii));
}

/// RFC 9651: what is written canonically reads back, and what is not a dictionary does not.
#[test]
fn dictionaries_are_read_as_the_standard_has_them() {
    let list = |text: &str| match dictionary_of(text).remove(0).1 {
        Member::List(list) => field::inner_list(&list),
        Member::Item(..) => panic!("no list"),
    };
    assert_eq!(
        list("a=(  \"x\";b;c=?1   tok;d=?0 :AQI=:  );e=-12;f=\"q\\\"\\\\\""),
        "(\"x\";b;c tok;d=?0 :AQI=:);e=-12;f=\"q\\\"\\\\\""
    );
    assert_eq!(list("a=()"), "()");
    assert_eq!(dictionary_of("a , b=?0,\tc=*t/k:1").len(), 3);
    for text in [
        "a,",
        ",a",
        "a b",
        "A=1",
        "a=",
        "a=1.",
        "a=1.2345",
        "a=1234567890123.1",
        "a=-",
        "a=@1.5",
        "a=@",
        "a=%x",
        "a=%\"%C3%A4\"",
        "a=%\"%ff\"",
        "a=%\"\u{e4}\"",
        "a=%\"a",
        "a=1234567890123456",
        "a=--1",
        "a=\"\\n\"",
        "a=\"x",
        "a=:%:",
        "a=:AA",
        "a=?2",
        "a=(\"x\"\"y\")",
        "a=(\"x\"",
        "a=1;",
        "a=1;B",
        "a=1;b=1;b=2",
        "a=1, a=2",
        "a=é",
    ] {
        assert_eq!(field::dictionary(text), None, "{text}");
    }
}

/// The examples of RFC 9421 sections 2.1.1 to 2.1.3.
#[test]
fn a_header_enters_the_base_in_the_form_that_is_asked_for() {
    let dict = "  a=1,    b=2;x=1;y=2,   c=(a   b    c), d";
    let lines = headers(&[
        ("Example-Dict", dict),
        ("Example-Header", "value, with, lots"),
        ("Example-Header", "of, commas"),
        ("One-Line", " value, with, lots, of, commas\t"),
    ]);
    assert_eq!(field::canonical(Kind::Dictionary, dict).as_deref(), Some("a=1, b=2;x=1;y=2, c=(a b c), d"));
    for (key, value) in [("a", "1"), ("d", "?1"), ("b", "2;x=1;y=2"), ("c", "(a b c)")] {
        assert_eq!(Form::Member(key.to_owned()).value(&lines, "example-dict"), Ok(value.to_owned()), "{key}");
    }
    let bytes = |name| Form::Bytes.value(&lines, name).unwrap();
    assert_eq!(bytes("example-header"), ":dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:");
    assert_eq!(bytes("one-line"), ":dmFsdWUsIHdpdGgsIGxvdHMsIG9mLCBjb21tYXM=:");
    let latin = [("x".to_owned(), vec![b' ', 0xe4, b' ']), ("x".to_owned(), b"  ".to_vec())];
    assert_eq!(Form::Bytes.value(&latin, "x").as_deref(), Ok(":5A==:, ::"), "any byte, and no byte");
}

/// RFC 9651 section 4.1, and the examples of its section 3.3.
#[test]
fn structured_fields_are_written_canonically() {
    for (kind, text, written) in [
        (Kind::Dictionary, "a=?1;b, c=?0, d", "a;b, c=?0, d"),
        (Kind::Dictionary, "r=4.50 ,\tn=-0.250, w=10.000", "r=4.5, n=-0.25, w=10.0"),
        (Kind::Dictionary, "d=@1659578233", "d=@1659578233"),
        (Kind::List, "sugar ,  tea;q=1.0, ( \"a\"  b;x );y", "sugar, tea;q=1.0, (\"a\" b;x);y"),
        (Kind::Item, "  %\"f%c3%bcr 100%25\" ", "%\"f%c3%bcr 100%25\""),
        (Kind::Item, "007;a=-0", "7;a=0"),
    ] {
        assert_eq!(field::canonical(kind, text).as_deref(), Some(written), "{text}");
    }
    for (kind, text) in [
        (Kind::Dictionary, ""),
        (Kind::List, "a,"),
        (Kind::List, "a b"),
        (Kind::List, "(a ;x)"),
        (Kind::Item, "a, b"),
        (Kind::Item, "(a)"),
        (Kind::Item, ""),
    ] {
        assert_eq!(field::canonical(kind, text), None, "{text}");
    }
}

fn dictionary_of(text: &str) -> Dictionary {
    field::dictionary(text).unwrap_or_else(|| panic!("{text}"))
}

/// The examples of RFC 9530 appendix B.1 and RFC 9421 appendix B.2 (bodies as those texts have them).
#[test]
fn a_digest_is_of_the_body_it_came_with() {
    let hello = b"{\"hello\": \"world\"}\n";
    let digest = |value: &str, body: &[u8]| content_digest(&headers(&[("content-digest", value)]), body);
    let right = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:";
    assert_eq!(digest(right, hello), Digested::Same);
    assert_eq!(digest(right, b"{\"hello\": \"there\"}\n"), Digested::Differs);
    assert_eq!(digest(&format!("md5=:AA==:, {right}"), hello), Digested::Same);
    assert_eq!(digest(&format!("{right}, sha-512=:AA==:"), hello), Digested::Differs);
    assert_eq!(digest("sha-256=token", hello), Digested::Differs);
    assert_eq!(digest("md5=:AA==:", hello), Digested::NotReadable);
    assert_eq!(digest("sha-256", b""), Digested::Differs);
    assert_eq!(digest("sha-256=:RK", hello), Digested::NotReadable);
    assert_eq!(content_digest(&[], hello), Digested::Absent);
}

proptest! {
    #[test]
    fn no_header_makes_the_reader_panic(input in ".{0,120}", signature in ".{0,60}", tail in "[ -~]{0,60}") {
        let _any = checked(402, &headers(&[("Signature-Input", &input), ("Signature", &signature)]));
        let close = format!("a=(\"@status\"{tail}");
        let _any = checked(402, &headers(&[("Signature-Input", &close), ("Signature", "a=:AA==:")]));
        let _any = content_digest(&headers(&[("Content-Digest", &input)]), b"");
    }

    /// Whatever is read writes to a text that reads the same.
    #[test]
    fn writing_an_inner_list_keeps_its_meaning(text in r#"\([ a-z";=?01:@-]{0,40}\)(;[a-z]=[0-9]{1,3}){0,2}"#) {
        let read = |text: &str| field::dictionary(&format!("a={text}")).map(|mut read| read.remove(0).1);
        if let Some(Member::List(list)) = read(&text) {
            prop_assert_eq!(read(&field::inner_list(&list)), Some(Member::List(list)));
        }
    }
}
