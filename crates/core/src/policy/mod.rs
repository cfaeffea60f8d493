//! The buyer's rules, applied to one reading of one URL: a pure function of the request, what was
//! read, what is remembered and the time.
//!
//! Every bound is judged on its own, and an unknown value under a bound excludes the offer: a limit
//! that holds only when we happen to know the value is no limit. What could not be judged is named,
//! so that nobody takes silence for a pass.

mod decide;
mod judge;
mod request;
mod stock;

pub use decide::{Decision, Excluded, Facts, MissReason, Unjudged, decide};
pub use judge::{Reason, Why, total_cost};
pub use request::{CheckRequest, Objective, Share, ShareError};

#[cfg(test)]
mod tests;
