//! `Content-Digest` (RFC 9530) against the body that came with it.

use sha2::{Digest as _, Sha256, Sha512};

use super::base;
use super::field::{self, Bare, Member};

/// What a `Content-Digest` header came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digested {
    /// There is none.
    Absent,
    /// Every digest we know is the body's.
    Same,
    /// A digest is of other bytes.
    Differs,
    /// Unreadable, or of no algorithm that is still in use (sha-256, sha-512).
    NotReadable,
}

/// Compares the header with `body`, which must be whole and as it was sent.
pub fn content_digest(headers: &[(String, Vec<u8>)], body: &[u8]) -> Digested {
    let value = match base::field(headers, "content-digest") {
        Ok(None) => return Digested::Absent,
        Ok(Some(value)) => value,
        Err(base::NotAscii) => return Digested::NotReadable,
    };
    let Some(members) = field::dictionary(&value) else { return Digested::NotReadable };
    let known: Vec<bool> = members.iter().filter_map(|(algorithm, member)| compared(algorithm, member, body)).collect();
    match known.iter().all(|same| *same) {
        _ if known.is_empty() => Digested::NotReadable,
        true => Digested::Same,
        false => Digested::Differs,
    }
}

/// Whether one digest is the body's; none for algorithms that are not known here.
fn compared(algorithm: &str, member: &Member, body: &[u8]) -> Option<bool> {
    let ours = match algorithm {
        "sha-256" => Sha256::digest(body).to_vec(),
        "sha-512" => Sha512::digest(body).to_vec(),
        _ => return None,
    };
    Some(matches!(member, Member::Item(Bare::Bytes(theirs), _) if *theirs == ours))
}
