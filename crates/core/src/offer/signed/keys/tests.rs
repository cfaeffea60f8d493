use super::*;
use crate::offer::signed::SignedOffer;
use crate::offer::{ReadingKind, Source, Word};

fn asked() -> ResourceUrl {
    ResourceUrl::parse("https://api.example.com/paid").unwrap()
}

fn unresolved(kids: &[&str]) -> Reading {
    let mut reading = Reading::nothing(ReadingKind::Challenge, Word::Payable, Vec::new());
    for kid in kids {
        reading.signatures.offers.push(SignedOffer {
            place: 0,
            source: Source::Header,
            format: None,
            state: State::KeyNotResolved,
            why: None,
            signer: Signer::Kid((*kid).to_owned()),
            accepts_index: None,
            valid_until: None,
        });
    }
    reading
}

/// The examples of the did:web method, section 2.5.2, with the asked site's name.
#[test]
fn did_web_is_looked_up_on_the_asked_site_only() {
    for (kid, url) in [
        ("did:web:example.com#key-1", Some("https://example.com/.well-known/did.json")),
        ("did:web:api.example.com", Some("https://api.example.com/.well-known/did.json")),
        ("did:web:example.com:user:alice#k", Some("https://example.com/user/alice/did.json")),
        ("did:web:example.com%3A3000", Some("https://example.com:3000/.well-known/did.json")),
        ("did:web:example.org#key-1", None),
        ("did:web:example.com.evil.org", None),
        ("did:web:127.0.0.1", None),
        ("did:web:user%40example.com", None),
        ("did:web:example.com%2F..", None),
        ("did:web:example.com:..:x", None),
        ("did:web:", None),
        ("did:key:z6Mk", None),
        ("https://example.com/key", None),
    ] {
        let found = look_ups(&unresolved(&[kid]), &asked());
        assert_eq!(found.first().map(|look_up| look_up.url.as_str()), url, "{kid}");
    }
}

#[test]
fn one_answer_asks_for_few_documents() {
    let many = ["did:web:a.example.com", "did:web:a.example.com#2", "did:web:b.example.com", "did:web:c.example.com"];
    let found = look_ups(&unresolved(&many), &asked());
    assert_eq!(
        found.iter().map(|one| one.did.as_str()).collect::<Vec<_>>(),
        ["did:web:a.example.com", "did:web:b.example.com"]
    );
    assert_eq!(look_ups(&unresolved(&[]), &asked()), []);
}

fn look_up(place: KeyPlace) -> LookUp {
    LookUp { place, did: "did:web:example.com".to_owned(), url: asked() }
}

const MULTIBASE: &str = "z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";

#[test]
fn a_did_document_names_its_own_keys_and_no_others() {
    let document = format!(
        r##"{{"id":"did:web:example.com","verificationMethod":[
            {{"id":"#one","publicKeyMultibase":"{MULTIBASE}"}},
            {{"id":"did:web:example.com#two","publicKeyJwk":{{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}}}},
            {{"id":"#no-key"}}, 7, {{"id":"#bad","publicKeyMultibase":"z6Mk"}}]}}"##
    );
    let found = read_keys(&look_up(KeyPlace::DidWeb), document.as_bytes());
    let names: Vec<&str> = found.iter().map(|known| known.name.as_str()).collect();
    assert_eq!(names, ["did:web:example.com#one", "did:web:example.com#two"]);
    assert_eq!(found[0].key, PublicKey::from_did(&format!("did:key:{MULTIBASE}")).unwrap());
    let other = document.replacen("\"id\":\"did:web:example.com\"", "\"id\":\"did:web:example.org\"", 1);
    assert_eq!(read_keys(&look_up(KeyPlace::DidWeb), other.as_bytes()), []);
    assert_eq!(read_keys(&look_up(KeyPlace::DidWeb), b"<html>"), []);
}

/// The thumbprint is that of RFC 8037 appendix A.3.
#[test]
fn a_directory_names_a_key_by_kid_and_by_thumbprint() {
    let text = br#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},{"kty":"RSA"}]}"#;
    let found = read_keys(&look_up(KeyPlace::Directory), text);
    let names: Vec<&str> = found.iter().map(|known| known.name.as_str()).collect();
    assert_eq!(names, ["k", "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"]);
}

/// A key counts at the place it was published for and nowhere else.
#[test]
fn a_key_is_found_by_name_and_place() {
    let key = PublicKey::from_did(&format!("did:key:{MULTIBASE}")).unwrap();
    let known = [KnownKey { name: "k".to_owned(), place: KeyPlace::Directory, key: key.clone() }];
    assert_eq!(find(&known, KeyPlace::Directory, "k"), Some(&key));
    assert_eq!(find(&known, KeyPlace::DidWeb, "k"), None);
    assert_eq!(find(&known, KeyPlace::Directory, "K"), None);
}

proptest::proptest! {
    #[test]
    fn what_is_fetched_never_panics(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200), kid in ".{0,60}") {
        for place in [KeyPlace::DidWeb, KeyPlace::Directory] {
            let _any = read_keys(&look_up(place), &bytes);
        }
        let _any = look_ups(&unresolved(&[&kid, &format!("did:web:{kid}")]), &asked());
    }
}
