//! Where a redirect would have led. It is never followed, so this is all that is known of the place it names: what the
//! header says, and whether that is still the site that was asked.

use serde::Serialize;
use url::Url;

use super::rules::finding;
use super::{Exchange, NotEvaluated, Reading, ReadingKind, clean, resource};
use crate::finding::Finding;

/// A redirect that was not followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Redirect {
    /// The address it names, against the one that was asked (RFC 9110 section 10.2.2) and without a fragment; where it
    /// names none that can be read, what stands there. Cleaned and capped at 200 characters: untrusted text.
    pub location: String,
    /// Registrable domain of that address, or its whole host where there is none; cleaned. None where it has no host.
    pub site: Option<String>,
    /// Whose that is.
    pub leads: Leads,
}

/// Whether a redirect stays where the buyer asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Leads {
    /// To the same registrable domain, over TLS.
    SameSite,
    /// To the same registrable domain, without TLS.
    WithoutTls,
    /// To another registrable domain, or a host that has none.
    Elsewhere,
    /// Nowhere: no `Location`, several, or none that is an address.
    Nowhere,
}

impl Leads {
    const fn rule(self) -> Option<&'static str> {
        match self {
            Self::SameSite => None,
            Self::WithoutTls => Some("http.redirect_without_tls"),
            Self::Elsewhere => Some("http.redirect_elsewhere"),
            Self::Nowhere => Some("http.redirect_nowhere"),
        }
    }
}

/// What an answer that redirects says of where.
pub(super) fn examine(exchange: &Exchange<'_>, reading: &mut Reading) {
    if reading.kind == ReadingKind::NotEvaluated(NotEvaluated::Redirect) {
        let (redirect, found) = read(exchange);
        reading.findings.extend(found);
        reading.redirect = Some(redirect);
    }
}

/// Reads `Location`, and says what it means when it leads away.
fn read(exchange: &Exchange<'_>) -> (Redirect, Option<Finding>) {
    let (redirect, asked) = (target(exchange), site_of(exchange.url));
    let told = |rule| finding(rule, "header:Location", &redirect.location, asked.as_deref());
    let found = redirect.leads.rule().map(told);
    (redirect, found)
}

fn target(exchange: &Exchange<'_>) -> Redirect {
    let lines: Vec<_> = exchange.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("location")).collect();
    let texts: Vec<_> = lines.iter().map(|(_, value)| String::from_utf8_lossy(value)).collect();
    let resolved = match &texts[..] {
        [one] => Url::parse(exchange.url).and_then(|asked| asked.join(one.trim())).ok(),
        _ => None,
    };
    let Some(mut url) = resolved else { return nowhere(&texts.join(", ")) };
    url.set_fragment(None);
    let Some(host) = url.host_str() else { return nowhere(url.as_str()) };
    let site = resource::site(host);
    let leads = match url.scheme() {
        _ if Some(&site) != site_of(exchange.url).as_ref() => Leads::Elsewhere,
        "https" => Leads::SameSite,
        _ => Leads::WithoutTls,
    };
    Redirect { location: clean::place(url.as_str()), site: Some(clean::shown(&site)), leads }
}

fn nowhere(seen: &str) -> Redirect {
    let seen = if seen.is_empty() { "absent" } else { seen };
    Redirect { location: clean::place(seen), site: None, leads: Leads::Nowhere }
}

fn site_of(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().map(resource::site)
}

#[cfg(test)]
mod tests;
