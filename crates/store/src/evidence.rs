//! Evidence: the bytes an observation rests on, kept once under their SHA-256.

use sha2::{Digest as _, Sha256};

use crate::{Store, StoreError};

const INSERT: &str = "INSERT INTO evidence (sha256, bytes) VALUES ($1, $2) ON CONFLICT (sha256) DO NOTHING";

impl Store {
    /// Keeps `bytes` and answers their SHA-256 in lower-case hex. Keeping the same bytes again changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when they cannot be written.
    pub async fn put_evidence(&self, bytes: &[u8]) -> Result<String, StoreError> {
        self.put_evidence_from(|| bytes).await
    }

    /// As [`Store::put_evidence`], for bytes that are only made once it is this writer's turn: whoever waits for one
    /// does not hold them meanwhile.
    ///
    /// # Errors
    /// As [`Store::put_evidence`].
    pub async fn put_evidence_from<B: AsRef<[u8]>>(&self, make: impl FnOnce() -> B) -> Result<String, StoreError> {
        let mut turn = self.db.writer().await?;
        let bytes = make();
        let sha256 = sha256_hex(bytes.as_ref());
        turn.run(INSERT, &[sha256.as_str().into(), bytes.as_ref().into()]).await?;
        Ok(sha256)
    }

    /// The bytes kept under `sha256` (lower-case hex), or `None`.
    ///
    /// # Errors
    /// [`StoreError::Altered`] when the bytes no longer have that hash.
    pub async fn evidence(&self, sha256: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT bytes FROM evidence WHERE sha256 = $1";
        let bytes = self.db.one(sql, &[sha256.into()], |row| row.blob("bytes")).await?;
        bytes.map(|bytes| unaltered(bytes, sha256)).transpose()
    }
}

/// SHA-256 in lower-case hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// The bytes, if they still have the hash they are stored under.
pub(crate) fn unaltered(bytes: Vec<u8>, sha256: &str) -> Result<Vec<u8>, StoreError> {
    match sha256_hex(&bytes) == sha256 {
        true => Ok(bytes),
        false => Err(StoreError::Altered(sha256.into())),
    }
}
