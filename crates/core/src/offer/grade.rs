//! From findings to grades and words. Everything here is a reading of the rule table: which findings are about
//! an offer, what they fail, and the one that decides.
//!
//! *Spec* and *interop* are two facts; the word is advice under the buyer's own rules. So an offer that the
//! reference buyer would sign can be not payable (a burn address), and one that it refuses by a setting of its own
//! (the one-dollar cap, unknown assets) can be paid by a buyer who changed that setting: payable with warnings.

use super::rules::{self, Dimension};
use super::x402::MOST_OFFERS;
use super::{Grade, Interop, NotEvaluated, Offer, Reading, ReadingKind, Source, Word};
use crate::finding::{Finding, Severity};

/// Rules that say: two things which should be one are two.
const MISMATCHES: [&str; 10] = [
    "amount.two_names",
    "resource.other_domain",
    "channel.disagree",
    "extension.sign_in_domain",
    "payee.look_alike",
    "signature.offer.differs",
    "history.payee_changed",
    "history.payee_unstable",
    "history.price_unstable",
    "history.price_walk",
];
/// The rule that says: there are options that nobody of us read.
const UNREAD: &str = "accepts.many";
/// Rules that say: nothing of ours judges an offer like this.
const UNJUDGED: [&str; 4] = ["network.unjudged", "asset.unjudged", "scheme.unjudged", "profile.cloudflare"];
/// Rules that say: the reference buyer was not measured with this, or does not look at it.
const UNMEASURED: [&str; 2] = ["scheme.upto", "body.beside_header"];
/// What the reference buyer refuses only by a setting that its user may change.
#[cfg(test)]
pub(super) const SETTINGS: [&str; 5] =
    ["amount.over_default_cap", "asset.not_default", "asset.unknown", "asset.unjudged", "header.huge"];
/// First segments of the places inside a challenge; a finding elsewhere (`transport`, `url`) is about all of it.
const MEMBERS: [&str; 7] = ["x402Version", "error", "resource", "accepts", "extensions", "inputSchema", "terms"];

/// Grades every offer, then gives every option and the answer their words.
pub(super) fn settle(reading: &mut Reading) {
    let findings = &reading.findings;
    for offer in &mut reading.offers {
        let about = about(findings, offer);
        let spec = about.iter().any(|finding| fails(finding, Dimension::Spec));
        offer.spec = if spec { Grade::Fail } else { Grade::Pass };
        offer.interop = interop(&about);
        offer.word = judge(&about).0;
    }
    reading.word = best(reading);
}

/// Gives every option its word from the findings about it and about the whole, then the answer its own:
/// that of the best option.
pub(super) fn speak(reading: &mut Reading) {
    for offer in &mut reading.offers {
        offer.word = word_from(&reading.findings, offer);
    }
    reading.word = best(reading);
}

/// The word of the best option.
fn best(reading: &Reading) -> Word {
    [Word::Payable, Word::PayableWithWarnings, Word::Mismatch, Word::NotEvaluated]
        .into_iter()
        .find(|word| reading.offers.iter().any(|offer| offer.word == *word))
        .unwrap_or_else(|| if unread(&reading.findings).is_some() { Word::NotEvaluated } else { Word::NotPayable })
}

/// What says that there are more options than were read, where nothing that is about all of them blocks: a buyer may pay
/// by one of those.
fn unread(findings: &[Finding]) -> Option<&Finding> {
    findings.iter().find(|many| {
        let place = format!("{}[{MOST_OFFERS}]", many.subject);
        let blocks = |finding: &Finding| finding.severity >= Severity::Block;
        many.rule == UNREAD && !findings.iter().any(|one| blocks(one) && touches(&one.subject, &place, Source::Header))
    })
}

fn fails(finding: &Finding, dimension: Dimension) -> bool {
    rules::rule(finding.rule).is_some_and(|rule| rule.fails(dimension))
}

fn interop(findings: &[&Finding]) -> Interop {
    let unknown = |finding: &&Finding| UNJUDGED.contains(&finding.rule) || UNMEASURED.contains(&finding.rule);
    match findings.iter().find(|finding| fails(finding, Dimension::Buyer)) {
        Some(finding) => Interop::Fail(finding.rule),
        None if findings.iter().copied().any(|finding| unknown(&finding)) => Interop::NotEvaluated,
        None => Interop::Pass,
    }
}

