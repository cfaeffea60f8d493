//! What a seller signed: offers, by the offer-receipt extension of a challenge (version 0.6 of its
//! specification), and the answer as a whole ([`SignedResponse`]).
//!
//! Three questions are kept apart. Does the signature hold? Do the signed terms say what the challenge
//! says? Whose key is it? The third has no answer inside a challenge: whoever can change the terms can
//! sign their own. A signature of payTo's own key shows that the one to be paid stated these terms, any
//! other key shows nothing but itself, and neither is taken for the seller's identity.

mod artifact;
mod compare;
mod eip712;
mod jws;
mod keys;
mod response;

#[cfg(test)]
mod tests;

use serde::Serialize;

use artifact::{Artifact, Malformed};
pub use artifact::{Format, Terms};
pub use eip712::digest as eip712_digest;
use jws::Jws;
pub use keys::{KeyPlace, KnownKey, LookUp, look_ups, read_keys};
pub use response::{ResponseState, SignedResponse};

use super::rules::finding;
use super::{Exchange, Offer, Reading, ReadingKind, Source, clean};
use crate::address;
use crate::finding::Finding;
use crate::json::Node;
use crate::network::Family;
use crate::sign::stranger::{PublicKey, recover_address};
use crate::time::Timestamp;

/// Most signed offers that are verified; each costs a fraction of a millisecond.
const MOST: usize = 32;

/// What became of one signed offer.
#[derive(Clone, Debug, Serialize)]
pub struct SignedOffer {
    /// Its place in `info.offers`.
    pub place: usize,
    /// The channel whose terms it speaks of.
    pub source: Source,
    /// How it is signed; none when it does not say.
    pub format: Option<Format>,
    /// The outcome.
    pub state: State,
    /// A stable word for what stood in the way, or for the member that differs.
    pub why: Option<&'static str>,
    /// Who signed, as far as the signature itself tells.
    pub signer: Signer,
    /// The entry of `accepts` it speaks of: the one it agrees with, else the one it comes nearest to.
    pub accepts_index: Option<usize>,
    /// When the terms end, seconds since the Unix epoch.
    pub valid_until: Option<u64>,
}

/// Outcomes, each with a rule of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It holds, agrees with the challenge, and payTo's own key signed it.
    Valid,
    /// It holds, agrees with the challenge, and the asked site publishes the key that signed it.
    Published,
    /// It holds and agrees, but nothing in the challenge ties its key to the seller or to payTo.
    Unproven,
    /// The signed terms are not those of the challenge.
    Differs,
    /// The signed terms have ended.
    Expired,
    /// The signature does not hold.
    Invalid,
    /// The key would have to be looked up elsewhere.
    KeyNotResolved,
    /// Not what the specification calls a signed offer.
    Malformed,
}

/// Who signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Signer {
    /// Nothing could be read.
    Unknown,
    /// An address recovered from the signature, in lower case.
    Address(String),
    /// A key named by `kid`, cleaned.
    Kid(String),
}

impl State {
    fn rule(self) -> &'static str {
        match self {
            Self::Valid => "signature.offer.valid",
            Self::Published => "signature.offer.published",
            Self::Unproven => "signature.offer.unproven",
            Self::Differs => "signature.offer.differs",
            Self::Expired => "signature.offer.expired",
            Self::Invalid => "signature.offer.invalid",
            Self::KeyNotResolved => "signature.offer.key_not_resolved",
            Self::Malformed => "signature.offer.form",
        }
    }
}

/// One of the places that state terms.
pub(super) struct Channel {
    /// Which it is.
    pub(super) source: Source,
    /// What its findings' subjects begin with.
    pub(super) prefix: &'static str,
    /// Where its offers begin in the reading.
    pub(super) first: usize,
}

