//! The shop floor: one TLS listener, sellers told apart by the name the buyer asks for, replies as raw bytes.

use super::authority::Authority;
use super::challenge::{Answer, Asked};
use super::sellers::{Reply, Seller, Tls, sellers};
use anyhow::Context as _;
use bytes::BytesMut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::rustls::server::Acceptor;
use tokio_rustls::server::TlsStream;

/// Most bytes of a request's head, and of its body, that a seller reads.
const ASKED_LIMIT: usize = 64 * 1024;
/// Longest life of one connection: a buyer that hangs must not hold the lab.
const CONNECTION: Duration = Duration::from_secs(90);

/// What all connections share.
pub(super) struct Floor {
    port: u16,
    authority: Authority,
    turns: Vec<AtomicU64>,
}

impl Floor {
    /// A floor on which nobody has asked for anything yet.
    pub(super) fn new(port: u16, authority: Authority) -> Self {
        Self { port, authority, turns: sellers().iter().map(|_| AtomicU64::new(0)).collect() }
    }

    /// The seller of this host name, with its counter.
    fn seller(&self, host: &str) -> Option<(&'static Seller, &AtomicU64)> {
        let name = host.strip_suffix(".localhost")?;
        sellers().iter().zip(&self.turns).find(|(seller, _)| seller.name == name)
    }
}

/// Accepts until aborted; aborting also ends every open connection.
pub(super) async fn run(listener: TcpListener, floor: Arc<Floor>) {
    let mut open = JoinSet::new();
    loop {
        while open.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let floor = Arc::clone(&floor);
                open.spawn(async move {
                    let _ = tokio::time::timeout(CONNECTION, attend(stream, &floor)).await;
                });
            }
            // Out of descriptors: let some connections end.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// Serves one connection: TLS by the seller's own manners, one request, one reply.
async fn attend(stream: TcpStream, floor: &Floor) -> anyhow::Result<()> {
    let mut hello = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
    let host = hello.client_hello().server_name().context("no server name")?.to_owned();
    let (seller, turns) = floor.seller(&host).context("nobody of that name")?;
    let shown = match seller.tls {
        Tls::Shows(shown) => shown,
        Tls::Clear => {
            hello.io.write_all(&Answer::new("400 Bad Request", "text/plain", "no TLS here\n").bytes()).await?;
            return Ok(hello.io.shutdown().await?);
        }
    };
    let stream = hello.into_stream(floor.authority.config(&host, shown)?).await?;
    answer(stream, seller, turns, floor.port, &host).await
}

async fn answer(
    mut stream: TlsStream<TcpStream>,
    seller: &Seller,
    turns: &AtomicU64,
    port: u16,
    host: &str,
) -> anyhow::Result<()> {
    let head = read_request(&mut stream).await?;
    let mut asked = read_head(&head, host, port).context("not an HTTP/1.1 request")?;
    if asked.host != host {
        // The name in the request must be the name of the connection: a checker that dials an address by itself
        // still has to say whom it wants in both places.
        stream.write_all(&Answer::new("421 Misdirected Request", "text/plain", "wrong host\n").bytes()).await?;
    } else if asked.path != "/paid" && !seller.answers_anything() {
        stream.write_all(&Answer::not_found().bytes()).await?;
    } else {
        asked.turn = turns.fetch_add(1, Ordering::Relaxed);
        reply(&mut stream, seller.reply, &asked).await?;
    }
    Ok(stream.shutdown().await?)
}

async fn reply(stream: &mut TlsStream<TcpStream>, reply: Reply, asked: &Asked) -> anyhow::Result<()> {
    match reply {
        Reply::Whole(make) | Reply::Anywhere(make) => stream.write_all(&make(asked)).await?,
        Reply::Drip(make) => {
            for byte in make(asked) {
                stream.write_all(&[byte]).await?;
                stream.flush().await?;
                tokio::time::sleep(Duration::from_millis(400)).await;
            }
        }
        Reply::Endless(make, again) => {
            stream.write_all(&make(asked)).await?;
            let block = again.repeat(16_384 / again.len().max(1) + 1);
            loop {
                stream.write_all(&block).await?;
            }
        }
        Reply::Silent => std::future::pending().await,
    }
    Ok(())
}

/// The request's head; its body, when it has one, is read and dropped so that closing sends no reset.
async fn read_request(stream: &mut TlsStream<TcpStream>) -> anyhow::Result<String> {
    let mut raw = BytesMut::new();
    let end = loop {
        if let Some(at) = raw.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        read_more(stream, &mut raw).await?;
    };
    let head = String::from_utf8_lossy(&raw[..end]).into_owned();
    let length: usize = header(&head, "content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    while raw.len() - end < length {
        read_more(stream, &mut raw).await?;
    }
    Ok(head)
}

async fn read_more(stream: &mut TlsStream<TcpStream>, raw: &mut BytesMut) -> anyhow::Result<()> {
    anyhow::ensure!(raw.len() <= ASKED_LIMIT, "the request is too long");
    anyhow::ensure!(stream.read_buf(raw).await? > 0, "the buyer left");
    Ok(())
}

/// Method, path, host and agent of a request head; `None` when it has no request line.
fn read_head(head: &str, name: &str, port: u16) -> Option<Asked> {
    let mut line = head.lines().next()?.split(' ');
    let (method, path) = (line.next()?.to_owned(), line.next()?.to_owned());
    let host = header(head, "host").unwrap_or_else(|| name.to_owned());
    let host = host.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let agent = header(head, "user-agent").unwrap_or_default().to_ascii_lowercase();
    Some(Asked { host, port, method, path, agent, turn: 0 })
}

/// The first value of a header, by its lower-case name.
fn header(head: &str, name: &str) -> Option<String> {
    let mut lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::authority::Shown;
    use super::*;

    #[test]
    fn a_request_head_is_read_whatever_the_case_of_its_names() {
        let head = "POST /paid HTTP/1.1\r\nHOST: Honest-V2.localhost:8402\r\nuser-agent: Curl/8\r\n\r\n";
        let asked = read_head(head, "x.localhost", 8402).unwrap();
        assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/paid"));
        assert_eq!((asked.host.as_str(), asked.agent.as_str()), ("honest-v2.localhost", "curl/8"));
        assert!(read_head("", "x.localhost", 1).is_none());
    }

    #[test]
    fn good_certificates_are_the_rule() {
        let bad = sellers().iter().filter(|seller| seller.tls != Tls::Shows(Shown::Good)).count();
        assert!((3..6).contains(&bad), "{bad}");
    }
}
