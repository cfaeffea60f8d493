//! A C2SP `.tlog-proof`, from our log or from anybody's.
//!
//! It holds an index, a path and a signed checkpoint, and not what it is a proof of: the reader brings the entry, or the
//! `extra` line carries a leaf of ours. Nobody signed that line, and nobody needs to: the path leads from the right
//! entry to the root, and from no other.

use countersign_core::leaf::Leaf;
use countersign_tlog::checkpoint::Checkpoint;
use countersign_tlog::merkle::{Hash, leaf_hash};
use countersign_tlog::policy::RejectError;
use countersign_tlog::proof::TlogProof;

use super::verify::{prove, revealed};
use super::{Demands, Known, Proved, Receipt, Refusal, Signed};

/// What a proof is held against.
#[derive(Clone, Debug)]
pub enum Subject {
    /// The entry, byte for byte as it was logged.
    Entry(Vec<u8>),
    /// A receipt of the entry, whatever checkpoint it has.
    Receipt(Box<Receipt>),
}

/// What a proof has shown.
#[derive(Clone, Debug)]
pub enum ProvedProof {
    /// That the entry is in the log.
    Entry(Box<Proved>),
    /// That the log signed a checkpoint, and nothing more: there is no entry to hold the path against.
    Checkpoint {
        /// Where the entry would be.
        index: u64,
        /// The checkpoint and who signed it.
        signed: Signed,
    },
}

/// Verifies the bytes of a proof, offline, as one of `subject`, or else of the leaf that its `extra` line carries.
///
/// # Errors
/// [`Refusal`], as for a receipt.
pub fn verify_proof(bytes: &[u8], subject: Option<Subject>, demands: &Demands<'_>) -> Result<ProvedProof, Refusal> {
    let proof = TlogProof::parse(bytes)?;
    let Some(subject) = subject.or_else(|| carried(&proof)) else {
        let signed = Signed::accept(&proof.checkpoint, demands)?;
        signed.judge_age(demands)?;
        return Ok(ProvedProof::Checkpoint { index: proof.index, signed });
    };
    let (leaf_hash, leaf, known) = subject.look()?;
    let reveal = if let Subject::Receipt(receipt) = subject { receipt.reveal } else { None };
    let log_origin = Checkpoint::parse(proof.checkpoint.text()).map_err(RejectError::Checkpoint)?.origin;
    let TlogProof { index, path, checkpoint, .. } = proof;
    let receipt = Receipt { log_origin, index, leaf_hash, path, checkpoint, reveal };
    Ok(ProvedProof::Entry(Box::new(prove(receipt, leaf, known, demands)?)))
}

/// The leaf in the `extra` line, which is anybody's to use: what is no leaf of ours is another application's.
fn carried(proof: &TlogProof) -> Option<Subject> {
    proof.extra.clone().filter(|extra| Leaf::parse(extra).is_some()).map(Subject::Entry)
}

impl Subject {
    fn look(&self) -> Result<(Hash, Option<Leaf>, Known), Refusal> {
        Ok(match self {
            Self::Entry(bytes) => {
                let leaf = Leaf::parse(bytes);
                let known = if leaf.is_some() { Known::Leaf } else { Known::Bytes };
                (leaf_hash(bytes), leaf, known)
            }
            Self::Receipt(receipt) => {
                let leaf = revealed(receipt)?;
                let known = if leaf.is_some() { Known::Reveal } else { Known::Hash };
                (receipt.leaf_hash, leaf, known)
            }
        })
    }
}

#[cfg(test)]
mod tests;
