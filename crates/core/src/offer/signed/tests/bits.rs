//! One changed bit, anywhere in what is signed or in the signature.

use super::*;

/// The outcome of the signature alone, without the challenge around it.
fn alone(artifact: &Value) -> State {
    let text = artifact.to_string();
    let doc = crate::json::parse(text.as_bytes(), crate::json::Profile::Signed, &Default::default()).unwrap();
    Artifact::read(doc.root()).and_then(|read| verify(&read, &[])).map_or(State::Malformed, |verified| verified.state)
}

/// Every member of the payload is signed: one bit of any of them leads to another signer.
#[test]
fn every_single_bit_of_the_signed_members_counts() {
    let signed = artifact("eip712", "payee");
    let text = |member: &str| signed["payload"][member].as_str().unwrap().to_owned();
    for member in ["resourceUrl", "scheme", "network", "asset", "payTo", "amount"] {
        let original = text(member);
        for bit in (0..original.len() * 8).filter(|bit| bit % 8 < 7) {
            let mut bytes = original.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let mut changed = signed.clone();
            changed["payload"][member] = json!(String::from_utf8(bytes).unwrap());
            assert_ne!(alone(&changed), State::Valid, "{member} bit {bit}");
        }
    }
    for bit in 0..53 {
        let mut changed = signed.clone();
        changed["payload"]["validUntil"] = json!(1_900_000_000_u64 ^ (1 << bit));
        assert_ne!(alone(&changed), State::Valid, "validUntil bit {bit}");
    }
    assert_eq!(alone(&signed), State::Valid);
}

/// No bit of a token may be changed without the offer losing what it had.
#[test]
fn every_single_bit_of_a_token_counts() {
    for name in ["EdDSA key", "ES256 key", "ES256K key"] {
        let signed = artifact("jws", name);
        let token = signed["signature"].as_str().unwrap().to_owned();
        assert_eq!(alone(&signed), State::Unproven);
        for bit in (0..token.len() * 8).filter(|bit| bit % 8 < 7) {
            let mut bytes = token.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let mut changed = signed.clone();
            changed["signature"] = json!(String::from_utf8(bytes).unwrap());
            let state = alone(&changed);
            assert!(!matches!(state, State::Unproven | State::Valid), "{name} bit {bit}: {state:?}");
        }
    }
}
