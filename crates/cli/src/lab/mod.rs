//! `lab`: honest and hostile sellers on loopback, so that a check can be tried without a wallet, an account or a network.
//!
//! Every seller is `NAME.localhost` behind one port, over TLS under an authority made when the lab starts. Replies are
//! raw bytes, because half of what a hostile seller does is framing that no HTTP library would let us write.

mod authority;
mod challenge;
#[cfg(test)]
mod door_tests;
mod sellers;
mod serve;
mod signing;
#[cfg(test)]
mod tests;

use anyhow::Context as _;
use countersign_core::time::Timestamp;
use std::net::Ipv4Addr;
use std::sync::Arc;
use tokio::task::JoinHandle;

use crate::app::Failure;

pub(crate) use sellers::{Expect, Kind, Looks, Seller, sellers};

/// A running lab. Sellers answer until this value is dropped.
#[derive(Debug)]
pub(crate) struct Lab {
    /// The TCP port of 127.0.0.1 that every seller shares.
    pub(crate) port: u16,
    /// The certificate of the lab's authority, PEM: what a checker or curl has to trust, and nothing else should.
    pub(crate) ca_pem: String,
    task: JoinHandle<()>,
}

impl Lab {
    /// Where a buyer would find this seller: `https://NAME.localhost:PORT/paid`, unless its trick is the URL itself.
    pub(crate) fn url(&self, seller: &Seller) -> String {
        seller.url(self.port)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Starts every seller on 127.0.0.1:`port` (0 picks a free one); certificates are made valid around `started`.
///
/// # Errors
/// No Tokio runtime is running, the port cannot be bound, or the authority cannot be made.
pub(crate) fn start(port: u16, started: Timestamp) -> anyhow::Result<Lab> {
    let runtime = tokio::runtime::Handle::try_current().context("the lab needs a running Tokio runtime")?;
    let authority = authority::Authority::new(started)?;
    let ca_pem = authority.pem();
    let listener = listen(port)?;
    let port = listener.local_addr()?.port();
    let task = runtime.spawn(serve::run(listener, Arc::new(serve::Floor::new(port, authority))));
    Ok(Lab { port, ca_pem, task })
}

/// A non-blocking listener on loopback only: the lab must never be reachable from another machine.
fn listen(port: u16) -> anyhow::Result<tokio::net::TcpListener> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        Failure::usage(format!("cannot listen on 127.0.0.1:{port}: {error}"))
            .coded("cannot_listen")
            .advised("take another port with --port (0 takes a free one), or end the program that has this one")
    })?;
    listener.set_nonblocking(true)?;
    Ok(tokio::net::TcpListener::from_std(listener)?)
}
