//! Whether a document is dated within the time of the key that signed it.
//!
//! What a reader knows of keys comes from their own data directory, or from receipts of `key` leaves. Knowing when a key
//! signed gives no trust in it; it only takes away: a document dated outside is refused whoever's key it is. A document's
//! date is its signer's word, so this does not stop a thief of an old key from dating back. The log does: ask for the
//! receipt.

use countersign_core::sign::{KeyStatement, Purpose, Validity};
use countersign_core::time::Timestamp;

use crate::keys::Keys;

/// When keys signed decisions, as far as a reader knows.
#[derive(Clone, Debug, Default)]
pub struct Validities(Vec<(String, Validity)>);

/// What that makes of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dated {
    /// Within all that is known of the key.
    Within(Validity),
    /// Before the key was made, or after it was replaced.
    Outside(Validity),
    /// Nothing is known of the key.
    Unknown,
}

impl Validities {
    /// Those of a data directory's own decision keys.
    pub fn of(keys: &Keys) -> Self {
        let decides = keys.all().iter().filter(|file| file.purpose == Purpose::Decision);
        Self(decides.map(|file| (file.key.id().to_string(), keys.validity(file))).collect())
    }

    /// Adds what a key said of itself; one that signs no decisions is passed over.
    pub fn add(&mut self, statement: &KeyStatement) {
        if statement.purpose == Purpose::Decision {
            self.0.push((statement.key.id().to_string(), statement.validity));
        }
    }

    /// Judges a document of `key_id` that says it was issued `at`. Of several statements all must cover it, so a holder
    /// gains nothing by showing an early one beside the last.
    pub fn judge(&self, key_id: &str, at: Timestamp) -> Dated {
        let mine = || self.0.iter().filter(|(id, _)| id == key_id).map(|(_, validity)| *validity);
        match mine().find(|validity| !validity.covers(at)) {
            Some(validity) => Dated::Outside(validity),
            None => mine().max_by_key(Validity::changed).map_or(Dated::Unknown, Dated::Within),
        }
    }
}

#[cfg(test)]
mod tests;
