//! What a receipt proves to a reader who trusts certain logs and witnesses, and what it does not.
//!
//! Refusals come in three kinds, because the reader acts differently on them: the receipt is wrong, the reader's trust
//! policy is not met, or it is too old to say. The order is fixed: a receipt that contradicts itself is wrong whatever
//! the policy says.

use countersign_core::leaf::{Leaf, RevealError};
use countersign_core::sign::{self, OpenError, VerifyingKey};
use countersign_core::time::Timestamp;
use countersign_tlog::checkpoint::Checkpoint;
use countersign_tlog::key::Algorithm;
use countersign_tlog::merkle::{VerifyError, leaf_hash};
use countersign_tlog::note::{NoteError, Verified};
use countersign_tlog::policy::{Accepted, Policy, PostQuantum, RejectError};
use countersign_tlog::proof::NotProved;

use super::{Receipt, ReceiptError};

/// How far a signed time may run ahead of the reader's clock.
const AHEAD_MS: i64 = 5 * 60 * 1000;

/// What the reader demands.
#[derive(Clone, Copy, Debug)]
pub struct Demands<'p> {
    /// Which logs and witnesses count.
    pub policy: &'p Policy,
    /// Whether the log's post-quantum signature must be there.
    pub pq: PostQuantum,
    /// The oldest signed time that is accepted, in milliseconds before `now`; none accepts any age.
    pub max_age_ms: Option<i64>,
    /// The reader's present instant.
    pub now: Timestamp,
}

/// What a receipt has shown.
#[derive(Clone, Debug)]
pub struct Proved {
    /// The receipt.
    pub receipt: Receipt,
    /// The checkpoint it stands under.
    pub checkpoint: Checkpoint,
    /// The leaf, when the receipt reveals it.
    pub leaf: Option<Leaf>,
    /// Keys of the log whose signatures hold.
    pub log: Vec<SignedBy>,
    /// Witnesses of the policy whose cosignatures hold.
    pub witnesses: Vec<SignedBy>,
    /// What is known of the log's post-quantum signature.
    pub pq: PostQuantumState,
}

/// One signature that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedBy {
    /// `name+id` of the key.
    pub key: String,
    /// How it signs.
    pub algorithm: Algorithm,
    /// The time it signed, where its type states one.
    pub at: Option<Timestamp>,
}

/// The log's post-quantum signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostQuantumState {
    /// It is there and holds.
    Valid,
    /// The policy has a key for it, and the checkpoint does not carry it.
    Missing,
    /// The policy has no such key for this log.
    NoKey,
}

impl PostQuantumState {
    /// Its word in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Missing => "missing",
            Self::NoKey => "no_key",
        }
    }
}

