//! The challenge's extensions: which there are, where an input schema stands, and whose login is asked for.

use sha2::{Digest, Sha256};
use url::Url;

use super::rules::finding;
use super::{Reading, SchemaSource, clean};
use crate::finding::Finding;
use crate::json::{self, Limits, Node, NodeKind, Profile};

/// Most extension ids that are told.
const MOST: usize = 32;

/// What a version 2 envelope declares.
pub(super) fn examine(asked: &str, root: Node<'_>, reading: &mut Reading) {
    let all = root.get("extensions");
    if let Some(all) = all {
        reading.extensions = all.members().map(|(name, _)| clean::shown(&name)).take(MOST).collect();
        sign_in(asked, all, &mut reading.findings);
    }
    let bazaar = all.and_then(|all| all.get("bazaar"));
    let bazaar = bazaar.filter(|bazaar| bazaar.get("info").is_some_and(|info| info.get("input").is_some()));
    let envelope = root.get("inputSchema").filter(|schema| schema.kind() == NodeKind::Object);
    let found = bazaar.map(|node| (SchemaSource::Bazaar, node)).or(envelope.map(|node| (SchemaSource::Envelope, node)));
    schema(found, reading);
}

/// Version 1 describes its input in each offer; extensions in its body are read by nobody.
pub(super) fn version_1(root: Node<'_>, prefix: &str, reading: &mut Reading) {
    if root.get("extensions").is_some_and(|all| all.members().next().is_some()) {
        reading.findings.push(finding("extension.unread", format!("{prefix}extensions"), "present", None));
    }
    let entries = root.get("accepts").into_iter().flat_map(Node::items);
    let mut inputs = entries.filter_map(|entry| entry.get("outputSchema")).filter(|node| node.get("input").is_some());
    schema(inputs.next().map(|node| (SchemaSource::OutputSchema, node)), reading);
}

/// The first schema found counts.
fn schema(found: Option<(SchemaSource, Node<'_>)>, reading: &mut Reading) {
    if let (None, Some((source, node))) = (reading.input_schema, found) {
        reading.input_schema = Some(source);
        reading.schema_sha256 = digest(node);
    }
}

/// SHA-256 of the RFC 8785 bytes, hex; none for what has no canonical form.
fn digest(node: Node<'_>) -> Option<String> {
    let canonical = json::canonicalize(node.raw().as_bytes(), Profile::Rfc8785, &Limits::default()).ok()?;
    Some(hex::encode(Sha256::digest(canonical)))
}

/// Domain and URI of the login must be those of the origin that answered, or a client signs in elsewhere.
fn sign_in(asked: &str, extensions: Node<'_>, findings: &mut Vec<Finding>) {
    let Some(info) = extensions.get("sign-in-with-x").and_then(|login| login.get("info")) else { return };
    let Ok(here) = Url::parse(asked) else { return };
    let host = here.host_str().unwrap_or_default();
    let port = here.port_or_known_default().unwrap_or_default();
    let ours =
        |domain: &str| domain.eq_ignore_ascii_case(host) || domain.eq_ignore_ascii_case(&format!("{host}:{port}"));
    let at_home = |uri: &str| Url::parse(uri).is_ok_and(|uri| uri.origin() == here.origin());
    for (member, right) in [("domain", &ours as &dyn Fn(&str) -> bool), ("uri", &at_home)] {
        if let Some(said) = info.get(member).and_then(Node::as_str).filter(|said| !right(said)) {
            let subject = format!("extensions.sign-in-with-x.info.{member}");
            findings.push(finding("extension.sign_in_domain", subject, &said, Some(host)));
        }
    }
}
