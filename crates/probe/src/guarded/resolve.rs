//! A host name to one judged address. Every answer is judged, and one bad answer refuses them all: a mixed answer is
//! how a rebinding name looks.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{LookupIpStrategy, ResolveHosts};

use super::{Failure, RefusedCode, judge};

/// More addresses than this for one name is an attack or an accident, and no seller.
const MAX_ANSWERS: usize = 16;

/// The system's name servers without its hosts file, search domains or a cache; `None` where none are configured.
pub(super) fn system() -> Option<TokioResolver> {
    let mut builder = TokioResolver::builder_tokio().ok()?;
    let options = builder.options_mut();
    options.use_hosts_file = ResolveHosts::Never;
    options.cache_size = 0;
    options.attempts = 1;
    options.timeout = Duration::from_secs(2);
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    builder.build().ok()
}

/// Whether `host` is a name under `.localhost` (RFC 6761 6.3), which never goes to DNS.
pub(super) fn is_local(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

/// The one address to dial for `host`.
pub(super) async fn resolve(dns: Option<&TokioResolver>, host: &str, allow_loopback: bool) -> Result<IpAddr, Failure> {
    if is_local(host) {
        return local(host, allow_loopback);
    }
    let dns = dns.ok_or_else(|| Failure::new(RefusedCode::Dns, "no name server is configured on this machine"))?;
    // The trailing dot keeps the machine's search domains out of it.
    let found = dns.lookup_ip(format!("{host}.")).await.map_err(|error| Failure::new(RefusedCode::Dns, error))?;
    let answers: Vec<IpAddr> = found.iter().take(MAX_ANSWERS + 1).collect();
    choose(&answers)
}

fn local(host: &str, allow_loopback: bool) -> Result<IpAddr, Failure> {
    if allow_loopback {
        return Ok(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    Err(Failure::new(RefusedCode::AddressRefused, format!("{host} is this machine and loopback is not allowed")))
}

/// Judges every answer and picks one, IPv4 first.
fn choose(answers: &[IpAddr]) -> Result<IpAddr, Failure> {
    if answers.len() > MAX_ANSWERS {
        return Err(Failure::new(RefusedCode::TooManyAddresses, format!("more than {MAX_ANSWERS} addresses")));
    }
    for address in answers {
        judge::judge(*address).map_err(|block| {
            Failure::new(RefusedCode::AddressRefused, format!("{address} is in {} ({})", block.cidr, block.why))
        })?;
    }
    let first = answers.iter().find(|address| address.is_ipv4()).or(answers.first());
    first.copied().ok_or_else(|| Failure::new(RefusedCode::NoAddress, "the name has no address"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(texts: &[&str]) -> Result<String, RefusedCode> {
        let answers: Vec<IpAddr> = texts.iter().map(|text| text.parse().unwrap()).collect();
        choose(&answers).map(|address| address.to_string()).map_err(|failure| failure.code)
    }

    #[test]
    fn one_bad_answer_refuses_them_all() {
        assert_eq!(chosen(&["2606:4700::1111", "8.8.8.8"]), Ok("8.8.8.8".into()), "positive control");
        assert_eq!(chosen(&["2606:4700::1111"]), Ok("2606:4700::1111".into()));
        assert_eq!(chosen(&["8.8.8.8", "10.0.0.1"]), Err(RefusedCode::AddressRefused));
        assert_eq!(chosen(&["8.8.8.8", "fd00:ec2::254"]), Err(RefusedCode::AddressRefused));
        assert_eq!(chosen(&["127.0.0.1"]), Err(RefusedCode::AddressRefused), "a public name may not mean loopback");
        assert_eq!(chosen(&[]), Err(RefusedCode::NoAddress));
        assert_eq!(chosen(&["8.8.8.8"; 16]), Ok("8.8.8.8".into()));
        assert_eq!(chosen(&["8.8.8.8"; 17]), Err(RefusedCode::TooManyAddresses));
    }

    #[test]
    fn localhost_needs_the_flag_and_only_the_real_suffix_counts() {
        assert_eq!(local("a.localhost", true).ok(), Some(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        assert_eq!(local("a.localhost", false).map_err(|f| f.code), Err(RefusedCode::AddressRefused));
        assert!(is_local("localhost") && is_local("seller.localhost"));
        assert!(!is_local("notlocalhost") && !is_local("localhost.example.com"));
    }
}
