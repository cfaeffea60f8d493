#![doc = include_str!("../README.md")]

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
