//! What the lab's sellers sign with. The keys are constants in public source: they sign play offers and
//! nothing else.

use super::challenge::{BASE, USDC};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use countersign_core::offer::signed::{Terms, eip712_digest};
use countersign_core::sign::SigningKey;
use countersign_core::sign::stranger::recover_address;
use k256::ecdsa::SigningKey as EthereumKey;
use serde_json::{Value, json};

/// A second in the year 2100.
pub(super) const LATER: u64 = 4_102_444_800;
/// A second in the year 2001.
pub(super) const LONG_AGO: u64 = 1_000_000_000;

/// Private key of the payee whom the lab can sign for.
const PAYEE_KEY: [u8; 32] = [0x42; 32];

/// r‖s‖v of the payee's key over a digest.
fn by_payee(digest: &[u8; 32]) -> [u8; 65] {
    let key = EthereumKey::from_slice(&PAYEE_KEY).expect("0x42 repeated is below the order of secp256k1");
    let (signature, id) = key.sign_prehash_recoverable(digest);
    let mut bytes = [0; 65];
    bytes[..64].copy_from_slice(&signature.to_bytes());
    bytes[64] = 27 + id.to_byte();
    bytes
}

/// The address that belongs to the payee's key.
pub(super) fn payee() -> String {
    let address = recover_address(&[1; 32], &by_payee(&[1; 32])).expect("what the key signed recovers to it");
    format!("0x{}", hex(&address))
}

/// One cent of USDC on Base to the payee who signs.
pub(super) fn terms(resource_url: String, valid_until: u64) -> Terms {
    let (scheme, network, asset) = ("exact".to_owned(), BASE.to_owned(), USDC.to_owned());
    let (pay_to, amount) = (payee(), "10000".to_owned());
    Terms { version: 1, resource_url, scheme, network, asset, pay_to, amount, valid_until: Some(valid_until) }
}

fn payload(terms: &Terms) -> Value {
    json!({
        "version": terms.version, "resourceUrl": terms.resource_url, "scheme": terms.scheme, "network": terms.network,
        "asset": terms.asset, "payTo": terms.pay_to, "amount": terms.amount, "validUntil": terms.valid_until
    })
}

/// A signed offer by EIP-712.
pub(super) fn eip712(terms: &Terms) -> Value {
    with_signature(terms, &by_payee(&eip712_digest(terms)))
}

/// The same with a signature of the caller's.
pub(super) fn with_signature(terms: &Terms, signature: &[u8]) -> Value {
    json!({"format": "eip712", "acceptIndex": 0, "payload": payload(terms), "signature": format!("0x{}", hex(signature))})
}

/// A signed offer as a JWS: made by the key of `seed`, under the name `kid`.
pub(super) fn jws(terms: &Terms, seed: u8, kid: &str) -> Value {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(&json!({"alg": "EdDSA", "kid": kid})), part(&payload(terms)));
    let signature = URL_SAFE_NO_PAD.encode(SigningKey::from_seed([seed; 32]).sign(signed.as_bytes()));
    json!({"format": "jws", "acceptIndex": 0, "signature": format!("{signed}.{signature}")})
}

/// The name that contains the key of `seed`.
pub(super) fn did(seed: u8) -> String {
    format!("did:jwk:{}", URL_SAFE_NO_PAD.encode(jwk(seed).to_string()))
}

/// The public key of `seed`.
pub(super) fn jwk(seed: u8) -> Value {
    let x = URL_SAFE_NO_PAD.encode(SigningKey::from_seed([seed; 32]).verifying_key().to_bytes());
    json!({"crv": "Ed25519", "kty": "OKP", "x": x})
}

/// `Signature-Input` and `Signature` of a 402 with these terms in its header (RFC 9421).
pub(super) fn response(header: &str, authority: &str, path: &str, keyid: &str) -> (String, String) {
    let components = r#""@status" "payment-required" "@authority";req "@path";req"#;
    let input = format!(r#"({components});created=1790000000;keyid="{keyid}";tag="x402-response""#);
    let base = format!(
        "\"@status\": 402\n\"payment-required\": {header}\n\"@authority\";req: {authority}\n\"@path\";req: {path}\n\"@signature-params\": {input}"
    );
    let signature = STANDARD.encode(SigningKey::from_seed([1; 32]).sign(base.as_bytes()));
    (format!("resp={input}"), format!("resp=:{signature}:"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
