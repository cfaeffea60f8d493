//! What becomes of the decisions that are made from one sighting: each is entered once, however many arrive at it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;

use crate::transparency::Transparency;

/// By the SHA-256 of the signed document; it lives as long as somebody shares the sighting. A decision names its
/// observation, so no other sighting leads to the same document.
#[derive(Debug, Default)]
pub(crate) struct Entries(Mutex<HashMap<[u8; 32], Entry>>);

type Entry = Arc<OnceCell<Transparency>>;

impl Entries {
    /// Does `enter`, or waits for who does and gives what that came to. When it fails, the next who waits does it.
    pub(super) async fn once<E, F>(&self, document: &[u8], enter: impl FnOnce() -> F) -> Result<Transparency, E>
    where
        F: Future<Output = Result<Transparency, E>>,
    {
        let entry = self.entry(Sha256::digest(document).into());
        entry.get_or_try_init(enter).await.cloned()
    }

    fn entry(&self, document: [u8; 32]) -> Entry {
        Arc::clone(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(document).or_default())
    }
}
