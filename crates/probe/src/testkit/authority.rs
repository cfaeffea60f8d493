//! A certificate authority that lives as long as the process, and the leaves it issues.

use std::io;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// What is wrong with a leaf, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// Issued by the authority, valid now.
    Honest,
    /// Issued by the authority, valid through the year 2020 only.
    Expired,
    /// Signed by its own key.
    SelfSigned,
}

/// A certificate authority with a fresh key.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    root: CertificateDer<'static>,
    pem: String,
}

impl Authority {
    /// Makes one.
    ///
    /// # Errors
    /// When the system gives no randomness.
    pub fn new() -> io::Result<Self> {
        let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
        params.distinguished_name.push(DnType::CommonName, "countersign lab authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let cert = params.self_signed(&key).map_err(io::Error::other)?;
        Ok(Self { root: cert.der().clone(), pem: cert.pem(), issuer: Issuer::new(params, key) })
    }

    /// The root certificate, DER: what goes into `DoorConfig::extra_roots`.
    pub fn root(&self) -> CertificateDer<'static> {
        self.root.clone()
    }

    /// The root certificate, PEM: what other programs are given.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// A TLS acceptor for HTTP/1.1 with a leaf for `names`.
    ///
    /// # Errors
    /// When a name is no DNS name.
    pub fn acceptor(&self, names: &[&str], leaf: Leaf) -> io::Result<TlsAcceptor> {
        self.acceptor_for(names, leaf, &[b"http/1.1"])
    }

    /// As [`Authority::acceptor`], for other protocols (ALPN, RFC 7301); none means that the server knows no ALPN.
    ///
    /// # Errors
    /// When a name is no DNS name.
    pub fn acceptor_for(&self, names: &[&str], leaf: Leaf, protocols: &[&[u8]]) -> io::Result<TlsAcceptor> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).map_err(io::Error::other)?;
        if leaf == Leaf::Expired {
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(2021, 1, 1);
        }
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let cert = match leaf {
            Leaf::SelfSigned => params.self_signed(&key),
            Leaf::Honest | Leaf::Expired => params.signed_by(&key, &self.issuer),
        };
        acceptor(cert.map_err(io::Error::other)?.der().clone(), &key, protocols)
    }
}

fn acceptor(leaf: CertificateDer<'static>, key: &KeyPair, protocols: &[&[u8]]) -> io::Result<TlsAcceptor> {
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(vec![leaf], key)
        .map_err(io::Error::other)?;
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Ok(TlsAcceptor::from(Arc::new(config)))
}
