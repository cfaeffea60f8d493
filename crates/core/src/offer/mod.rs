//! What a seller's 402 offers: read with patience, graded with care.
//!
//! Nothing readable is thrown away because a neighbour is broken, nothing is repaired that a buyer would
//! sign, and every deviation is a finding with a documented rule. *Spec* says whether the specification
//! is met, *interop* whether the reference buyer would pay.

mod alias;
mod answer;
mod authenticate;
mod beside;
pub mod clean;
mod compare;
mod entry;
mod extension;
mod grade;
mod header;
mod listed;
mod names;
mod redirect;
mod resource;
pub mod rules;
mod schema;
mod script;
pub mod signed;
mod text;
mod whole;
mod word;
mod written;
mod x402;

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::address;
use crate::amount::{Amount, Usd};
use crate::asset::AssetRow;
use crate::finding::Finding;
use crate::network::{Family, Network};
use crate::time::Timestamp;

pub(crate) use grade::{barred, word_from};
pub use listed::listed;
pub use redirect::{Leads, Redirect};
pub use schema::{Called, Schema, SchemaSource};
pub(crate) use whole::alike;
pub use word::Word;
pub use written::{LeftOut, Written};

/// One HTTP exchange as received.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// The URL asked.
    pub url: &'a str,
    /// The method asked with.
    pub method: &'a str,
    /// The status answered.
    pub status: u16,
    /// Header names and raw values, in order.
    pub headers: &'a [(String, Vec<u8>)],
    /// The body as far as it was read.
    pub body: &'a [u8],
    /// Whether that is all of it, and if not, who ended it.
    pub body_end: BodyEnd,
    /// When it was received: what ends by a time is judged at this one.
    pub seen_at: Timestamp,
    /// Keys that were found where the seller publishes them; none at a first reading.
    pub keys: &'a [signed::KnownKey],
}

/// How the reading of a body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEnd {
    /// At its end: all of it was read.
    Whole,
    /// Before its announced end: the other side or the wire broke it off.
    CutOff,
    /// Where we stopped: it was too long, too slow, or in a form that we do not read.
    Stopped,
}

/// What an exchange came to.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Which kind of answer it was.
    pub kind: ReadingKind,
    /// The word for the best offer, or for the answer as a whole.
    pub word: Word,
    /// Every option, in the seller's order.
    pub offers: Vec<Offer>,
    /// What rules saw.
    pub findings: Vec<Finding>,
    /// Other ways to pay that the answer names.
    pub rails: Vec<RailSeen>,
    /// Ids of the extensions in the challenge, cleaned.
    pub extensions: Vec<String>,
    /// What its signatures came to.
    pub signatures: Signatures,
    /// Where it would have led, had it been followed.
    pub redirect: Option<Redirect>,
    /// What the endpoint takes, where the challenge says so.
    pub schema: Option<Schema>,
    /// The envelope that the terms were read from, as it stood.
    pub quote: Option<Written>,
}

/// What a seller signed, and what became of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Signatures {
    /// Signed offers, in the seller's order.
    pub offers: Vec<signed::SignedOffer>,
    /// Signatures on the answer as a whole.
    pub response: Vec<signed::SignedResponse>,
}

/// Kinds of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadingKind {
    /// A 402 with terms.
    Challenge,
    /// A 402 without readable terms.
    NoTerms,
    /// Something else; why there was nothing to grade.
    NotEvaluated(NotEvaluated),
}

/// Why there was nothing to grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NotEvaluated {
    /// No answer came.
    NotReached,
    /// A success without payment: ungated, a trial, or something else. Never "free".
    Reachable200,
    /// A redirect, recorded and not followed.
    Redirect,
    /// A wall refused the probe (401, 403, 429).
    Wall,
    /// The method is not answered here.
    MethodNotAllowed,
    /// Any other 4xx.
    ClientError,
    /// The body was not read to its end, and terms stood nowhere else.
    BrokenOff,
    /// Only payment rails that we do not judge were named.
    OtherRail,
    /// The server failed.
    ServerError,
}

