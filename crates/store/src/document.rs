//! Signed documents, kept and served as the exact bytes that were signed.

use countersign_core::time::Timestamp;

use crate::evidence::{sha256_hex, unaltered};
use crate::{Store, StoreError};

/// One stored document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The caller's id.
    pub id: String,
    /// What it is, such as `decision`.
    pub kind: String,
    /// Lower-case hex SHA-256 of `bytes`.
    pub sha256: String,
    /// Exactly what was put in.
    pub bytes: Vec<u8>,
    /// When it was issued, by its own account.
    pub issued_at: Timestamp,
}

/// An id wins over a hash, should somebody use one as the other.
const FIND: &str = "SELECT id, kind, sha256, bytes, issued_at FROM document WHERE id = $1 OR sha256 = $1 \
     ORDER BY CASE WHEN id = $1 THEN 0 ELSE 1 END, issued_at, id LIMIT 1";

const ANY: &str = "SELECT kind FROM document WHERE kind = $1 LIMIT 1";

const INSERT: &str = "INSERT INTO document (id, kind, sha256, bytes, issued_at) VALUES ($1, $2, $3, $4, $5) \
     ON CONFLICT (id) DO UPDATE SET id = excluded.id \
     WHERE document.kind = excluded.kind AND document.sha256 = excluded.sha256 \
     AND document.issued_at = excluded.issued_at";

impl Store {
    /// Keeps one document. The same document again is no error and changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] when `sha256` is not the hash of `bytes`; [`StoreError::Taken`] when the id belongs
    /// to another document, which stays.
    pub async fn put_document(
        &self,
        id: &str,
        kind: &str,
        sha256: &str,
        bytes: &[u8],
        issued_at: Timestamp,
    ) -> Result<(), StoreError> {
        if sha256_hex(bytes) != sha256 {
            return Err(StoreError::Invalid { field: "sha256", why: "it is not the hash of the bytes" });
        }
        let args = [id.into(), kind.into(), sha256.into(), bytes.into(), issued_at.millis().into()];
        match self.db.run(INSERT, &args).await? {
            0 => Err(StoreError::Taken { what: "document", id: id.into() }),
            _ => Ok(()),
        }
    }

    /// Whether any document of this kind is kept.
    ///
    /// # Errors
    /// [`StoreError`] when the database does not answer.
    pub async fn has_document(&self, kind: &str) -> Result<bool, StoreError> {
        Ok(self.db.one(ANY, &[kind.into()], |row| row.text("kind")).await?.is_some())
    }

    /// The document with this id, or else with this SHA-256.
    ///
    /// # Errors
    /// [`StoreError::Altered`] when its bytes no longer have their hash.
    pub async fn document(&self, id_or_sha256: &str) -> Result<Option<Document>, StoreError> {
        let read = |row: &crate::db::Row| {
            let sha256 = row.text("sha256")?;
            Ok(Document {
                id: row.text("id")?,
                kind: row.text("kind")?,
                bytes: unaltered(row.blob("bytes")?, &sha256)?,
                sha256,
                issued_at: Timestamp::from_millis(row.int("issued_at")?),
            })
        };
        self.db.one(FIND, &[id_or_sha256.into()], read).await
    }
}
