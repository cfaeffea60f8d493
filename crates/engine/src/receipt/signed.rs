//! A checkpoint whose signatures hold under a reader's trust policy: under a receipt, or by itself.

use countersign_core::time::Timestamp;
use countersign_tlog::checkpoint::Checkpoint;
use countersign_tlog::key::Algorithm;
use countersign_tlog::note::{Note, Verified};
use countersign_tlog::policy::{Accepted, Freshness, Policy, RejectError, StaleError};

use super::{Demands, Refusal};

/// A checkpoint and who signed it.
#[derive(Clone, Debug)]
pub struct Signed {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// Keys of the log whose signatures hold.
    pub log: Vec<SignedBy>,
    /// Witnesses of the policy whose cosignatures hold.
    pub witnesses: Vec<SignedBy>,
    /// What is known of the log's post-quantum signature.
    pub pq: PostQuantumState,
    /// When it was signed, as far as that decides its age.
    at: Option<Timestamp>,
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

/// Something a reader might take for proved, and why it is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unproved {
    /// What.
    pub what: &'static str,
    /// Why not.
    pub why: &'static str,
}

/// Verifies the bytes of a signed checkpoint, offline.
///
/// # Errors
/// [`Refusal`], none of whose variants about leaves can occur.
pub fn verify_checkpoint(bytes: &[u8], demands: &Demands<'_>) -> Result<Signed, Refusal> {
    let note = Note::parse(bytes).map_err(RejectError::Note)?;
    let signed = Signed::accept(&note, demands)?;
    signed.judge_age(demands)?;
    Ok(signed)
}

impl Signed {
    pub(super) fn accept(note: &Note, demands: &Demands<'_>) -> Result<Self, Refusal> {
        let accepted = demands.policy.accept(note, demands.pq)?;
        let pq = post_quantum(&accepted, demands.policy);
        let Accepted { checkpoint, log, witnesses, time } = accepted;
        let (log, witnesses) = (signed_by(&log), signed_by(&witnesses));
        Ok(Self { checkpoint, log, witnesses, pq, at: time.and_then(timestamp) })
    }

    /// When it was signed, by the log's own time, or else by that of a quorum of two witnesses; none where nobody states
    /// one, or where it lies after the year 9999.
    pub fn signed_at(&self) -> Option<Timestamp> {
        self.at.filter(|at| at.has_spelling())
    }

    /// A checkpoint existed when it was signed, so everything under it did.
    pub(super) fn judge_age(&self, demands: &Demands<'_>) -> Result<(), Refusal> {
        let Some(max_age) = demands.max_age_ms else { return Ok(()) };
        let signed = self.at;
        let seconds = |at: Timestamp| u64::try_from(at.seconds()).unwrap_or(0);
        let freshness = Freshness { now: seconds(demands.now), max_age: u64::try_from(max_age / 1000).unwrap_or(0) };
        match (freshness.judge(signed.map(seconds)), signed) {
            (Ok(_), _) => Ok(()),
            (Err(StaleError::TooOld(_)), Some(at)) => Err(Refusal::TooOld(at)),
            (Err(StaleError::InFuture(_)), Some(at)) => Err(Refusal::InFuture(at)),
            (Err(_), _) => Err(Refusal::NoTime),
        }
    }

    /// What these signatures leave open.
    pub fn not_proved(&self) -> Vec<Unproved> {
        let row = |open: bool, what, why| open.then_some(Unproved { what, why });
        let rows = [
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
            row(
                self.signed_at().is_none(),
                "when the checkpoint was signed",
                "neither the log nor a quorum of two witnesses states a time",
            ),
        ];
        rows.into_iter().flatten().collect()
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

fn signed_by(verified: &[Verified<'_>]) -> Vec<SignedBy> {
    let one = |verified: &Verified<'_>| SignedBy {
        key: format!("{}+{}", verified.key.name(), verified.key.id()),
        algorithm: verified.key.algorithm(),
        at: verified.time.and_then(timestamp),
    };
    verified.iter().map(one).collect()
}

fn timestamp(seconds: u64) -> Option<Timestamp> {
    i64::try_from(seconds).ok().map(Timestamp::from_seconds)
}
