//! Observations: what was seen, when and by whom. Appended, never changed.
//!
//! Those of one subject are numbered as they arrive, from 1 without gaps. A reader that sees one sees every earlier one,
//! whichever engine and however many writers there are: the number after the last is taken by inserting it, and of two
//! writers that take the same one the second waits for the first and takes the next.

use countersign_core::time::Timestamp;

use crate::db::Row;
use crate::{Store, StoreError};

/// One observation to append. Names (`subject_kind`, `source`, `trust_class`, `outcome`) are ours; the key of the
/// subject may be anybody's text and may hold any character.
#[derive(Clone, Debug)]
pub struct NewObservation<'a> {
    /// A UUID of version 7 in its usual lower-case form.
    pub id: &'a str,
    /// What kind of thing was observed, such as `endpoint`; an open set.
    pub subject_kind: &'a str,
    /// Which one.
    pub subject_key: &'a str,
    /// Where the observation comes from, such as `probe`.
    pub source: &'a str,
    /// When it was made, in milliseconds.
    pub observed_at: Timestamp,
    /// How far the source is trusted; the classes are the history's.
    pub trust_class: &'a str,
    /// The run it belongs to, if any.
    pub run_id: Option<&'a str>,
    /// What came of it: a short code.
    pub outcome: &'a str,
    /// Milliseconds from the request to the whole answer, when there was one.
    pub latency_ms: Option<i64>,
    /// Lower-case hex SHA-256 of the evidence. It outlives the bytes, which may be pruned.
    pub evidence_sha256: Option<&'a str>,
    /// Canonical JSON text: what later readers compute from.
    pub facts: &'a str,
}

/// One stored observation; the fields are those of [`NewObservation`], and `arrival` is which of its subject's it was to
/// arrive, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each field is described at NewObservation")]
pub struct Observation {
    pub id: String,
    pub subject_kind: String,
    pub subject_key: String,
    pub source: String,
    pub observed_at: Timestamp,
    pub trust_class: String,
    pub run_id: Option<String>,
    pub outcome: String,
    pub latency_ms: Option<i64>,
    pub evidence_sha256: Option<String>,
    pub facts: String,
    pub arrival: i64,
}

const INSERT: &str = "INSERT INTO observation (id, subject_kind, subject_key, source, observed_at, trust_class, run_id, \
     outcome, latency_ms, evidence_sha256, facts, arrival) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, \
     COALESCE((SELECT arrival FROM observation WHERE subject_kind = $2 AND subject_key = $3 \
     ORDER BY arrival DESC LIMIT 1), 0) + 1) ON CONFLICT (subject_kind, subject_key, arrival) DO NOTHING";

const ARRIVED: &str = "SELECT id, subject_kind, subject_key, source, observed_at, trust_class, run_id, outcome, \
     latency_ms, evidence_sha256, facts, arrival FROM observation \
     WHERE subject_kind = $1 AND subject_key = $2 AND arrival >= $3 ORDER BY arrival LIMIT $4";

const LAST: &str = "SELECT id, subject_kind, subject_key, source, observed_at, trust_class, run_id, outcome, \
     latency_ms, evidence_sha256, facts, arrival FROM observation \
     WHERE subject_kind = $1 AND subject_key = $2 ORDER BY arrival DESC LIMIT 1";

impl Store {
    /// Appends one observation and answers its id.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] when the id is no version 7 UUID or `facts` is no JSON; [`StoreError::Taken`] when
    /// the id is already there: what was observed is never replaced.
    pub async fn append_observation(&self, new: &NewObservation<'_>) -> Result<String, StoreError> {
        valid(new)?;
        let args = [
            new.id.into(),
            new.subject_kind.into(),
            new.subject_key.as_bytes().into(),
            new.source.into(),
            new.observed_at.millis().into(),
            new.trust_class.into(),
            new.run_id.into(),
            new.outcome.into(),
            new.latency_ms.into(),
            new.evidence_sha256.into(),
            new.facts.into(),
        ];
        loop {
            match self.db.run(INSERT, &args).await {
                // Another writer took the number, so that one is further on: it cannot be so for ever.
                Ok(0) => {}
                Ok(_) => return Ok(new.id.to_owned()),
                Err(error) if error.is_taken() => {
                    return Err(StoreError::Taken { what: "observation", id: new.id.into() });
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The first `limit` observations of one subject from the `arrival`th on, in the order of their arrival.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when they cannot be read.
    pub async fn observations(
        &self,
        subject_kind: &str,
        subject_key: &str,
        arrival: i64,
        limit: u32,
    ) -> Result<Vec<Observation>, StoreError> {
        let args = [subject_kind.into(), subject_key.as_bytes().into(), arrival.into(), i64::from(limit).into()];
        self.db.all(ARRIVED, &args, read).await
    }

    /// The observation of one subject that arrived last.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when it cannot be read.
    pub async fn last_observation(&self, kind: &str, key: &str) -> Result<Option<Observation>, StoreError> {
        self.db.one(LAST, &[kind.into(), key.as_bytes().into()], read).await
    }
}

fn valid(new: &NewObservation<'_>) -> Result<(), StoreError> {
    let id = uuid::Uuid::try_parse(new.id).ok().filter(|id| id.get_version_num() == 7);
    if id.is_none_or(|id| id.to_string() != new.id) {
        return Err(StoreError::Invalid { field: "id", why: "it is not a version 7 UUID in lower case" });
    }
    match serde_json::from_str::<serde::de::IgnoredAny>(new.facts) {
        Ok(_) => Ok(()),
        Err(_) => Err(StoreError::Invalid { field: "facts", why: "it is not JSON" }),
    }
}

fn read(row: &Row) -> Result<Observation, StoreError> {
    Ok(Observation {
        id: row.text("id")?,
        subject_kind: row.text("subject_kind")?,
        subject_key: row.foreign("subject_key")?,
        source: row.text("source")?,
        observed_at: Timestamp::from_millis(row.int("observed_at")?),
        trust_class: row.text("trust_class")?,
        run_id: row.text_opt("run_id")?,
        outcome: row.text("outcome")?,
        latency_ms: row.int_opt("latency_ms")?,
        evidence_sha256: row.text_opt("evidence_sha256")?,
        facts: row.text("facts")?,
        arrival: row.int("arrival")?,
    })
}
