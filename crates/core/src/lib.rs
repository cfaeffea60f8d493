#![doc = include_str!("../README.md")]

pub mod address;
pub mod amount;
pub mod asset;
pub mod domain;
pub mod endpoint;
pub mod finding;
pub mod history;
pub mod http_signature;
pub mod json;
pub mod leaf;
pub mod network;
pub mod offer;
pub mod policy;
pub mod sibling;
pub mod sign;
mod steps;
#[cfg(test)]
mod testing;
pub mod time;
