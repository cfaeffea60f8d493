//! A server on loopback that answers every connection in one way, right or wrong.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// What the server does once it has read a request head.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// Answers 402 with the request's own bytes as the body.
    Echo,
    /// Writes these bytes and closes.
    Say(Vec<u8>),
    /// Writes these bytes, then this many more bytes of `a`, and closes.
    Flood(Vec<u8>, u64),
    /// Writes these bytes, then one byte every 300 ms for as long as somebody listens.
    Drip(Vec<u8>),
    /// Answers a method with a status and header lines (each ended by CRLF); the first row that fits counts.
    ByMethod(Vec<(&'static str, &'static str)>),
    /// Reads and never answers.
    Silent,
}

/// A listening server. It stops when dropped.
#[derive(Debug)]
pub struct Server {
    port: u16,
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
        let port = listener.local_addr()?.port();
        let task = tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                tokio::spawn(serve(tls.clone(), tcp, behaviour.clone()));
            }
        });
        Ok(Self { port, task })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
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
    if answer(&mut stream, &request, behaviour).await.is_ok() {
        let _ = stream.shutdown().await;
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

async fn answer(stream: &mut (impl AsyncWrite + Unpin), request: &[u8], behaviour: Behaviour) -> io::Result<()> {
    match behaviour {
        Behaviour::Echo => {
            let head = format!("HTTP/1.1 402 Payment Required\r\nContent-Length: {}\r\n\r\n", request.len());
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(request).await
        }
        Behaviour::Say(bytes) => stream.write_all(&bytes).await,
        Behaviour::Flood(head, more) => flood(stream, &head, more).await,
        Behaviour::Drip(head) => drip(stream, &head).await,
        Behaviour::ByMethod(rows) => {
            let row = rows.iter().find(|(method, _)| request.starts_with(method.as_bytes()));
            let lines = row.map_or("404 Not Found\r\n", |(_, lines)| lines);
            stream.write_all(format!("HTTP/1.1 {lines}Content-Length: 0\r\n\r\n").as_bytes()).await
        }
        Behaviour::Silent => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            Ok(())
        }
    }
}

async fn flood(stream: &mut (impl AsyncWrite + Unpin), head: &[u8], more: u64) -> io::Result<()> {
    stream.write_all(head).await?;
    let piece = [b'a'; 16 << 10];
    for _ in 0..more / piece.len() as u64 {
        stream.write_all(&piece).await?;
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
