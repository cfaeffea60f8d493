//! The door to services that the operator of this machine configured: log witnesses, facilitators, chain RPC, mirrors,
//! the verification base URL.
//!
//! Here the operator is trusted and the answer is not: http and private addresses are allowed, names resolve as on the
//! rest of the machine (hosts file included), and everything else is as strict as at the guarded door: no redirects, no
//! proxies, no cookies, caps on head and body, one deadline over all, one request a connection. What would be a mistake
//! is reaching this door with a stranger's URL; [`ConfiguredUrl`] is a type of its own for that reason.

mod url;

use std::net::SocketAddr;

use bytes::Bytes;
use countersign_core::time::Timestamp;
use http_body_util::Full;
use hyper::header::{self, HeaderName};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::rustls::pki_types::CertificateDer;

pub use self::url::{ConfiguredUrl, ConfiguredUrlError};
use crate::guarded::connect::tcp;
use crate::guarded::read::{self, Opened, Stream};
use crate::guarded::tee::Scan;
use crate::guarded::tls::{Seen, Trust};
use crate::guarded::{Failure, Limits, Method, RefusedCode, RootsError, TransportFlag};

/// Headers that say how a request is carried.
const CARRIED: [HeaderName; 6] = [
    header::HOST,
    header::USER_AGENT,
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
];

/// What is asked of a service.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// GET or POST.
    pub method: Method,
    /// The media type that is asked for.
    pub accept: &'a str,
    /// Media type and bytes of the body; `None` sends no body.
    pub body: Option<(&'a str, Vec<u8>)>,
}

impl<'a> Call<'a> {
    /// GET.
    pub fn get(accept: &'a str) -> Self {
        Self { method: Method::Get, accept, body: None }
    }

    /// POST of these bytes.
    pub fn post(accept: &'a str, content_type: &'a str, bytes: Vec<u8>) -> Self {
        Self { method: Method::Post, accept, body: Some((content_type, bytes)) }
    }
}

/// What a service answered, whole. Any status is an answer, also a redirect.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// Header lines: name in lower case, value as it came.
    pub headers: Vec<(String, Vec<u8>)>,
    /// All of the body.
    pub body: Vec<u8>,
}

/// There is no answer that may be used. It says nothing of the address but its origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}: {fault}: {detail}")]
pub struct ServiceError {
    /// Scheme, host and port.
    pub origin: String,
    /// What went wrong.
    pub fault: Fault,
    /// A sentence for a person.
    pub detail: String,
}

/// What went wrong with a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// As at the guarded door.
    Refused(RefusedCode),
    /// The body is not whole: too large, too slow, or broken off.
    Body(TransportFlag),
}

impl Fault {
    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refused(code) => code.as_str(),
            Self::Body(flag) => flag.as_str(),
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.as_str())
    }
}

/// The way to configured services.
#[derive(Debug)]
pub struct Services {
    limits: Limits,
    trust: Trust,
}