/// Verifies every signed offer of one channel against that channel's own entries.
pub(super) fn offers(exchange: &Exchange<'_>, root: Node<'_>, channel: &Channel, reading: &mut Reading) {
    let info = root.get("extensions").and_then(|all| all.get("offer-receipt")?.get("info"));
    let nodes: Vec<Node<'_>> = info.and_then(|info| info.get("offers")).into_iter().flat_map(Node::items).collect();
    if nodes.len() > MOST {
        let (subject, seen) = (format!("{}extensions.offer-receipt", channel.prefix), nodes.len());
        let seen = format!("{seen} signed offers, {MOST} read");
        reading.findings.push(finding("signature.offer.form", subject, &seen, None));
    }
    let look = Look { exchange, root, source: channel.source, offers: &reading.offers[channel.first..] };
    let nodes = nodes.into_iter().take(MOST).enumerate();
    let signed: Vec<SignedOffer> = nodes.map(|(place, node)| look.judge(place, node)).collect();
    reading.findings.extend(signed.iter().map(|one| told(one, channel)));
    let uncovered = uncovered(&signed, channel, &reading.offers[channel.first..]);
    reading.findings.extend(uncovered);
    reading.signatures.offers.extend(signed);
}

/// Verifies what signs the answer as a whole, and says it when nothing at all is signed.
pub(super) fn answer(exchange: &Exchange<'_>, reading: &mut Reading) {
    if reading.kind != ReadingKind::Challenge {
        return;
    }
    let source = reading.offers.first().map_or(Source::Body, |offer| offer.source);
    response::examine(exchange, source, reading);
    if reading.signatures.offers.is_empty() && reading.signatures.response.is_empty() {
        reading.findings.push(finding("signature.absent", "challenge", "no signature", None));
    }
}

fn told(signed: &SignedOffer, channel: &Channel) -> Finding {
    let subject = match signed.accepts_index {
        Some(index) => format!("{}accepts[{index}].signature", channel.prefix),
        None => format!("{}extensions.offer-receipt.info.offers[{}]", channel.prefix, signed.place),
    };
    let signer = match &signed.signer {
        Signer::Unknown => String::new(),
        Signer::Address(text) | Signer::Kid(text) => format!("signed by {text}"),
    };
    let colon = if signer.is_empty() || signed.why.is_none() { "" } else { ": " };
    let seen = format!("{signer}{colon}{}", signed.why.unwrap_or_default());
    finding(signed.state.rule(), subject, &seen, None)
}

/// Where some offers are signed, an unsigned one beside them is worth a word: adding an entry is easier
/// than changing a signed one.
fn uncovered(signed: &[SignedOffer], channel: &Channel, offers: &[Offer]) -> Vec<Finding> {
    let covered: Vec<usize> = signed.iter().filter_map(|signed| signed.accepts_index).collect();
    let bare = offers.iter().filter(|offer| !covered.is_empty() && !covered.contains(&offer.index));
    let subject = |offer: &Offer| format!("{}accepts[{}].signature", channel.prefix, offer.index);
    bare.map(|offer| finding("signature.offer.uncovered", subject(offer), "absent", None)).collect()
}

/// What a signature came to before the terms are compared.
struct Verified {
    payload: Terms,
    signer: Signer,
    state: State,
    why: Option<&'static str>,
}

struct Look<'a> {
    exchange: &'a Exchange<'a>,
    root: Node<'a>,
    source: Source,
    offers: &'a [Offer],
}

