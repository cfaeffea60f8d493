//! What a log shows of itself: its newest checkpoint, and the newest one that witnesses have cosigned.
//!
//! The newest must never wait for a witness, or one that is away would make a live log look dead. So the cosigned one
//! lags, and both are read: the log's own signatures and age are judged on the newest, the quorum on the cosigned one,
//! and that the first continues the second is proved like any growth.

use countersign_core::time::Timestamp;

use super::{Finding, Source};
use crate::receipt::{Demands, Signed, verify_checkpoint};

/// Two checkpoints of one log that satisfy a reader's demands, each as far as it goes.
pub(super) struct Shown {
    pub(super) newest: Signed,
    /// The bytes of the newest.
    pub(super) note: Vec<u8>,
    /// One with cosignatures of the policy's witnesses; it may be the newest itself.
    pub(super) cosigned: Option<Signed>,
    /// The bytes behind `cosigned`.
    pub(super) cosigned_note: Vec<u8>,
}

impl Shown {
    /// Reads both. The cosigned one first: the log may grow in between, and then it is behind and not ahead.
    pub(super) fn read(source: &Source, demands: &Demands<'_>) -> Result<Self, Finding> {
        let beside = source.file("cosigned")?;
        let note = source.file("checkpoint")?.ok_or(Finding::NoCheckpoint)?;
        let log_alone = demands.policy.without_quorum();
        let newest = verify_checkpoint(&note, &Demands { policy: &log_alone, ..*demands })?;
        let (cosigned, cosigned_note) = match (verify_checkpoint(&note, demands), beside) {
            (Ok(whole), _) if !whole.witnesses.is_empty() => (Some(whole), note.clone()),
            (Ok(_), None) => (None, Vec::new()),
            (Err(refused), None) => return Err(refused.into()),
            // Without a quorum in the policy it is only told, so one that is stale or strange is left out.
            (Ok(_), Some(beside)) => (verify_checkpoint(&beside, demands).ok(), beside),
            (Err(_), Some(beside)) => (Some(verify_checkpoint(&beside, demands)?), beside),
        };
        let cosigned = cosigned.filter(|one| !one.witnesses.is_empty());
        let shown = Self { newest, note, cosigned, cosigned_note };
        shown.in_order()
    }

    /// A folder's public checkpoint is replaced once a second, so the cosigned one may be ahead of it: then it is the
    /// newest.
    fn in_order(self) -> Result<Self, Finding> {
        let Some(cosigned) = &self.cosigned else { return Ok(self) };
        let (shown, other) = (&self.newest.checkpoint, &cosigned.checkpoint);
        if shown.origin != other.origin {
            return Err(Finding::OtherLog { found: other.origin.to_string(), watched: shown.origin.to_string() });
        }
        if other.size > shown.size {
            return Ok(Self { newest: cosigned.clone(), note: self.cosigned_note.clone(), ..self });
        }
        Ok(self)
    }
}

/// The newest checkpoint that witnesses have cosigned, and how far it lags.
#[derive(Clone, Debug)]
pub struct Cosigned {
    /// The checkpoint, who signed and who cosigned it.
    pub signed: Signed,
    /// Entries of the newest checkpoint that it does not reach.
    pub lag: u64,
}

impl Cosigned {
    /// The newest time that it states.
    pub fn signed_at(&self) -> Option<Timestamp> {
        self.signed.signed_at()
    }
}
