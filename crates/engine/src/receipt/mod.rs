//! Receipts: the file `countersign/receipt/v1`, which shows offline that a document is in a log.
//!
//! It joins what `core` knows of leaves with what `tlog` knows of proofs. Reading is strict: a member that this version
//! does not know is refused, because a reader that passes over a member may pass over the one that limits the claim.
//! A receipt without its reveal still proves that *something* is at an index, and the log itself serves that form; only
//! the customer's copy says what.

mod beside;
mod proof;
mod signed;
mod verify;

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::json::{self, Limits, Node, NodeKind, Profile};
use countersign_core::leaf::{Reveal, RevealError};
use countersign_tlog::checkpoint::Origin;
use countersign_tlog::merkle::{Hash, MAX_PROOF};
use countersign_tlog::note::{Note, NoteError};
use countersign_tlog::proof::TlogProof;
use serde_json::{Value, json};

pub use beside::{BesideError, beside};
pub use proof::{ProvedProof, Subject, verify_proof};
pub use signed::{PostQuantumState, Signed, SignedBy, Unproved, verify_checkpoint};
pub use verify::{Demands, Known, Proved, Refusal, RefusalKind, Signer, verify};

/// The schema of the file.
pub const SCHEMA: &str = "countersign/receipt/v1";

/// The largest receipt in bytes: a document of 1 MiB with every quote escaped, and the checkpoint.
pub const MAX_RECEIPT: usize = 3 << 20;

const LIMITS: Limits = Limits { depth: 4, members: 16, string: 2 << 20, size: MAX_RECEIPT };

const MEMBERS: [&str; 7] = ["schema", "log_origin", "index", "leaf_hash", "inclusion_path", "checkpoint", "reveal"];

/// A receipt as read: well formed, nothing verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The log that is said to hold the leaf.
    pub log_origin: Origin,
    /// Where.
    pub index: u64,
    /// The hash of the leaf.
    pub leaf_hash: Hash,
    /// The inclusion proof, the leaf's sibling first.
    pub path: Vec<Hash>,
    /// The signed checkpoint.
    pub checkpoint: Note,
    /// What the leaf was made from, in the customer's copy.
    pub reveal: Option<Reveal>,
}

/// Why bytes are no receipt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptError {
    /// Not strict JSON, or too large.
    #[error("not a receipt: {0}")]
    Json(#[from] json::Error),
    /// A member is absent or not what it should be.
    #[error("not a receipt: `{0}` is missing or not what it should be")]
    Member(&'static str),
    /// A member that no receipt of this version has.
    #[error("not a receipt of this version: it has a member that is not known")]
    UnknownMember,
    /// The reveal does not read.
    #[error("not a receipt: {0}")]
    Reveal(#[from] RevealError),
    /// The checkpoint is no signed note.
    #[error("not a receipt: in the checkpoint, {0}")]
    Checkpoint(#[from] NoteError),
}

impl ReceiptError {
    /// Stable code for callers.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Json(error) => error.code(),
            Self::Member(_) => "receipt_member",
            Self::UnknownMember => "receipt_unknown_member",
            Self::Reveal(error) => error.code(),
            Self::Checkpoint(error) => error.code(),
        }
    }
}

impl Receipt {
    /// Reads the bytes of a receipt file.
    ///
    /// # Errors
    /// [`ReceiptError`]
    pub fn parse(bytes: &[u8]) -> Result<Self, ReceiptError> {
        let doc = json::parse(bytes, Profile::Signed, &LIMITS)?;
        let root = doc.root();
        // First of all, so that a receipt of a later version is told by that and not by what it has besides.
        if text(root, "schema")? != SCHEMA {
            return Err(ReceiptError::Member("schema"));
        }
        if root.members().any(|(name, _)| !MEMBERS.contains(&name.as_ref())) {
            return Err(ReceiptError::UnknownMember);
        }
        Ok(Self {
            log_origin: Origin::parse(&text(root, "log_origin")?).ok_or(ReceiptError::Member("log_origin"))?,
            index: root.get("index").and_then(Node::as_u64).ok_or(ReceiptError::Member("index"))?,
            leaf_hash: hash_from_hex(&text(root, "leaf_hash")?).ok_or(ReceiptError::Member("leaf_hash"))?,
            path: path(root).ok_or(ReceiptError::Member("inclusion_path"))?,
            checkpoint: Note::parse(text(root, "checkpoint")?.as_bytes())?,
            reveal: root.get("reveal").map(Reveal::read).transpose()?,
        })
    }

    /// The receipt for anybody: without the reveal.
    pub fn to_public_value(&self) -> Value {
        let path: Vec<String> = self.path.iter().map(|hash| STANDARD.encode(hash.as_bytes())).collect();
        json!({
            "schema": SCHEMA, "log_origin": self.log_origin.as_str(), "index": self.index,
            "leaf_hash": self.leaf_hash.to_string(), "inclusion_path": path, "checkpoint": self.checkpoint.to_string(),
        })
    }

    /// The whole receipt, as it is written to a file.
    pub fn to_value(&self) -> Value {
        let mut value = self.to_public_value();
        if let Some(reveal) = &self.reveal {
            value["reveal"] = reveal.to_value();
        }
        value
    }

    /// The proof in the form of C2SP tlog-proof. Its `extra` line holds the leaf where the receipt reveals it, because a
    /// proof by itself does not say of what; the leaf is in the log for all to read, and opens nothing.
    pub fn proof(&self) -> TlogProof {
        let leaf = self.reveal.as_ref().and_then(|reveal| reveal.leaf().ok()?.to_bytes().ok());
        TlogProof { extra: leaf, index: self.index, path: self.path.clone(), checkpoint: self.checkpoint.clone() }
    }
}

fn text(root: Node<'_>, name: &'static str) -> Result<String, ReceiptError> {
    let found = root.get(name).and_then(|node| node.as_str().map(|text| text.into_owned()));
    found.ok_or(ReceiptError::Member(name))
}

fn path(root: Node<'_>) -> Option<Vec<Hash>> {
    let list = root.get("inclusion_path").filter(|node| node.kind() == NodeKind::Array)?;
    if list.items().count() > MAX_PROOF {
        return None;
    }
    list.items().map(|item| hash_from_base64(&item.as_str()?)).collect()
}

fn hash_from_base64(text: &str) -> Option<Hash> {
    let bytes: [u8; 32] = STANDARD.decode(text).ok()?.try_into().ok()?;
    Some(Hash::from_bytes(bytes))
}

fn hash_from_hex(text: &str) -> Option<Hash> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(text, &mut bytes).ok()?;
    (hex::encode(bytes) == text).then(|| Hash::from_bytes(bytes))
}
