//! **How we decide.** One module a use case. This crate owns the clock, the randomness and the keys
//! on disk; it holds no SQL, and its only socket is the local one by which processes share a log.

pub mod check;
pub mod cosigners;
pub mod decision;
pub mod env;
mod evidence;
pub mod fsck;
pub mod keys;
mod lock;
pub mod log;
pub mod monitor;
pub mod published;
pub mod receipt;
pub mod transparency;
mod transport;
pub mod validity;
pub mod verify;
pub mod witness;

#[cfg(test)]
mod testing;
