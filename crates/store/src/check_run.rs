//! Runs: one check of one subject, from its start to its end.

use countersign_core::time::Timestamp;

use crate::db::Arg;
use crate::{Store, StoreError};

/// One run. A run without an end is under way, or its process died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRun {
    /// The caller's id.
    pub id: String,
    /// What is checked; may be anybody's text.
    pub subject: String,
    /// What started it, such as `cli` or `schedule`.
    pub trigger: String,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub finished: Option<Timestamp>,
    /// How it ended: `done`, or `abandoned` by a process that died.
    pub outcome: Option<String>,
}

/// A run that begins.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'a> {
    /// The caller's id.
    pub id: &'a str,
    /// What is checked.
    pub subject: &'a str,
    /// What starts it.
    pub trigger: &'a str,
    /// When it begins.
    pub started: Timestamp,
}

pub(crate) const START: &str = "INSERT INTO check_run (id, subject, \"trigger\", started) VALUES ($1, $2, $3, $4)";

impl<'a> NewRun<'a> {
    /// The arguments of [`START`].
    pub(crate) fn args(&self) -> [Arg<'a>; 4] {
        [self.id.into(), self.subject.as_bytes().into(), self.trigger.into(), self.started.millis().into()]
    }

    /// What it means that it could not be written.
    pub(crate) fn taken(&self, error: StoreError) -> StoreError {
        if error.is_taken() { StoreError::Taken { what: "run", id: self.id.into() } } else { error }
    }
}

impl Store {
    /// Writes down that a run ended. `false` when there is no such run or it had ended before; its first end stays.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when it cannot be written.
    pub async fn finish_run(&self, id: &str, finished: Timestamp) -> Result<bool, StoreError> {
        let sql = "UPDATE check_run SET finished = $2, outcome = 'done' WHERE id = $1 AND finished IS NULL";
        Ok(self.db.run(sql, &[id.into(), finished.millis().into()]).await? == 1)
    }

    /// Closes every run that began before `before` and has no end, as abandoned; how many there were. A caller
    /// leaves time enough for the runs of other processes that are still alive.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when it cannot be written.
    pub async fn abandon_runs(&self, before: Timestamp, now: Timestamp) -> Result<u64, StoreError> {
        let sql = "UPDATE check_run SET finished = $2, outcome = 'abandoned' WHERE started < $1 AND finished IS NULL";
        self.db.run(sql, &[before.millis().into(), now.millis().into()]).await
    }

    /// The run with this id.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when it cannot be read.
    pub async fn run(&self, id: &str) -> Result<Option<CheckRun>, StoreError> {
        let sql = "SELECT id, subject, \"trigger\", started, finished, outcome FROM check_run WHERE id = $1";
        let read = |row: &crate::db::Row| {
            Ok(CheckRun {
                id: row.text("id")?,
                subject: row.foreign("subject")?,
                trigger: row.text("trigger")?,
                started: Timestamp::from_millis(row.int("started")?),
                finished: row.int_opt("finished")?.map(Timestamp::from_millis),
                outcome: row.text_opt("outcome")?,
            })
        };
        self.db.one(sql, &[id.into()], read).await
    }
}