/// Why a receipt is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It does not read.
    #[error(transparent)]
    Malformed(#[from] ReceiptError),
    /// Its reveal opens another leaf.
    #[error(transparent)]
    Reveal(#[from] RevealError),
    /// The revealed leaf is not the one whose hash the receipt names.
    #[error("the revealed leaf is not the one the receipt is for")]
    LeafHash,
    /// It names another log than its checkpoint.
    #[error("the receipt names another log than its checkpoint")]
    Origin,
    /// The checkpoint is not accepted.
    #[error(transparent)]
    Rejected(#[from] RejectError),
    /// The leaf is not where the receipt says.
    #[error(transparent)]
    Inclusion(#[from] VerifyError),
    /// The newest signed time is older than the reader accepts.
    #[error("the checkpoint was signed at {0}, which is longer ago than --max-age allows")]
    TooOld(Timestamp),
    /// A signed time runs ahead of the reader's clock.
    #[error("the checkpoint says it was signed at {0}, which is in the future")]
    InFuture(Timestamp),
    /// An age is demanded, and no signature that states a time holds.
    #[error("no signature on the checkpoint states a time, so its age is unknown")]
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
            Self::Reveal(error) => error.code(),
            Self::LeafHash => "leaf_hash_mismatch",
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
            Self::Malformed(_) => RefusalKind::Malformed,
            Self::Reveal(_) | Self::LeafHash | Self::Origin | Self::Inclusion(_) => RefusalKind::Invalid,
            Self::Rejected(error) => RefusalKind::of(error),
            Self::TooOld(_) | Self::InFuture(_) | Self::NoTime => RefusalKind::Stale,
        }
    }
}

impl From<NotProved> for Refusal {
    fn from(error: NotProved) -> Self {
        match error {
            NotProved::Rejected(error) => Self::Rejected(error),
            NotProved::Inclusion(error) => Self::Inclusion(error),
        }
    }
}

/// Verifies the bytes of a receipt, offline.
///
/// # Errors
/// [`Refusal`]; [`Refusal::kind`] says what to make of it.
pub fn verify(bytes: &[u8], demands: &Demands<'_>) -> Result<Proved, Refusal> {
    let receipt = Receipt::parse(bytes)?;
    let leaf = receipt.reveal.as_ref().map(|reveal| reveal.leaf()).transpose()?;
    if let Some(leaf) = &leaf {
        let bytes = leaf.to_bytes().map_err(ReceiptError::Json)?;
        if leaf_hash(&bytes) != receipt.leaf_hash {
            return Err(Refusal::LeafHash);
        }
    }
    let stated = Checkpoint::parse(receipt.checkpoint.text()).map_err(RejectError::Checkpoint)?;
    if stated.origin != receipt.log_origin {
        return Err(Refusal::Origin);
    }
    let accepted = receipt.proof().verify(&receipt.leaf_hash, demands.policy, demands.pq)?;
    let pq = post_quantum(&accepted, demands.policy);
    let Accepted { checkpoint, log, witnesses } = accepted;
    let (log, witnesses) = (signed_by(&log), signed_by(&witnesses));
    let proved = Proved { receipt, checkpoint, leaf, log, witnesses, pq };
    judge_age(proved.signed_at(), demands)?;
    Ok(proved)
}

/// The newest signed time decides: a checkpoint existed then, so everything under it did.
fn judge_age(signed_at: Option<Timestamp>, demands: &Demands<'_>) -> Result<(), Refusal> {
    let Some(max_age) = demands.max_age_ms else { return Ok(()) };
    let at = signed_at.ok_or(Refusal::NoTime)?;
    match demands.now.since(at) {
        age if age < -AHEAD_MS => Err(Refusal::InFuture(at)),
        age if age > max_age => Err(Refusal::TooOld(at)),
        _ => Ok(()),
    }
}

fn post_quantum(accepted: &Accepted<'_>, policy: &Policy) -> PostQuantumState {
    let origin = accepted.checkpoint.origin.as_str();
    let mut keys = policy.logs().iter().filter(|key| key.name().as_str() == origin);
    if accepted.log.iter().any(|one| one.key.algorithm().is_post_quantum()) {
        PostQuantumState::Valid
    } else if keys.any(|key| key.algorithm().is_post_quantum()) {
        PostQuantumState::Missing
    } else {
        PostQuantumState::NoKey
    }
}

pub(crate) fn signed_by(verified: &[Verified<'_>]) -> Vec<SignedBy> {
    let one = |verified: &Verified<'_>| SignedBy {
        key: format!("{}+{}", verified.key.name(), verified.key.id()),
        algorithm: verified.key.algorithm(),
        at: verified.time.and_then(|time| i64::try_from(time).ok()).map(Timestamp::from_seconds),
    };
    verified.iter().map(one).collect()
}

/// Who signed the document inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signer {
    /// This key, which is among the trusted ones.
    Trusted(String),
    /// A key that the reader did not name, so nothing is said about it.
    NotChecked(String),
    /// The document's signature does not hold, or the document is none of ours.
    Wrong(OpenError),
}

/// Something a reader might take for proved, and why it is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unproved {
    /// What.
    pub what: &'static str,
    /// Why not.
    pub why: &'static str,
}

impl Proved {
    /// The newest time among the signatures that hold.
    pub fn signed_at(&self) -> Option<Timestamp> {
        self.log.iter().chain(&self.witnesses).filter_map(|one| one.at).max()
    }

    /// Who signed the revealed document; none when nothing is revealed.
    pub fn signer(&self, trusted: &[VerifyingKey]) -> Option<Signer> {
        let document = self.receipt.reveal.as_ref()?.document.as_bytes();
        Some(match sign::open(document, trusted) {
            Ok(opened) => Signer::Trusted(opened.key_id.to_string()),
            Err(OpenError::UnknownKey(id)) => Signer::NotChecked(id),
            Err(error) => Signer::Wrong(error),
        })
    }

    /// What this receipt leaves open.
    pub fn not_proved(&self) -> Vec<Unproved> {
        let row = |holds: bool, what, why| holds.then_some(Unproved { what, why });
        let rows = [
            row(self.leaf.is_none(), "what was logged", "the receipt does not carry its reveal"),
            row(
                self.witnesses.is_empty(),
                "that everybody is shown the same log",
                "no witness of the trust policy has cosigned; a monitor can compare checkpoints",
            ),
            row(
                self.pq == PostQuantumState::Missing,
                "that the log's post-quantum key signed",
                "the checkpoint does not carry that signature; --require-pq refuses such a receipt",
            ),
            row(
                self.pq == PostQuantumState::NoKey,
                "anything against a quantum computer",
                "the trust policy has no post-quantum key of this log",
            ),
            row(self.signed_at().is_none(), "when the checkpoint was signed", "no signature on it states a time"),
            row(true, "that the document is right", "a log shows that something was said, when, and not changed since"),
        ];
        rows.into_iter().flatten().collect()
    }
}
