//! What makes two endpoints the same: the network, who is paid, and the exact resource.
//!
//! A [`ResourceUrl`] is read by one parser everywhere, after a filter that refuses every text two
//! parsers could read differently. Accepting less is the point: a host that one program shows and
//! another connects to is the classic way past a check.

use crate::network::{Family, Network};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::fmt;
use url::{Host, Url};

/// Longest URL accepted, in bytes.
const MAX_LENGTH: usize = 2048;

/// An `https` URL in normal form: lower-case A-label host, no default port, no userinfo, no
/// fragment; path and query byte for byte as given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceUrl {
    text: String,
    host: String,
    port: u16,
}

/// Why a text is not a resource URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Longer than 2048 bytes.
    #[error("the URL is longer than 2048 bytes")]
    TooLong,
    /// Does not start with `https://`.
    #[error("the URL must start with https://")]
    NotHttps,
    /// A space, control or other character outside 0x21 to 0x7E (letters of other scripts are
    /// allowed in the host only).
    #[error("the URL has a space, a control character or a letter that must be percent-encoded")]
    BadCharacter,
    /// A `\`, which some parsers read as `/`.
    #[error("the URL has a backslash")]
    Backslash,
    /// An `@` before the path.
    #[error("the URL carries a user name or password")]
    Userinfo,
    /// Nothing between `https://` and the path.
    #[error("the URL has no host")]
    NoHost,
    /// An IP address in any spelling, including `127.1` and `0x7f000001`.
    #[error("the host is an IP address")]
    IpLiteral,
    /// A host that is not a plain DNS name: empty labels, trailing dot, underscore, outer hyphens,
    /// escapes, bad Punycode, or letters that the URL standard would silently replace.
    #[error("the host is not a plain DNS name")]
    BadHost,
    /// Port 0, or not a port number.
    #[error("the port is not 1 to 65535")]
    BadPort,
    /// The URL standard would rewrite the path or query (`..` segments, unescaped `"<>{}`).
    #[error("the path or query is not in normal form")]
    NotNormal,
    /// The URL standard refuses it for another reason.
    #[error("not a URL")]
    Malformed,
}

impl UrlError {
    /// What to do about it.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::TooLong => "shorten the query",
            Self::NotHttps => "payments are asked for over https only",
            Self::BadCharacter => "percent-encode it, as in %20 for a space",
            Self::Backslash => "write / where a path is meant, %5C where the sign itself is",
            Self::Userinfo => "leave out everything before the @",
            Self::NoHost => "write https://, the host, and the path",
            Self::IpLiteral => "name the host: a certificate and a history belong to a name",
            Self::BadHost => "write the name with letters, digits and inner hyphens, without a dot at the end",
            Self::BadPort => "leave the port out for 443",
            Self::NotNormal => {
                "write the path as a browser would send it: without . and .. segments, and with \"<>{} percent-encoded"
            }
            Self::Malformed => "write https://, the host, and the path",
        }
    }

    /// Stable code for callers.
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooLong => "url_too_long",
            Self::NotHttps => "url_not_https",
            Self::BadCharacter => "url_bad_character",
            Self::Backslash => "url_backslash",
            Self::Userinfo => "url_userinfo",
            Self::NoHost => "url_no_host",
            Self::IpLiteral => "url_ip_literal",
            Self::BadHost => "url_bad_host",
            Self::BadPort => "url_bad_port",
            Self::NotNormal => "url_not_normal",
            Self::Malformed => "url_malformed",
        }
    }

    /// Every value, in the order in which [`ResourceUrl::parse`] can meet it.
    pub const ALL: [Self; 11] = [
        Self::TooLong,
        Self::NotHttps,
        Self::Backslash,
        Self::BadCharacter,
        Self::Userinfo,
        Self::IpLiteral,
        Self::NoHost,
        Self::BadPort,
        Self::BadHost,
        Self::NotNormal,
        Self::Malformed,
    ];
}

impl ResourceUrl {
    /// Reads a URL and brings it into normal form.
    ///
    /// # Errors
    /// [`UrlError`] names the first rule that the text breaks.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let (authority, tail) = split(text)?;
        let (raw_host, raw_port) = check_authority(authority)?;
        let url = Url::parse(text).map_err(|error| malformed(error, raw_port))?;
        let host = check_host(&url, raw_host)?;
        let port = url.port().unwrap_or(443);
        if port == 0 {
            return Err(UrlError::BadPort);
        }
        Ok(Self { text: normal_text(&url, &host, port, tail)?, host, port })
    }

    /// The normal form.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The host: lower-case A-labels.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, 443 when the URL names none.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Scheme, host and port: `https://api.example.com` or `https://api.example.com:8443`.
    pub fn origin(&self) -> String {
        origin(&self.host, self.port)
    }

    /// The URL up to the last `/` of its path: `https://api.example.com/v1/`.
    pub fn folder(&self) -> &str {
        let path = self.text.split_once('?').map_or(self.text.as_str(), |(path, _)| path);
        path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or(path)
    }
}

impl fmt::Display for ResourceUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl Serialize for ResourceUrl {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.text)
    }
}

