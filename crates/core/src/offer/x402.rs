//! The x402 envelope, versions 1 and 2: header first, body also read, each entry on its own.
//!
//! The channels are read apart and each weighs on its own offers, so that a broken or alien header does not hide a
//! good version 1 body, and the other way round. What they say about the same money is then compared.

use std::collections::BTreeSet;

use super::beside::{self, Story};
use super::rules::finding;
use super::written::Page;
use super::{
    BodyEnd, Exchange, NotEvaluated, Reading, ReadingKind, Source, Word, alias, answer, entry, extension, grade,
    header, names, resource, signed, whole,
};
use crate::finding::Finding;
use crate::json::{self, DefectKind, Doc, Limits, Node, NodeKind};
use crate::steps;

/// Most offers that are read of one channel. All of them are listed in the decision, whose size has a bound.
pub(super) const MOST_OFFERS: usize = 32;

/// What these two are called where they are compared.
const BODY_AND_HEADER: (&str, &str) = ("the body", "the header");

/// Where an envelope stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the header that findings call this.
    Header(&'static str),
    /// In the body of an answer without a challenge header.
    Body,
    /// In the body, beside a header.
    Beside,
}

impl Place {
    const fn name(self) -> &'static str {
        match self {
            Self::Header(name) => name,
            Self::Body | Self::Beside => "body",
        }
    }

    const fn prefix(self) -> &'static str {
        match self {
            Self::Header(_) | Self::Body => "",
            Self::Beside => "body:",
        }
    }

    const fn source(self) -> Source {
        match self {
            Self::Header(_) => Source::Header,
            Self::Body | Self::Beside => Source::Body,
        }
    }
}

/// Reads a 402.
pub(super) fn read(exchange: &Exchange<'_>) -> Reading {
    let mut reading = Reading::nothing(ReadingKind::NoTerms, Word::NotPayable, Vec::new());
    answer::examine(exchange.headers, &mut reading.findings);
    whole::host(exchange.url, &mut reading.findings);
    match header::terms(exchange.headers, &mut reading.findings) {
        Some(terms) => both(exchange, &terms, &mut reading),
        None if exchange.body_end != BodyEnd::Whole => {
            let seen = format!("{} bytes", exchange.body.len());
            let rule = if exchange.body_end == BodyEnd::CutOff { "body.incomplete" } else { "body.stopped" };
            reading.findings.push(finding(rule, "body", &seen, None));
            reading.kind = ReadingKind::NotEvaluated(NotEvaluated::BrokenOff);
            reading.word = Word::NotEvaluated;
            return reading;
        }
        None => channel(exchange, exchange.body, Place::Body, &mut reading),
    }
    signed::answer(exchange, &mut reading);
    grade::settle(&mut reading);
    reading
}

/// The header, and a body that states terms too: version 1 clients read nothing else.
fn both(exchange: &Exchange<'_>, terms: &header::Terms, reading: &mut Reading) {
    if let Some(bytes) = &terms.bytes {
        channel(exchange, bytes, Place::Header(terms.place), reading);
    }
    alias::examine(exchange, terms, reading);
    if exchange.body_end != BodyEnd::Whole {
        let seen = format!("{} bytes", exchange.body.len());
        return reading.findings.push(finding("body.unread", "body", &seen, None));
    }
    body_beside(exchange, terms, reading);
}

/// The body beside a header, when it is JSON that states terms; most are `{}` or a page for people. One that some client
/// may read and we do not, or not as it does, is told: it may state other terms.
fn body_beside(exchange: &Exchange<'_>, terms: &header::Terms, reading: &mut Reading) {
    let (doc, defects) = match json::observe(exchange.body, &beside::LIMITS) {
        Ok(read) => read,
        Err(error) if beside::opens_as_terms(exchange.body) => {
            return reading.findings.push(finding("body.unreadable", "body", &error.to_string(), None));
        }
        Err(_) => return,
    };
    let story = Story::of(doc.root());
    let graded = if story.is_empty() { Vec::new() } else { reading.offers.clone() };
    let doubt = story.ambiguous(&defects).or_else(|| story.uncompared(exchange.url, &graded));
    reading.findings.extend(doubt.map(|seen| finding("body.unreadable", "body", &seen, None)));
    if paid_by_version_1(doc.root()) {
        channel(exchange, exchange.body, Place::Beside, reading);
        if terms.canonical() {
            reading.findings.push(finding("body.beside_header", "body:accepts", "version 1 terms", None));
        }
    }
    story.compare(exchange.url, &graded, BODY_AND_HEADER, reading);
}

