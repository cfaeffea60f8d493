//! Speaking HTTP/1.1 on a proved connection: one request, one head, one capped body, every wait with an end.

use std::time::Duration;

use bytes::Bytes;
use countersign_core::offer::rules;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use url::{Position, Url};

use super::tee::{Scan, Tee};
use super::{Failure, Limits, RefusedCode, Request, TransportFlag};

/// Who we say we are.
const USER_AGENT: &str = concat!("countersign/", env!("CARGO_PKG_VERSION"));

/// A body that still runs after this long and came slower than [`MIN_BYTES_PER_SECOND`] is dripping. A slow network
/// alone does not take a challenge this long.
const DRIP_AFTER: Duration = Duration::from_secs(3);
const MIN_BYTES_PER_SECOND: u64 = 1024;

/// What HTTP can be spoken over.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A response head, with the connection that still feeds its body. Dropping it ends the connection.
pub(crate) struct Opened {
    pub(crate) head: hyper::http::response::Parts,
    body: Incoming,
    _driver: JoinSet<()>,
}

impl Opened {
    /// Header lines: name in lower case, value as it came.
    pub(crate) fn headers(&self) -> Vec<(String, Vec<u8>)> {
        lines(&self.head.headers)
    }
}

/// Header lines: name in lower case, value as it came.
pub(crate) fn lines(headers: &header::HeaderMap) -> Vec<(String, Vec<u8>)> {
    headers.iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect()
}

/// A body as far as it was read.
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    /// Why it is not whole, when it is not.
    pub(crate) broken: Option<TransportFlag>,
}

/// Sends `message` and waits for the head of the answer until `until`.
pub(crate) async fn open(
    stream: impl Stream + 'static,
    message: hyper::Request<Full<Bytes>>,
    limits: &Limits,
    scan: &Scan,
    until: Instant,
) -> Result<Opened, Failure> {
    let stream = TokioIo::new(Tee::new(stream, scan.clone()));
    let (mut send, connection) = http1::Builder::new()
        .max_headers(limits.headers)
        .max_buf_size(limits.head + 8192)
        .handshake(stream)
        .await
        .map_err(|error| explain(&error, scan))?;
    let mut driver = JoinSet::new();
    driver.spawn(async move {
        // A broken connection shows up at the request or at the body, where it can be explained.
        let _ = connection.await;
    });
    let answer = timeout_at(until, send.send_request(message))
        .await
        .map_err(|_| Failure::new(RefusedCode::FirstByteTimeout, "no complete response head in time"))?
        .map_err(|error| explain(&error, scan))?;
    let (head, body) = answer.into_parts();
    check_head(&head)?;
    Ok(Opened { head, body, _driver: driver })
}

/// What every request of ours says, whatever it asks for.
pub(crate) fn request(url: &Url, method: &str) -> hyper::http::request::Builder {
    hyper::Request::builder()
        .method(method)
        .uri(&url[Position::BeforePath..Position::AfterQuery])
        .header(header::HOST, &url[Position::BeforeHost..Position::AfterPort])
        .header(header::USER_AGENT, USER_AGENT)
        .header(header::ACCEPT_ENCODING, "identity")
        .header(header::CONNECTION, "close")
}

/// A request to a stranger.
pub(super) fn message(asked: &Request, url: &Url) -> Result<hyper::Request<Full<Bytes>>, Failure> {
    let mut message = request(url, asked.method.as_str()).header(header::ACCEPT, "application/json");
    if asked.body.is_some() {
        message = message.header(header::CONTENT_TYPE, "application/json");
    }
    let body = asked.body.clone().unwrap_or_default();
    message.body(Full::new(body.into())).map_err(|error| Failure::new(RefusedCode::Url, error))
}

fn check_head(head: &hyper::http::response::Parts) -> Result<(), Failure> {
    if head.status == hyper::StatusCode::SWITCHING_PROTOCOLS {
        return Err(Failure::new(RefusedCode::SwitchingProtocols, "the server wants another protocol"));
    }
    Ok(())
}

/// Whether the body is in a coding that nobody asked for. It is then left alone, because a few packed bytes can hold
/// gigabytes; the head is no worse for it and is read.
fn packed(head: &hyper::http::response::Parts) -> bool {
    let mut codings = head.headers.get_all(header::CONTENT_ENCODING).iter();
    codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Reads the body until its end, the cap, a break, or `until`. What was read is kept in every case, because the head
/// of such an answer is evidence too.
pub(crate) async fn body(opened: &mut Opened, limits: &Limits, scan: &Scan, until: Instant) -> Body {
    let started = Instant::now();
    let mut bytes = Vec::new();
    if packed(&opened.head) {
        return Body { bytes, broken: Some(TransportFlag::ContentEncoding) };
    }
    loop {
        let quiet = until.min(Instant::now() + limits.read);
        let frame = match timeout_at(quiet, opened.body.frame()).await {
            Err(_) => return Body { bytes, broken: Some(TransportFlag::BodySlow) },
            Ok(None) => return Body { bytes, broken: padded(scan) },
            Ok(Some(Err(_))) => return Body { bytes, broken: padded(scan).or(Some(TransportFlag::BodyShort)) },
            Ok(Some(Ok(frame))) => frame,
        };
        // Trailers are no evidence of anything and are dropped.
        let data = frame.into_data().unwrap_or_default();
        let room = limits.body - bytes.len();
        bytes.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            return Body { bytes, broken: Some(TransportFlag::BodyCapped) };
        }
        if drips(started.elapsed(), bytes.len()) && !scan.ask(|scan| scan.ended()) {
            return Body { bytes, broken: Some(TransportFlag::BodySlow) };
        }
    }
}

fn drips(elapsed: Duration, bytes: usize) -> bool {
    elapsed >= DRIP_AFTER && (bytes as u64) < elapsed.as_secs() * MIN_BYTES_PER_SECOND
}

/// Hyper may have decoded a padded body to its end, when all of it came at once.
fn padded(scan: &Scan) -> Option<TransportFlag> {
    scan.ask(|scan| scan.padded()).then_some(TransportFlag::ChunkPadding)
}

/// The scan saw the bytes themselves, so its word comes before hyper's, whose own words then only say that the scan
/// stopped the connection.
fn explain(error: &hyper::Error, scan: &Scan) -> Failure {
    if let Some(code) = scan.ask(|scan| scan.trouble()) {
        return Failure::new(code, sentence(code));
    }
    let code = match error {
        error if error.is_parse_too_large() => RefusedCode::HeadTooLarge,
        error if error.is_parse() => RefusedCode::HeadMalformed,
        _ => RefusedCode::ClosedEarly,
    };
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    Failure::new(code, format!("{} ({error}{cause})", sentence(code)))
}

/// What the table of rules says of a code of ours.
fn sentence(code: RefusedCode) -> &'static str {
    rules::rule(&format!("transport.{code}")).map_or("no usable answer came", |rule| rule.reason)
}
