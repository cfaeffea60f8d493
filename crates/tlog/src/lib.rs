#![forbid(unsafe_code)]
#![doc = include_str!("../README.md")]

pub mod checkpoint;
pub mod cosign;
pub mod fsck;
pub mod key;
pub mod merkle;
pub mod note;
pub mod policy;
pub mod proof;
pub mod range;
#[cfg(feature = "sequencer")]
pub mod sequencer;
pub mod tile;
pub mod witness;

mod text;
