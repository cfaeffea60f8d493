//! The guarded door: judge the URL, resolve, judge every address, dial one that accepts, prove who answered, read with caps.
//!
//! No redirects are followed, no proxies and no environment are honoured, no cookies are kept, no connection is used
//! twice.

mod chunks;
mod cidr;
pub(crate) mod connect;
pub mod judge;
mod nat64;
mod outcome;
pub(crate) mod read;
mod resolve;
pub(crate) mod tee;
pub(crate) mod tls;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use countersign_core::endpoint::ResourceUrl;
use countersign_core::time::Timestamp;
use hickory_resolver::TokioResolver;
use tokio::time::Instant;
use tokio_rustls::rustls::pki_types::CertificateDer;
use url::Url;

pub use cidr::{Cidr, CidrError};
use judge::{Judge, Judged};
pub use nat64::{Nat64, Nat64Error};
pub(crate) use outcome::Failure;
pub use outcome::{Answer, Refused, RefusedCode, TransportFlag, Wire};
use tee::Scan;
pub use tls::{RootsError, roots_from_pem};
use tls::{Seen, Trust};

/// How long and how much. Times count from the start of their own step, `total` from the start of the fetch.
#[derive(Clone, Debug)]
pub struct Limits {
    /// TCP connection, to each address that is dialled.
    pub connect: Duration,
    /// TLS handshake.
    pub tls: Duration,
    /// From the request to the end of the response head.
    pub first_byte: Duration,
    /// Between two pieces of the body.
    pub read: Duration,
    /// Everything, from the name look-up to the last byte.
    pub total: Duration,
    /// Bytes of response head, interim responses included.
    pub head: usize,
    /// Header lines.
    pub headers: usize,
    /// Bytes of body.
    pub body: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(2),
            tls: Duration::from_secs(3),
            first_byte: Duration::from_secs(3),
            read: Duration::from_secs(2),
            total: Duration::from_secs(5),
            head: 64 << 10,
            headers: 64,
            body: 1 << 20,
        }
    }
}

/// What the operator of the door decides. The default is the strict door: no loopback, public roots only.
#[derive(Clone, Debug, Default)]
pub struct DoorConfig {
    /// For labs: names under `.localhost` mean 127.0.0.1, without DNS. Named in every result it touched.
    pub allow_loopback: bool,
    /// For labs: certificate authorities beside the public ones, DER. Named in every result they may have touched.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// Blocks that are not dialled although they are public: this machine's own, its neighbours', its cloud's.
    pub deny: Vec<Cidr>,
    /// Prefixes behind which this machine's network translates to IPv4. Without one, 64:ff9b::/96 is not dialled.
    pub nat64: Vec<Nat64>,
    /// The name server to ask; the system's when `None`.
    pub name_server: Option<SocketAddr>,
    /// Times and sizes.
    pub limits: Limits,
}

/// The methods we use on strangers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET, without a body.
    Get,
    /// POST.
    Post,
}

impl Method {
    /// The method as it stands on the request line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// One request to a stranger.
#[derive(Clone, Debug)]
pub struct Request {
    /// Where to.
    pub url: ResourceUrl,
    /// How.
    pub method: Method,
    /// JSON bytes to send; `None` sends no body.
    pub body: Option<Vec<u8>>,
}

/// The only way to an address that somebody else controls.
#[derive(Debug)]
pub struct Door {
    config: DoorConfig,
    dns: Option<TokioResolver>,
    judge: Judge,
    trust: Result<Trust, RootsError>,
}

impl Door {
    /// A door. Where no name server is configured, it still reaches names under `.localhost`. With an extra root that
    /// cannot be used it refuses every fetch; [`roots_from_pem`] finds that out earlier.
    pub fn new(config: DoorConfig) -> Self {
        let trust = Trust::new(&config.extra_roots);
        let judge = Judge::new(config.deny.clone(), config.nat64.clone());
        Self { dns: resolve::resolver(config.name_server), judge, trust, config }
    }

    /// Sends one request and reads one answer. `now` is the instant at which the certificate is judged.
    ///
    /// # Errors
    /// [`Refused`] when no answer could be had, or when its head must not be used. A body that broke off is no
    /// refusal: see [`Answer::body_complete`].
    pub async fn fetch(&self, request: &Request, now: Timestamp) -> Result<Answer, Refused> {
        self.fetch_until(request, now, std::future::pending()).await
    }

    /// As [`Door::fetch`], for an answer that is not worth waiting for once `over` has come.
    ///
    /// # Errors
    /// As [`Door::fetch`]; [`RefusedCode::FirstByteTimeout`] when `over` came first, with what had been seen by then.
    pub async fn fetch_until(
        &self,
        request: &Request,
        now: Timestamp,
        over: impl Future<Output = ()>,
    ) -> Result<Answer, Refused> {
        let (seen, scan, started) = (Seen::default(), Scan::new(self.config.limits.head), Instant::now());
        let outcome = tokio::select! {
            biased;
            outcome = self.attempt(request, now, &seen, &scan, started) => outcome,
            () = over => Err(Failure::new(RefusedCode::FirstByteTimeout, "the answer was no longer waited for")),
        };
        outcome.map_err(|failure| failure.refused(seen.chain(), scan.wire(), millis(started)))
    }

