//! One TCP connection to a judged address. This is the only file in the workspace that dials.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::judge::Judged;
use super::{Failure, RefusedCode, resolve};

/// More addresses of one name are not dialled: a name is a stranger's, and this is no way to have others scanned.
const MAX_DIALS: usize = 3;

/// Dials the addresses in turn, each for at most `wait` and none after `end`, until one accepts: a client that pays
/// would come through that way too. Then checks that the peer is who was dialled and is not this machine under a
/// public address.
///
/// # Errors
/// Of the last address dialled, when none accepted; at once when the peer is not who it should be.
pub(super) async fn dial(
    host: &str,
    addresses: &[Judged],
    port: u16,
    wait: Duration,
    end: Instant,
) -> Result<(TcpStream, SocketAddr), Failure> {
    let mut outcome = Err(Failure::new(RefusedCode::NoAddress, "the name has no address"));
    for address in addresses.iter().take(MAX_DIALS) {
        let target = SocketAddr::new(address.ip(), port);
        outcome = tcp(target, end.min(Instant::now() + wait)).await.map(|stream| (stream, target));
        if outcome.is_ok() || Instant::now() >= end {
            break;
        }
    }
    let (stream, target) = outcome?;
    check_ends(host, target, &stream)?;
    Ok((stream, target))
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
