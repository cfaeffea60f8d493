//! The x402 envelope, versions 1 and 2: header first, body also read, each entry on its own.

use sha2::{Digest, Sha256};

use super::rules::finding;
use super::{
    Exchange, Grade, NotEvaluated, Offer, Reading, ReadingKind, SchemaSource, Source, Word, clean, entry, header,
    signed, whole, word,
};
use crate::domain;
use crate::endpoint::ResourceUrl;
use crate::finding::Finding;
use crate::json::{self, DefectKind, Doc, Limits, Node, NodeKind, Profile};

const MOST_OFFERS: usize = 64;

/// Reads a 402.
pub(super) fn read(exchange: &Exchange<'_>) -> Reading {
    let mut findings = Vec::new();
    if !exchange.body_complete {
        findings.push(finding("body.incomplete", "body", &format!("{} bytes", exchange.body.len()), None));
    }
    let from_header = header::terms(exchange.headers, &mut findings);
    let (bytes, source) = match &from_header {
        Some(bytes) => (bytes.as_slice(), Source::Header),
        None => (exchange.body, Source::Body),
    };
    let limits = Limits::default();
    let doc = match json::observe(bytes, &limits) {
        Ok((doc, defects)) => {
            findings.extend(
                defects
                    .iter()
                    .map(|defect| finding(rule_of(defect.kind), place(source), &format!("byte {}", defect.at), None)),
            );
            doc
        }
        Err(error) => return unreadable(exchange, source, &error, findings),
    };
    let mut reading = envelope(exchange, &doc, source, findings);
    reading.quote_sha256 =
        json::canonicalize(bytes, Profile::Rfc8785, &limits).ok().map(|bytes| hex::encode(Sha256::digest(bytes)));
    if source == Source::Header {
        compare_body(exchange.body, &mut reading);
    }
    settle(reading)
}

fn place(source: Source) -> &'static str {
    match source {
        Source::Header => "header:PAYMENT-REQUIRED",
        Source::Body => "body",
    }
}

fn rule_of(kind: DefectKind) -> &'static str {
    match kind {
        DefectKind::Duplicate => "json.duplicate",
        DefectKind::Bom => "json.bom",
        DefectKind::Surrogate => "json.surrogate",
        DefectKind::UnsafeInteger | DefectKind::Overflow => "json.unsafe_integer",
    }
}

/// No JSON: in a header that is a broken challenge, in a body it is no challenge at all.
fn unreadable(exchange: &Exchange<'_>, source: Source, error: &json::Error, mut findings: Vec<Finding>) -> Reading {
    use json::Kind::{Depth, Members, Size};
    let rule = match (source, error.kind) {
        (_, Depth | Members | Size | json::Kind::String) => "json.limit",
        (Source::Header, _) => "json.syntax",
        (Source::Body, _) => "terms.none",
    };
    let seen =
        if source == Source::Body { String::from_utf8_lossy(exchange.body).into_owned() } else { error.to_string() };
    if source == Source::Body && !exchange.body_complete {
        return Reading::nothing(ReadingKind::NotEvaluated(NotEvaluated::BrokenOff), Word::NotEvaluated, findings);
    }
    findings.push(finding(rule, place(source), &seen, None));
    Reading::nothing(ReadingKind::NoTerms, Word::NotPayable, findings)
}

fn envelope(exchange: &Exchange<'_>, doc: &Doc<'_>, source: Source, findings: Vec<Finding>) -> Reading {
    let root = doc.root();
    let mut reading = Reading::nothing(ReadingKind::Challenge, Word::NotPayable, findings);
    let Some(version) = version(root, &mut reading.findings) else {
        reading.kind = ReadingKind::NoTerms;
        let rule =
            if source == Source::Body && root.get("accepts").is_none() { "terms.none" } else { "envelope.missing" };
        reading.findings.push(finding(rule, place(source), root.raw(), None));
        return reading;
    };
    if source == Source::Body && version == 2 {
        reading.findings.push(finding(
            "header.missing",
            "header:PAYMENT-REQUIRED",
            "absent",
            Some("base64 of the terms"),
        ));
    }
    accepts(root, version, source, &mut reading);
    if version == 2 {
        resource(exchange.url, root.get("resource"), &mut reading.findings);
    }
    extensions(exchange, root, &mut reading);
    caching(exchange, &mut reading.findings);
    whole::examine(exchange.url, root, &mut reading);
    signed::examine(exchange, root, source, &mut reading);
    reading
}

