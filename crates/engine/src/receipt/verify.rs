//! What a receipt proves to a reader who trusts certain logs and witnesses, and what it does not.
//!
//! Refusals come in three kinds, because the reader acts differently on them: the receipt is wrong, the reader's trust
//! policy is not met, or it is too old to say. The order is fixed: a receipt that contradicts itself is wrong whatever
//! the policy says.

use countersign_core::leaf::{Leaf, LeafType, RevealError};
use countersign_core::sign::{self, KeyStatement, KeyStatementError, OpenError, VerifyingKey};
use countersign_core::time::Timestamp;
use countersign_tlog::checkpoint::Checkpoint;
use countersign_tlog::merkle::{VerifyError, leaf_hash, verify_inclusion};
use countersign_tlog::note::NoteError;
use countersign_tlog::policy::{Policy, PostQuantum, RejectError};
use countersign_tlog::proof::ProofError;

use super::{Receipt, ReceiptError, Signed, Unproved};

/// What the reader demands.
#[derive(Clone, Copy, Debug)]
pub struct Demands<'p> {
    /// Which logs and witnesses count.
    pub policy: &'p Policy,
    /// Whether the log's post-quantum signature must be there.
    pub pq: PostQuantum,
    /// The oldest signed time that is accepted, in milliseconds before `now`, of which whole seconds count; none accepts
    /// any age.
    pub max_age_ms: Option<i64>,
    /// The reader's present instant.
    pub now: Timestamp,
}

/// What a receipt has shown.
#[derive(Clone, Debug)]
pub struct Proved {
    /// The receipt, or what a proof and its entry make one of.
    pub receipt: Receipt,
    /// The leaf, when the receipt reveals it or the reader holds it.
    pub leaf: Option<Leaf>,
    /// How much of the entry there is to look at.
    pub known: Known,
    /// What a key said of itself, when that is what the receipt reveals.
    pub key: Option<KeyStatement>,
    /// The checkpoint it stands under, and who signed it.
    pub signed: Signed,
}

/// How much of a proved entry the reader has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The hash of it alone.
    Hash,
    /// Its bytes, which are no leaf of ours: another log's entry.
    Bytes,
    /// The leaf, without what it was made from.
    Leaf,
    /// The leaf, and the document and salt it was made from.
    Reveal,
}

/// Why a receipt or a proof is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It does not read.
    #[error(transparent)]
    Malformed(#[from] ReceiptError),
    /// It is no `.tlog-proof`.
    #[error("not a proof: {0}")]
    Proof(#[from] ProofError),
    /// Its reveal opens another leaf.
    #[error(transparent)]
    Reveal(#[from] RevealError),
    /// The revealed leaf is not the one whose hash the receipt names.
    #[error("the revealed leaf is not the one the receipt is for")]
    LeafHash,
    /// It reveals a `key` leaf, and no key says of itself what stands behind it.
    #[error("the document inside: {0}")]
    Key(#[from] KeyStatementError),
    /// It names another log than its checkpoint.
    #[error("the receipt names another log than its checkpoint")]
    Origin,
    /// The checkpoint is not accepted.
    #[error(transparent)]
    Rejected(#[from] RejectError),
    /// The leaf is not where the receipt says.
    #[error(transparent)]
    Inclusion(#[from] VerifyError),
    /// The signed time is older than the reader accepts.
    #[error("the checkpoint was signed at {0}, which is longer ago than --max-age allows")]
    TooOld(Timestamp),
    /// The signed time runs ahead of the reader's clock.
    #[error("the checkpoint says it was signed at {0}, which is in the future")]
    InFuture(Timestamp),
    /// An age is demanded, and neither the log nor a quorum of two witnesses states a time.
    #[error("neither the log nor a quorum of two witnesses states a time, so the age of the checkpoint is unknown")]
    NoTime,
}

/// What a refusal means to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// It is no receipt.
    Malformed,
    /// It is wrong: forged, changed, or for something else.
    Invalid,
    /// It may be right, and the reader's trust policy is not met.
    Trust,
    /// It is too old, or its age cannot be told.
    Stale,
}

impl RefusalKind {
    /// Its word in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Invalid => "invalid",
            Self::Trust => "trust_policy_not_met",
            Self::Stale => "stale",
        }
    }

    /// What a rejected checkpoint means.
    pub const fn of(error: &RejectError) -> Self {
        match error {
            RejectError::Note(NoteError::NoKnownKey | NoteError::AmbiguousKey(..)) => Self::Trust,
            RejectError::Note(NoteError::BadSignature(..)) => Self::Invalid,
            RejectError::Note(_) | RejectError::Checkpoint(_) => Self::Malformed,
            RejectError::UnknownLog(_)
            | RejectError::NotSignedByLog(_)
            | RejectError::ExtensionsNotSigned(_)
            | RejectError::PostQuantumMissing
            | RejectError::QuorumMissing => Self::Trust,
        }
    }
}

impl Refusal {
    /// Stable code for callers.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed(error) => error.code(),
            Self::Proof(error) => error.code(),
            Self::Reveal(error) => error.code(),
            Self::LeafHash => "leaf_hash_mismatch",
            Self::Key(error) => error.code(),
            Self::Origin => "origin_mismatch",
            Self::Rejected(error) => error.code(),
            Self::Inclusion(error) => error.code(),
            Self::TooOld(_) => "checkpoint_too_old",
            Self::InFuture(_) => "checkpoint_in_future",
            Self::NoTime => "checkpoint_time_unknown",
        }
    }

    /// What it means to the reader.
    pub fn kind(&self) -> RefusalKind {
        match self {
            Self::Malformed(_) | Self::Proof(_) => RefusalKind::Malformed,
            Self::Reveal(_) | Self::LeafHash | Self::Key(_) | Self::Origin | Self::Inclusion(_) => RefusalKind::Invalid,
            Self::Rejected(error) => RefusalKind::of(error),
            Self::TooOld(_) | Self::InFuture(_) | Self::NoTime => RefusalKind::Stale,
        }
    }
}

