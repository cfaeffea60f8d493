//! Connections: how many, how long one lives, and how the end comes.
//!
//! Not `axum::serve`, which has no limit on slow heads, on connections and on those who never read their answer, and
//! leaves Nagle's delay on.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::room::{Place, Room};

const HEAD_WITHIN: Duration = Duration::from_secs(10);
const HEAD_BYTES: usize = 16 * 1024;
const HEADERS: usize = 64;

/// What strangers may take.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How many connections there are at a time; half of them for one source.
    pub connections: usize,
    /// How long one takes requests. It is closed after the answer that is on its way then.
    pub life: Duration,
    /// How long that last answer may take, at the end of a life and at the end of the service. A caller who does not
    /// read is cut off then.
    pub last_answer: Duration,
}

impl Bounds {
    /// The bounds of a service with so many connections: a minute of requests, 5 seconds for the last answer.
    pub fn new(connections: usize) -> Self {
        Self { connections, life: Duration::from_secs(60), last_answer: Duration::from_secs(5) }
    }
}

/// Answers on `listener` until `stop` is done, then waits shortly for answers that are on their way.
pub async fn serve(listener: TcpListener, routes: Router, bounds: Bounds, stop: impl Future<Output = ()>) {
    let room = Room::new(bounds.connections);
    let service = TowerToHyperService::new(routes);
    let (ending, ended) = watch::channel(());
    let mut open = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let (stream, place) = tokio::select! {
            () = &mut stop => break,
            Some(_) = open.join_next() => continue,
            accepted = next(&listener, &room) => match accepted {
                Some(accepted) => accepted,
                None => continue,
            },
        };
        let connection = connection(stream, service.clone(), bounds, ended.clone());
        open.spawn(async move {
            connection.await;
            drop(place);
        });
    }
    drop((listener, ending));
    // Each has its own limit, so this ends.
    while open.join_next().await.is_some() {}
}

/// The next connection and its place; `None` when it got none, or none came.
async fn next(listener: &TcpListener, room: &Room) -> Option<(TcpStream, Place)> {
    let permit = room.free().await?;
    match listener.accept().await {
        Ok((stream, address)) => Some((stream, room.take(address.ip(), permit)?)),
        // Out of file descriptors, most likely: waiting lets some go.
        Err(_) => {
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

type Service = TowerToHyperService<Router>;

/// Serves one connection for its life or until the service ends. An error is the caller's: it went away or was too
/// slow, and nothing of ours depends on it.
async fn connection(stream: TcpStream, service: Service, bounds: Bounds, mut ended: watch::Receiver<()>) {
    // Without it a small answer waits for the caller's delayed acknowledgement; failing to set it is only slow.
    let _ = stream.set_nodelay(true);
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = pin!(served);
    tokio::select! {
        _ = &mut served => return,
        () = tokio::time::sleep(bounds.life) => {}
        _ = ended.changed() => {}
    }
    served.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(bounds.last_answer, served).await;
}
