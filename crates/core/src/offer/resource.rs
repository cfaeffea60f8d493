//! What a challenge says it sells, against what was asked: `resource.url` in version 2, each offer's own
//! `resource` in version 1, and the flat string that field sellers write instead of either.

use url::Url;

use super::names;
use super::rules::finding;
use crate::domain;
use crate::finding::Finding;
use crate::json::{Node, NodeKind};

/// The envelope's `resource`, version 2.
pub(super) fn examine(asked: &str, resource: Option<Node<'_>>, findings: &mut Vec<Finding>) {
    let Some(resource) = resource.filter(|node| node.kind() != NodeKind::Null) else {
        return findings.push(finding("resource.missing", "resource", "absent", None));
    };
    names::examine(resource, &names::RESOURCE, "resource.", findings);
    let url = resource.get("url").and_then(Node::as_str).filter(|url| !url.is_empty());
    if let Some(flat) = resource.as_str() {
        findings.push(finding("resource.form", "resource", &flat, Some("an object with a url")));
        return compare(asked, &flat, "resource", findings);
    }
    let Some(url) = url else {
        return findings.push(finding("resource.form", "resource", resource.raw(), Some("an object with a url")));
    };
    compare(asked, &url, "resource.url", findings);
    metadata(resource, findings);
}

/// The URL `named` at `subject`, against the one that was asked: scheme, registrable domain, then the rest.
pub(super) fn compare(asked: &str, named: &str, subject: &str, findings: &mut Vec<Finding>) {
    if named == asked && named.starts_with("https://") {
        return;
    }
    let mut note = |rule| findings.push(finding(rule, subject, named, Some(asked)));
    let (Ok(here), Ok(there)) = (Url::parse(asked), Url::parse(named)) else { return note("resource.unreadable") };
    let (Some(ours), Some(theirs)) = (here.host_str(), there.host_str()) else { return note("resource.unreadable") };
    match there.scheme() {
        _ if ours != theirs && site(ours) != site(theirs) => note("resource.other_domain"),
        "http" => note("resource.scheme"),
        "https" if (ours, here.port(), here.path()) != (theirs, there.port(), there.path()) => {
            note("resource.other_url")
        }
        "https" => {}
        _ => note("resource.unreadable"),
    }
}

/// The registrable domain, or the whole host where there is none.
pub(super) fn site(host: &str) -> String {
    let found = domain::registrable(host).or_else(|_| domain::registrable_lab(host));
    found.map_or_else(|_| host.to_owned(), |domain| domain.as_str().to_owned())
}

/// `serviceName`, `tags` and `iconUrl` within their limits; null counts as absent.
fn metadata(resource: Node<'_>, findings: &mut Vec<Finding>) {
    for member in ["serviceName", "tags", "iconUrl"] {
        let Some(node) = resource.get(member).filter(|node| node.kind() != NodeKind::Null) else { continue };
        let right = match member {
            "serviceName" => short(node),
            "tags" => node.kind() == NodeKind::Array && node.items().count() <= 5 && node.items().all(short),
            _ => node.as_str().is_some_and(|text| icon(&text)),
        };
        if !right {
            findings.push(finding("resource.metadata", format!("resource.{member}"), node.raw(), None));
        }
    }
}

fn short(node: Node<'_>) -> bool {
    let printable =
        |text: &str| (1..=32).contains(&text.len()) && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    node.as_str().is_some_and(|text| printable(&text))
}

fn icon(text: &str) -> bool {
    text.len() <= 2048 && Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}
