//! What history has to say about the offers of one look.

use super::observed::kept;
use super::standing::lowest;
use super::trail::{Drift, Turnover};
use super::{Observed, Role, Standing, Trail, pay_to, place};
use crate::finding::Finding;
use crate::offer::rules::finding;
use crate::offer::{Offer, Reading, Word, alike};

/// How an offer's recipient stands to those known of its URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// A known recipient, or the first one ever seen here.
    Known,
    /// On a network or asset for which no recipient was known, while a known one is still offered.
    New,
    /// Another recipient than the known one.
    Changed,
}

/// How well an offer's recipient is known: [`Relation`], with what stands behind `Known`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquaintance {
    /// Never seen at this URL before this look; there was nobody to differ from.
    First,
    /// Seen at earlier looks, but not at two trusted ones at least ten minutes apart, so not yet trusted.
    Seen,
    /// Seen at two trusted looks at least ten minutes apart.
    Established,
    /// As [`Relation::New`].
    New,
    /// As [`Relation::Changed`].
    Changed,
}

impl Acquaintance {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Seen => "seen",
            Self::Established => "established",
            Self::New => "new",
            Self::Changed => "changed",
        }
    }
}

/// How well the recipient of `offer` is known, and at how many earlier looks it was named; none for an offer that no
/// client could pay, because history keeps no such recipient. `trail` ends before this look, `standing` includes it when
/// it counted.
pub fn acquaintance(
    standing: &Standing,
    trail: &Trail,
    reading: &Reading,
    offer: &Offer,
) -> Option<(Acquaintance, u64)> {
    kept(offer).then_some(())?;
    let wanted = pay_to(offer);
    let looks = trail.looks(&wanted);
    let established = || standing.all_payees().any(|it| it.role == Role::Established && it.pay_to == wanted);
    let known = match relation(standing, reading, offer) {
        Relation::New => Acquaintance::New,
        Relation::Changed => Acquaintance::Changed,
        Relation::Known if established() => Acquaintance::Established,
        Relation::Known if looks == 0 => Acquaintance::First,
        Relation::Known => Acquaintance::Seen,
    };
    Some((known, looks))
}

/// Findings `history.*` about `reading`. `trail` ends before this look, `after` includes it when it
/// counted; `accepts` is the buyer's word that a changed recipient is fine.
pub fn examine(reading: &Reading, look: &Observed, trail: &Trail, after: &Standing, accepts: bool) -> Vec<Finding> {
    let past = Past { reading, look, trail, after, accepts };
    let payable = reading.offers.iter().filter(|offer| offer.word != Word::NotPayable);
    let mut findings: Vec<Finding> = payable.clone().filter_map(|offer| past.payee(offer)).collect();
    if trail.precedes(look) {
        findings.extend(payable.filter_map(|offer| past.price(offer)));
        findings.extend(past.schema());
    }
    findings
}

/// Where the recipient of `offer` stands, among the other offers of the same challenge.
pub fn relation(standing: &Standing, reading: &Reading, offer: &Offer) -> Relation {
    match own_relation(standing, offer) {
        Some(relation) => relation,
        // Whoever took the place of recipients that are gone is a change, on whichever network.
        None => {
            let known = |other: &Offer| own_relation(standing, other) == Some(Relation::Known);
            // An offer that nobody can choose keeps no recipient known: it may stand there for that alone.
            let kept = reading.offers.iter().filter(|other| other.word.is_complete()).any(known);
            if kept { Relation::New } else { Relation::Changed }
        }
    }
}

/// The relation as far as the offer alone decides it; none where nothing was recorded for its place.
fn own_relation(standing: &Standing, offer: &Offer) -> Option<Relation> {
    let wanted = pay_to(offer);
    let here = offer.network.as_ref().map_or(&[][..], |network| standing.payees(network.as_str(), &offer.asset));
    let elsewhere =
        || standing.all_payees().any(|payee| payee.stands() && payee.pay_to == wanted && payee.role != Role::Joined);
    match here.iter().find(|payee| payee.pay_to == wanted).map(|payee| payee.role) {
        Some(Role::First | Role::Established) => Some(Relation::Known),
        Some(Role::Joined) => Some(if elsewhere() { Relation::Known } else { Relation::New }),
        Some(Role::Pending) => Some(Relation::Changed),
        None if standing.all_payees().next().is_none() => Some(Relation::Known),
        None if here.is_empty() => elsewhere().then_some(Relation::Known),
        None => Some(Relation::Changed),
    }
}