/// Verifies the bytes of a receipt, offline.
///
/// # Errors
/// [`Refusal`]; [`Refusal::kind`] says what to make of it.
pub fn verify(bytes: &[u8], demands: &Demands<'_>) -> Result<Proved, Refusal> {
    let receipt = Receipt::parse(bytes)?;
    let leaf = revealed(&receipt)?;
    let known = if leaf.is_some() { Known::Reveal } else { Known::Hash };
    prove(receipt, leaf, known, demands)
}

/// The leaf that a receipt reveals, which must be the one it is for.
pub(super) fn revealed(receipt: &Receipt) -> Result<Option<Leaf>, Refusal> {
    let Some(reveal) = &receipt.reveal else { return Ok(None) };
    let leaf = reveal.leaf()?;
    let bytes = leaf.to_bytes().map_err(ReceiptError::Json)?;
    if leaf_hash(&bytes) == receipt.leaf_hash { Ok(Some(leaf)) } else { Err(Refusal::LeafHash) }
}

/// Holds a receipt that does not contradict itself against the reader's demands.
pub(super) fn prove(
    receipt: Receipt,
    leaf: Option<Leaf>,
    known: Known,
    demands: &Demands<'_>,
) -> Result<Proved, Refusal> {
    let key = key(&receipt)?;
    let stated = Checkpoint::parse(receipt.checkpoint.text()).map_err(RejectError::Checkpoint)?;
    if stated.origin != receipt.log_origin {
        return Err(Refusal::Origin);
    }
    let signed = Signed::accept(&receipt.checkpoint, demands)?;
    let Checkpoint { size, root, .. } = &signed.checkpoint;
    verify_inclusion(&receipt.leaf_hash, receipt.index, *size, &receipt.path, root)?;
    signed.judge_age(demands)?;
    Ok(Proved { receipt, leaf, known, key, signed })
}

/// The statement behind a `key` leaf.
fn key(receipt: &Receipt) -> Result<Option<KeyStatement>, KeyStatementError> {
    let reveal = receipt.reveal.as_ref().filter(|reveal| reveal.leaf_type == LeafType::key());
    reveal.map(|reveal| KeyStatement::open(reveal.document.as_bytes())).transpose()
}

/// Who signed the document inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signer {
    /// This key, which is among the trusted ones.
    Trusted(String),
    /// The key that the document speaks of. The signature holds; whose key it is, is not said.
    Itself(String),
    /// A key that the reader did not name, so nothing is said about it.
    NotChecked(String),
    /// The document's signature does not hold, or the document is none of ours.
    Wrong(OpenError),
}

impl Proved {
    /// Who signed the revealed document; none when nothing is revealed.
    pub fn signer(&self, trusted: &[VerifyingKey]) -> Option<Signer> {
        let document = self.receipt.reveal.as_ref()?.document.as_bytes();
        Some(match sign::open(document, trusted) {
            Ok(opened) => Signer::Trusted(opened.key_id.to_string()),
            Err(OpenError::UnknownKey(id)) if self.key.is_some() => Signer::Itself(id),
            Err(OpenError::UnknownKey(id)) => Signer::NotChecked(id),
            Err(error) => Signer::Wrong(error),
        })
    }

    /// What this receipt leaves open.
    pub fn not_proved(&self) -> Vec<Unproved> {
        let mut rows: Vec<Unproved> = self.known.leaves_open().into_iter().collect();
        rows.extend(self.signed.not_proved());
        let why = "a log shows that something was said, when, and not changed since";
        rows.push(Unproved { what: "that the document is right", why });
        rows
    }
}

impl Known {
    fn leaves_open(self) -> Option<Unproved> {
        let (what, why) = match self {
            Self::Reveal => return None,
            Self::Leaf => ("what was logged", "the leaf is a commitment, and the reveal that opens it is not here"),
            Self::Bytes => ("what the entry means", "it is no leaf of the form that this program reads"),
            Self::Hash => ("what was logged", "the receipt does not carry its reveal"),
        };
        Some(Unproved { what, why })
    }
}
