//! Keys that a seller publishes: where to look for them, and what is found there.
//!
//! Only places under the asked site's own control are named: a key that another domain publishes would
//! show no more than a key that came with the offer. Whoever answers for the domain answers here too, so
//! a published key shows that the site signs, and adds no name to it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::{ResponseState, Signer, State};
use crate::endpoint::ResourceUrl;
use crate::json::{self, Doc, Limits, Node, Profile};
use crate::offer::{Reading, resource};
use crate::sign::stranger::PublicKey;

/// Most look-ups for one answer.
const MOST: usize = 2;
/// Most keys taken from one place.
const MOST_KEYS: usize = 32;

/// A key that was found where its seller publishes keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownKey {
    /// What `kid` or `keyid` must say.
    pub name: String,
    /// What it is good for.
    pub place: KeyPlace,
    /// The key.
    pub key: PublicKey,
}

/// Where a key was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// A did:web document, for signed offers.
    DidWeb,
    /// `/.well-known/http-message-signatures-directory`, for signed answers.
    Directory,
}

/// A document to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookUp {
    /// What it is.
    pub place: KeyPlace,
    /// The DID whose document it must be; empty for a directory.
    pub did: String,
    /// Where it stands.
    pub url: ResourceUrl,
}

/// What would have to be fetched to verify more of `reading`, an answer of `asked`.
pub fn look_ups(reading: &Reading, asked: &ResourceUrl) -> Vec<LookUp> {
    let offers = reading.signatures.offers.iter().filter(|signed| signed.state == State::KeyNotResolved);
    let mut all: Vec<LookUp> = offers
        .filter_map(|signed| match &signed.signer {
            Signer::Kid(kid) => did_web(kid, asked),
            Signer::Unknown | Signer::Address(_) => None,
        })
        .collect();
    all.dedup();
    if reading.signatures.response.iter().any(|signed| signed.state == ResponseState::KeyNotResolved) {
        let url = format!("{}/.well-known/http-message-signatures-directory", asked.origin());
        let url = ResourceUrl::parse(&url).ok();
        all.extend(url.map(|url| LookUp { place: KeyPlace::Directory, did: String::new(), url }));
    }
    all.truncate(MOST);
    all
}

/// The document of a did:web DID under the asked site: colons separate path segments, and only the port's
/// colon is escaped (did:web method, section 2.5.2).
fn did_web(kid: &str, asked: &ResourceUrl) -> Option<LookUp> {
    let did = kid.split(['#', '?', '/']).next()?;
    let mut parts = did.strip_prefix("did:web:")?.split(':');
    let host = parts.next()?.replace("%3A", ":").replace("%3a", ":");
    let path: Vec<&str> = parts.collect();
    let path = if path.is_empty() { ".well-known".to_owned() } else { path.join("/") };
    let url = ResourceUrl::parse(&format!("https://{host}/{path}/did.json")).ok()?;
    let same = resource::site(url.host()) == resource::site(asked.host());
    same.then(|| LookUp { place: KeyPlace::DidWeb, did: did.to_owned(), url })
}

/// The keys in a fetched document; nothing of one that is not what was asked for.
pub fn read_keys(look_up: &LookUp, bytes: &[u8]) -> Vec<KnownKey> {
    let Ok(doc) = json::parse(bytes, Profile::Rfc8785, &Limits::default()) else { return Vec::new() };
    let named = match look_up.place {
        KeyPlace::DidWeb => methods(&doc, &look_up.did),
        KeyPlace::Directory => directory(&doc),
    };
    let known = |(name, key)| KnownKey { name, place: look_up.place, key };
    named.into_iter().take(MOST_KEYS).map(known).collect()
}

/// `verificationMethod` of a DID document, under its absolute names.
fn methods(doc: &Doc<'_>, did: &str) -> Vec<(String, PublicKey)> {
    let root = doc.root();
    if root.get("id").and_then(Node::as_str).is_none_or(|id| id != did) {
        return Vec::new();
    }
    let one = |method: Node<'_>| {
        let id = method.get("id").and_then(Node::as_str)?;
        let id = if id.starts_with('#') { format!("{did}{id}") } else { id.into_owned() };
        let by_jwk = method.get("publicKeyJwk").map(PublicKey::from_jwk);
        let multibase = || method.get("publicKeyMultibase").and_then(Node::as_str);
        let key = by_jwk.or_else(|| multibase().map(|text| PublicKey::from_did(&format!("did:key:{text}"))))?;
        Some((id, key.ok()?))
    };
    root.get("verificationMethod").into_iter().flat_map(Node::items).filter_map(one).collect()
}

/// A JWK Set, each key under its `kid` and under its thumbprint (RFC 7638), which is what the directory
/// draft has `keyid` say.
fn directory(doc: &Doc<'_>) -> Vec<(String, PublicKey)> {
    let keys = doc.root().get("keys").into_iter().flat_map(Node::items);
    let named = keys.filter_map(|jwk| {
        let key = PublicKey::from_jwk(jwk).ok()?;
        let kid = jwk.get("kid").and_then(Node::as_str).map(|kid| kid.into_owned());
        Some(kid.into_iter().chain(thumbprint(jwk)).map(move |name| (name, key.clone())))
    });
    named.flatten().collect()
}

fn thumbprint(jwk: Node<'_>) -> Option<String> {
    let member = |name: &str| Some(format!("\"{name}\":\"{}\"", jwk.get(name)?.as_str()?));
    let names: &[&str] = if jwk.get("y").is_some() { &["crv", "kty", "x", "y"] } else { &["crv", "kty", "x"] };
    let members = names.iter().map(|name| member(name)).collect::<Option<Vec<String>>>()?;
    Some(URL_SAFE_NO_PAD.encode(Sha256::digest(format!("{{{}}}", members.join(",")))))
}

/// The published key of this name and place.
pub(super) fn find<'k>(keys: &'k [KnownKey], place: KeyPlace, name: &str) -> Option<&'k PublicKey> {
    keys.iter().find(|known| known.place == place && known.name == name).map(|known| &known.key)
}

#[cfg(test)]
mod tests;
