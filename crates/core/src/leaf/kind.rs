//! The kinds of leaves: those written today, those kept for later, and those that nobody here knows.

use std::fmt;

/// The longest type in bytes.
const MAX_TYPE: usize = 128;

/// One row of the table of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindRow {
    /// The type in a leaf.
    pub leaf_type: &'static str,
    /// What a document of this kind says, for people.
    pub about: &'static str,
    /// Whether this version writes it; the others keep their names for later versions.
    pub written: bool,
}

const fn now(leaf_type: &'static str, about: &'static str) -> KindRow {
    KindRow { leaf_type, about, written: true }
}

const fn later(leaf_type: &'static str, about: &'static str) -> KindRow {
    KindRow { leaf_type, about, written: false }
}

/// Every kind with a meaning.
pub const KINDS: [KindRow; 18] = [
    now("countersign.decision.v1", "a decision about a paid endpoint"),
    later("countersign.verdict.v1", "a verdict about an endpoint"),
    later("countersign.attestation.v1", "a change of an attestation"),
    later("countersign.level.v1", "a change of an operator's level"),
    later("countersign.manifest.v1", "a tool manifest as it was seen"),
    later("countersign.approval.v1", "an approval of a tool manifest"),
    later("countersign.verification.v1", "the evidence of a verification"),
    now("countersign.key.v1", "a change of the signing keys"),
    later("countersign.model.v1", "a scoring model"),
    later("countersign.intent.v1", "the intent to settle a payment"),
    later("countersign.settlement.v1", "the outcome of a settlement"),
    later("countersign.call.v1", "a tool call"),
    later("countersign.audit.v1", "an audit record"),
    later("countersign.review.v1", "a review of a merchant"),
    later("countersign.merchant.v1", "a merchant's record"),
    later("countersign.credential.v1", "a credential"),
    later("countersign.policy.v1", "a policy"),
    later("countersign.erase.v1", "the erasure of an earlier entry"),
];

/// A leaf's type: `countersign.` and up to 116 more bytes of `a-z 0-9 . _ -`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafType(String);

/// What a reader of this version knows about a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A kind of the table.
    Known(&'static KindRow),
    /// A newer kind: the entry is included, and what it means is unknown here.
    Unknown,
}

impl LeafType {
    /// Reads a type; `None` when it is none of ours.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("countersign.")?;
        let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-');
        let right = !rest.is_empty() && text.len() <= MAX_TYPE && rest.bytes().all(plain);
        right.then(|| Self(text.to_owned()))
    }

    /// The type of decisions.
    pub fn decision() -> Self {
        Self(KINDS[0].leaf_type.to_owned())
    }

    /// The type of what keys say of themselves.
    pub fn key() -> Self {
        Self("countersign.key.v1".to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What it means to this version.
    pub fn meaning(&self) -> Meaning {
        KINDS.iter().find(|row| row.leaf_type == self.0).map_or(Meaning::Unknown, Meaning::Known)
    }
}

impl Meaning {
    /// For people.
    pub fn about(self) -> &'static str {
        match self {
            Self::Known(row) => row.about,
            Self::Unknown => "an entry of a kind that this version does not know",
        }
    }
}

impl fmt::Display for LeafType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}
