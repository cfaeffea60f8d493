//! The opening of a leaf: salt and document, which only the customer holds.

use serde_json::{Value, json};

use super::{Commitment, Leaf, LeafType, Minute, Salt};
use crate::json::Node;

/// Everything a leaf was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reveal {
    /// The kind of document.
    pub leaf_type: LeafType,
    /// The minute in the leaf.
    pub minute: Minute,
    /// The commitment in the leaf.
    pub commitment: Commitment,
    /// The key of the commitment.
    pub salt: Salt,
    /// The signed document, byte for byte as it was signed.
    pub document: String,
}

/// Why a JSON value is no reveal, or opens nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RevealError {
    /// A member is absent or not what it should be.
    #[error("`reveal.{0}` is missing or not what it should be")]
    Member(&'static str),
    /// A member that no reveal has.
    #[error("`reveal` has a member that this version does not know")]
    Unknown,
    /// Salt and document do not give the commitment.
    #[error("the document is not the one that was committed to")]
    Commitment,
}

impl RevealError {
    /// Stable code for callers.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Member(_) => "reveal_member",
            Self::Unknown => "reveal_unknown_member",
            Self::Commitment => "commitment_mismatch",
        }
    }
}

const MEMBERS: [&str; 5] = ["type", "ts", "commitment", "salt", "document"];

impl Reveal {
    /// A new leaf's opening.
    pub fn new(leaf_type: LeafType, minute: Minute, salt: Salt, document: String) -> Self {
        let commitment = salt.commit(&leaf_type, document.as_bytes());
        Self { leaf_type, minute, commitment, salt, document }
    }

    /// Reads the five members; any other member is refused.
    ///
    /// # Errors
    /// [`RevealError::Member`] and [`RevealError::Unknown`].
    pub fn read(node: Node<'_>) -> Result<Self, RevealError> {
        if node.members().any(|(name, _)| !MEMBERS.contains(&name.as_ref())) {
            return Err(RevealError::Unknown);
        }
        let text = |name: &'static str| node.get(name).and_then(|node| node.as_str()).ok_or(RevealError::Member(name));
        Ok(Self {
            leaf_type: LeafType::parse(&text("type")?).ok_or(RevealError::Member("type"))?,
            minute: Minute::parse(&text("ts")?).ok_or(RevealError::Member("ts"))?,
            commitment: Commitment::parse(&text("commitment")?).ok_or(RevealError::Member("commitment"))?,
            salt: Salt::parse(&text("salt")?).ok_or(RevealError::Member("salt"))?,
            document: text("document")?.into_owned(),
        })
    }

    /// The leaf this opens.
    ///
    /// # Errors
    /// [`RevealError::Commitment`] when salt and document give another commitment than the one written down.
    pub fn leaf(&self) -> Result<Leaf, RevealError> {
        if self.salt.commit(&self.leaf_type, self.document.as_bytes()) != self.commitment {
            return Err(RevealError::Commitment);
        }
        Ok(Leaf { leaf_type: self.leaf_type.clone(), minute: self.minute, commitment: self.commitment })
    }

    /// As it stands in receipts and answers.
    pub fn to_value(&self) -> Value {
        json!({
            "type": self.leaf_type.as_str(), "ts": self.minute.to_string(), "commitment": self.commitment.to_string(),
            "salt": hex::encode(self.salt.0), "document": self.document,
        })
    }
}
