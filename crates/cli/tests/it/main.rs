//! Everything that is tested through the real binary, linked once.

mod answers;
mod commands;
mod common;
mod door;
mod log;
mod receipts;
mod walls;
