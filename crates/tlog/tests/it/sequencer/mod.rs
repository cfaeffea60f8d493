//! The sequencer through its public face: receipts, retries, starts, and everything that can go wrong with a disk.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
mod damage;
mod disk;
mod files;
mod kill;
mod lost;
mod receipts;
mod start;
mod storage;
mod tiles;
