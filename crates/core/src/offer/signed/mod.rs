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
mod response;

#[cfg(test)]
mod tests;

use serde::Serialize;

use artifact::{Artifact, Malformed};
pub use artifact::{Format, Terms};
pub use eip712::digest as eip712_digest;
use jws::Jws;
pub use response::{ResponseState, SignedResponse};

use super::rules::finding;
use super::{Exchange, Reading, Source, clean};
use crate::address;
use crate::json::Node;
use crate::network::Family;
use crate::sign::stranger::{PublicKey, recover_address};
use crate::time::Timestamp;

/// Most signed offers that are verified; each costs a fraction of a millisecond.
const MOST: usize = 64;

/// What became of one signed offer.
#[derive(Clone, Debug, Serialize)]
pub struct SignedOffer {
    /// Its place in `info.offers`.
    pub place: usize,
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
            Self::Unproven => "signature.offer.unproven",
            Self::Differs => "signature.offer.differs",
            Self::Expired => "signature.offer.expired",
            Self::Invalid => "signature.offer.invalid",
            Self::KeyNotResolved => "signature.offer.key_not_resolved",
            Self::Malformed => "signature.offer.form",
        }
    }
}

/// Verifies every signed offer of a challenge and says what came of it, absence included.
pub(super) fn examine(exchange: &Exchange<'_>, root: Node<'_>, source: Source, reading: &mut Reading) {
    response::examine(exchange, source, reading);
    let info = root.get("extensions").and_then(|all| all.get("offer-receipt")?.get("info"));
    let offers: Vec<Node<'_>> = info.and_then(|info| info.get("offers")).into_iter().flat_map(Node::items).collect();
    if offers.len() > MOST {
        let seen = format!("{} signed offers, {MOST} read", offers.len());
        reading.findings.push(finding("signature.offer.form", "extensions.offer-receipt", &seen, None));
    }
    for (place, node) in offers.into_iter().take(MOST).enumerate() {
        let signed = Look { exchange, root, reading, place }.judge(node);
        report(signed, reading);
    }
    uncovered(reading);
    if reading.signatures.offers.is_empty() && reading.signatures.response.is_empty() {
        reading.findings.push(finding("signature.absent", "challenge", "no signature", None));
    }
}

fn report(signed: SignedOffer, reading: &mut Reading) {
    let subject = match signed.accepts_index {
        Some(index) => format!("accepts[{index}].signature"),
        None => format!("extensions.offer-receipt.info.offers[{}]", signed.place),
    };
    let signer = match &signed.signer {
        Signer::Unknown => String::new(),
        Signer::Address(text) | Signer::Kid(text) => format!("signed by {text}"),
    };
    let colon = if signer.is_empty() || signed.why.is_none() { "" } else { ": " };
    let seen = format!("{signer}{colon}{}", signed.why.unwrap_or_default());
    reading.findings.push(finding(signed.state.rule(), subject, &seen, None));
    reading.signatures.offers.push(signed);
}

/// Where some offers are signed, an unsigned one beside them is worth a word: adding an entry is easier
/// than changing a signed one.
fn uncovered(reading: &mut Reading) {
    let covered: Vec<usize> = reading.signatures.offers.iter().filter_map(|signed| signed.accepts_index).collect();
    if covered.is_empty() {
        return;
    }
    let bare = reading.offers.iter().filter(|offer| !covered.contains(&offer.index));
    let bare: Vec<String> = bare.map(|offer| format!("accepts[{}].signature", offer.index)).collect();
    reading
        .findings
        .extend(bare.into_iter().map(|subject| finding("signature.offer.uncovered", subject, "absent", None)));
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
    reading: &'a Reading,
    place: usize,
}

impl Look<'_> {
    fn judge(&self, node: Node<'_>) -> SignedOffer {
        let artifact = match Artifact::read(node) {
            Ok(artifact) => artifact,
            Err(malformed) => return self.refused(None, None, malformed),
        };
        let (format, index) = (Some(artifact.format), self.in_range(artifact.accept_index));
        match verify(&artifact) {
            Ok(verified) => self.compared(verified, format, index),
            Err(malformed) => self.refused(format, index, malformed),
        }
    }

    fn in_range(&self, index: Option<u64>) -> Option<usize> {
        let index = usize::try_from(index?).ok()?;
        self.reading.offers.iter().any(|offer| offer.index == index).then_some(index)
    }

    fn refused(&self, format: Option<Format>, accepts_index: Option<usize>, malformed: Malformed) -> SignedOffer {
        let (state, signer) = (State::Malformed, Signer::Unknown);
        SignedOffer {
            place: self.place,
            format,
            state,
            why: Some(malformed.0),
            signer,
            accepts_index,
            valid_until: None,
        }
    }

    /// A contradiction is told even where the key is not known: the challenge then contradicts itself.
    fn compared(&self, verified: Verified, format: Option<Format>, index: Option<usize>) -> SignedOffer {
        let Verified { payload, signer, mut state, mut why } = verified;
        let found = compare::nearest(&payload, &self.reading.offers, index);
        let differs = found.differs.or_else(|| compare::resource(&payload, self.exchange.url, self.root));
        let ended = payload.valid_until.is_some_and(|until| ended(until, self.exchange.seen_at));
        if state != State::Invalid && differs.is_some() {
            (state, why) = (State::Differs, differs);
        } else if state != State::Invalid && ended {
            (state, why) = (State::Expired, Some("validUntil"));
        }
        let (place, valid_until) = (self.place, payload.valid_until);
        SignedOffer { place, format, state, why, signer, accepts_index: found.index, valid_until }
    }
}

/// The last second still counts (section 4.6: expired when now > validUntil).
fn ended(until: u64, now: Timestamp) -> bool {
    i64::try_from(until).is_ok_and(|until| now.seconds() > until)
}

fn verify(artifact: &Artifact<'_>) -> Result<Verified, Malformed> {
    match artifact.payload {
        Some(payload) => by_address(Terms::read(payload)?, &artifact.signature),
        None => by_key(&Jws::parse(&artifact.signature)?),
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

/// JWS: the key comes along, is contained in its own name, or would have to be fetched.
fn by_key(jws: &Jws) -> Result<Verified, Malformed> {
    let payload = Terms::read(jws.payload()?.root())?;
    let named = PublicKey::from_did(&jws.kid).ok();
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
        (_, Some(_)) => (State::Unproven, Some("key_names_only_itself")),
    };
    Ok(Verified { payload, signer: Signer::Kid(clean::shown(&jws.kid)), state, why })
}
