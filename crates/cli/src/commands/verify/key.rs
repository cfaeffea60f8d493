//! What is known of the time of a key, and what that makes of a document's date.

use countersign_core::sign::{KeyStatement, Validity};
use countersign_core::time::Timestamp;
use countersign_engine::receipt::{Demands, Unproved, verify};
use countersign_engine::validity::Dated;
use serde_json::{Value, json};

use super::{Reader, receipt};
use crate::Exit;
use crate::settings::Settings;

/// The code of a document that its key cannot have signed in time.
pub(super) const OUTSIDE: &str = "outside_key_validity";

/// Reads `--key-receipt`. One that is refused ends the command, and the reader has been told why.
pub(super) fn read_receipts(settings: &Settings, reader: &mut Reader<'_>) -> anyhow::Result<Result<(), Exit>> {
    if reader.args.key_receipts.is_empty() {
        return Ok(Ok(()));
    }
    let policy = match reader.policy(settings)? {
        Ok(policy) => policy,
        Err(exit) => return Ok(Err(exit)),
    };
    for path in &reader.args.key_receipts {
        // A key's word does not age: `--max-age` is about the receipt of the document.
        let demands = Demands { max_age_ms: None, ..reader.demands(&policy)? };
        let proved = match verify(&super::read(path)?, &demands) {
            Ok(proved) => proved,
            Err(refusal) => return Ok(Err(receipt::refused(reader, receipt::Renewal::Receipt, &refusal))),
        };
        let Some(statement) = proved.key else {
            let reason = format!("{} is a receipt, and not one of a key", path.display());
            super::refused(reader.global, "invalid", "not_a_key_receipt", &reason, None);
            return Ok(Err(Exit::No));
        };
        reader.validities.add(&statement);
    }
    Ok(Ok(()))
}

impl Reader<'_> {
    /// Why a document of this key and date is refused, if it is.
    pub(super) fn misdated(&self, key: &str, at: Timestamp) -> Option<String> {
        match self.validities.judge(key, at) {
            Dated::Outside(validity) => Some(format!("dated {at} and signed by key {key}, which {}", signs(&validity))),
            Dated::Within(_) | Dated::Unknown => None,
        }
    }

    /// The time of this key, where it is known and covers the date.
    pub(super) fn within(&self, key: &str, at: Timestamp) -> Option<Validity> {
        match self.validities.judge(key, at) {
            Dated::Within(validity) => Some(validity),
            Dated::Outside(_) | Dated::Unknown => None,
        }
    }
}

/// What the time of a key leaves open.
pub(super) fn unproved(within: Option<Validity>) -> Option<Unproved> {
    let what = "that the signer's key was in use at that date";
    let why = "nothing is known of its time; --key-receipt takes the receipt of the key";
    within.is_none().then_some(Unproved { what, why })
}

pub(super) fn within_json(within: Option<Validity>) -> Value {
    within.map_or(Value::Null, |Validity { from, until }| json!({"from": from, "until": until}))
}

/// When a key signs, in words.
pub(super) fn signs(validity: &Validity) -> String {
    match validity.until {
        Some(until) => format!("signed from {} to {until}", validity.from),
        None => format!("signs from {} on", validity.from),
    }
}

/// What a receipt of a key comes to, in words.
pub(super) fn about(statement: &KeyStatement) -> String {
    let what = match statement.validity.until {
        Some(until) => format!("signed {}s from {} to {until}", statement.purpose.as_str(), statement.validity.from),
        None => format!("signs {}s from {} on", statement.purpose.as_str(), statement.validity.from),
    };
    format!("{} {what}", statement.key.id())
}

pub(super) fn json(statement: &KeyStatement) -> Value {
    let Validity { from, until } = statement.validity;
    json!({
        "keyId": statement.key.id().to_string(), "publicKey": statement.key.to_base64(),
        "purpose": statement.purpose.as_str(), "from": from, "until": until,
    })
}
