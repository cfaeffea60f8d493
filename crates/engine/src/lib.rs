#![doc = include_str!("../README.md")]

pub mod check;
pub mod cosigners;
pub mod decision;
pub mod env;
mod evidence;
mod files;
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
