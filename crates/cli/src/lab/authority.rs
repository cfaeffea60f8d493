//! The lab's certificate authority and the leaf certificates its sellers show, good and bad.

use anyhow::Context as _;
use countersign_core::time::Timestamp;
use rcgen::{BasicConstraints, CertificateParams, DnType, GeneralSubtree, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use std::sync::Arc;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

const DAY_MS: i64 = 86_400_000;

/// Which certificate a seller shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// For its own name, in date, from the lab's authority.
    Good,
    /// For its own name, but out of date since yesterday.
    Expired,
    /// In date and from the authority, but for another seller's name.
    OtherName,
    /// For its own name, but signed by itself.
    SelfSigned,
}

/// Signs leaf certificates under `localhost`; its key never leaves memory.
pub(super) struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
    leaf_key: KeyPair,
    started: Timestamp,
}

impl Authority {
    /// A fresh authority, valid from the day before `started` for a year, for names under `localhost` only.
    pub(super) fn new(started: Timestamp) -> anyhow::Result<Self> {
        let key = KeyPair::generate().context("cannot make the lab authority's key")?;
        let mut params = dated(Vec::new(), started, -1, 365)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        params.distinguished_name.push(DnType::CommonName, "Countersign lab authority");
        // Trusting this file by accident must not let anyone pose as a real site.
        params.name_constraints = Some(rcgen::NameConstraints {
            permitted_subtrees: vec![GeneralSubtree::DnsName("localhost".to_owned())],
            excluded_subtrees: Vec::new(),
        });
        let pem = params.self_signed(&key).context("cannot make the lab authority")?.pem();
        let issuer = Issuer::new(params, key);
        Ok(Self { pem, issuer, leaf_key: KeyPair::generate()?, started })
    }

    /// The authority's certificate, PEM.
    pub(super) fn pem(&self) -> String {
        self.pem.clone()
    }

    /// The TLS settings under which the seller `host` answers.
    pub(super) fn config(&self, host: &str, shown: Shown) -> anyhow::Result<Arc<ServerConfig>> {
        let chain = vec![self.leaf(host, shown)?];
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(self.leaf_key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        Ok(Arc::new(config))
    }

    fn leaf(&self, host: &str, shown: Shown) -> anyhow::Result<CertificateDer<'static>> {
        let (from, to) = if shown == Shown::Expired { (-30, -1) } else { (-1, 30) };
        let name = if shown == Shown::OtherName { "somebody-else.localhost" } else { host };
        let mut params = dated(vec![name.to_owned()], self.started, from, to)?;
        params.distinguished_name.push(DnType::CommonName, name);
        let made = match shown {
            Shown::SelfSigned => params.self_signed(&self.leaf_key)?,
            Shown::Good | Shown::Expired | Shown::OtherName => params.signed_by(&self.leaf_key, &self.issuer)?,
        };
        Ok(made.der().clone())
    }
}

/// Parameters valid from `from` to `to` days around `started`, on whole days.
fn dated(names: Vec<String>, started: Timestamp, from: i64, to: i64) -> anyhow::Result<CertificateParams> {
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    let (year, month, day) = date(started.plus_millis(from * DAY_MS))?;
    params.not_before = rcgen::date_time_ymd(year, month, day);
    let (year, month, day) = date(started.plus_millis(to * DAY_MS))?;
    params.not_after = rcgen::date_time_ymd(year, month, day);
    Ok(params)
}

/// Year, month and day of an instant, read from its RFC 3339 text.
fn date(at: Timestamp) -> anyhow::Result<(i32, u8, u8)> {
    let text = at.to_string();
    let mut parts = text.splitn(3, '-');
    let mut next = || parts.next().context("the lab's start time is out of range");
    let (year, month, day) = (next()?.parse()?, next()?.parse()?, next()?);
    Ok((year, month, day.get(..2).context("the lab's start time has no day")?.parse()?))
}
