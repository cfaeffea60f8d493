//! One file a command.

pub(crate) mod check;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod keys;
pub(crate) mod lab;
pub(crate) mod log;
pub(crate) mod receipt;
pub(crate) mod verify;
