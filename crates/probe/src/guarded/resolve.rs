//! A host name to its judged addresses. Every answer is judged, and one bad answer refuses them all: a mixed answer is
//! how a rebinding name looks.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::system_conf::read_system_conf;

use super::judge::{Judge, Judged};
use super::{Failure, RefusedCode};

/// More addresses than this for one name is an attack or an accident, and no seller.
const MAX_ANSWERS: usize = 16;
/// How long one question may take. Two are asked at once, one for each family.
const QUESTION: Duration = Duration::from_secs(2);

/// The name server at `server`, or the system's; without its hosts file, search domains or a cache. `None` where none
/// is configured.
pub(super) fn resolver(server: Option<SocketAddr>) -> Option<TokioResolver> {
    let mut builder = match server {
        None => TokioResolver::builder_tokio().ok()?,
        Some(server) => TokioResolver::builder_with_config(only(server), TokioRuntimeProvider::default()),
    };
    set(builder.options_mut());
    builder.build().ok()
}

/// Who would be asked about a name: `server`, or the system's. Nobody is asked.
pub(super) fn servers(server: Option<SocketAddr>) -> Vec<SocketAddr> {
    let config = server.map_or_else(|| read_system_conf().map(|(config, _)| config), |server| Ok(only(server)));
    let addresses = |one: &NameServerConfig| one.connections.first().map(|way| SocketAddr::new(one.ip, way.port));
    config.map_or_else(|_| Vec::new(), |config| config.name_servers().iter().filter_map(addresses).collect())
}

fn only(server: SocketAddr) -> ResolverConfig {
    let mut ways = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
    ways.iter_mut().for_each(|way| way.port = server.port());
    ResolverConfig::from_parts(None, Vec::new(), vec![NameServerConfig::new(server.ip(), true, ways)])
}

fn set(options: &mut ResolverOpts) {
    options.use_hosts_file = ResolveHosts::Never;
    options.cache_size = 0;
    options.attempts = 1;
    options.timeout = QUESTION;
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
}

/// Whether `host` is a name under `.localhost` (RFC 6761 6.3), which never goes to DNS.
pub(super) fn is_local(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

/// The addresses to dial for `host`, in the order in which to try them; at least one.
pub(super) async fn resolve(
    dns: Option<&TokioResolver>,
    host: &str,
    allow_loopback: bool,
    judge: &Judge,
) -> Result<Vec<Judged>, Failure> {
    if is_local(host) {
        return local(host, allow_loopback);
    }
    let dns =
        dns.ok_or_else(|| Failure::new(RefusedCode::NoNameServer, "no name server is configured on this machine"))?;
    // The trailing dot keeps the machine's search domains out of it.
    let found = dns.lookup_ip(format!("{host}.")).await.map_err(|error| explain(host, &error))?;
    let answers: Vec<IpAddr> = found.iter().take(MAX_ANSWERS + 1).collect();
    choose(&answers, judge)
}

fn local(host: &str, allow_loopback: bool) -> Result<Vec<Judged>, Failure> {
    if allow_loopback {
        return Ok(vec![Judged::LAB]);
    }
    Err(Failure::new(RefusedCode::AddressRefused, format!("{host} is this machine and loopback is not allowed")))
}

/// Judges every answer and orders them: IPv4 first, or IPv6 where the network translates.
fn choose(answers: &[IpAddr], judge: &Judge) -> Result<Vec<Judged>, Failure> {
    if answers.len() > MAX_ANSWERS {
        return Err(Failure::new(RefusedCode::TooManyAddresses, format!("more than {MAX_ANSWERS} addresses")));
    }
    let mut passed = Vec::new();
    let mut refused = Vec::new();
    for address in answers {
        match judge.pass(*address) {
            Ok(judged) => passed.push(judged),
            Err(block) => refused.push(format!("{address} is in {block}")),
        }
    }
    passed.sort_by_key(|judged| judged.ip().is_ipv4() == judge.translates());
    passed.dedup();
    match (passed.is_empty(), refused.first()) {
        (false, None) => Ok(passed),
        (false, Some(why)) => Err(Failure::new(RefusedCode::AddressMixed, format!("beside public addresses, {why}"))),
        (true, Some(why)) => Err(Failure::new(RefusedCode::AddressRefused, why)),
        (true, None) => Err(Failure::new(RefusedCode::NoAddress, "the name has no address")),
    }
}

/// The resolver's own texts are for those who write resolvers, so each case has a sentence of ours.
fn explain(host: &str, error: &NetError) -> Failure {
    let (code, said) = match error {
        NetError::Timeout => (RefusedCode::DnsTimeout, "the name server did not answer in time".to_owned()),
        NetError::Dns(DnsError::NoRecordsFound(none)) => answered(host, none.response_code),
        NetError::Dns(DnsError::ResponseCode(code)) => answered(host, *code),
        NetError::Io(error) => (RefusedCode::Dns, format!("the name server cannot be asked: {}", error.kind())),
        _ => (RefusedCode::Dns, format!("the name server gave no usable answer about {host}")),
    };
    Failure::new(code, said)
}

/// What a response code without an address means (RFC 1035 4.1.1).
fn answered(host: &str, code: ResponseCode) -> (RefusedCode, String) {
    match code {
        ResponseCode::NXDomain => (RefusedCode::NameNotFound, format!("there is no name {host}")),
        ResponseCode::NoError => (RefusedCode::NoAddress, format!("{host} has no address")),
        ResponseCode::ServFail => (RefusedCode::Dns, format!("the name server failed to look up {host}")),
        ResponseCode::Refused => (RefusedCode::Dns, format!("the name server refuses to look up {host}")),
        _ => (RefusedCode::Dns, format!("the name server answered with an error about {host}")),
    }
}

#[cfg(test)]
mod tests;
