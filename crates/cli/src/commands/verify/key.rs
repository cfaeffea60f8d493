//! What is known of the time of a key, and what that makes of a document's date.

use std::path::Path;

use countersign_core::sign::{KeyStatement, Validity};
use countersign_core::time::Timestamp;
use countersign_engine::receipt::{Demands, Proved, RefusalKind, Unproved, verify};
use countersign_engine::validity::Dated;
use serde_json::{Value, json};

use super::{Reader, receipt};
use crate::Exit;
use crate::app::Failure;
use crate::input;
use crate::settings::Settings;

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
        let proved = match read(reader, path, &demands)? {
            Ok(proved) => proved,
            Err(exit) => return Ok(Err(exit)),
        };
        let not_of_a_key = || {
            Failure::usage(format!("--key-receipt {}: it is the receipt of something else", path.display()))
                .listed("not_a_key_receipt")
        };
        reader.validities.add(&proved.key.ok_or_else(not_of_a_key)?);
    }
    Ok(Ok(()))
}

/// One of them. What is no receipt at all is a wrong flag; what is a receipt is judged as one, and named, because the
/// reader named two files.
fn read(reader: &Reader<'_>, path: &Path, demands: &Demands<'_>) -> anyhow::Result<Result<Proved, Exit>> {
    let bytes = input::read(path, super::LARGEST)
        .map_err(|why| Failure::usage(format!("--key-receipt: {why}")).listed("key_receipt_unreadable"))?;
    let refusal = match verify(&bytes, demands) {
        Ok(proved) => return Ok(Ok(proved)),
        Err(refusal) => refusal,
    };
    let named = format!("--key-receipt {}: ", path.display());
    if refusal.kind() == RefusalKind::Malformed {
        return Err(Failure::usage(format!("{named}{refusal}")).listed("key_receipt_malformed").into());
    }
    Ok(Err(receipt::refused_in(reader, &named, receipt::Renewal::Receipt, &refusal)))
}

impl Reader<'_> {
    /// Refuses a document of this key and date, as `word`, where its key did not sign then, or where the reader asks for
    /// that and nothing tells. Then the reader has been told why, in a sentence that `begins` so.
    pub(super) fn judge_date(&self, word: &str, begins: &str, key: &str, at: Timestamp) -> Result<(), Exit> {
        match self.validities.judge(key, at) {
            Dated::Outside(validity) => {
                let reason = format!("{begins} dated {at} and signed by key {key}, which {}", signs(&validity));
                super::refused(self.global, word, "outside_key_validity", &reason);
                Err(Exit::No)
            }
            Dated::Unknown if !self.args.key_receipts.is_empty() => {
                let reason = format!("{begins} signed by key {key}, and no receipt in --key-receipt is of that key");
                super::refused(self.global, "trust_policy_not_met", "key_validity_unknown", &reason);
                Err(Exit::Trust)
            }
            Dated::Within(_) | Dated::Unknown => Ok(()),
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
