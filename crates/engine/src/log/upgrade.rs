//! A receipt under a newer checkpoint, which is never a worse one.
//!
//! The newer checkpoint may be larger, or of the same size and signed later, or cosigned by more. Two of one size say the
//! same, so their signatures are put together, the later of two by one key. Where the newer one would lose something that
//! the receipt has, the receipt stays as it is, and says why.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use countersign_tlog::checkpoint::Checkpoint;
use countersign_tlog::key::{KeyId, KeyName};
use countersign_tlog::note::{Note, NoteSignature};

use super::{Ask, LogBook, LogError};
use crate::receipt::{Receipt, Signed};

/// What became of a receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgraded {
    /// The receipt, renewed or as it was.
    pub receipt: Receipt,
    /// Why it is as it was, if so.
    pub stays: Option<Stays>,
}

/// Why a receipt was not renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stays {
    /// There is no newer one.
    #[error("the log has no newer checkpoint for it")]
    Newest,
    /// The newer one lacks a cosigner.
    #[error("the newer checkpoint lacks a cosigner that it has")]
    Cosigner,
    /// The log has become smaller.
    #[error("its checkpoint has {had} entries, and the log now {has}: was the log restored from an older copy?")]
    Smaller {
        /// Entries of the receipt's checkpoint.
        had: u64,
        /// Entries of the log.
        has: u64,
    },
}

impl LogBook {
    /// The same receipt under a newer checkpoint: the one that witnesses have cosigned last, or the newest while that one
    /// is smaller than what the receipt has. It never goes back: see [`Stays`].
    ///
    /// # Errors
    /// [`LogError`]; `OtherLog` when the receipt is of another log, `OtherEntry` when this one holds another entry there.
    pub fn upgrade(&self, old: &Receipt) -> Result<Upgraded, LogError> {
        let ours = self.seeds()?.origin;
        if ours != old.log_origin {
            return Err(LogError::OtherLog { theirs: old.log_origin.clone(), ours });
        }
        let size = Checkpoint::parse(old.checkpoint.text()).map_or(0, |held| held.size);
        let new = self.enter(&Ask::Receipt { index: old.index, from: size }, self.deadline())?;
        if new.leaf_hash != old.leaf_hash {
            return Err(LogError::OtherEntry(old.index));
        }
        let new = Receipt { reveal: old.reveal.clone(), ..new };
        let signed = self.confirm(&new)?;
        // A receipt that does not hold is no measure for one that does.
        match self.confirm(old) {
            Ok(had) => better(old, &had, new, &signed),
            Err(_) => Ok(Upgraded { receipt: new, stays: None }),
        }
    }
}

/// The better of two receipts of one entry that both hold.
fn better(old: &Receipt, had: &Signed, new: Receipt, has: &Signed) -> Result<Upgraded, LogError> {
    let stay = |stays| Ok(Upgraded { receipt: old.clone(), stays: Some(stays) });
    let (before, now) = (&had.checkpoint, &has.checkpoint);
    match now.size.cmp(&before.size) {
        Ordering::Less => stay(Stays::Smaller { had: before.size, has: now.size }),
        Ordering::Greater
            if lines(old, Whose::Others).keys().any(|key| !lines(&new, Whose::Others).contains_key(key)) =>
        {
            stay(Stays::Cosigner)
        }
        Ordering::Greater => Ok(Upgraded { receipt: new, stays: None }),
        Ordering::Equal if before.root != now.root => Err(LogError::Wrong(format!(
            "it has another root for the {} entries of the receipt's checkpoint",
            now.size
        ))),
        Ordering::Equal => {
            let receipt = joined(old, &new, has.signed_at() > had.signed_at());
            let stays = (receipt.checkpoint == old.checkpoint).then_some(Stays::Newest);
            Ok(Upgraded { receipt, stays })
        }
    }
}

/// Whose lines on a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Log,
    Others,
}

type Lines<'r> = BTreeMap<(&'r KeyName, KeyId), &'r NoteSignature>;

/// The log's keys are named like the log.
fn lines(receipt: &Receipt, whose: Whose) -> Lines<'_> {
    let of_log = |line: &NoteSignature| line.name().as_str() == receipt.log_origin.as_str();
    let wanted = receipt.checkpoint.signatures().iter().filter(|line| of_log(line) == (whose == Whose::Log));
    wanted.map(|line| ((line.name(), line.id()), line)).collect()
}

/// One checkpoint with the log's later signatures and everybody's cosignatures; `old` as it is where nothing is better.
fn joined(old: &Receipt, new: &Receipt, newer: bool) -> Receipt {
    let log = if newer { new } else { old };
    let mut cosigned = lines(old, Whose::Others);
    for (key, line) in lines(new, Whose::Others) {
        let held = cosigned.entry(key).or_insert(line);
        if stated(line) > stated(held) {
            *held = line;
        }
    }
    let nothing_new = cosigned == lines(old, Whose::Others);
    if !newer && nothing_new {
        return old.clone();
    }
    let all: Vec<NoteSignature> = lines(log, Whose::Log).into_values().chain(cosigned.into_values()).cloned().collect();
    let checkpoint = Note::new(old.checkpoint.text(), &all).unwrap_or_else(|| old.checkpoint.clone());
    Receipt { checkpoint, path: new.path.clone(), ..old.clone() }
}

/// The time in a cosignature, which both types that have one put first (C2SP tlog-cosignature). Nobody here has the
/// witnesses' keys: of two lines by one key the later one is kept, and a reader who has the key judges it.
fn stated(line: &NoteSignature) -> Option<u64> {
    line.blob().first_chunk().map(|time| u64::from_be_bytes(*time))
}
