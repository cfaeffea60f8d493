//! How we look outside. [`guarded`] is the only door to an address that somebody else controls; [`challenge`] is how
//! a paid endpoint is asked for its terms through that door, when [`politeness`] gives it a turn.
//! [`configured`] is the door to services that the operator of this machine named.
//!
//! The door answers with what was seen, also when it refuses: a [`Refused`] carries the certificate chain that was
//! offered, so that a bad certificate is evidence and not only an error.

pub mod challenge;
pub mod configured;
pub mod guarded;
pub mod politeness;
#[cfg(any(test, feature = "testkit"))]
pub mod testkit;

pub use challenge::{Declared, Probed};
pub use guarded::{
    Answer, Cidr, CidrError, Door, DoorConfig, Limits, Method, Nat64, Nat64Error, Refused, RefusedCode, Request,
    RootsError, TransportFlag, Wire, roots_from_pem,
};
pub use politeness::{Need, RateLimited, Turn};
