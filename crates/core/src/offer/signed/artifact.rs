//! One element of `extensions["offer-receipt"].info.offers`, read strictly: what is signed is read one way
//! or not at all. Members the specification does not name are passed over and count for nothing.

use crate::json::{Node, NodeKind};

/// The two ways an offer is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// EIP-712 typed data, 65 bytes of secp256k1.
    Eip712,
    /// JWS compact serialisation (RFC 7515).
    Jws,
}

/// The signed members of an offer (section 4.2), as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// 1.
    pub version: u64,
    /// What is sold.
    pub resource_url: String,
    /// Payment scheme.
    pub scheme: String,
    /// CAIP-2 id.
    pub network: String,
    /// Token.
    pub asset: String,
    /// Recipient.
    pub pay_to: String,
    /// Atomic units, decimal digits.
    pub amount: String,
    /// Seconds since the Unix epoch; zero counts as absent.
    pub valid_until: Option<u64>,
}

/// A signed offer before anything about it was verified.
#[derive(Clone, Debug)]
pub(super) struct Artifact<'d> {
    pub(super) format: Format,
    pub(super) signature: String,
    /// EIP-712 only; in a JWS the payload is inside the signature text.
    pub(super) payload: Option<Node<'d>>,
    /// Unsigned, so never an authority on which entry is meant.
    pub(super) accept_index: Option<u64>,
}

/// A member is missing or of another type; its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed(pub(super) &'static str);

impl<'d> Artifact<'d> {
    pub(super) fn read(node: Node<'d>) -> Result<Self, Malformed> {
        let text = |name| node.get(name).and_then(Node::as_str).ok_or(Malformed(name));
        let format = match text("format")?.as_ref() {
            "eip712" => Format::Eip712,
            "jws" => Format::Jws,
            _ => return Err(Malformed("format")),
        };
        let payload = node.get("payload");
        if payload.is_some() != (format == Format::Eip712) {
            return Err(Malformed("payload"));
        }
        let accept_index = match node.get("acceptIndex") {
            None => None,
            Some(index) => Some(index.as_u64().ok_or(Malformed("acceptIndex"))?),
        };
        Ok(Self { format, signature: text("signature")?.into_owned(), payload, accept_index })
    }
}

impl Terms {
    /// Reads version 1. A receipt has another shape, so none is taken for an offer.
    pub(super) fn read(node: Node<'_>) -> Result<Self, Malformed> {
        let text = |name| node.get(name).and_then(Node::as_str).map(|text| text.into_owned()).ok_or(Malformed(name));
        if node.kind() != NodeKind::Object {
            return Err(Malformed("payload"));
        }
        let version = node.get("version").and_then(Node::as_u64).filter(|version| *version == 1);
        let valid_until = match node.get("validUntil") {
            None => None,
            Some(until) => Some(until.as_u64().ok_or(Malformed("validUntil"))?),
        };
        Ok(Self {
            version: version.ok_or(Malformed("version"))?,
            resource_url: text("resourceUrl")?,
            scheme: text("scheme")?,
            network: text("network")?,
            asset: text("asset")?,
            pay_to: text("payTo")?,
            amount: text("amount")?,
            valid_until: valid_until.filter(|until| *until != 0),
        })
    }
}
