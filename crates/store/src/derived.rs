//! What the observations of a subject add up to, kept so that they need not all be read again. A cache: whoever finds
//! nothing here, or nothing of the form it knows, adds the observations up.

use crate::{Store, StoreError};

/// What the first observations of one subject add up to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derived {
    /// How `bytes` are to be read, and by which rules they came about; one number for each version of either.
    pub form: u32,
    /// How many observations are in it: the arrival of the last one.
    pub upto: i64,
    /// The id of that one, by which is seen that the observations are still those.
    pub upto_id: String,
    /// The sum itself.
    pub bytes: Vec<u8>,
}

const READ: &str = "SELECT form, upto, upto_id, bytes FROM derived WHERE subject_kind = $1 AND subject_key = $2";

const KEEP: &str = "INSERT INTO derived (subject_kind, subject_key, form, upto, upto_id, bytes) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (subject_kind, subject_key) DO UPDATE SET form = excluded.form, \
     upto = excluded.upto, upto_id = excluded.upto_id, bytes = excluded.bytes";

impl Store {
    /// What is kept of a subject, whatever its form.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when it cannot be read.
    pub async fn derived(&self, subject_kind: &str, subject_key: &str) -> Result<Option<Derived>, StoreError> {
        let read = |row: &crate::db::Row| {
            Ok(Derived {
                form: u32::try_from(row.int("form")?).unwrap_or(0),
                upto: row.int("upto")?,
                upto_id: row.text("upto_id")?,
                bytes: row.blob("bytes")?,
            })
        };
        self.db.one(READ, &[subject_kind.into(), subject_key.as_bytes().into()], read).await
    }

    /// Keeps this in the place of what is kept of the subject.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when it cannot be written.
    pub async fn keep_derived(
        &self,
        subject_kind: &str,
        subject_key: &str,
        derived: &Derived,
    ) -> Result<(), StoreError> {
        let args = [
            subject_kind.into(),
            subject_key.as_bytes().into(),
            i64::from(derived.form).into(),
            derived.upto.into(),
            derived.upto_id.as_str().into(),
            derived.bytes.as_slice().into(),
        ];
        self.db.run(KEEP, &args).await.map(drop)
    }
}
