//! **What we remember.** SQLite and PostgreSQL behind one contract: a program that holds a [`Store`] cannot tell
//! which of the two is behind it, and `tests/contract.rs` runs the same cases on both.
//!
//! Observations are facts and are only appended; what is shown of them is computed when it is read. Signed
//! documents come back as the exact bytes that went in. There is no clock and no randomness here: ids and times
//! are arguments.

mod check_run;
mod db;
mod derived;
mod document;
mod error;
mod evidence;
mod examine;
mod idempotency;
mod lease;
mod migrate;
mod observation;
mod open;
mod schedule;
#[cfg(feature = "testkit")]
pub mod testkit;
mod turn;

pub use check_run::{CheckRun, NewRun};
pub use derived::Derived;
pub use document::Document;
pub use error::StoreError;
pub use examine::Examined;
pub use idempotency::{Begun, Request};
pub use lease::Lease;
pub use observation::{NewObservation, Observation};
pub use open::{Before, Location};
pub use schedule::Due;

/// An open database. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Store {
    db: db::Db,
    before: Before,
}