/// The name of an endpoint: SHA-256 over network, payee and resource. Prints as 64 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId([u8; 32]);

/// What an endpoint id hashes. Declared in the order RFC 8785 sorts the members in.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Preimage<'a> {
    chain: &'a str,
    pay_to: &'a str,
    resource_url: &'a str,
}

impl EndpointId {
    /// SHA-256 of the RFC 8785 form of `{"chain","payTo","resourceUrl"}`. An EVM `pay_to` is put
    /// into lower case first; others count byte for byte.
    pub fn of(chain: &Network, pay_to: &str, resource_url: &ResourceUrl) -> Self {
        Self(Sha256::digest(canonical(chain, pay_to, resource_url)).into())
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for EndpointId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&hex::encode(self.0))
    }
}

impl Serialize for EndpointId {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

/// Three string members in sorted order: here plain JSON text is already the RFC 8785 form.
fn canonical(chain: &Network, pay_to: &str, resource_url: &ResourceUrl) -> Vec<u8> {
    let lower = match chain.family() {
        Family::Evm => pay_to.to_ascii_lowercase(),
        Family::Svm | Family::Avm | Family::Other => pay_to.to_owned(),
    };
    let preimage = Preimage { chain: chain.as_str(), pay_to: &lower, resource_url: resource_url.as_str() };
    serde_json::to_vec(&preimage).expect("three strings under string keys always serialise")
}

/// Authority, and everything after it without the fragment.
fn split(text: &str) -> Result<(&str, &str), UrlError> {
    if text.len() > MAX_LENGTH {
        return Err(UrlError::TooLong);
    }
    let scheme = text.get(..8).ok_or(UrlError::NotHttps)?;
    if !scheme.eq_ignore_ascii_case("https://") {
        return Err(UrlError::NotHttps);
    }
    let rest = text.get(8..).unwrap_or_default();
    if rest.contains('\\') {
        return Err(UrlError::Backslash);
    }
    let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if !tail.bytes().all(|byte| byte.is_ascii_graphic()) || authority.chars().any(is_unsafe) {
        return Err(UrlError::BadCharacter);
    }
    Ok((authority, tail.split_once('#').map_or(tail, |(before, _)| before)))
}

/// Spaces and controls; letters of other scripts may stand in a host and are judged there.
fn is_unsafe(letter: char) -> bool {
    if letter.is_ascii() { !letter.is_ascii_graphic() } else { letter.is_control() || letter.is_whitespace() }
}

/// Host and port as written.
fn check_authority(authority: &str) -> Result<(&str, Option<&str>), UrlError> {
    if authority.contains('@') {
        return Err(UrlError::Userinfo);
    }
    if authority.starts_with('[') {
        return Err(UrlError::IpLiteral);
    }
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    if host.is_empty() {
        return Err(UrlError::NoHost);
    }
    match port {
        Some(digits) if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Err(UrlError::BadPort)
        }
        _ => Ok((host, port)),
    }
}

fn malformed(error: url::ParseError, port: Option<&str>) -> UrlError {
    use url::ParseError as E;
    match error {
        E::InvalidPort if port.is_some() => UrlError::BadPort,
        E::EmptyHost => UrlError::NoHost,
        E::InvalidIpv4Address | E::InvalidIpv6Address => UrlError::IpLiteral,
        E::IdnaError | E::InvalidDomainCharacter => UrlError::BadHost,
        _ => UrlError::Malformed,
    }
}

/// The host as an A-label name, provided that it is the host which was written.
fn check_host(url: &Url, raw: &str) -> Result<String, UrlError> {
    let host = match url.host() {
        Some(Host::Domain(name)) => name,
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => return Err(UrlError::IpLiteral),
        None => return Err(UrlError::NoHost),
    };
    let plain = host.len() <= 253 && host.split('.').all(is_plain_label);
    if plain && is_same_name(host, raw) { Ok(host.to_owned()) } else { Err(UrlError::BadHost) }
}

fn is_plain_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// The URL standard maps full-width letters, drops soft hyphens and decodes escapes. A name that it
/// would change in any way but letter case and Punycode is not the name a person read.
fn is_same_name(ascii: &str, raw: &str) -> bool {
    if raw.is_ascii() {
        return ascii.eq_ignore_ascii_case(raw);
    }
    let (unicode, result) = idna::domain_to_unicode(ascii);
    result.is_ok() && unicode == raw.to_lowercase()
}

/// Puts the parts together again and proves that the parser reads them back unchanged.
fn normal_text(url: &Url, host: &str, port: u16, tail: &str) -> Result<String, UrlError> {
    let slash = if tail.starts_with('/') { "" } else { "/" };
    let text = format!("{}{slash}{tail}", origin(host, port));
    let mut parsed = url.clone();
    parsed.set_fragment(None);
    if parsed.as_str() == text { Ok(text) } else { Err(UrlError::NotNormal) }
}

fn origin(host: &str, port: u16) -> String {
    if port == 443 { format!("https://{host}") } else { format!("https://{host}:{port}") }
}

#[cfg(test)]
mod tests;
