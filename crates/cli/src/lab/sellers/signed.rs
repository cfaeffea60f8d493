//! Sellers that sign: offers by the offer-receipt extension, whole answers by RFC 9421.

use super::super::challenge::{Answer, Asked, PAYEE, edited, requirement, v2};
use super::super::signing::{self, LATER, LONG_AGO};
use super::honest::base64;
use super::{Expect, Reply, Seller, finds, honest, hostile};
use countersign_core::offer::signed::Terms;
use serde_json::{Value, json};

/// One seed for the seller, one for somebody else.
const OWN: u8 = 1;
const OTHER: u8 = 2;

pub(super) const ALL: &[Seller] = &[
    expecting(
        honest("honest-signed", "signs its offer with the key it is paid at", Reply::Whole(signed)),
        finds("payable", "signature.offer.valid"),
    ),
    expecting(
        honest("honest-jws", "signs its offer as a JWS by a key that names itself", Reply::Whole(token)),
        finds("payable", "signature.offer.unproven"),
    ),
    expecting(
        honest("honest-did-web", "signs its offer by a key that its own domain publishes", Reply::Anywhere(published)),
        finds("payable", "signature.offer.published"),
    ),
    expecting(
        honest(
            "honest-elsewhere",
            "signs its offer by a key that another domain publishes",
            Reply::Whole(another_site),
        ),
        finds("payable", "signature.offer.key_not_resolved"),
    ),
    expecting(
        honest("honest-directory", "signs its answer by a key in its directory", Reply::Anywhere(listed)),
        finds("payable", "signature.response.published"),
    ),
    expecting(
        honest("honest-sealed", "signs its whole answer by RFC 9421", Reply::Whole(|asked| sealed(asked, "/paid"))),
        finds("payable", "signature.response.unproven"),
    ),
    expecting(
        honest("honest-digest", "sends the digest of its body", Reply::Whole(|asked| digested(asked, OBJECT))),
        finds("payable", "signature.absent"),
    ),
    hostile(
        "forged-offer",
        "signs its offer with one key under the name of another",
        finds("payable_with_warnings", "signature.offer.invalid"),
        "honest-jws",
        Reply::Whole(forged),
    ),
    hostile(
        "other-key-published",
        "signs its offer by another key than its domain publishes",
        finds("payable_with_warnings", "signature.offer.invalid"),
        "honest-did-web",
        Reply::Anywhere(|asked| document(asked, OTHER)),
    ),
    hostile(
        "second-form",
        "writes its signature in the form that EIP-2 forbids",
        finds("payable_with_warnings", "signature.offer.invalid"),
        "honest-signed",
        Reply::Whole(second_form),
    ),
    hostile(
        "signed-cheaper",
        "signs one cent and asks for five",
        finds("mismatch", "signature.offer.differs"),
        "honest-signed",
        Reply::Whole(cheaper),
    ),
    hostile(
        "signed-elsewhere",
        "shows an offer that was signed for another site",
        finds("mismatch", "signature.offer.differs"),
        "honest-signed",
        Reply::Whole(elsewhere),
    ),
    hostile(
        "expired-offer",
        "shows an offer that ended in 2001",
        finds("payable_with_warnings", "signature.offer.expired"),
        "honest-signed",
        Reply::Whole(|asked| offering(asked, |url| signing::eip712(&signing::terms(url, LONG_AGO)))),
    ),
    hostile(
        "unsigned-beside",
        "adds an unsigned offer for another payee beside a signed one",
        finds("payable", "signature.offer.uncovered"),
        "honest-signed",
        Reply::Whole(beside),
    ),
    hostile(
        "sealed-elsewhere",
        "shows an answer that was signed for another path",
        finds("payable_with_warnings", "signature.response.invalid"),
        "honest-sealed",
        Reply::Whole(|asked| sealed(asked, "/other")),
    ),
    hostile(
        "other-digest",
        "sends the digest of another body",
        finds("payable_with_warnings", "content.digest"),
        "honest-digest",
        Reply::Whole(|asked| digested(asked, NOTHING)),
    ),
];

/// SHA-256 of `{}` and of nothing, in base64.
const OBJECT: &str = "RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=";
const NOTHING: &str = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

const fn expecting(seller: Seller, expect: Expect) -> Seller {
    Seller { expect, ..seller }
}

