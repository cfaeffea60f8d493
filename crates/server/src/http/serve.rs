//! Connections: how many, how long a head may take, and how the end comes.
//!
//! Not `axum::serve`, which has no limit on slow heads or on connections and leaves Nagle's delay on.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

const CONNECTIONS: usize = 1024;
const HEAD_WITHIN: Duration = Duration::from_secs(10);
const HEAD_BYTES: usize = 16 * 1024;
const HEADERS: usize = 64;
const END_WITHIN: Duration = Duration::from_secs(5);

/// Answers on `listener` until `stop` is done, then waits shortly for answers that are on their way.
pub async fn serve(listener: TcpListener, routes: Router, stop: impl Future<Output = ()>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let open = GracefulShutdown::new();
    let service = TowerToHyperService::new(routes);
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = async {
            let permit = Arc::clone(&room).acquire_owned().await;
            (listener.accept().await, permit)
        };
        let (stream, permit) = tokio::select! {
            () = &mut stop => break,
            (accepted, permit) = accepted => match accepted {
                Ok((stream, _)) => (stream, permit),
                // Out of file descriptors, most likely: waiting lets some go.
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let connection = open.watch(connection(stream, service.clone()));
        tokio::spawn(async move {
            // An error is the caller's: it went away or was too slow. Nothing of ours depends on it.
            let _ = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(END_WITHIN, open.shutdown()).await;
}

type Service = TowerToHyperService<Router>;

fn connection(stream: TcpStream, service: Service) -> http1::Connection<TokioIo<TcpStream>, Service> {
    // Without it a small answer waits for the caller's delayed acknowledgement; failing to set it is only slow.
    let _ = stream.set_nodelay(true);
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(stream), service)
}
