//! A server on loopback that answers every connection in one way, right or wrong.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// What the server does once it has read a request head.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// Answers 402 with the request's own bytes as the body.
    Echo,
    /// Writes these bytes and closes.
    Say(Vec<u8>),
    /// Writes these bytes, then this many more bytes of `a`, and closes.
    Flood(Vec<u8>, u64),
    /// Writes the first bytes, then the second ones over and over for as long as somebody listens.
    Endless(Vec<u8>, Vec<u8>),
    /// Writes these bytes, then one byte every 300 ms for as long as somebody listens.
    Drip(Vec<u8>),
    /// Writes the first bytes, then each piece after its pause, and closes.
    Pause(Vec<u8>, Vec<(Duration, Vec<u8>)>),
    /// Writes these bytes and ends the TCP connection without a word of TLS.
    Cut(Vec<u8>),
    /// Writes these bytes and resets the TCP connection.
    Reset(Vec<u8>),
    /// Answers a method with a status and header lines (each ended by CRLF); the first row that fits counts.
    ByMethod(Vec<(&'static str, &'static str)>),
    /// Does the first on this path, and the second on every other.
    At(&'static str, Box<Behaviour>, Box<Behaviour>),
    /// Waits this long, then does the other.
    After(Duration, Box<Behaviour>),
    /// Reads and never answers.
    Silent,
}

/// What the server does instead of TLS.
#[derive(Clone, Debug)]
pub enum Clear {
    /// Writes these bytes as soon as the client has written something, and closes.
    Say(Vec<u8>),
    /// Accepts the connection and never writes.
    Silent,
    /// Accepts the connection and closes it.
    Close,
}

/// A listening server. It stops when dropped.
#[derive(Debug)]
pub struct Server {
    port: u16,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn start(tls: TlsAcceptor, behaviour: Behaviour) -> io::Result<Self> {
        Self::start_at("127.0.0.1", tls, behaviour).await
    }

    /// Listens on a free port of another loopback address.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn start_at(address: &str, tls: TlsAcceptor, behaviour: Behaviour) -> io::Result<Self> {
        let listener = TcpListener::bind((address, 0)).await?;
        Self::run(listener, move |tcp| serve(tls.clone(), tcp, behaviour.clone()))
    }

    /// Listens on a free port of 127.0.0.1 and speaks no TLS.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn start_clear(clear: Clear) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        Self::run(listener, move |tcp| serve_clear(tcp, clear.clone()))
    }

    /// As [`Server::start_clear`], with the manners of a server that speaks HTTP without TLS.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn start_http(behaviour: Behaviour) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        Self::run(listener, move |mut tcp| {
            let behaviour = behaviour.clone();
            async move {
                let request = head(&mut tcp).await;
                let _ = answer(&mut tcp, &request, behaviour).await;
            }
        })
    }

    fn run<F>(listener: TcpListener, mut serve: impl FnMut(TcpStream) -> F + Send + 'static) -> io::Result<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let port = listener.local_addr()?.port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        let task = tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(tcp));
            }
        });
        Ok(Self { port, connections, task })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// How many connections it accepted.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A client that leaves early is part of the game, so errors end the connection and nothing else.
async fn serve(tls: TlsAcceptor, tcp: TcpStream, behaviour: Behaviour) {
    let Ok(mut stream) = tls.accept(tcp).await else { return };
    let request = head(&mut stream).await;
    let _ = match behaviour {
        Behaviour::Cut(bytes) => cut(stream, &bytes).await,
        Behaviour::Reset(bytes) => reset(stream, &bytes).await,
        behaviour => finish(stream, &request, behaviour).await,
    };
}

async fn finish(mut stream: TlsStream<TcpStream>, request: &[u8], behaviour: Behaviour) -> io::Result<()> {
    answer(&mut stream, request, behaviour).await?;
    stream.shutdown().await
}

/// Dropping a TLS stream sends no close_notify: to the client this is a cut wire.
async fn cut(mut stream: TlsStream<TcpStream>, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}

