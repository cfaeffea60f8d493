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
//! receipt and begins at 2 again. The statement follows from the key files alone, its salt from the statement, its minute
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
use sha2::{Digest, Sha256};

use super::{Keys, KeysError};
use crate::files::{Readers, private_dir, replace};
use crate::log::{Deadline, LogBook, LogError, Place};
use crate::receipt::Receipt;

/// One end of a key's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edge {
    /// It stopped signing.
    Until,
    /// It began to sign.
    From,
}

/// A change whose receipt is not kept yet.
#[derive(Clone, Debug)]
pub struct Missing {
    key: KeyId,
    edge: Edge,
    reveal: Reveal,
}

/// The changes of `keys` that the log of `place` is not known to hold, in the order they happened; where one key ends as
/// another begins, the end comes first.
///
/// # Errors
/// [`KeysError::Seal`], in practice never.
pub fn missing(keys: &Keys, place: &Place) -> Result<Vec<Missing>, KeysError> {
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
    pub fn missing(&self, keys: &Keys, place: &Place) -> Result<Vec<Missing>, KeysError> {
        let mut changes: Vec<_> = keys.all().iter().flat_map(|file| edges(keys, file)).collect();
        changes.retain(|(file, edge, _)| !self.is_kept(place, file.key.id(), *edge));
        changes.sort_by_key(|(_, edge, validity)| (validity.changed(), *edge));
        changes.into_iter().map(|(file, edge, validity)| Missing::new(file, edge, validity)).collect()
    }

    fn is_kept(&self, place: &Place, key: KeyId, edge: Edge) -> bool {
        let path = path(place, key, edge);
        let mut read = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (path.exists(), read.contains(&path)) {
            (true, true) => true,
            (true, false) => kept(place, key, edge).is_some() && read.insert(path),
            (false, _) => {
                read.remove(&path);
                false
            }
        }
    }
}

/// Logs every change that [`missing`] names, all of them within one wait.
///
/// # Errors
/// [`LogError`] of the first that is not logged; those after it stay missing, so that their order is kept.
pub fn log(missing: Vec<Missing>, book: &LogBook, until: Deadline) -> Result<(), LogError> {
    missing.into_iter().try_for_each(|change| change.log(book, until))
}

/// The kept receipt of a key's change; none when it is not known to be logged.
pub fn kept(place: &Place, key: KeyId, edge: Edge) -> Option<Receipt> {
    Receipt::parse(&std::fs::read(path(place, key, edge)).ok()?).ok()
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

impl Missing {
    fn new(file: &KeyFile, edge: Edge, validity: Validity) -> Result<Self, KeysError> {
        let statement = KeyStatement::seal(&file.key, file.purpose, validity)?;
        let salt = Sha256::new().chain_update("countersign.key.v1 salt\0").chain_update(&statement).finalize();
        let text = String::from_utf8_lossy(&statement).into_owned();
        let minute = Minute::of(validity.changed());
        let reveal = Reveal::new(LeafType::key(), minute, Salt::from_bytes(salt.into()), text);
        Ok(Self { key: file.key.id(), edge, reveal })
    }

    fn log(self, book: &LogBook, until: Deadline) -> Result<(), LogError> {
        let receipt = book.append_until(until, self.reveal)?;
        let path = path(book.place(), self.key, self.edge);
        let io = |source| LogError::Io { path: path.clone(), source };
        private_dir(&book.place().key_receipts()).map_err(io)?;
        replace(&path, format!("{}\n", receipt.to_value()).as_bytes(), Readers::Owner).map_err(io)
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
