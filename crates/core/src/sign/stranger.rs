//! Public keys and signatures of others: what sellers sign with, never what we sign with.
//!
//! One type for the three curves in use, so that a caller cannot pair a key with another curve's
//! algorithm. Keys are taken from what names them completely (a JWK, `did:key`, `did:jwk`); a name that
//! has to be looked up somewhere is the caller's business.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use k256::ecdsa::signature::Verifier as _;
use k256::ecdsa::{RecoveryId, Signature as Secp256k1Signature, VerifyingKey as Secp256k1Key};
use p256::ecdsa::{Signature as P256Signature, VerifyingKey as P256Key};
use sha3::{Digest as _, Keccak256};

use super::VerifyingKey;
use crate::json::{self, Limits, Node, Profile};

/// Longest text that names a key: a generous `did:jwk`.
const LONGEST_NAME: usize = 2048;

/// How a signature is made: a curve with its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Ed25519 (RFC 8032): `EdDSA` or `Ed25519` in JOSE, `ed25519` in RFC 9421.
    Ed25519,
    /// ECDSA over P-256 with SHA-256: `ES256`, `ecdsa-p256-sha256`.
    P256,
    /// ECDSA over secp256k1 with SHA-256: `ES256K` (RFC 8812).
    Secp256k1,
}

impl Algorithm {
    /// The algorithm a JWS header names; none for any other, `none` included.
    pub fn from_jose(name: &str) -> Option<Self> {
        match name {
            "EdDSA" | "Ed25519" => Some(Self::Ed25519),
            "ES256" => Some(Self::P256),
            "ES256K" => Some(Self::Secp256k1),
            _ => None,
        }
    }
}

/// Somebody's public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicKey {
    /// Checked as strictly as our own.
    Ed25519(VerifyingKey),
    /// A point of P-256.
    P256(P256Key),
    /// A point of secp256k1.
    Secp256k1(Secp256k1Key),
}

/// The text names no key that we can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublicKeyError {
    /// No JWK, `did:key` or `did:jwk`, or one of another curve.
    #[error("no public key of a supported kind")]
    NotAKey,
    /// The right form, but no usable point: off the curve, or weak.
    #[error("the bytes are no usable point of the curve")]
    NotAPoint,
}

impl PublicKeyError {
    /// Stable code for callers.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotAKey => "key_not_supported",
            Self::NotAPoint => "key_not_a_point",
        }
    }
}