async fn reset(mut stream: TlsStream<TcpStream>, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await?;
    // What was written must be on its way before the reset overtakes it.
    tokio::time::sleep(Duration::from_millis(100)).await;
    stream.get_ref().0.set_zero_linger()
}

async fn serve_clear(mut tcp: TcpStream, clear: Clear) {
    match clear {
        Clear::Close => {}
        Clear::Silent => tokio::time::sleep(Duration::from_secs(60)).await,
        Clear::Say(bytes) => {
            let _ = tcp.read(&mut [0; 4096]).await;
            let _ = tcp.write_all(&bytes).await;
            let _ = tcp.shutdown().await;
        }
    }
}

async fn head(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|four| four == b"\r\n\r\n") && bytes.len() < 64 << 10 {
        match stream.read_buf(&mut bytes).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
    }
    bytes
}

async fn answer(stream: &mut (impl AsyncWrite + Unpin + Send), request: &[u8], behaviour: Behaviour) -> io::Result<()> {
    match behaviour {
        Behaviour::Echo => {
            let head = format!("HTTP/1.1 402 Payment Required\r\nContent-Length: {}\r\n\r\n", request.len());
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(request).await
        }
        Behaviour::Say(bytes) | Behaviour::Cut(bytes) | Behaviour::Reset(bytes) => stream.write_all(&bytes).await,
        Behaviour::Flood(head, more) => flood(stream, &head, more).await,
        Behaviour::Endless(head, piece) => endless(stream, &head, &piece).await,
        Behaviour::Pause(head, pieces) => pause(stream, &head, &pieces).await,
        Behaviour::Drip(head) => drip(stream, &head).await,
        Behaviour::ByMethod(rows) => {
            let row = rows.iter().find(|(method, _)| request.starts_with(method.as_bytes()));
            let lines = row.map_or("404 Not Found\r\n", |(_, lines)| lines);
            stream.write_all(format!("HTTP/1.1 {lines}Content-Length: 0\r\n\r\n").as_bytes()).await
        }
        Behaviour::At(path, here, elsewhere) => {
            let here_asked = asked_path(request) == Some(path.as_bytes());
            Box::pin(answer(stream, request, if here_asked { *here } else { *elsewhere })).await
        }
        Behaviour::After(time, then) => {
            tokio::time::sleep(time).await;
            Box::pin(answer(stream, request, *then)).await
        }
        Behaviour::Silent => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            Ok(())
        }
    }
}

/// The second word of the request line.
fn asked_path(request: &[u8]) -> Option<&[u8]> {
    request.split(|byte| *byte == b' ').nth(1)
}

async fn flood(stream: &mut (impl AsyncWrite + Unpin), head: &[u8], more: u64) -> io::Result<()> {
    stream.write_all(head).await?;
    let piece = [b'a'; 16 << 10];
    for _ in 0..more / piece.len() as u64 {
        stream.write_all(&piece).await?;
    }
    Ok(())
}

async fn endless(stream: &mut (impl AsyncWrite + Unpin), head: &[u8], piece: &[u8]) -> io::Result<()> {
    stream.write_all(head).await?;
    let pieces = piece.repeat(1 + 4096 / piece.len().max(1));
    loop {
        stream.write_all(&pieces).await?;
    }
}

async fn pause(stream: &mut (impl AsyncWrite + Unpin), head: &[u8], pieces: &[(Duration, Vec<u8>)]) -> io::Result<()> {
    stream.write_all(head).await?;
    for (time, piece) in pieces {
        stream.flush().await?;
        tokio::time::sleep(*time).await;
        stream.write_all(piece).await?;
    }
    Ok(())
}

async fn drip(stream: &mut (impl AsyncWrite + Unpin), head: &[u8]) -> io::Result<()> {
    stream.write_all(head).await?;
    loop {
        stream.write_all(b"x").await?;
        stream.flush().await?;
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}