/// Whether the specification is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Met.
    Pass,
    /// Not met.
    Fail,
}

/// What the reference buyer does with an offer when it is the only one: its default settings, the offer's own
/// network family and scheme installed. Measured with release 2.27 (`docs/decision.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interop {
    /// It signs. That is no advice to: it signs a payment to the zero address too.
    Pass,
    /// It refuses, for what this rule saw.
    Fail(&'static str),
    /// It was not measured with such an offer, or never looks at this one.
    NotEvaluated,
}

impl Interop {
    /// The grade as documents write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail(_) => "fail",
            Self::NotEvaluated => "not_evaluated",
        }
    }

    /// The rule for which it refuses.
    pub const fn rule(self) -> Option<&'static str> {
        match self {
            Self::Fail(rule) => Some(rule),
            Self::Pass | Self::NotEvaluated => None,
        }
    }
}

/// Which channel an offer was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A header.
    Header,
    /// The body.
    Body,
}

/// Another way to pay, named by `WWW-Authenticate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RailSeen {
    /// Lightning with macaroons (`L402`, formerly `LSAT`).
    L402,
    /// Machine payments protocol (`Payment`).
    Mpp,
    /// x402 named as an authentication scheme.
    X402,
}

impl RailSeen {
    /// As documents write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::L402 => "l402",
            Self::Mpp => "mpp",
            Self::X402 => "x402",
        }
    }

    fn of(scheme: &str) -> Option<Self> {
        match scheme.to_ascii_lowercase().as_str() {
            "l402" | "lsat" => Some(Self::L402),
            "payment" => Some(Self::Mpp),
            "x402" => Some(Self::X402),
            _ => None,
        }
    }
}

/// One payable option.
#[derive(Clone, Debug)]
pub struct Offer {
    /// Its place in `accepts`.
    pub index: usize,
    /// The place that findings about it begin with: `accepts[0]`, or `body:accepts[0]` where a header stands too.
    pub subject: String,
    /// The envelope's version, 1 or 2.
    pub version: u8,
    /// Where it stood.
    pub source: Source,
    /// Scheme, cleaned.
    pub scheme: String,
    /// Network as written, cleaned.
    pub network_raw: String,
    /// The network meant.
    pub network: Option<Network>,
    /// Asset as written, cleaned.
    pub asset: String,
    /// The asset's row in our table.
    pub asset_row: Option<&'static AssetRow>,
    /// Price in atomic units; for `upto` the most that may be charged.
    pub amount: Option<Amount>,
    /// Price in USD, for assets pegged to it only.
    pub usd: Option<Usd>,
    /// Declared fees, in USD; no gas, because the facilitator carries it. None where one of the two is not known.
    pub fees: Option<Usd>,
    /// Recipient in normal form, cleaned.
    pub pay_to: String,
    /// Lifetime of an authorisation, seconds.
    pub max_timeout_seconds: Option<u64>,
    /// The entry itself.
    pub written: Written,
    /// Whether the specification is met.
    pub spec: Grade,
    /// Whether the reference buyer would pay.
    pub interop: Interop,
    /// The word for this option.
    pub word: Word,
}

impl Offer {
    /// Who is paid, where the text has the form of an address of a network that was named; anything else that stands in
    /// [`Offer::pay_to`] is for display only.
    pub fn payee(&self) -> Option<&str> {
        self.network.as_ref().and(self.recipient())
    }

    /// Who is named as the recipient. Where the network cannot be read, whatever may be an address somewhere names one: what
    /// is wrong there is the network. A payTo that is no text is shown as `absent`, `null` or the JSON it is, and on networks
    /// whose addresses we do not know that would pass for one.
    pub(crate) fn recipient(&self) -> Option<&str> {
        let family = self.network.as_ref().map_or(Family::Other, Network::family);
        let named = self.pay_to != "absent" && self.pay_to != "null" && !self.pay_to.starts_with(['{', '[']);
        (named && address::check(family, &self.pay_to).is_ok()).then_some(&self.pay_to)
    }
}

