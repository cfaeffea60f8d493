//! `countersign verify`: offline, from the file, trusted keys and a trust policy alone.
//!
//! One command for four kinds of file, because a person who was handed a file does not know which it is.

mod answer;
mod decision;
mod key;
mod receipt;

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::json::{Limits, Profile, parse};
use countersign_core::sign::{Purpose, VerifyingKey};
use countersign_core::time::Timestamp;
use countersign_engine::receipt::{Demands, SCHEMA};
use countersign_engine::validity::Validities;
use countersign_tlog::policy::{Policy, PostQuantum};
use serde_json::json;

use crate::Exit;
use crate::app::{self, Failure};
use crate::args::{Global, VerifyArgs};
use crate::settings::Settings;
use crate::show;

/// No signed document or receipt of ours comes near this size.
const LARGEST: u64 = 3 << 20;

/// What a file turned out to be.
enum Kind {
    /// A receipt: a leaf, its proof and a checkpoint.
    Receipt,
    /// A signed note: a checkpoint.
    Note,
    /// An answer: a signed document with what nobody signed beside it.
    Answer,
    /// Any other JSON is judged as a signed document.
    Document,
    /// No JSON that a strict reader accepts.
    Broken,
}

/// What the reader brought.
struct Reader<'a> {
    global: &'a Global,
    args: &'a VerifyArgs,
    keys: Vec<VerifyingKey>,
    /// When those keys signed, as far as is known.
    validities: Validities,
    now: Timestamp,
}

pub(crate) fn run(settings: &Settings, global: &Global, args: &VerifyArgs) -> anyhow::Result<Exit> {
    let bytes = read(&args.file)?;
    let (keys, validities) = trusted(settings, &args.keys)?;
    let mut reader = Reader { global, args, keys, validities, now: instant(args)? };
    if let Err(exit) = key::read_receipts(settings, &mut reader)? {
        return Ok(exit);
    }
    match recognise(&bytes) {
        Kind::Answer => answer::run(settings, &reader, &bytes),
        Kind::Document if args.demands_a_log() => Ok(no_receipt(global)),
        Kind::Document | Kind::Broken => Ok(decision::run(&reader, &bytes)),
        Kind::Receipt => receipt::run(&reader, &bytes, &policy(settings, args)?),
        Kind::Note => receipt::run_note(&reader, &bytes, &policy(settings, args)?),
    }
}

/// By what no other kind has: the schema of a receipt, or signature lines below a blank line.
fn recognise(bytes: &[u8]) -> Kind {
    if std::str::from_utf8(bytes).is_ok_and(|text| text.contains("\n\n\u{2014} ")) {
        return Kind::Note;
    }
    let limits = Limits { string: 2 << 20, size: LARGEST as usize, ..Limits::default() };
    match parse(bytes, Profile::Rfc8785, &limits) {
        Err(_) => Kind::Broken,
        Ok(doc) => match doc.root().get("schema").and_then(|node| node.as_str()) {
            Some(schema) if schema == SCHEMA => Kind::Receipt,
            _ if doc.root().get("pq_trust").is_some() => Kind::Answer,
            _ => Kind::Document,
        },
    }
}

impl Reader<'_> {
    fn demands<'p>(&self, policy: &'p Policy) -> anyhow::Result<Demands<'p>> {
        let pq = if self.args.require_pq { PostQuantum::Required } else { PostQuantum::Optional };
        let max_age_ms = self.args.max_age.as_deref().map(app::age_ms).transpose()?;
        Ok(Demands { policy, pq, max_age_ms, now: self.now })
    }
}

/// A bare document cannot meet a demand that only a log can meet.
fn no_receipt(global: &Global) -> Exit {
    let reason = "the file is a signed document without a receipt, so nothing shows that it is in a log";
    refused(global, "trust_policy_not_met", "no_receipt", reason, Some("ask for its receipt, or leave out --trust"));
    Exit::Trust
}

/// A document from the future is refused whatever else holds: the clock that signed it, or the reader's, is wrong.
fn not_yet(global: &Global, issued_at: Timestamp) {
    let reason = format!("the document is dated {issued_at}, which is still to come");
    refused(global, "refused", "not_yet_valid", &reason, Some("look at the clock, or at the instant in --at"));
}

fn refused(global: &Global, result: &str, code: &str, reason: &str, hint: Option<&str>) {
    if global.json {
        return show::json(&json!({"result": result, "code": code, "reason": reason, "hint": hint}));
    }
    show::line(&format!("{}: {reason}", result.replace('_', " ")));
    if let Some(hint) = hint {
        show::note(global, &format!("hint: {hint}"));
    }
}

pub(super) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let io = |error: std::io::Error| Failure::malformed(format!("cannot read {}: {error}", path.display()));
    if std::fs::metadata(path).map_err(io)?.len() > LARGEST {
        return Err(Failure::malformed(format!("{} is larger than any signed document", path.display())).into());
    }
    Ok(std::fs::read(path).map_err(io)?)
}

fn instant(args: &VerifyArgs) -> anyhow::Result<Timestamp> {
    match &args.at {
        None => Ok(app::now()),
        Some(text) => Timestamp::parse(text).map_err(|error| Failure::usage(format!("--at: {error}")).into()),
    }
}

/// The trust policy of the data directory's own log.
fn own_trust(settings: &Settings) -> PathBuf {
    settings.data.0.join("log").join("trust")
}

fn policy(settings: &Settings, args: &VerifyArgs) -> anyhow::Result<Policy> {
    let path = args.trust.clone().unwrap_or_else(|| own_trust(settings));
    let bytes = std::fs::read(&path).map_err(|error| {
        let hint = "name the trust policy of the log with --trust";
        Failure::usage(format!("cannot read the trust policy {}: {error}; {hint}", path.display()))
    })?;
    Policy::parse(&bytes)
        .map_err(|error| Failure::malformed(format!("{} is no trust policy: {error}", path.display())).into())
}

/// The keys that count. Of those in the data directory it is known when they signed.
fn trusted(settings: &Settings, given: &[String]) -> anyhow::Result<(Vec<VerifyingKey>, Validities)> {
    if given.is_empty() {
        let keys = app::keys(&settings.data.0)?;
        return Ok((keys.verifying(Purpose::Decision), Validities::of(&keys)));
    }
    let read = |text: &String| public(text).map_err(|why| Failure::usage(format!("--key {text}: {why}")).into());
    Ok((given.iter().map(read).collect::<anyhow::Result<_>>()?, Validities::default()))
}

fn public(text: &str) -> Result<VerifyingKey, String> {
    let bytes = STANDARD.decode(text).map_err(|error| error.to_string())?;
    let bytes: [u8; 32] = bytes.try_into().map_err(|_| "a public key has 32 bytes".to_owned())?;
    VerifyingKey::from_bytes(&bytes).map_err(|error| error.to_string())
}