/// Whether buyers of version 1 pay by this body. They take `accepts` from it whatever `x402Version` says, or where it
/// says nothing, and refuse entries without `maxAmountRequired`.
fn paid_by_version_1(root: Node<'_>) -> bool {
    root.get("accepts").is_some() && (stated_version(root) == Some(1) || in_version_1(root))
}

/// Whether an entry is written as version 1 alone writes it.
fn in_version_1(root: Node<'_>) -> bool {
    let mut entries = root.get("accepts").into_iter().flat_map(Node::items);
    entries.any(|entry| entry.get("maxAmountRequired").is_some() && entry.get("amount").is_none())
}

/// One channel's envelope into `reading`.
fn channel(exchange: &Exchange<'_>, bytes: &[u8], place: Place, reading: &mut Reading) {
    let limits = if place == Place::Beside { beside::LIMITS } else { Limits::default() };
    let (doc, defects) = match json::observe(bytes, &limits) {
        Ok(read) => read,
        Err(error) => return reading.findings.push(unreadable(exchange, place, &error)),
    };
    spoilt(&doc, bytes, &defects, place, &mut reading.findings);
    let (first, before) = (reading.kind != ReadingKind::Challenge, reading.offers.len());
    let page = Page::of(doc.root());
    envelope(exchange, doc.root(), &page, place, reading);
    let channel = signed::Channel { source: place.source(), prefix: place.prefix(), first: before };
    signed::offers(exchange, doc.root(), &channel, reading);
    if first && reading.kind == ReadingKind::Challenge {
        reading.quote = Some(page.all());
    }
}

/// One finding for each kind of defect in each entry: a thousand more of one kind say no more. Defects and entries are
/// both in source order, so that the entries are gone through once for all of them.
fn spoilt(doc: &Doc<'_>, bytes: &[u8], defects: &[json::Defect], place: Place, findings: &mut Vec<Finding>) {
    let mut told = BTreeSet::new();
    let mut entries = doc.root().get("accepts").into_iter().flat_map(Node::items).enumerate().peekable();
    for defect in defects {
        while entries.next_if(|(_, entry)| ends(*entry, bytes) <= defect.at).is_some() {
            steps::more(1);
        }
        let index = entries.peek().filter(|(_, entry)| starts(*entry, bytes) <= defect.at).map(|(index, _)| *index);
        let (rule, subject) = (rule_of(defect.kind), whose(index, place));
        if told.insert((rule, subject.clone())) {
            findings.push(finding(rule, subject, &format!("byte {}", defect.at), None));
        }
    }
}

/// Where `node` begins in `bytes`, the text that it is part of.
fn starts(node: Node<'_>, bytes: &[u8]) -> usize {
    node.raw().as_ptr().addr() - bytes.as_ptr().addr()
}

fn ends(node: Node<'_>, bytes: &[u8]) -> usize {
    starts(node, bytes) + node.raw().len()
}

fn rule_of(kind: DefectKind) -> &'static str {
    match kind {
        DefectKind::Duplicate => "json.duplicate",
        DefectKind::Bom => "json.bom",
        DefectKind::Surrogate => "json.surrogate",
        DefectKind::UnsafeInteger | DefectKind::Overflow => "json.unsafe_integer",
    }
}

/// The place of one entry, or of the envelope as a whole.
fn whose(entry: Option<usize>, place: Place) -> String {
    match (entry, place) {
        (Some(index), _) => format!("{}accepts[{index}]", place.prefix()),
        (None, Place::Beside) => "body:terms".to_owned(),
        (None, _) => place.name().to_owned(),
    }
}

/// No JSON: in a header that is a broken challenge, in a body it is no challenge at all.
fn unreadable(exchange: &Exchange<'_>, place: Place, error: &json::Error) -> Finding {
    use json::Kind::{Depth, Members, Size};
    let rule = match (place, error.kind) {
        (_, Depth | Members | Size | json::Kind::String) => "json.limit",
        (Place::Header(_), _) => "json.syntax",
        (Place::Body | Place::Beside, _) => "terms.none",
    };
    match place {
        Place::Header(_) => finding(rule, place.name(), &error.to_string(), None),
        Place::Body | Place::Beside => finding(rule, "body", &String::from_utf8_lossy(exchange.body), None),
    }
}

