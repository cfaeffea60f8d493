#![doc = include_str!("../README.md")]

mod http;

pub use http::{log, serve, witness};
