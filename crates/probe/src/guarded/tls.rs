//! Proving who answered. The chain that was offered is kept also when it is refused, and the instant of verification
//! is an argument, so that a replay reaches the same judgement.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_core::time::Timestamp;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::client::{Resumption, WebPkiServerVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::time_provider::TimeProvider;
use tokio_rustls::rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_rustls::{TlsConnector, rustls};

use super::{Failure, RefusedCode};

/// A file of certificate authorities cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RootsError {
    /// The text breaks the grammar of PEM (RFC 7468).
    #[error("this is no PEM: {0}")]
    NotPem(String),
    /// The text has no `CERTIFICATE` section.
    #[error("there is no certificate in it")]
    Empty,
    /// A certificate cannot serve as a root.
    #[error("a certificate in it cannot be used as a root: {0}")]
    Unusable(String),
}

/// Reads the certificate authorities of a PEM file, for `DoorConfig::extra_roots`. Sections of other kinds are skipped.
///
/// # Errors
/// [`RootsError`] when the text is no PEM, holds no certificate, or holds one that cannot be a root.
pub fn roots_from_pem(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, RootsError> {
    let roots: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|error| RootsError::NotPem(error.to_string()))?;
    if roots.is_empty() {
        return Err(RootsError::Empty);
    }
    store(&roots)?;
    Ok(roots)
}

fn store(extra: &[CertificateDer<'static>]) -> Result<RootCertStore, RootsError> {
    let mut roots = RootCertStore::empty();
    for root in extra {
        roots.add(root.clone()).map_err(|error| RootsError::Unusable(error.to_string()))?;
    }
    Ok(roots)
}

/// Roots and algorithms, built once a door.
#[derive(Debug)]
pub(crate) struct Trust {
    provider: Arc<CryptoProvider>,
    verifier: Arc<WebPkiServerVerifier>,
}

impl Trust {
    /// The Mozilla roots and the given ones.
    pub(crate) fn new(extra: &[CertificateDer<'static>]) -> Result<Self, RootsError> {
        let mut roots = store(extra)?;
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        let provider = Arc::new(ring::default_provider());
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
            .build()
            .map_err(|error| RootsError::Unusable(error.to_string()))?;
        Ok(Self { provider, verifier })
    }

    fn client(&self, seen: &Seen, now: Timestamp) -> Result<ClientConfig, Error> {
        let capture = Arc::new(Capture { inner: self.verifier.clone(), seen: seen.clone() });
        let mut config = ClientConfig::builder_with_details(self.provider.clone(), Arc::new(At(now)))
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(capture)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // A resumed session shows no chain.
        config.resumption = Resumption::disabled();
        Ok(config)
    }

    /// The handshake with `host` over `tcp`. What the server offered is in `seen` afterwards, whatever the outcome.
    pub(crate) async fn handshake(
        &self,
        host: &str,
        tcp: TcpStream,
        seen: &Seen,
        now: Timestamp,
        until: Instant,
    ) -> Result<TlsStream<TcpStream>, Failure> {
        let name = ServerName::try_from(host.to_owned()).map_err(|error| Failure::new(RefusedCode::Url, error))?;
        let config = self.client(seen, now).map_err(|error| Failure::new(RefusedCode::TlsFailed, error))?;
        timeout_at(until, TlsConnector::from(Arc::new(config)).connect(name, tcp))
            .await
            .map_err(|_| Failure::new(RefusedCode::TlsTimeout, "the TLS handshake did not finish in time"))?
            .map_err(|error| explain(host, &error))
    }
}

/// Where a handshake leaves the chain it was offered: leaf first, DER.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<Vec<u8>>>>);

impl Seen {
    /// The chain, leaf first, DER; empty when the server never sent one.
    pub(crate) fn chain(&self) -> Vec<Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, chain: Vec<Vec<u8>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = chain;
    }
}

#[derive(Debug)]
struct Capture {
    inner: Arc<WebPkiServerVerifier>,
    seen: Seen,
}

impl ServerCertVerifier for Capture {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        rest: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.seen.keep(std::iter::once(leaf).chain(rest).map(|cert| cert.to_vec()).collect());
        self.inner.verify_server_cert(leaf, rest, name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, cert, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, cert, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// A clock that stands at the instant of the check.
#[derive(Debug)]
struct At(Timestamp);

impl TimeProvider for At {
    fn current_time(&self) -> Option<UnixTime> {
        u64::try_from(self.0.seconds()).ok().map(|seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
    }
}

/// The library's own texts are for those who write TLS, so each case has a sentence of ours.
fn explain(host: &str, error: &std::io::Error) -> Failure {
    use RefusedCode::{ClosedEarly, NoHttp1, TlsFailed};
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let (code, said) = match inner {
        Some(Error::InvalidCertificate(reason)) => return certificate(host, reason),
        Some(Error::AlertReceived(AlertDescription::NoApplicationProtocol)) => {
            (NoHttp1, "the server refuses HTTP/1.1 (ALPN)".to_owned())
        }
        // The numbers are those of the IANA registry of TLS alerts.
        Some(Error::AlertReceived(alert)) => {
            (TlsFailed, format!("the server ended the TLS handshake with alert {}", u8::from(*alert)))
        }
        Some(Error::InvalidMessage(_)) => (TlsFailed, "what the server sent is not TLS".to_owned()),
        Some(Error::PeerIncompatible(_)) => {
            (TlsFailed, "the server and this door have no TLS version or cipher in common".to_owned())
        }
        Some(_) => (TlsFailed, "the server broke the rules of the TLS handshake".to_owned()),
        // No word of TLS about it: the other side, or the wire, went away, as it may at any other moment.
        None => (ClosedEarly, "the connection ended during the TLS handshake".to_owned()),
    };
    Failure::new(code, said)
}

fn certificate(host: &str, reason: &CertificateError) -> Failure {
    use CertificateError as E;
    use RefusedCode as C;
    let (code, said) = match reason {
        E::ExpiredContext { not_after, .. } => {
            (C::CertificateExpired, format!("the certificate expired at {}", instant(*not_after)))
        }
        E::Expired => (C::CertificateExpired, "the certificate has expired".to_owned()),
        E::NotValidYetContext { not_before, .. } => {
            (C::CertificateNotYetValid, format!("the certificate is not valid before {}", instant(*not_before)))
        }
        E::NotValidYet => (C::CertificateNotYetValid, "the certificate is not valid yet".to_owned()),
        E::NotValidForName | E::NotValidForNameContext { .. } => {
            (C::CertificateWrongHost, format!("the certificate is not for {host}"))
        }
        E::UnknownIssuer => {
            (C::CertificateUntrusted, "no authority that this door trusts issued the certificate".to_owned())
        }
        E::BadSignature => (C::CertificateInvalid, "a signature in the certificate's chain does not hold".to_owned()),
        E::Revoked => (C::CertificateInvalid, "the certificate is revoked".to_owned()),
        E::InvalidPurpose | E::InvalidPurposeContext { .. } => {
            (C::CertificateInvalid, "the certificate is not one for servers".to_owned())
        }
        E::BadEncoding => (C::CertificateInvalid, "the certificate is not well formed".to_owned()),
        _ => (C::CertificateInvalid, "the certificate cannot be used".to_owned()),
    };
    Failure::new(code, said)
}

fn instant(time: UnixTime) -> Timestamp {
    Timestamp::from_seconds(i64::try_from(time.as_secs()).unwrap_or(i64::MAX))
}
