#![doc = include_str!("../README.md")]

mod http;

pub use http::{Bounds, connections, log, serve, witness};