fn envelope<'d>(exchange: &Exchange<'d>, root: Node<'d>, page: &Page<'d>, place: Place, reading: &mut Reading) {
    let prefix = place.prefix();
    if root.get("accepts").is_none() {
        return bare(exchange, root, page, place, reading);
    }
    reading.kind = ReadingKind::Challenge;
    names::examine(root, &names::ENVELOPE, &format!("{prefix}terms."), &mut reading.findings);
    let version = version(root, place, &mut reading.findings);
    let within = entry::Place { page, asked: exchange.url, version, source: place.source(), prefix };
    let before = reading.offers.len();
    accepts(root, &within, reading);
    if version == 2 {
        if place == Place::Body {
            let seen = "version 2 terms";
            reading.findings.push(finding("header.missing", "body", seen, Some("PAYMENT-REQUIRED: base64 of them")));
        }
        resource::examine(exchange.url, root.get("resource"), &mut reading.findings);
        extension::examine(exchange, root, page, reading);
    } else {
        extension::version_1(exchange, root, page, prefix, reading);
    }
    whole::texts(root, prefix, &mut reading.findings);
    whole::pairs(&reading.offers[before..], prefix, &mut reading.findings);
}

/// No `accepts`: one requirement without its envelope is still shown, anything else is no challenge.
fn bare<'d>(exchange: &Exchange<'d>, root: Node<'d>, page: &Page<'d>, place: Place, reading: &mut Reading) {
    let alone = root.get("payTo").is_some() && (root.get("amount").or(root.get("maxAmountRequired"))).is_some();
    let rule = if place == Place::Body && !alone { "terms.none" } else { "envelope.missing" };
    reading.findings.push(finding(rule, place.name(), root.raw(), Some("{x402Version, resource, accepts}")));
    names::examine(root, &["accepts"], &format!("{}terms.", place.prefix()), &mut reading.findings);
    if alone {
        let version = if root.get("amount").is_some() { 2 } else { 1 };
        let within =
            entry::Place { page, asked: exchange.url, version, source: place.source(), prefix: place.prefix() };
        let (offer, mut found) = entry::read(root, 0, &within);
        reading.offers.extend(offer);
        reading.findings.append(&mut found);
    }
}

/// The version, judged by what it says or, where that is broken, by the shape of the rest. Beside a header only version 1
/// is read, whatever it says.
fn version(root: Node<'_>, place: Place, findings: &mut Vec<Finding>) -> u8 {
    let stated = stated_version(root);
    if stated.is_none() {
        let seen = root.get("x402Version").map_or("absent", Node::raw);
        let right = if place == Place::Beside { "1" } else { "2" };
        findings.push(finding("version.form", format!("{}x402Version", place.prefix()), seen, Some(right)));
    }
    let written = || root.get("x402Version").is_some_and(|said| said.raw().contains('1')) || in_version_1(root);
    match stated {
        _ if place == Place::Beside => 1,
        Some(version) => version,
        None => {
            if written() {
                1
            } else {
                2
            }
        }
    }
}

/// 1 or 2, however the number is spelled (`1.0` is 1 in every client); none for anything else.
fn stated_version(root: Node<'_>) -> Option<u8> {
    let said = root.get("x402Version").filter(|node| node.kind() == NodeKind::Number)?;
    let number = said.raw().parse::<f64>().ok()?;
    [(1.0, 1), (2.0, 2)].into_iter().find(|(value, _)| *value == number).map(|(_, version)| version)
}

fn accepts<'d>(root: Node<'d>, place: &entry::Place<'d>, reading: &mut Reading) {
    let Some(list) = root.get("accepts") else { return };
    let subject = format!("{}accepts", place.prefix);
    if list.kind() != NodeKind::Array {
        return reading.findings.push(finding("accepts.form", subject, list.raw(), Some("an array")));
    }
    let count = list.items().count();
    if count == 0 {
        reading.findings.push(finding("accepts.empty", subject, "[]", None));
    } else if count > MOST_OFFERS {
        reading.findings.push(finding(
            "accepts.many",
            subject,
            &format!("{count} entries, accepts[{MOST_OFFERS}] and on not read"),
            None,
        ));
    }
    for (index, node) in list.items().take(MOST_OFFERS).enumerate() {
        let (offer, mut found) = entry::read(node, index, place);
        reading.offers.extend(offer);
        reading.findings.append(&mut found);
    }
}
