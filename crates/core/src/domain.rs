//! The registrable domain of a host: the part somebody registered, by the Public Suffix List with
//! its ICANN **and** private sections. With ICANN rules alone `foo.github.io` would answer for
//! `github.io`, and a tenant would wear the platform's name.

use std::fmt;

/// Names that no registrar sells, or that never leave the machine (RFC 6761, 6762, 7686, 8375, 9476).
const SPECIAL_USE: [&str; 10] =
    ["localhost", "local", "internal", "test", "example", "invalid", "onion", "arpa", "home.arpa", "alt"];
/// Hosts that many parties share though the Public Suffix List does not say so.
const SHARED_MISSING_FROM_LIST: [&str; 1] = ["glitch.me"];

/// A registrable domain in lower-case A-label form, such as `linear.app` or `b.github.io`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Domain {
    name: String,
    platform: Platform,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Platform {
    Own,
    Shared,
}

/// Why a host has no registrable domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DomainError {
    /// An IPv4 or IPv6 address, or a name that ends in a number (which browsers read as IPv4).
    #[error("an IP address has no domain")]
    IpAddress,
    /// A label is empty: two dots in a row, a leading dot, or nothing at all.
    #[error("the host has an empty label")]
    EmptyLabel,
    /// A label above 63 characters, or a host above 253.
    #[error("the host is longer than DNS allows")]
    TooLong,
    /// A label with other characters than letters, digits and inner hyphens, or bad Punycode.
    #[error("the host has a label that is not letters, digits and inner hyphens")]
    BadLabel,
    /// One label only.
    #[error("the host has a single label")]
    SingleLabel,
    /// A name reserved for special use.
    #[error("the host is reserved for special use")]
    SpecialUse,
    /// The last label is on no list.
    #[error("the host ends in no known public suffix")]
    UnknownSuffix,
    /// The host is a public suffix itself, so everybody under it is somebody else.
    #[error("the host is a public suffix itself")]
    IsSuffix,
}

impl DomainError {
    /// Stable code for callers.
    pub const fn code(self) -> &'static str {
        match self {
            Self::IpAddress => "domain_ip_address",
            Self::EmptyLabel => "domain_empty_label",
            Self::TooLong => "domain_too_long",
            Self::BadLabel => "domain_bad_label",
            Self::SingleLabel => "domain_single_label",
            Self::SpecialUse => "domain_special_use",
            Self::UnknownSuffix => "domain_unknown_suffix",
            Self::IsSuffix => "domain_is_suffix",
        }
    }
}

/// The registrable domain of a host. Letter case, Unicode form and one trailing dot do not matter.
///
/// # Errors
/// [`DomainError`] names the gate that stopped the host.
pub fn registrable(host: &str) -> Result<Domain, DomainError> {
    let host = normal(host)?;
    if SPECIAL_USE.iter().any(|name| is_under(&host, name)) {
        return Err(DomainError::SpecialUse);
    }
    by_list(&host)
}

/// As [`registrable`], and `NAME.localhost` is a domain of its own. For the laboratory only, where
/// every party lives under `.localhost`.
///
/// # Errors
/// As [`registrable`].
pub fn registrable_lab(host: &str) -> Result<Domain, DomainError> {
    let lower = normal(host)?;
    match lower.strip_suffix(".localhost").map(|names| names.rsplit('.').next().unwrap_or(names)) {
        Some(name) => Ok(Domain { name: format!("{name}.localhost"), platform: Platform::Own }),
        None => registrable(host),
    }
}

impl Domain {
    /// The domain in lower-case A-label form, without a trailing dot.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// Whether unrelated parties publish under the parent of this domain (or under the domain
    /// itself), so that its owner is a tenant of a platform.
    pub fn shared_platform(&self) -> bool {
        self.platform == Platform::Shared
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)
    }
}

/// Lower-case A-labels without a trailing dot, or the reason why the text is no domain name.
fn normal(host: &str) -> Result<String, DomainError> {
    if host.starts_with('[') || host.parse::<std::net::IpAddr>().is_ok() {
        return Err(DomainError::IpAddress);
    }
    if host.len() > 1024 {
        return Err(DomainError::TooLong);
    }
    let ascii = to_ascii(host)?;
    let name = ascii.strip_suffix('.').unwrap_or(&ascii);
    name.split('.').try_for_each(check_label)?;
    match name.rsplit('.').next() {
        _ if name.len() > 253 => Err(DomainError::TooLong),
        Some(last) if last.bytes().all(|byte| byte.is_ascii_digit()) => Err(DomainError::IpAddress),
        Some(last) if last == name => Err(single(name)),
        _ => Ok(name.to_owned()),
    }
}

fn single(name: &str) -> DomainError {
    if SPECIAL_USE.contains(&name) { DomainError::SpecialUse } else { DomainError::SingleLabel }
}

fn to_ascii(host: &str) -> Result<String, DomainError> {
    let plain = host.is_ascii() && !host.to_ascii_lowercase().contains("xn--");
    if plain { Ok(host.to_ascii_lowercase()) } else { idna::domain_to_ascii(host).map_err(|_| DomainError::BadLabel) }
}

fn check_label(label: &str) -> Result<(), DomainError> {
    let bytes = label.as_bytes();
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    match bytes {
        [] => Err(DomainError::EmptyLabel),
        _ if bytes.len() > 63 => Err(DomainError::TooLong),
        [b'-', ..] | [.., b'-'] => Err(DomainError::BadLabel),
        _ if !bytes.iter().all(inner) => Err(DomainError::BadLabel),
        _ => Ok(()),
    }
}

fn is_under(host: &str, name: &str) -> bool {
    host.strip_suffix(name).is_some_and(|front| front.is_empty() || front.ends_with('.'))
}

fn by_list(host: &str) -> Result<Domain, DomainError> {
    let suffix = psl::suffix(host.as_bytes()).ok_or(DomainError::UnknownSuffix)?;
    if !suffix.is_known() {
        return Err(DomainError::UnknownSuffix);
    }
    let name = psl::domain_str(host).ok_or(DomainError::IsSuffix)?;
    let shared = suffix.typ() == Some(psl::Type::Private) || SHARED_MISSING_FROM_LIST.contains(&name);
    let platform = if shared { Platform::Shared } else { Platform::Own };
    Ok(Domain { name: name.to_owned(), platform })
}

#[cfg(test)]
mod tests;
