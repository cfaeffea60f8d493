//! For tests and labs: a certificate authority made on the spot, and servers that misbehave on purpose.

mod authority;
mod server;

pub use authority::{Authority, Leaf};
pub use server::{Behaviour, Server};
