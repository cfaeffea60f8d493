//! What becomes of the decisions that are made from one sighting: each is entered once, however many arrive at it.
//!
//! Whoever enters one may be gone in the middle of it, with its row perhaps written and its leaf on the way to the log. What
//! was drawn for the decision stays here for the next, who writes the same row and offers the log the same leaf.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::leaf::Reveal;
use countersign_core::time::Timestamp;
use countersign_store::StoreError;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;

use crate::transparency::Transparency;

/// By the SHA-256 of the signed document; it lives as long as somebody shares the sighting. A decision names its
/// observation, so no other sighting leads to the same document.
#[derive(Debug, Default)]
pub(crate) struct Entries(Mutex<HashMap<[u8; 32], Arc<Entry>>>);

/// How far one decision has come.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// Its row in the store.
    pub(super) row: OnceCell<Row>,
    /// What opens its leaf.
    pub(super) reveal: OnceCell<Reveal>,
    /// What the log said.
    pub(super) logged: OnceCell<Transparency>,
    done: OnceCell<Entered>,
}

/// A decision that was entered.
#[derive(Clone, Debug)]
pub(super) struct Entered {
    pub(super) transparency: Transparency,
    pub(super) unkept: Option<Unkept>,
}

/// Why the store has no copy of a receipt. The leaf is in the log for good, so whoever holds the answer holds the only
/// copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unkept {
    /// Stable code, the store's.
    pub code: &'static str,
    /// For people.
    pub reason: String,
    /// What to do about it.
    pub hint: &'static str,
}

impl From<StoreError> for Unkept {
    fn from(error: StoreError) -> Self {
        Self { code: error.code(), reason: error.to_string(), hint: error.hint() }
    }
}

impl Unkept {
    /// `{code, reason, hint}`.
    pub fn to_value(&self) -> Value {
        json!({"code": self.code, "reason": self.reason, "hint": self.hint})
    }
}

/// Under which id a decision is kept, and when it was made.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) at: Timestamp,
}

impl Entries {
    /// Does `enter`, or waits for who does and gives what that came to. When it fails, or who does it is gone, the next
    /// who waits does it.
    pub(super) async fn once<E, F>(&self, document: &[u8], enter: impl FnOnce(Arc<Entry>) -> F) -> Result<Entered, E>
    where
        F: Future<Output = Result<Entered, E>>,
    {
        let entry = self.entry(Sha256::digest(document).into());
        entry.done.get_or_try_init(|| enter(Arc::clone(&entry))).await.cloned()
    }

    fn entry(&self, document: [u8; 32]) -> Arc<Entry> {
        Arc::clone(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(document).or_default())
    }
}
