//! The tables, step by step. A step has one number and one text for each engine, side by side.

use sqlx::SqlSafeStr as _;
use sqlx::migrate::{Migration, MigrationType, Migrator};

use crate::StoreError;
use crate::db::Db;

struct Step {
    number: i64,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

/// In order; a step that has been released is never edited.
const STEPS: &[Step] = &[
    Step {
        number: 1,
        name: "init",
        sqlite: include_str!("migrations/sqlite/0001_init.sql"),
        postgres: include_str!("migrations/postgres/0001_init.sql"),
    },
    Step {
        number: 2,
        name: "run outcome",
        sqlite: include_str!("migrations/sqlite/0002_run_outcome.sql"),
        postgres: include_str!("migrations/postgres/0002_run_outcome.sql"),
    },
    Step {
        number: 3,
        name: "arrival",
        sqlite: include_str!("migrations/sqlite/0003_arrival.sql"),
        postgres: include_str!("migrations/postgres/0003_arrival.sql"),
    },
    Step {
        number: 4,
        name: "turn",
        sqlite: include_str!("migrations/sqlite/0004_turn.sql"),
        postgres: include_str!("migrations/postgres/0004_turn.sql"),
    },
];

/// The version of the tables after the last step.
pub(crate) const LATEST: i64 = STEPS[STEPS.len() - 1].number;

/// Brings the tables up to date. PostgreSQL serialises this by an advisory lock; for SQLite the caller holds the
/// file lock.
pub(crate) async fn migrate(db: &Db) -> Result<(), StoreError> {
    match db {
        Db::Lite { write, .. } => migrator(|step| step.sqlite).run(write.unqueued()).await?,
        Db::Pg(pool) => migrator(|step| step.postgres).run(pool.unqueued()).await?,
    }
    Ok(())
}

fn migrator(text: fn(&Step) -> &'static str) -> Migrator {
    let step = |s: &Step| Migration::new(s.number, s.name.into(), MigrationType::Simple, text(s).into_sql_str(), false);
    Migrator::with_migrations(STEPS.iter().map(step).collect())
}
