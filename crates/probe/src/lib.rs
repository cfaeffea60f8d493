#![doc = include_str!("../README.md")]

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
