//! Turns at a domain: when it was looked at, over every process on this database.
//!
//! How often is often enough is the caller's to say. Here its judgement and what follows from it are one step: the row of
//! the domain is held meanwhile, so of two processes that ask at once the second sees the look of the first.

use countersign_core::time::Timestamp;

use crate::check_run::{NewRun, START};
use crate::{Store, StoreError};

/// Makes the row or finds it, and holds it: on PostgreSQL until the transaction ends, on SQLite with the whole file.
const HOLD: &str = "INSERT INTO turn (domain, looks, newest) VALUES ($1, '[]', $2) \
     ON CONFLICT (domain) DO UPDATE SET domain = excluded.domain RETURNING looks";

const TAKE: &str = "UPDATE turn SET looks = $2, newest = $3 WHERE domain = $1";

impl Store {
    /// Shows `judge` when `domain` was looked at, from the oldest on, and writes down what it gives in their place, with
    /// the start of `run` in the same transaction. What it refuses changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when it cannot be written, [`StoreError::Taken`] when there is a run with this id.
    pub async fn take_turn<T, E>(
        &self,
        domain: &str,
        now: Timestamp,
        run: Option<NewRun<'_>>,
        judge: impl FnOnce(Vec<Timestamp>) -> Result<(T, Vec<Timestamp>), E>,
    ) -> Result<Result<T, E>, StoreError> {
        let mut tx = self.db.begin().await?;
        let held = tx.one(HOLD, &[domain.into(), now.millis().into()], |row| row.text("looks")).await?;
        let (turn, looks) = match judge(read(&held.unwrap_or_default())) {
            Ok(taken) => taken,
            Err(refused) => return Ok(Err(refused)),
        };
        let newest = looks.last().map_or(now, |last| *last);
        tx.run(TAKE, &[domain.into(), written(&looks).as_str().into(), newest.millis().into()]).await?;
        if let Some(run) = run {
            tx.run(START, &run.args()).await.map_err(|error| run.taken(error))?;
        }
        tx.commit().await?;
        Ok(Ok(turn))
    }

    /// Forgets the domains that were not looked at since `before`; how many there were.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when it cannot be written.
    pub async fn forget_turns(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.db.run("DELETE FROM turn WHERE newest < $1", &[before.millis().into()]).await
    }
}

/// A list that does not read counts as none: it holds a minute, and must not stop every look at a domain for good.
fn read(looks: &str) -> Vec<Timestamp> {
    let millis: Vec<i64> = serde_json::from_str(looks).unwrap_or_default();
    millis.into_iter().map(Timestamp::from_millis).collect()
}

fn written(looks: &[Timestamp]) -> String {
    serde_json::Value::from_iter(looks.iter().map(|look| look.millis())).to_string()
}