/// One cent to the payee who can sign, with the signed offer that `make` gives for the URL asked.
fn challenge(asked: &Asked, make: impl FnOnce(String) -> Value) -> Value {
    let mut challenge = v2(asked);
    challenge["accepts"][0]["payTo"] = json!(signing::payee());
    challenge["extensions"] =
        json!({"offer-receipt": {"info": {"offers": [make(asked.url())]}, "schema": {"type": "object"}}});
    challenge
}

fn offering(asked: &Asked, make: impl FnOnce(String) -> Value) -> Vec<u8> {
    let made = challenge(asked, make);
    edited(asked, |challenge| *challenge = made)
}

fn terms(url: String) -> Terms {
    signing::terms(url, LATER)
}

fn signed(asked: &Asked) -> Vec<u8> {
    offering(asked, |url| signing::eip712(&terms(url)))
}

fn token(asked: &Asked) -> Vec<u8> {
    offering(asked, |url| signing::jws(&terms(url), OWN, &format!("{}#0", signing::did(OWN))))
}

fn published(asked: &Asked) -> Vec<u8> {
    document(asked, OWN)
}

/// Signs with its own key, and publishes that of `seed` in its DID document.
fn document(asked: &Asked, seed: u8) -> Vec<u8> {
    let did = format!("did:web:{}%3A{}", asked.host, asked.port);
    match asked.path.as_str() {
        "/paid" => return offering(asked, |url| signing::jws(&terms(url), OWN, &format!("{did}#key-1"))),
        "/.well-known/did.json" => {}
        _ => return Answer::not_found().bytes(),
    }
    let key = json!({"id": "#key-1", "type": "JsonWebKey2020", "controller": did, "publicKeyJwk": signing::jwk(seed)});
    let document = json!({"id": did, "verificationMethod": [key]});
    Answer::new("200 OK", "application/did+json", document.to_string()).bytes()
}

fn another_site(asked: &Asked) -> Vec<u8> {
    offering(asked, |url| signing::jws(&terms(url), OWN, "did:web:keys.example#key-1"))
}

fn listed(asked: &Asked) -> Vec<u8> {
    match asked.path.as_str() {
        "/paid" => return sealed_by(asked, "/paid", "key-1"),
        "/.well-known/http-message-signatures-directory" => {}
        _ => return Answer::not_found().bytes(),
    }
    let mut key = signing::jwk(OWN);
    key["kid"] = json!("key-1");
    let directory = json!({"keys": [key]});
    Answer::new("200 OK", "application/http-message-signatures-directory+json", directory.to_string()).bytes()
}

fn forged(asked: &Asked) -> Vec<u8> {
    offering(asked, |url| signing::jws(&terms(url), OTHER, &format!("{}#0", signing::did(OWN))))
}

/// `s` with its highest bit set lies in the upper half of its range.
fn second_form(asked: &Asked) -> Vec<u8> {
    offering(asked, |url| {
        let mut signature = [0x11; 65];
        (signature[32], signature[64]) = (0x91, 27);
        signing::with_signature(&terms(url), &signature)
    })
}

fn cheaper(asked: &Asked) -> Vec<u8> {
    let mut dear = challenge(asked, |url| signing::eip712(&terms(url)));
    dear["accepts"][0]["amount"] = json!("50000");
    edited(asked, |challenge| *challenge = dear)
}

fn elsewhere(asked: &Asked) -> Vec<u8> {
    offering(asked, |_| signing::eip712(&terms(format!("https://honest-signed.localhost:{}/paid", asked.port))))
}

fn beside(asked: &Asked) -> Vec<u8> {
    let mut both = challenge(asked, |url| signing::eip712(&terms(url)));
    let mut other = requirement();
    other["payTo"] = json!(PAYEE);
    both["accepts"] = json!([both["accepts"][0], other]);
    edited(asked, |challenge| *challenge = both)
}

fn sealed(asked: &Asked, path: &str) -> Vec<u8> {
    sealed_by(asked, path, &signing::did(OWN))
}

fn sealed_by(asked: &Asked, path: &str, keyid: &str) -> Vec<u8> {
    let header = base64(&v2(asked).to_string());
    let (input, signature) = signing::response(&header, &format!("{}:{}", asked.host, asked.port), path, keyid);
    Answer::payment("{}")
        .with("PAYMENT-REQUIRED", header)
        .with("Signature-Input", input)
        .with("Signature", signature)
        .bytes()
}

fn digested(asked: &Asked, digest: &str) -> Vec<u8> {
    Answer::payment("{}")
        .with("PAYMENT-REQUIRED", base64(&v2(asked).to_string()))
        .with("Content-Digest", format!("sha-256=:{digest}:"))
        .bytes()
}
