//! The challenge's extensions: which there are, where an input schema stands, and whose login is asked for.

use url::Url;

use super::rules::finding;
use super::written::Page;
use super::{Called, Exchange, Reading, Schema, SchemaSource, clean};
use crate::finding::Finding;
use crate::json::{Node, NodeKind};

/// Most extension ids that are told.
const MOST: usize = 32;

/// Methods that an input can be declared for.
const METHODS: [&str; 6] = ["GET", "HEAD", "DELETE", "POST", "PUT", "PATCH"];
/// Those of them that a check can ask with.
const ASKED: [&str; 2] = ["GET", "POST"];

/// What a version 2 envelope declares.
pub(super) fn examine<'d>(exchange: &Exchange<'_>, root: Node<'d>, page: &Page<'d>, reading: &mut Reading) {
    let all = root.get("extensions");
    if let Some(all) = all {
        reading.extensions = all.members().map(|(name, _)| clean::shown(&name)).take(MOST).collect();
        sign_in(exchange.url, all, &mut reading.findings);
    }
    let bazaar =
        all.and_then(|all| all.get("bazaar")).and_then(|node| Found::within(SchemaSource::Bazaar, node, "info"));
    schema(exchange, bazaar.or_else(|| Found::of_envelope(root)), page, reading);
}

/// Version 1 describes its input in each offer; extensions in its body are read by nobody.
pub(super) fn version_1<'d>(
    exchange: &Exchange<'_>,
    root: Node<'d>,
    page: &Page<'d>,
    prefix: &str,
    reading: &mut Reading,
) {
    if root.get("extensions").is_some_and(|all| all.members().next().is_some()) {
        reading.findings.push(finding("extension.unread", format!("{prefix}extensions"), "present", None));
    }
    let mut entries = root.get("accepts").into_iter().flat_map(Node::items);
    let found = entries.find_map(|entry| Found::within(SchemaSource::OutputSchema, entry, "outputSchema"));
    schema(exchange, found, page, reading);
}

/// Where an endpoint's input and output are described.
struct Found<'d> {
    source: SchemaSource,
    whole: Node<'d>,
    input: Node<'d>,
    output: Option<Node<'d>>,
}

impl<'d> Found<'d> {
    /// Both in `node`'s member `name`.
    fn within(source: SchemaSource, node: Node<'d>, name: &str) -> Option<Self> {
        let both = node.get(name)?;
        let whole = if source == SchemaSource::Bazaar { node } else { both };
        Some(Self { source, whole, input: both.get("input")?, output: both.get("output") })
    }

    /// In the envelope itself.
    fn of_envelope(root: Node<'d>) -> Option<Self> {
        let input = root.get("inputSchema").filter(|schema| schema.kind() == NodeKind::Object)?;
        Some(Self { source: SchemaSource::Envelope, whole: input, input, output: root.get("outputSchema") })
    }

    /// The method that an input declares which describes a call, and not only the form of its body.
    fn declared(&self) -> Option<Node<'d>> {
        let described = self.source != SchemaSource::Envelope;
        self.input.get("method").filter(|node| described && node.kind() != NodeKind::Null)
    }

    fn called(&self, asked: &str) -> Option<Called> {
        let said = self.declared()?.as_str().unwrap_or_default();
        Some(match METHODS.into_iter().find(|method| said.eq_ignore_ascii_case(method)) {
            Some(method) if method == asked => Called::AsAsked(method),
            Some(method) => Called::Otherwise(method),
            None => Called::Unreadable,
        })
    }

    fn written(self, asked: &str, page: &Page<'d>) -> Schema {
        let called = self.called(asked);
        let Self { source, whole, input, output } = self;
        let output = output.map(|node| page.at(node));
        Schema { source, whole: page.at(whole), input: page.at(input), output, called }
    }
}

/// The first schema found counts. That the endpoint is called by a method which nobody asked with is about all of the answer.
fn schema<'d>(exchange: &Exchange<'_>, found: Option<Found<'d>>, page: &Page<'d>, reading: &mut Reading) {
    if reading.schema.is_some() {
        return;
    }
    let Some(found) = found else { return };
    let declared = found.declared().map_or("", Node::raw);
    let schema = found.written(exchange.method, page);
    reading.findings.extend(schema.called.and_then(|called| method(called, declared, exchange.method)));
    reading.schema = Some(schema);
}

fn method(called: Called, declared: &str, asked: &str) -> Option<Finding> {
    Some(match called {
        Called::AsAsked(_) => return None,
        Called::Otherwise(method) if ASKED.contains(&method) => {
            finding("extension.other_method", "method", asked, Some(method))
        }
        Called::Otherwise(method) => finding("extension.method_not_asked", "method", asked, Some(method)),
        Called::Unreadable => finding("extension.method_form", "method", declared, Some(&METHODS.join(", "))),
    })
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