impl Reading {
    /// The reading of no answer at all.
    pub fn not_seen() -> Self {
        Self::nothing(ReadingKind::NotEvaluated(NotEvaluated::NotReached), Word::NotEvaluated, Vec::new())
    }

    /// Whether the endpoint says what input it takes, and the terms are those of the method that takes it.
    pub fn invocable(&self) -> bool {
        let seen = |called| matches!(called, None | Some(Called::AsAsked(_)));
        self.schema.as_ref().is_some_and(|schema| seen(schema.called))
    }

    /// The same reading with findings that others made about it: of the transport, of history. The words are
    /// spoken anew; what the reference buyer would do is not, because it sees neither.
    #[must_use]
    pub fn and(mut self, findings: impl IntoIterator<Item = Finding>) -> Self {
        self.findings.extend(findings);
        if self.kind == ReadingKind::Challenge {
            grade::speak(&mut self);
        }
        self
    }

    fn nothing(kind: ReadingKind, word: Word, findings: Vec<Finding>) -> Self {
        Self {
            kind,
            word,
            offers: Vec::new(),
            findings,
            rails: Vec::new(),
            extensions: Vec::new(),
            signatures: Signatures::default(),
            redirect: None,
            schema: None,
            quote: None,
        }
    }
}

/// Reads one exchange.
pub fn read(exchange: &Exchange<'_>) -> Reading {
    let mut reading = match refusal(exchange.status) {
        Some((why, rule)) => {
            let seen = exchange.status.to_string();
            let findings = vec![rules::finding(rule, "status", &seen, Some("402"))];
            Reading::nothing(ReadingKind::NotEvaluated(why), Word::NotEvaluated, findings)
        }
        None => x402::read(exchange),
    };
    redirect::examine(exchange, &mut reading);
    reading.rails = authenticate::rails(exchange.headers);
    if reading.kind == ReadingKind::NoTerms {
        by_other_rails(&mut reading);
    }
    reading
}

/// A 402 without terms of ours that names other rails is no broken x402 challenge: it sells, in a way that we do not judge.
fn by_other_rails(reading: &mut Reading) {
    let others: Vec<_> =
        reading.rails.iter().filter(|rail| **rail != RailSeen::X402).map(|rail| rail.as_str()).collect();
    let Some(none) = reading.findings.iter_mut().find(|finding| finding.rule == "terms.none") else { return };
    if others.is_empty() {
        return;
    }
    *none = rules::finding("terms.other_rail", "header:WWW-Authenticate", &others.join(", "), None);
    reading.kind = ReadingKind::NotEvaluated(NotEvaluated::OtherRail);
    reading.word = Word::NotEvaluated;
}

/// Why a status is nothing to grade, and the rule that tells it; none for a 402.
fn refusal(status: u16) -> Option<(NotEvaluated, &'static str)> {
    match status {
        402 => None,
        200..=299 => Some((NotEvaluated::Reachable200, "http.ungated")),
        300..=399 => Some((NotEvaluated::Redirect, "http.redirect")),
        401 | 403 | 429 => Some((NotEvaluated::Wall, "http.wall")),
        400 | 422 => Some((NotEvaluated::ClientError, "http.validated_first")),
        404 | 410 => Some((NotEvaluated::ClientError, "http.not_found")),
        405 | 501 => Some((NotEvaluated::MethodNotAllowed, "http.method")),
        400..=499 => Some((NotEvaluated::ClientError, "http.client_error")),
        500..=599 => Some((NotEvaluated::ServerError, "http.server_error")),
        _ => Some((NotEvaluated::ClientError, "http.status")),
    }
}