    /// The addresses at which a fetch would try `host`, in that order and each judged; at least one. Sends a question to
    /// the name server and dials none of them.
    ///
    /// # Errors
    /// [`Refused`] as a fetch would be, with a code of the name look-up.
    pub async fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, Refused> {
        let started = Instant::now();
        let found = self.resolve(host, started + self.config.limits.total).await;
        let found = found.map(|judged| judged.into_iter().map(Judged::ip).collect());
        found.map_err(|failure| failure.refused(Vec::new(), Wire::default(), millis(started)))
    }

    /// The name servers that are asked about sellers; none where the system names none.
    pub fn name_servers(&self) -> Vec<SocketAddr> {
        resolve::servers(self.config.name_server)
    }

    async fn attempt(
        &self,
        request: &Request,
        now: Timestamp,
        seen: &Seen,
        scan: &Scan,
        started: Instant,
    ) -> Result<Answer, Failure> {
        let limits = &self.config.limits;
        let end = started + limits.total;
        let step = |time: Duration| end.min(Instant::now() + time);
        let (url, host, port) = target(request)?;
        let trust = self.trust.as_ref().map_err(|error| Failure::new(RefusedCode::RootsUnusable, error))?;
        let addresses = self.resolve(&host, end).await?;
        let (tcp, peer) = connect::dial(&host, &addresses, port, limits.connect, end).await?;
        let tls = trust.handshake(&host, tcp, seen, now, step(limits.tls)).await?;
        let message = read::message(request, &url)?;
        let mut opened = read::open(tls, message, limits, scan, step(limits.first_byte)).await?;
        let latency_ms = millis(started);
        let body = read::body(&mut opened, limits, scan, end).await;
        let flags = self.flags(&host, scan, &body);
        Ok(Answer { latency_ms, flags, ..answer(&opened, body, scan, peer, seen) })
    }

    async fn resolve(&self, host: &str, end: Instant) -> Result<Vec<Judged>, Failure> {
        let answer = resolve::resolve(self.dns.as_ref(), host, self.config.allow_loopback, &self.judge);
        tokio::time::timeout_at(end, answer)
            .await
            .unwrap_or_else(|_| Err(Failure::new(RefusedCode::DnsTimeout, "the name server did not answer in time")))
    }

    fn flags(&self, host: &str, scan: &Scan, body: &read::Body) -> Vec<TransportFlag> {
        use TransportFlag as Flag;
        let head = scan.ask(|scan| scan.head_bytes());
        let found = [
            (self.config.allow_loopback && resolve::is_local(host), Flag::LoopbackAllowed),
            (!self.config.extra_roots.is_empty(), Flag::ExtraRoots),
            (head > 8 << 10, Flag::HeadAbove8KiB),
            (head > 16 << 10, Flag::HeadAbove16KiB),
            (scan.ask(|scan| scan.bare_lf()), Flag::BareLf),
            (scan.ask(|scan| scan.interim()) > 0, Flag::Interim),
            (scan.ask(|scan| scan.overran()), Flag::BodyLong),
        ];
        let seen = found.into_iter().filter(|(holds, _)| *holds).map(|(_, flag)| flag);
        seen.chain(body.broken).collect()
    }
}

/// What was seen; the door itself knows the time and the remarks.
fn answer(opened: &read::Opened, body: read::Body, scan: &Scan, peer: SocketAddr, seen: &Seen) -> Answer {
    // What stands behind the heads is the body, which is kept as it was read.
    let mut wire = scan.wire();
    wire.received.truncate(scan.ask(|scan| scan.heads()));
    wire.received.shrink_to_fit();
    Answer {
        status: opened.head.status.as_u16(),
        headers: opened.headers(),
        body_complete: body.broken.is_none(),
        body: body.bytes,
        head_bytes: scan.ask(|scan| scan.head_bytes()),
        interim: scan.ask(|scan| scan.interim()),
        peer,
        chain: seen.chain(),
        wire,
        latency_ms: 0,
        flags: Vec::new(),
    }
}

/// The parts of the URL that the door acts on. The port is judged here, the host when it is resolved.
fn target(request: &Request) -> Result<(Url, String, u16), Failure> {
    let url = Url::parse(request.url.as_str()).map_err(|error| Failure::new(RefusedCode::Url, error))?;
    let host = match url.host() {
        Some(url::Host::Domain(name)) if url.scheme() == "https" && !name.ends_with('.') => name.to_owned(),
        _ => {
            return Err(Failure::new(
                RefusedCode::Url,
                "the door opens to https and a host name without a trailing dot",
            ));
        }
    };
    let port = url.port_or_known_default().unwrap_or(443);
    if !judge::port_allowed(port) {
        return Err(Failure::new(RefusedCode::PortRefused, format!("port {port} is not for sellers")));
    }
    Ok((url, host, port))
}

fn millis(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
