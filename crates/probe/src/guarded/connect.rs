//! One TCP connection to one judged address. This is the only file in the workspace that dials.

use std::net::SocketAddr;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::judge::Judged;
use super::{Failure, RefusedCode, resolve};

/// Dials `address`, then checks that the peer is who was dialled and is not this machine under a public address.
pub(super) async fn dial(host: &str, address: Judged, port: u16, until: Instant) -> Result<TcpStream, Failure> {
    let target = SocketAddr::new(address.ip(), port);
    let stream = tcp(target, until).await?;
    check_ends(host, target, &stream)?;
    Ok(stream)
}

/// A TCP connection, unjudged: for [`dial`], and for services that the operator configured.
#[expect(clippy::disallowed_methods, reason = "the one place that dials, behind the address judge or configuration")]
pub(crate) async fn tcp(target: SocketAddr, until: Instant) -> Result<TcpStream, Failure> {
    let stream = timeout_at(until, TcpStream::connect(target))
        .await
        .map_err(|_| Failure::new(RefusedCode::ConnectTimeout, format!("{target} did not accept a connection")))?
        .map_err(|error| Failure::new(RefusedCode::ConnectFailed, format!("{target}: {error}")))?;
    // Without it only latency suffers, so a failure here is no reason to stop.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

fn check_ends(host: &str, target: SocketAddr, stream: &TcpStream) -> Result<(), Failure> {
    let lost = |error: std::io::Error| Failure::new(RefusedCode::ConnectFailed, error);
    let peer = stream.peer_addr().map_err(lost)?;
    if peer != target {
        return Err(Failure::new(RefusedCode::PeerMoved, format!("dialled {target}, reached {peer}")));
    }
    if !resolve::is_local(host) && stream.local_addr().map_err(lost)?.ip() == peer.ip() {
        return Err(Failure::new(RefusedCode::AddressRefused, format!("{peer} is an address of this machine")));
    }
    Ok(())
}
