//! JWS compact serialisation (RFC 7515), as narrow as signed offers need it: three parts of base64url
//! without padding, a header of strict JSON, one of three algorithms, no critical extensions.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::artifact::Malformed;
use crate::json::{self, Limits, Node, NodeKind, Profile};
use crate::sign::stranger::{Algorithm, PublicKey};

/// Most bytes of a header or payload.
const LIMITS: Limits = Limits { depth: 8, members: 64, string: 8 << 10, size: 16 << 10 };

/// A JWS taken apart.
pub(super) struct Jws {
    /// What is signed: header and payload as they stand in the text.
    pub(super) signed: Vec<u8>,
    pub(super) payload: Vec<u8>,
    pub(super) signature: Vec<u8>,
    pub(super) algorithm: Algorithm,
    /// The name of the key, a DID URL by the specification.
    pub(super) kid: String,
    /// The key that came along. It shows possession, and never that its owner may speak for the seller.
    pub(super) jwk: Option<PublicKey>,
}

impl Jws {
    pub(super) fn parse(text: &str) -> Result<Self, Malformed> {
        let refuse = Malformed("signature");
        let mut parts = text.split('.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(refuse);
        };
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| refuse);
        let head = decode(header)?;
        let head = json::parse(&head, Profile::Signed, &LIMITS).map_err(|_| Malformed("header"))?;
        let head = head.root();
        // An extension marked critical changes what the signature means; we know none.
        if head.kind() != NodeKind::Object || head.get("crit").is_some() {
            return Err(Malformed("header"));
        }
        let member = |name| head.get(name).and_then(Node::as_str).ok_or(Malformed(name));
        let jwk = match head.get("jwk") {
            None => None,
            Some(jwk) => Some(PublicKey::from_jwk(jwk).map_err(|_| Malformed("jwk"))?),
        };
        Ok(Self {
            signed: text.as_bytes()[..header.len() + 1 + payload.len()].to_vec(),
            payload: decode(payload)?,
            signature: decode(signature)?,
            algorithm: Algorithm::from_jose(&member("alg")?).ok_or(Malformed("alg"))?,
            kid: member("kid")?.into_owned(),
            jwk,
        })
    }

    /// The payload as JSON; duplicate names and everything else that two readers may read differently
    /// are refused.
    pub(super) fn payload(&self) -> Result<json::Doc<'_>, Malformed> {
        json::parse(&self.payload, Profile::Signed, &LIMITS).map_err(|_| Malformed("payload"))
    }
}