impl PublicKey {
    /// Raw bytes of a curve: 32 for Ed25519, a SEC 1 point (33 or 65) for the others.
    ///
    /// # Errors
    /// [`PublicKeyError::NotAPoint`]
    pub fn from_bytes(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, PublicKeyError> {
        let refused = PublicKeyError::NotAPoint;
        match algorithm {
            Algorithm::Ed25519 => {
                let bytes = bytes.try_into().map_err(|_| refused)?;
                VerifyingKey::from_bytes(bytes).map(Self::Ed25519).map_err(|_| refused)
            }
            Algorithm::P256 => P256Key::from_sec1_bytes(bytes).map(Self::P256).map_err(|_| refused),
            Algorithm::Secp256k1 => Secp256k1Key::from_sec1_bytes(bytes).map(Self::Secp256k1).map_err(|_| refused),
        }
    }

    /// The public members of a JWK (RFC 7517, 8037, 8812). A key that brings its private half is refused:
    /// whoever publishes that has no secret any more.
    ///
    /// # Errors
    /// [`PublicKeyError`]
    pub fn from_jwk(jwk: Node<'_>) -> Result<Self, PublicKeyError> {
        let text = |name| jwk.get(name).and_then(Node::as_str).ok_or(PublicKeyError::NotAKey);
        let bytes = |name| URL_SAFE_NO_PAD.decode(text(name)?.as_bytes()).map_err(|_| PublicKeyError::NotAKey);
        if jwk.get("d").is_some() {
            return Err(PublicKeyError::NotAKey);
        }
        let algorithm = match (text("kty")?.as_ref(), text("crv")?.as_ref()) {
            ("OKP", "Ed25519") => return Self::from_bytes(Algorithm::Ed25519, &bytes("x")?),
            ("EC", "P-256") => Algorithm::P256,
            ("EC", "secp256k1") => Algorithm::Secp256k1,
            _ => return Err(PublicKeyError::NotAKey),
        };
        let (x, y) = (bytes("x")?, bytes("y")?);
        if x.len() != 32 || y.len() != 32 {
            return Err(PublicKeyError::NotAPoint);
        }
        Self::from_bytes(algorithm, &[&[4], x.as_slice(), &y].concat())
    }

    /// A DID or DID URL that contains its key: `did:key:z…` (multicodec, base58btc) or `did:jwk:…`.
    ///
    /// # Errors
    /// [`PublicKeyError`]
    pub fn from_did(did: &str) -> Result<Self, PublicKeyError> {
        let did = did.split(['#', '?', '/']).next().unwrap_or(did);
        if did.len() > LONGEST_NAME {
            return Err(PublicKeyError::NotAKey);
        }
        if let Some(multibase) = did.strip_prefix("did:key:z") {
            return Self::from_multicodec(multibase);
        }
        let text = did.strip_prefix("did:jwk:").ok_or(PublicKeyError::NotAKey)?;
        let text = URL_SAFE_NO_PAD.decode(text).map_err(|_| PublicKeyError::NotAKey)?;
        let jwk = json::parse(&text, Profile::Signed, &Limits::default()).map_err(|_| PublicKeyError::NotAKey)?;
        Self::from_jwk(jwk.root())
    }

    /// Multicodec prefixes are varints: 0xed, 0xe7 and 0x1200.
    fn from_multicodec(multibase: &str) -> Result<Self, PublicKeyError> {
        // 35 bytes are at most 48 digits; the check keeps a hostile text from costing time.
        if multibase.len() > 48 {
            return Err(PublicKeyError::NotAKey);
        }
        let bytes = bs58::decode(multibase).into_vec().map_err(|_| PublicKeyError::NotAKey)?;
        let (algorithm, length) = match bytes.get(..2) {
            Some([0xed, 0x01]) => (Algorithm::Ed25519, 32),
            Some([0xe7, 0x01]) => (Algorithm::Secp256k1, 33),
            Some([0x80, 0x24]) => (Algorithm::P256, 33),
            _ => return Err(PublicKeyError::NotAKey),
        };
        match bytes.get(2..) {
            Some(point) if point.len() == length => Self::from_bytes(algorithm, point),
            _ => Err(PublicKeyError::NotAPoint),
        }
    }

    /// The only algorithm this key verifies with.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Self::Ed25519(_) => Algorithm::Ed25519,
            Self::P256(_) => Algorithm::P256,
            Self::Secp256k1(_) => Algorithm::Secp256k1,
        }
    }

    /// Whether `signature` (64 bytes: R‖S or r‖s) holds over `message`. Of ECDSA's two forms of one
    /// signature both hold, as RFC 7518 and RFC 9421 have it: nothing here identifies a signature by
    /// its bytes.
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Ed25519(key) => key.verifies(message, signature),
            Self::P256(key) => {
                P256Signature::from_slice(signature).is_ok_and(|signature| key.verify(message, &signature).is_ok())
            }
            Self::Secp256k1(key) => Secp256k1Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify(message, &signature.normalize_s()).is_ok()),
        }
    }
}

/// Why no address signed this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    /// Not 65 bytes.
    #[error("the signature is not 65 bytes")]
    Length,
    /// v is neither 27 nor 28.
    #[error("v is neither 27 nor 28")]
    RecoveryId,
    /// r or s is zero or not below the order of the curve.
    #[error("r or s is out of range")]
    OutOfRange,
    /// s is in the upper half: the same signature has a second form (EIP-2).
    #[error("s is in the upper half of its range")]
    HighS,
    /// No key could have made it.
    #[error("no key could have made this signature")]
    NoKey,
}

impl RecoverError {
    /// Stable code for callers.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Length => "signature_length",
            Self::RecoveryId => "signature_v",
            Self::OutOfRange => "signature_out_of_range",
            Self::HighS => "signature_high_s",
            Self::NoKey => "signature_no_key",
        }
    }
}

/// The 20 bytes of the Ethereum address whose key signed `digest`: `signature` is r‖s‖v with v 27 or 28.
/// Nearly every 65 bytes recover to *some* address, so an address alone proves nothing: compare it.
///
/// # Errors
/// [`RecoverError`]
pub fn recover_address(digest: &[u8; 32], signature: &[u8]) -> Result<[u8; 20], RecoverError> {
    let (r_s, v) = match signature.split_last() {
        Some((v, r_s)) if r_s.len() == 64 => (r_s, v),
        _ => return Err(RecoverError::Length),
    };
    let id = match v {
        27 => RecoveryId::new(false, false),
        28 => RecoveryId::new(true, false),
        _ => return Err(RecoverError::RecoveryId),
    };
    let parsed = Secp256k1Signature::from_slice(r_s).map_err(|_| RecoverError::OutOfRange)?;
    if parsed.normalize_s() != parsed {
        return Err(RecoverError::HighS);
    }
    let key = Secp256k1Key::recover_from_prehash(digest, &parsed, id).map_err(|_| RecoverError::NoKey)?;
    Ok(address_of(&key))
}

/// The last 20 bytes of the Keccak-256 of both coordinates.
fn address_of(key: &Secp256k1Key) -> [u8; 20] {
    let hash = Keccak256::digest(&key.to_sec1_point(false).as_bytes()[1..]);
    let mut address = [0; 20];
    address.copy_from_slice(&hash[12..]);
    address
}

#[cfg(test)]
mod tests;