impl Look<'_> {
    fn judge(&self, place: usize, node: Node<'_>) -> SignedOffer {
        let blank = self.blank(place);
        let artifact = match Artifact::read(node) {
            Ok(artifact) => artifact,
            Err(malformed) => return SignedOffer { why: Some(malformed.0), ..blank },
        };
        let blank =
            SignedOffer { format: Some(artifact.format), accepts_index: self.in_range(artifact.accept_index), ..blank };
        match verify(&artifact, self.exchange.keys) {
            Ok(verified) => self.compared(verified, blank),
            Err(malformed) => SignedOffer { why: Some(malformed.0), ..blank },
        }
    }

    /// What is said of an offer before anything of it was understood.
    fn blank(&self, place: usize) -> SignedOffer {
        SignedOffer {
            place,
            source: self.source,
            format: None,
            state: State::Malformed,
            why: None,
            signer: Signer::Unknown,
            accepts_index: None,
            valid_until: None,
        }
    }

    fn in_range(&self, index: Option<u64>) -> Option<usize> {
        let index = usize::try_from(index?).ok()?;
        self.offers.iter().any(|offer| offer.index == index).then_some(index)
    }

    /// A contradiction is told even where the key is not known: the challenge then contradicts itself.
    fn compared(&self, verified: Verified, blank: SignedOffer) -> SignedOffer {
        let Verified { payload, signer, mut state, mut why } = verified;
        let found = compare::nearest(&payload, self.offers, blank.accepts_index);
        let differs = found.differs.or_else(|| compare::resource(&payload, self.exchange.url, self.root));
        let ended = payload.valid_until.is_some_and(|until| ended(until, self.exchange.seen_at));
        if state != State::Invalid && differs.is_some() {
            (state, why) = (State::Differs, differs);
        } else if state != State::Invalid && ended {
            (state, why) = (State::Expired, Some("validUntil"));
        }
        SignedOffer { state, why, signer, accepts_index: found.index, valid_until: payload.valid_until, ..blank }
    }
}

/// The last second still counts (section 4.6: expired when now > validUntil).
fn ended(until: u64, now: Timestamp) -> bool {
    i64::try_from(until).is_ok_and(|until| now.seconds() > until)
}

fn verify(artifact: &Artifact<'_>, keys: &[KnownKey]) -> Result<Verified, Malformed> {
    match artifact.payload {
        Some(payload) => by_address(Terms::read(payload)?, &artifact.signature),
        None => by_key(&Jws::parse(&artifact.signature)?, keys),
    }
}

/// EIP-712: the signer is whoever the signature recovers to.
fn by_address(payload: Terms, signature: &str) -> Result<Verified, Malformed> {
    let digits = signature.strip_prefix("0x").ok_or(Malformed("signature"))?;
    let bytes = hex::decode(digits).map_err(|_| Malformed("signature"))?;
    let address = match recover_address(&eip712::digest(&payload), &bytes) {
        Ok(address) => format!("0x{}", hex::encode(address)),
        Err(error) => {
            return Ok(Verified { payload, signer: Signer::Unknown, state: State::Invalid, why: Some(error.code()) });
        }
    };
    let is_pay_to = address::check(Family::Evm, &payload.pay_to).is_ok_and(|paid| paid.normal == address);
    let (state, why) = if is_pay_to { (State::Valid, None) } else { (State::Unproven, Some("signer_is_not_pay_to")) };
    Ok(Verified { payload, signer: Signer::Address(address), state, why })
}

/// JWS: the key was fetched, is contained in its own name, comes along, or would have to be fetched.
fn by_key(jws: &Jws, keys: &[KnownKey]) -> Result<Verified, Malformed> {
    let payload = Terms::read(jws.payload()?.root())?;
    let published = keys::find(keys, KeyPlace::DidWeb, &jws.kid).cloned();
    let by_site = published.is_some();
    let named = published.or_else(|| PublicKey::from_did(&jws.kid).ok());
    let (state, why) = match (&jws.jwk, &named) {
        (Some(brought), Some(named)) if brought != named => (State::Invalid, Some("jwk_is_not_kid")),
        (None, None) => (State::KeyNotResolved, Some("kid_needs_a_look_up")),
        (Some(key), _) | (None, Some(key)) if key.algorithm() != jws.algorithm => {
            (State::Invalid, Some("alg_is_not_the_keys"))
        }
        (Some(key), _) | (None, Some(key)) if !key.verifies(&jws.signed, &jws.signature) => {
            (State::Invalid, Some("signature_does_not_hold"))
        }
        (Some(_), None) => (State::Unproven, Some("key_came_with_the_offer")),
        (_, Some(_)) if by_site => (State::Published, None),
        (_, Some(_)) => (State::Unproven, Some("key_names_only_itself")),
    };
    Ok(Verified { payload, signer: Signer::Kid(clean::shown(&jws.kid)), state, why })
}
