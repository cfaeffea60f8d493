//! The key that signs, made before the first look, so that a key that was lost is not replaced in silence.

use countersign_core::sign::{KeyId, Purpose};

use super::{CheckError, Checker};
use crate::keys::Made;

/// Under which key a checker signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The key was there.
    Kept(KeyId),
    /// It was made now, and no decision was signed here before.
    First(KeyId),
    /// It was made now, and a key that is gone has signed here before.
    Replaced(KeyId),
}

impl Checker {
    /// The key that signs decisions, made where there is none.
    ///
    /// # Errors
    /// [`CheckError`] when the database or the keys do not read, or no key can be made.
    pub async fn identity(&self) -> Result<Identity, CheckError> {
        // Asked before the folder of the keys is read again: another process that makes the first key keeps what it
        // signed afterwards.
        let signed = self.store.has_document("decision").await? || self.has_logged_keys();
        let mut keys = self.keys.lock().await;
        let (id, made) = keys.ensure(Purpose::Decision, &self.env)?;
        Ok(match made {
            Made::Before => Identity::Kept(id),
            // A key that a rotation replaced signed before, whatever became of the one that replaced it.
            Made::Now if signed || keys.verifying(Purpose::Decision).len() > 1 => Identity::Replaced(id),
            Made::Now => Identity::First(id),
        })
    }

    /// Whether the log holds a change of a key, which is older than anything that the key signed.
    fn has_logged_keys(&self) -> bool {
        let kept = self.log.as_ref().map(|(book, _)| std::fs::read_dir(book.place().key_receipts()));
        kept.is_some_and(|files| files.is_ok_and(|mut files| files.next().is_some()))
    }
}