struct Past<'a> {
    reading: &'a Reading,
    look: &'a Observed,
    trail: &'a Trail,
    after: &'a Standing,
    accepts: bool,
}

impl Past<'_> {
    fn payee(&self, offer: &Offer) -> Option<Finding> {
        let subject = format!("{}.payTo", offer.subject);
        let found = |rule, expected| Some(finding(rule, subject, &offer.pay_to, expected));
        let known = self.known(offer);
        match relation(self.after, self.reading, offer) {
            Relation::Known if self.alternates(offer) => found(self.turns(), None),
            Relation::Known => None,
            Relation::New => found("history.payee_new", None),
            Relation::Changed => match self.copied(offer) {
                Some(copied) => found("history.payee_near_copy", Some(copied)),
                None => found(self.change(offer), known),
            },
        }
    }

    /// Whether another recipient stood in the offer's place minutes ago.
    fn alternates(&self, offer: &Offer) -> bool {
        let place = self.key(offer).filter(|_| self.trail.precedes(self.look));
        place.is_some_and(|place| self.trail.alternates(&place, &pay_to(offer), self.look))
    }

    fn turns(&self) -> &'static str {
        if self.accepts { "history.payee_accepted" } else { "history.payee_unstable" }
    }

    /// Which rule a change is filed under; a buyer who accepts changes is warned and no more.
    fn change(&self, offer: &Offer) -> &'static str {
        let unstable = self.key(offer).is_some_and(|place| {
            self.trail.precedes(self.look)
                && self.trail.turnover(&place, &pay_to(offer), self.look.at) == Turnover::Unstable
        });
        let established = self.after.all_payees().any(|payee| payee.role == Role::Established);
        match () {
            () if self.accepts => "history.payee_accepted",
            () if established => "history.payee_swapped",
            () if unstable => "history.payee_unstable",
            () => "history.payee_changed",
        }
    }

    /// The recipient known in the offer's place, or else anywhere.
    fn known(&self, offer: &Offer) -> Option<&str> {
        let here = offer.network.as_ref().map_or(&[][..], |network| self.after.payees(network.as_str(), &offer.asset));
        let mut known = here.iter().chain(self.after.all_payees()).filter(|payee| payee.stands());
        known.next().map(|payee| payee.pay_to.as_str())
    }

    /// A known recipient that begins and ends as this one does.
    fn copied(&self, offer: &Offer) -> Option<&str> {
        let wanted = pay_to(offer);
        let mut known = self.after.all_payees().filter(|payee| payee.stands());
        known.find(|payee| alike(&payee.pay_to, &wanted)).map(|payee| payee.pay_to.as_str())
    }

    /// The cheapest offer of a place stands for it.
    fn price(&self, offer: &Offer) -> Option<Finding> {
        let (place, amount) = (self.key(offer)?, offer.amount.as_ref()?);
        if lowest(self.look).get(&place) != Some(amount) {
            return None;
        }
        let (rule, before) = match self.trail.drift(&place, amount, self.look.at)? {
            Drift::Unstable(before) => ("history.price_unstable", before),
            Drift::Walk(before) => ("history.price_walk", before),
            Drift::Raised(before) => ("history.price_raised", before),
        };
        let subject = format!("{}.amount", offer.subject);
        Some(finding(rule, subject, &amount.to_string(), Some(&before.to_string())))
    }

    fn schema(&self) -> Option<Finding> {
        let schema = self.look.schema_sha256.as_deref()?;
        let before = self.trail.other_schema(schema)?;
        Some(finding("history.schema_changed", "schema", schema, Some(before)))
    }

    fn key(&self, offer: &Offer) -> Option<(String, String)> {
        Some(place(offer.network.as_ref()?.as_str(), &offer.asset))
    }
}

#[cfg(test)]
mod tests;