impl Services {
    /// A door with the public certificate authorities and `roots` (DER), and these limits.
    ///
    /// # Errors
    /// [`RootsError`] when a root cannot be used.
    pub fn new(roots: &[CertificateDer<'static>], limits: Limits) -> Result<Self, RootsError> {
        Ok(Self { limits, trust: Trust::new(roots)? })
    }

    /// Sends one request and reads one whole answer. `now` is the instant at which a certificate is judged.
    ///
    /// # Errors
    /// [`ServiceError`] when no whole answer could be had.
    pub async fn call(&self, url: &ConfiguredUrl, call: &Call<'_>, now: Timestamp) -> Result<Reply, ServiceError> {
        let answer = self.send(url, message(url, call), now).await?;
        let headers = read::lines(answer.headers());
        Ok(Reply { status: answer.status().as_u16(), headers, body: answer.into_body() })
    }

    /// As [`Services::call`], for a protocol whose client library makes and signs the head itself: method, headers and
    /// body are those of `request`, whose own address is not used. How it is carried stays ours: host, agent, coding,
    /// lengths and the end of the connection.
    ///
    /// # Errors
    /// [`ServiceError`] when no whole answer could be had.
    pub async fn exchange(
        &self,
        url: &ConfiguredUrl,
        request: &hyper::Request<Bytes>,
        now: Timestamp,
    ) -> Result<hyper::Response<Vec<u8>>, ServiceError> {
        let mut message = read::request(url.url(), request.method().as_str());
        for (name, value) in request.headers().iter().filter(|(name, _)| !CARRIED.contains(name)) {
            message = message.header(name, value);
        }
        let message = message.body(Full::new(request.body().clone()));
        self.send(url, message.map_err(|error| Failure::new(RefusedCode::Url, error)), now).await
    }

    async fn send(
        &self,
        url: &ConfiguredUrl,
        message: Result<hyper::Request<Full<Bytes>>, Failure>,
        now: Timestamp,
    ) -> Result<hyper::Response<Vec<u8>>, ServiceError> {
        let failed = |fault, detail: String| ServiceError { origin: url.origin(), fault, detail };
        let end = Instant::now() + self.limits.total;
        let scan = Scan::new(self.limits.head);
        let mut opened = self
            .open(url, message, &scan, now, end)
            .await
            .map_err(|failure| failed(Fault::Refused(failure.code), failure.into_detail()))?;
        let body = read::body(&mut opened, &self.limits, &scan, end).await;
        if let Some(flag) = body.broken {
            return Err(failed(Fault::Body(flag), format!("{} bytes of the body were read", body.bytes.len())));
        }
        Ok(hyper::Response::from_parts(opened.head, body.bytes))
    }

    async fn open(
        &self,
        url: &ConfiguredUrl,
        message: Result<hyper::Request<Full<Bytes>>, Failure>,
        scan: &Scan,
        now: Timestamp,
        end: Instant,
    ) -> Result<Opened, Failure> {
        let message = message?;
        let stream = self.connect(url, now, end).await?;
        let until = end.min(Instant::now() + self.limits.first_byte);
        read::open(stream, message, &self.limits, scan, until).await
    }

    async fn connect(&self, url: &ConfiguredUrl, now: Timestamp, end: Instant) -> Result<Box<dyn Stream>, Failure> {
        let tcp = self.reach(url, end).await?;
        if url.url().scheme() == "http" {
            return Ok(Box::new(tcp));
        }
        let host = url.url().host_str().unwrap_or_default().trim_matches(['[', ']']);
        let until = end.min(Instant::now() + self.limits.tls);
        Ok(Box::new(self.trust.handshake(host, tcp, &Seen::default(), now, until).await?))
    }

    /// The first address that accepts, in the system's order.
    async fn reach(&self, url: &ConfiguredUrl, end: Instant) -> Result<TcpStream, Failure> {
        let mut last = Failure::new(RefusedCode::NoAddress, "the name has no address");
        for address in resolve(url, end).await? {
            match tcp(address, end.min(Instant::now() + self.limits.connect)).await {
                Ok(stream) => return Ok(stream),
                Err(failure) => last = failure,
            }
        }
        Err(last)
    }
}

#[expect(clippy::disallowed_methods, reason = "the operator's own names, which may stand in the hosts file")]
async fn resolve(url: &ConfiguredUrl, end: Instant) -> Result<Vec<SocketAddr>, Failure> {
    let port = url.url().port_or_known_default().unwrap_or(443);
    let host = url.url().host_str().unwrap_or_default().trim_matches(['[', ']']);
    let found = timeout_at(end, tokio::net::lookup_host((host, port)))
        .await
        .map_err(|_| Failure::new(RefusedCode::DnsTimeout, "the name was not looked up in time"))?
        .map_err(|error| Failure::new(RefusedCode::Dns, error))?;
    Ok(found.collect())
}

fn message(url: &ConfiguredUrl, call: &Call<'_>) -> Result<hyper::Request<Full<Bytes>>, Failure> {
    let message = read::request(url.url(), call.method.as_str()).header(header::ACCEPT, call.accept);
    let (message, bytes) = match &call.body {
        None => (message, Vec::new()),
        Some((content_type, bytes)) => (message.header(header::CONTENT_TYPE, *content_type), bytes.clone()),
    };
    message.body(Full::new(bytes.into())).map_err(|error| Failure::new(RefusedCode::Url, error))
}

#[cfg(test)]
mod tests;