/// The version, judged by what it says or, where that is broken, by the shape of the rest.
fn version(root: Node<'_>, findings: &mut Vec<Finding>) -> Option<u8> {
    root.get("accepts")?;
    match root.get("x402Version").map(Node::raw) {
        Some("1") => Some(1),
        Some("2") => Some(2),
        other => {
            findings.push(finding("version.form", "x402Version", other.unwrap_or("absent"), Some("2")));
            Some(if other.is_some_and(|raw| raw.contains('1')) { 1 } else { 2 })
        }
    }
}

fn accepts(root: Node<'_>, version: u8, source: Source, reading: &mut Reading) {
    let Some(list) = root.get("accepts") else { return };
    if list.kind() != NodeKind::Array {
        reading.findings.push(finding("accepts.form", "accepts", list.raw(), Some("an array")));
        return;
    }
    for (index, node) in list.items().enumerate() {
        if index == MOST_OFFERS {
            reading.findings.push(finding(
                "accepts.many",
                "accepts",
                &format!("{} entries", list.items().count()),
                None,
            ));
            break;
        }
        let (offer, mut found) = entry::read(node, index, version, source);
        reading.offers.extend(offer);
        reading.findings.append(&mut found);
    }
    if list.items().next().is_none() {
        reading.findings.push(finding("accepts.empty", "accepts", "[]", None));
    }
}

/// `resource.url` against what was asked (scheme, registrable domain, path).
fn resource(asked: &str, resource: Option<Node<'_>>, findings: &mut Vec<Finding>) {
    let Some(resource) = resource else {
        return findings.push(finding("resource.missing", "resource", "absent", None));
    };
    let Some(named) = resource.get("url").and_then(Node::as_str) else {
        return findings.push(finding("resource.form", "resource", resource.raw(), None));
    };
    let secure = named.replacen("http://", "https://", 1);
    if secure != *named && ResourceUrl::parse(&secure).is_ok_and(|there| hosts_agree(asked, &there)) {
        return findings.push(finding("resource.scheme", "resource.url", &named, Some(asked)));
    }
    if secure != *named {
        return findings.push(finding("resource.other_domain", "resource.url", &named, Some(asked)));
    }
    let (Ok(asked), Ok(there)) = (ResourceUrl::parse(asked), ResourceUrl::parse(&named)) else {
        return findings.push(finding("resource.form", "resource.url", &named, Some(asked)));
    };
    if site(asked.host()) != site(there.host()) {
        findings.push(finding("resource.other_domain", "resource.url", &named, Some(asked.as_str())));
    } else if before_query(asked.as_str()) != before_query(there.as_str()) {
        findings.push(finding("resource.other_url", "resource.url", &named, Some(asked.as_str())));
    }
}

fn hosts_agree(asked: &str, there: &ResourceUrl) -> bool {
    ResourceUrl::parse(asked).is_ok_and(|asked| site(asked.host()) == site(there.host()))
}

/// The registrable domain, or the whole host where there is none.
fn site(host: &str) -> String {
    let found = domain::registrable(host).or_else(|_| domain::registrable_lab(host));
    found.map_or_else(|_| host.to_owned(), |domain| domain.as_str().to_owned())
}

fn before_query(url: &str) -> &str {
    url.split('?').next().unwrap_or(url)
}

