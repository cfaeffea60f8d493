//! Idempotency: the same request under the same key is done once and answered with the same document.

use countersign_core::time::Timestamp;

use crate::{Store, StoreError};

/// A request under an idempotency key. Hashes are lower-case hex SHA-256; the key itself is never stored.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Whose keys these are, and for what; keys of different scopes never meet.
    pub scope: &'a str,
    /// Hash of the key.
    pub key_sha256: &'a str,
    /// Hash of the request's canonical form.
    pub request_sha256: &'a str,
}

/// What [`Store::begin`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// Nobody has this key: do the work, then [`Store::complete`] or [`Store::abandon`] it.
    Started,
    /// The same request is being worked on; ask again later.
    InProgress,
    /// The same request is done; answer with this document.
    Done {
        /// Id of the document.
        document_id: String,
    },
    /// The key was used for another request; refuse this one.
    Conflict,
}

const BEGIN: &str = "INSERT INTO idempotency (scope, key_sha256, request_sha256, state, document_id, expires_at) \
     VALUES ($1, $2, $3, 'started', NULL, $5) ON CONFLICT (scope, key_sha256) DO UPDATE \
     SET request_sha256 = excluded.request_sha256, state = 'started', document_id = NULL, \
     expires_at = excluded.expires_at WHERE idempotency.expires_at <= $4 RETURNING state";

const FIND: &str = "SELECT request_sha256, document_id FROM idempotency WHERE scope = $1 AND key_sha256 = $2";

const COMPLETE: &str = "UPDATE idempotency SET state = 'done', document_id = $4 \
     WHERE scope = $1 AND key_sha256 = $2 AND request_sha256 = $3 AND state = 'started'";

const ABANDON: &str = "DELETE FROM idempotency \
     WHERE scope = $1 AND key_sha256 = $2 AND request_sha256 = $3 AND state = 'started'";

impl Store {
    /// Claims the key for this request, or says who has it. A row past its `expires_at` counts as absent.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when it cannot be written.
    pub async fn begin(
        &self,
        request: Request<'_>,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<Begun, StoreError> {
        let Request { scope, key_sha256, request_sha256 } = request;
        let mut tx = self.db.begin().await?;
        let args =
            [scope.into(), key_sha256.into(), request_sha256.into(), now.millis().into(), expires_at.millis().into()];
        let begun = match tx.one(BEGIN, &args, |row| row.text("state")).await? {
            Some(_) => Begun::Started,
            None => {
                let read = |row: &crate::db::Row| Ok((row.text("request_sha256")?, row.text_opt("document_id")?));
                judge(tx.one(FIND, &args[..2], read).await?, request_sha256)
            }
        };
        tx.commit().await?;
        Ok(begun)
    }

    /// Says the work is done and which document answers it. `false` when the key is no longer this request's.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when it cannot be written.
    pub async fn complete(&self, request: Request<'_>, document_id: &str) -> Result<bool, StoreError> {
        let Request { scope, key_sha256, request_sha256 } = request;
        let args = [scope.into(), key_sha256.into(), request_sha256.into(), document_id.into()];
        Ok(self.db.run(COMPLETE, &args).await? == 1)
    }

    /// Gives the key back after work that failed, so that the request may be tried again. `false` when there was
    /// nothing under way.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when it cannot be written.
    pub async fn abandon(&self, request: Request<'_>) -> Result<bool, StoreError> {
        let Request { scope, key_sha256, request_sha256 } = request;
        Ok(self.db.run(ABANDON, &[scope.into(), key_sha256.into(), request_sha256.into()]).await? == 1)
    }
}

/// A row that was given back between the two statements counts as under way: the caller asks again.
fn judge(found: Option<(String, Option<String>)>, request_sha256: &str) -> Begun {
    match found {
        Some((other, _)) if other != request_sha256 => Begun::Conflict,
        Some((_, Some(document_id))) => Begun::Done { document_id },
        Some((_, None)) | None => Begun::InProgress,
    }
}
