//! For tests and labs: a certificate authority made on the spot, servers that misbehave on purpose, and a
//! name server that says what it is told to.

mod authority;
pub mod dns;
mod server;

pub use authority::{Authority, Leaf};
pub use server::{Behaviour, Clear, Server};