fn extensions(exchange: &Exchange<'_>, root: Node<'_>, reading: &mut Reading) {
    let Some(all) = root.get("extensions") else { return };
    reading.extensions = all.members().map(|(name, _)| clean::shown(&name)).take(32).collect();
    let bazaar = all.get("bazaar").filter(|bazaar| bazaar.get("info").is_some_and(|info| info.get("input").is_some()));
    let envelope = root.get("inputSchema").filter(|schema| schema.kind() == NodeKind::Object);
    let found = bazaar.map(|node| (SchemaSource::Bazaar, node)).or(envelope.map(|node| (SchemaSource::Envelope, node)));
    reading.input_schema = found.map(|(source, _)| source);
    reading.schema_sha256 = found.and_then(|(_, node)| digest(node));
    let login = all.get("sign-in-with-x").and_then(|login| login.get("info")?.get("domain")?.as_str());
    let host = ResourceUrl::parse(exchange.url).map(|url| url.host().to_owned()).unwrap_or_default();
    if let Some(domain) = login.filter(|domain| domain.split(':').next() != Some(host.as_str())) {
        reading.findings.push(finding(
            "extension.sign_in_domain",
            "extensions.sign-in-with-x.info.domain",
            &domain,
            Some(&host),
        ));
    }
}

/// SHA-256 of the RFC 8785 bytes, hex; none for what has no canonical form.
fn digest(node: Node<'_>) -> Option<String> {
    let canonical = json::canonicalize(node.raw().as_bytes(), Profile::Rfc8785, &Limits::default()).ok()?;
    Some(hex::encode(Sha256::digest(canonical)))
}

fn caching(exchange: &Exchange<'_>, findings: &mut Vec<Finding>) {
    let held = |header: &&(String, Vec<u8>)| header.0.eq_ignore_ascii_case("cache-control");
    let value =
        exchange.headers.iter().find(held).map(|header| String::from_utf8_lossy(&header.1).to_ascii_lowercase());
    if !value.as_ref().is_some_and(|value| value.contains("no-store")) {
        findings.push(finding(
            "cache.shared",
            "header:Cache-Control",
            value.as_deref().unwrap_or("absent"),
            Some("no-store"),
        ));
    }
}

/// A body that is a challenge too must state the same price and recipient (either version's spelling).
fn compare_body(body: &[u8], reading: &mut Reading) {
    let Ok((doc, _)) = json::observe(body, &Limits::default()) else { return };
    let Some(list) = doc.root().get("accepts") else { return };
    let version = if doc.root().get("x402Version").is_some_and(|version| version.raw() == "1") { 1 } else { 2 };
    let there: Vec<Offer> = list
        .items()
        .take(MOST_OFFERS)
        .enumerate()
        .filter_map(|(index, node)| entry::read(node, index, version, Source::Body).0)
        .collect();
    let same =
        |left: &Offer, right: &Offer| left.network == right.network && left.asset.eq_ignore_ascii_case(&right.asset);
    let differs = |ours: &&Offer| {
        there.iter().any(|theirs| same(ours, theirs) && (ours.pay_to != theirs.pay_to || ours.amount != theirs.amount))
    };
    if let Some(offer) = reading.offers.iter().find(differs) {
        let subject = format!("accepts[{}]", offer.index);
        reading.findings.push(finding("channel.disagree", subject, "the body states other terms", None));
    }
}

/// Marks what the reference buyer refuses, then gives every option and the answer their words.
fn settle(mut reading: Reading) -> Reading {
    let findings = &reading.findings;
    for offer in &mut reading.offers {
        let about = about(findings, offer);
        if word(&about) == Word::NotPayable || about.iter().any(|finding| finding.rule == "header.missing") {
            offer.interop = Grade::Fail;
        }
    }
    speak(&mut reading);
    reading
}

/// Gives every option its word from the findings about it and about the whole, then the answer its own:
/// that of the best option.
pub(super) fn speak(reading: &mut Reading) {
    let findings = &reading.findings;
    for offer in &mut reading.offers {
        let unpaid = offer.interop == Grade::Fail;
        offer.word = if unpaid { Word::NotPayable } else { word(&about(findings, offer)) };
    }
    let best = [Word::Payable, Word::PayableWithWarnings, Word::Mismatch]
        .into_iter()
        .find(|word| reading.offers.iter().any(|offer| offer.word == *word));
    reading.word = best.unwrap_or(Word::NotPayable);
}

/// What is about this option: findings at its own place, and those about the whole.
fn about<'f>(findings: &'f [Finding], offer: &Offer) -> Vec<&'f Finding> {
    let mine = format!("accepts[{}]", offer.index);
    let about = |finding: &&Finding| !finding.subject.starts_with("accepts[") || finding.subject.starts_with(&mine);
    findings.iter().filter(about).collect()
}
