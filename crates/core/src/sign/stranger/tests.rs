use proptest::prelude::*;

use super::*;

/// ECDSA over secp256k1 with the private key 1 and a digest of 32 bytes 0x11; r, s and v by eth-account
/// 0.14 (`Account.unsafe_sign_hash`), the address is the well-known one of that key.
const DIGEST: [u8; 32] = [0x11; 32];
const ADDRESS: &str = "7e5f4552091a69125d5dfcb7b8c2659029395bdf";
const SIGNATURE: &str = "e7c93726a865578504442b1a6827f676e0ed74bdff2be3960d1e253bbcfc44626aa772b878bc912bdbb33a0014ec507c4b3896ea85aa914b74dee9b7ac3e56da1c";

fn signature() -> Vec<u8> {
    hex::decode(SIGNATURE).unwrap()
}

fn refused(edit: impl FnOnce(&mut Vec<u8>)) -> RecoverError {
    let mut bytes = signature();
    edit(&mut bytes);
    recover_address(&DIGEST, &bytes).unwrap_err()
}

#[test]
fn the_address_is_that_of_the_key() {
    assert_eq!(hex::encode(recover_address(&DIGEST, &signature()).unwrap()), ADDRESS);
}

#[test]
fn forms_that_let_one_signature_be_two_are_refused() {
    // The order of secp256k1 (SEC 2 section 2.4.1).
    let order = hex::decode("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141").unwrap();
    assert_eq!(refused(|bytes| bytes.truncate(64)), RecoverError::Length);
    assert_eq!(refused(|bytes| bytes.push(0)), RecoverError::Length);
    for v in (0..=255).filter(|v| !matches!(v, 27 | 28)) {
        assert_eq!(refused(|bytes| bytes[64] = v), RecoverError::RecoveryId);
    }
    assert_eq!(refused(|bytes| bytes[..32].fill(0)), RecoverError::OutOfRange);
    assert_eq!(refused(|bytes| bytes[32..64].fill(0)), RecoverError::OutOfRange);
    assert_eq!(refused(|bytes| bytes[..32].copy_from_slice(&order)), RecoverError::OutOfRange);
    assert_eq!(refused(|bytes| bytes[32..64].copy_from_slice(&order)), RecoverError::OutOfRange);
    assert_eq!(refused(|bytes| bytes[..32].fill(0xff)), RecoverError::OutOfRange);
    // The other form of the same signature: n - s with the other v.
    let high = |bytes: &mut Vec<u8>| {
        let (n, s) = (num_bigint::BigUint::from_bytes_be(&order), num_bigint::BigUint::from_bytes_be(&bytes[32..64]));
        bytes[32..64].copy_from_slice(&(n - s).to_bytes_be());
        bytes[64] ^= 27 ^ 28;
    };
    assert_eq!(refused(high), RecoverError::HighS);
}

#[test]
fn every_single_bit_of_a_signature_counts() {
    for bit in 0..65 * 8 {
        let mut bytes = signature();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let found = recover_address(&DIGEST, &bytes).map(hex::encode);
        assert_ne!(found.as_deref(), Ok(ADDRESS), "bit {bit}");
    }
}

/// The examples of the did:key method for the three curves (W3C CCG, did:key method, test vectors).
#[test]
fn did_key_names_a_key_of_its_curve() {
    for (did, algorithm) in [
        ("did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp", Algorithm::Ed25519),
        ("did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme", Algorithm::Secp256k1),
        ("did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169", Algorithm::P256),
    ] {
        let key = PublicKey::from_did(did).unwrap();
        assert_eq!(key.algorithm(), algorithm);
        let with_fragment = format!("{did}#{}", &did[8..]);
        assert_eq!(PublicKey::from_did(&with_fragment), Ok(key));
        let cut = &did[..did.len() - 1];
        assert!(PublicKey::from_did(cut).is_err(), "{cut}");
    }
    for other in ["", "did:web:example.com", "did:key:", "did:key:z", "did:key:m6Mk", "did:pkh:eip155:1:0x0"] {
        assert_eq!(PublicKey::from_did(other), Err(PublicKeyError::NotAKey), "{other}");
    }
}

fn jwk(text: &str) -> Result<PublicKey, PublicKeyError> {
    PublicKey::from_jwk(json::parse(text.as_bytes(), Profile::Signed, &Limits::default()).unwrap().root())
}

/// RFC 8037 appendix A.2 and RFC 7515 appendix A.3.
#[test]
fn a_jwk_is_read_and_one_with_its_private_half_is_not() {
    let ed = r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
    let p256 = r#"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#;
    assert_eq!(jwk(ed).unwrap().algorithm(), Algorithm::Ed25519);
    assert_eq!(jwk(p256).unwrap().algorithm(), Algorithm::P256);
    assert_eq!(jwk(&ed.replace('}', r#","d":"AA"}"#)), Err(PublicKeyError::NotAKey));
    assert_eq!(jwk(&p256.replace("P-256", "P-384")), Err(PublicKeyError::NotAKey));
    assert_eq!(jwk(&p256.replace("P-256", "secp256k1")), Err(PublicKeyError::NotAPoint));
    assert_eq!(jwk(&p256.replace("5a0\"", "5a1\"")), Err(PublicKeyError::NotAKey), "trailing bits");
    assert_eq!(jwk(&p256.replace("f83O", "f83P")), Err(PublicKeyError::NotAPoint), "off the curve");
    assert_eq!(
        jwk(r#"{"kty":"OKP","crv":"Ed25519","x":"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#),
        Err(PublicKeyError::NotAPoint),
        "weak"
    );
}

proptest! {
    #[test]
    fn names_of_keys_never_panic(text in ".{0,80}", bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _any = PublicKey::from_did(&text);
        let _any = PublicKey::from_did(&format!("did:key:z{}", bs58::encode(&bytes).into_string()));
        let _any = PublicKey::from_did(&format!("did:jwk:{}", URL_SAFE_NO_PAD.encode(&bytes)));
        let _any = recover_address(&DIGEST, &bytes);
    }
}
