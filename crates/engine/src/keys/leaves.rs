//! Every change of the keys is a leaf of the log: [`KeyStatement`]s of when a key begins and when it ends.
//!
//! Order of a change, and what a death leaves behind:
//!
//! 1. The key file is durable. From here the change has happened, whether or not the log knows it. A death here leaves a
//!    change without its leaf.
//! 2. The leaf is appended. A death here leaves a leaf whose receipt nobody kept.
//! 3. The receipt is kept in `log/keys/`, replaced whole. Done.
//!
//! In every case the next command that signs for the log, changes keys or opens the log finds the change without a kept
//! receipt and begins at 2 again. A kept receipt counts only where it proves, under the keys of the log that is here, that
//! this change is in it: one of a log that was given up, or of another change, is none. The statement follows from the key files alone, its salt from the statement, its minute
//! from the change, so it is the same leaf under the same idempotency key, and the log answers with the index it gave.
//! The log forgets an idempotency key after some thousand other leaves; no decision of this directory is logged before
//! the missing leaves are, so they are asked for again long before that.
//!
//! The salt needs no randomness: the statement holds a signature, which nobody can guess who was not given it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use countersign_core::leaf::{LeafType, Minute, Reveal, Salt};
use countersign_core::sign::{KeyFile, KeyId, KeyState, KeyStatement, Validity};
use countersign_core::time::Timestamp;
use countersign_tlog::policy::{Policy, PostQuantum};
use sha2::{Digest, Sha256};

use super::{Keys, KeysError};
use crate::files::{Readers, private_dir, replace};
use crate::log::{Deadline, LogBook, LogError, Place};
use crate::receipt::{self, Demands, Receipt};

/// One end of a key's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edge {
    /// It stopped signing.
    Until,
    /// It began to sign.
    From,
}

/// What a key says of itself at one end of its time, as it is logged.
#[derive(Clone, Debug)]
pub struct Change {
    key: KeyId,
    edge: Edge,
    reveal: Reveal,
}

/// The changes of `keys` that the log of `place` is not known to hold, in the order they happened; where one key ends as
/// another begins, the end comes first.
///
/// # Errors
/// [`KeysError::Seal`], in practice never.
pub fn missing(keys: &Keys, place: &Place) -> Result<Vec<Change>, KeysError> {
    Read::default().missing(keys, place)
}

/// The kept receipts that were read once. Whoever asks at every decision reads each of them only once; later it is enough
/// that the file is there, since it is only ever replaced whole.
#[derive(Debug, Default)]
pub struct Read(Mutex<BTreeSet<PathBuf>>);

impl Read {
    /// As [`missing`].
    ///
    /// # Errors
    /// As [`missing`].
    pub fn missing(&self, keys: &Keys, place: &Place) -> Result<Vec<Change>, KeysError> {
        let mut edges: Vec<_> = keys.all().iter().flat_map(|file| edges(keys, file)).collect();
        edges.retain(|(file, edge, _)| !self.was_read(&path(place, file.key.id(), *edge)));
        edges.sort_by_key(|(_, edge, validity)| (validity.changed(), *edge));
        let changes = edges.into_iter().map(|(file, edge, validity)| Change::new(file, edge, validity));
        let changes = changes.collect::<Result<Vec<_>, _>>()?;
        let (logged, missing): (Vec<_>, Vec<_>) =
            changes.into_iter().partition(|change: &Change| change.kept(place).is_some());
        let mut read = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        read.extend(logged.iter().map(|change| change.path(place)));
        Ok(missing)
    }

    /// Whether the receipt at `path` was read, and still stands there.
    fn was_read(&self, path: &PathBuf) -> bool {
        let mut read = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !path.exists() {
            read.remove(path);
        }
        read.contains(path)
    }
}

/// Logs every change that [`missing`] names, all of them within one wait.
///
/// # Errors
/// [`LogError`] of the first that is not logged; those after it stay missing, so that their order is kept.
pub fn log(missing: Vec<Change>, book: &LogBook, until: Deadline) -> Result<(), LogError> {
    missing.into_iter().try_for_each(|change| change.log(book, until))
}

/// The kept receipt of a change of the key in `file`; none when it is not known to be logged.
pub fn kept(keys: &Keys, place: &Place, file: &KeyFile, edge: Edge) -> Option<Receipt> {
    let (file, edge, validity) = edges(keys, file).into_iter().find(|(_, one, _)| *one == edge)?;
    Change::new(file, edge, validity).ok()?.kept(place)
}

/// A key that only stands announced has changed nothing.
fn edges<'k>(keys: &Keys, file: &'k KeyFile) -> Vec<(&'k KeyFile, Edge, Validity)> {
    if file.state == KeyState::Announced {
        return Vec::new();
    }
    let validity = keys.validity(file);
    let begun = (file, Edge::From, Validity { until: None, ..validity });
    let ended = validity.until.map(|_| (file, Edge::Until, validity));
    [Some(begun), ended].into_iter().flatten().collect()
}

impl Change {
    fn new(file: &KeyFile, edge: Edge, validity: Validity) -> Result<Self, KeysError> {
        let statement = KeyStatement::seal(&file.key, file.purpose, validity)?;
        let salt = Sha256::new().chain_update("countersign.key.v1 salt\0").chain_update(&statement).finalize();
        let text = String::from_utf8_lossy(&statement).into_owned();
        let minute = Minute::of(validity.changed());
        let reveal = Reveal::new(LeafType::key(), minute, Salt::from_bytes(salt.into()), text);
        Ok(Self { key: file.key.id(), edge, reveal })
    }

    /// The kept receipt, if it is one of this change in the log that is here.
    fn kept(&self, place: &Place) -> Option<Receipt> {
        let bytes = std::fs::read(self.path(place)).ok()?;
        let policy = Policy::parse(place.shown_trust().ok()?.as_bytes()).ok()?;
        let now = Timestamp::from_seconds(0);
        let demands = Demands { policy: &policy, pq: PostQuantum::Required, max_age_ms: None, now };
        let receipt = receipt::verify(&bytes, &demands).ok()?.receipt;
        (receipt.reveal.as_ref() == Some(&self.reveal)).then_some(receipt)
    }

    fn log(self, book: &LogBook, until: Deadline) -> Result<(), LogError> {
        let path = self.path(book.place());
        let receipt = book.append_until(until, self.reveal)?;
        let io = |source| LogError::Io { path: path.clone(), source };
        private_dir(&book.place().key_receipts()).map_err(io)?;
        replace(&path, format!("{}\n", receipt.to_value()).as_bytes(), Readers::Owner).map_err(io)
    }

    fn path(&self, place: &Place) -> PathBuf {
        path(place, self.key, self.edge)
    }
}

fn path(place: &Place, key: KeyId, edge: Edge) -> PathBuf {
    let edge = match edge {
        Edge::From => "from",
        Edge::Until => "until",
    };
    place.key_receipts().join(format!("{key}-{edge}.json"))
}

#[cfg(test)]
mod tests;