/// The word that `findings` leave an option, and the finding that gives it: of those that weigh alike the one that is
/// told first. A test proves that whatever the reference buyer refuses blocks, or is a setting.
fn judge<'f>(findings: &[&'f Finding]) -> (Word, Option<&'f Finding>) {
    let any = |list: &[&str]| first(findings.iter().copied().filter(|finding| list.contains(&finding.rule)));
    let least = |severity| first(findings.iter().copied().filter(|finding| finding.severity >= severity));
    let found = least(Severity::Block)
        .map(|finding| (Word::NotPayable, finding))
        .or_else(|| any(&MISMATCHES).map(|finding| (Word::Mismatch, finding)))
        .or_else(|| any(&UNJUDGED).map(|finding| (Word::NotEvaluated, finding)))
        .or_else(|| least(Severity::Medium).map(|finding| (Word::PayableWithWarnings, finding)));
    found.map_or((Word::Payable, None), |(word, finding)| (word, Some(finding)))
}

/// The one of these that is told first.
fn first<'f>(findings: impl Iterator<Item = &'f Finding>) -> Option<&'f Finding> {
    findings.min_by(|left, right| left.order(right))
}

/// The word that these findings alone would leave an option.
pub(crate) fn word_from(findings: &[Finding], offer: &Offer) -> Word {
    judge(&about(findings, offer)).0
}

/// Whether these findings alone keep an option from being selected.
pub(crate) fn barred(findings: &[Finding], offer: &Offer) -> bool {
    matches!(word_from(findings, offer), Word::NotPayable | Word::Mismatch)
}

impl Reading {
    /// The rule that gave the answer its word: that of the first option with this word or, where there is no option, of
    /// what stands in the way of one. None for `payable`, which is the word when nothing speaks against it.
    pub fn word_rule(&self) -> Option<&'static str> {
        self.deciding().map(|finding| finding.rule)
    }

    /// The rule that gave this option its word; none for `payable`.
    pub fn word_rule_of(&self, offer: &Offer) -> Option<&'static str> {
        judge(&about(&self.findings, offer)).1.map(|finding| finding.rule)
    }

    /// The finding behind [`Reading::word_rule`].
    pub(super) fn deciding(&self) -> Option<&Finding> {
        match self.kind {
            ReadingKind::NotEvaluated(why) => first(self.findings.iter().filter(|finding| gave(why, finding))),
            ReadingKind::Challenge | ReadingKind::NoTerms => {
                match self.offers.iter().find(|offer| offer.word == self.word) {
                    Some(offer) => judge(&about(&self.findings, offer)).1,
                    None if self.word == Word::NotEvaluated => unread(&self.findings),
                    None => first(self.findings.iter()),
                }
            }
        }
    }
}

/// Whether `finding` is the reason why nothing was graded.
fn gave(why: NotEvaluated, finding: &Finding) -> bool {
    match why {
        NotEvaluated::NotReached => finding.rule.starts_with("transport."),
        NotEvaluated::BrokenOff => matches!(finding.rule, "body.incomplete" | "body.stopped"),
        NotEvaluated::OtherRail => finding.rule == "terms.other_rail",
        NotEvaluated::Reachable200
        | NotEvaluated::Redirect
        | NotEvaluated::Wall
        | NotEvaluated::MethodNotAllowed
        | NotEvaluated::ClientError
        | NotEvaluated::ServerError => finding.subject == "status",
    }
}

fn about<'f>(findings: &'f [Finding], offer: &Offer) -> Vec<&'f Finding> {
    findings.iter().filter(|finding| concerns(&finding.subject, offer)).collect()
}

/// Whether a finding at `subject` is about this option: at its own place, at the envelope it stood in, or outside
/// both envelopes. A broken standard header is about the body's offers too: no client that sees one reads on.
fn concerns(subject: &str, offer: &Offer) -> bool {
    touches(subject, &offer.subject, offer.source)
}

/// As [`concerns`], of the option at `place`.
fn touches(subject: &str, place: &str, source: Source) -> bool {
    let beside = place.starts_with("body:");
    let (in_body, path) = match subject.strip_prefix("body:") {
        Some(path) => (true, path),
        None => (false, subject),
    };
    let (_, mine) = place.split_at(if beside { "body:".len() } else { 0 });
    let first = path.split(['.', '[', ':']).next().unwrap_or_default();
    match () {
        () if path.starts_with("accepts[") => in_body == beside && inside(path, mine),
        () if in_body || MEMBERS.contains(&first) => in_body == beside,
        () if first == "header" => source == Source::Header || path == "header:PAYMENT-REQUIRED",
        () => true,
    }
}

/// `accepts[1].payTo` is inside `accepts[1]`.
fn inside(path: &str, mine: &str) -> bool {
    path.strip_prefix(mine).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
