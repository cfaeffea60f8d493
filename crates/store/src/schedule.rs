//! What is to be done next, and when.

use countersign_core::time::Timestamp;

use crate::{Store, StoreError};

/// One thing that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// The job, such as `probe`.
    pub job: String,
    /// The kind of its subject.
    pub subject_kind: String,
    /// Which subject; may be anybody's text.
    pub subject_key: String,
    /// The share of the work it falls in.
    pub shard: i64,
    /// When it was to be done.
    pub next_at: Timestamp,
}

const UPSERT: &str = "INSERT INTO schedule (job, subject_kind, subject_key, shard, next_at) \
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (job, subject_kind, subject_key) \
     DO UPDATE SET shard = excluded.shard, next_at = excluded.next_at";

const DUE: &str = "SELECT job, subject_kind, subject_key, shard, next_at FROM schedule \
     WHERE job = $1 AND (CAST($2 AS BIGINT) IS NULL OR shard = $2) AND next_at <= $3 \
     ORDER BY next_at, subject_kind, subject_key LIMIT $4";

impl Store {
    /// Sets when a job is next due for a subject; there is one such time for each job and subject.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when it cannot be written.
    pub async fn schedule(&self, entry: &Due) -> Result<(), StoreError> {
        let args = [
            entry.job.as_str().into(),
            entry.subject_kind.as_str().into(),
            entry.subject_key.as_bytes().into(),
            entry.shard.into(),
            entry.next_at.millis().into(),
        ];
        self.db.run(UPSERT, &args).await.map(drop)
    }

    /// At most `limit` entries of `job` that are due at `now`, the longest overdue first; of one shard, or of all.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when they cannot be read.
    pub async fn due(&self, job: &str, shard: Option<i64>, now: Timestamp, limit: u32) -> Result<Vec<Due>, StoreError> {
        let read = |row: &crate::db::Row| {
            Ok(Due {
                job: row.text("job")?,
                subject_kind: row.text("subject_kind")?,
                subject_key: row.foreign("subject_key")?,
                shard: row.int("shard")?,
                next_at: Timestamp::from_millis(row.int("next_at")?),
            })
        };
        let args = [job.into(), shard.into(), now.millis().into(), i64::from(limit).into()];
        self.db.all(DUE, &args, read).await
    }
}
