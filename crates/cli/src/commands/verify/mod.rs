//! `countersign verify`: offline, from the file, trusted keys and a trust policy alone.
//!
//! One command for five kinds of file, because a person who was handed a file does not know which it is. One rule for
//! all of them: what the reader names is a demand and must hold; a file of which neither what was named nor what the
//! data directory knows can say who made it is not evaluated, and that is no yes.

mod answer;
mod decision;
mod key;
mod proof;
mod receipt;

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::json::{Limits, Profile, parse};
use countersign_core::sign::{self, OpenError, Purpose, VerifyingKey};
use countersign_core::time::Timestamp;
use countersign_engine::log::Place;
use countersign_engine::receipt::{Demands, Receipt, Refusal};
use countersign_engine::validity::Validities;
use countersign_tlog::note::Note;
use countersign_tlog::policy::{Policy, PostQuantum, RejectError};
use countersign_tlog::proof::TlogProof;
use serde_json::json;

use crate::Exit;
use crate::app::{self, Failure};
use crate::args::{Global, VerifyArgs};
use crate::codes;
use crate::input;
use crate::settings::Settings;
use crate::show;
use receipt::Renewal;

/// No signed document or receipt of ours comes near this size.
const LARGEST: u64 = 3 << 20;

/// How the schema of every receipt begins, whatever its version.
const RECEIPTS: &str = "countersign/receipt/";

/// What a file turned out to be.
pub(super) enum Kind {
    /// A receipt: a leaf, its proof and a checkpoint.
    Receipt,
    /// A C2SP `.tlog-proof`: a path and a checkpoint, without what they are about.
    Proof,
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
    let kind = recognise(&bytes);
    if args.leaf.is_some() && !matches!(kind, Kind::Proof) {
        let reason = format!("--leaf goes with a .tlog-proof, and {} is none", input::named(&args.file));
        return Err(Failure::usage(reason).into());
    }
    if let Some((renewal, refusal)) = unread(&kind, &bytes) {
        return Ok(receipt::refused(&reader, renewal, &refusal));
    }
    match kind {
        Kind::Answer => answer::run(settings, &reader, &bytes),
        Kind::Document if args.demands_a_log() => Ok(without_receipt(&reader, &bytes)),
        Kind::Document | Kind::Broken => Ok(decision::run(&reader, &bytes)),
        Kind::Receipt | Kind::Proof | Kind::Note => match reader.policy(settings)? {
            Ok(policy) => of_log(&reader, &kind, &bytes, &policy),
            Err(exit) => Ok(exit),
        },
    }
}

/// Why a file of a log does not read, whatever logs are accepted.
fn unread(kind: &Kind, bytes: &[u8]) -> Option<(Renewal, Refusal)> {
    match kind {
        Kind::Receipt => Receipt::parse(bytes).err().map(|error| (Renewal::Receipt, error.into())),
        Kind::Proof => TlogProof::parse(bytes).err().map(|error| (Renewal::Proof, error.into())),
        Kind::Note => Note::parse(bytes).err().map(|error| (Renewal::Checkpoint, RejectError::from(error).into())),
        Kind::Answer | Kind::Document | Kind::Broken => None,
    }
}

fn of_log(reader: &Reader<'_>, kind: &Kind, bytes: &[u8], policy: &Policy) -> anyhow::Result<Exit> {
    match kind {
        Kind::Proof => proof::run(reader, bytes, policy),
        Kind::Note => receipt::run_note(reader, bytes, policy),
        _ => receipt::run(reader, bytes, policy),
    }
}

/// By what no other kind has: the first line of a proof, signature lines below a blank line, the schema of a receipt.
pub(super) fn recognise(bytes: &[u8]) -> Kind {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.starts_with("c2sp.org/tlog-proof@") => return Kind::Proof,
        Ok(text) if text.contains("\n\n\u{2014} ") => return Kind::Note,
        _ => {}
    }
    let limits = Limits { string: 2 << 20, size: LARGEST as usize, ..Limits::default() };
    match parse(bytes, Profile::Rfc8785, &limits) {
        Err(_) => Kind::Broken,
        Ok(doc) => match doc.root().get("schema").and_then(|node| node.as_str()) {
            // Of another version too: then it is a receipt that does not read, and no document that lacks one.
            Some(schema) if schema.starts_with(RECEIPTS) => Kind::Receipt,
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

    /// The policy that `--trust` names, or that of the reader's own log. Without either there is nothing to hold a log
    /// against, and the reader has been told so.
    fn policy(&self, settings: &Settings) -> anyhow::Result<Result<Policy, Exit>> {
        let own = Place::new(&settings.data.0).trust();
        let path = self.args.trust.as_deref().unwrap_or(&own);
        if self.args.trust.is_none() && !own.exists() {
            let reason = "no trust policy says which logs you accept, and the data directory has no log of its own";
            return Ok(Err(not_evaluated(self.global, "no_trust_policy", reason)));
        }
        input::policy(path).map(Ok)
    }

    /// Whether the reader asks for the signer by name: then another one is a no, and otherwise only not known.
    fn names_signers(&self) -> bool {
        !self.args.keys.is_empty()
    }

    /// Whether only a signed document can satisfy the reader: by whom, or that its key signed at its date.
    fn demands_a_signer(&self) -> bool {
        self.names_signers() || !self.args.key_receipts.is_empty()
    }
}

/// Nothing is said for or against a file that there is no measure for.
fn not_evaluated(global: &Global, code: &str, reason: &str) -> Exit {
    refused(global, "not_evaluated", code, reason);
    Exit::NotEvaluated
}

/// Where a log is demanded: what is no signed document either is malformed, whatever was demanded of it.
fn without_receipt(reader: &Reader<'_>, bytes: &[u8]) -> Exit {
    match sign::open(bytes, &[]) {
        Err(error @ (OpenError::Json(_) | OpenError::Member(_))) => decision::refused(reader, &error),
        Ok(_) | Err(OpenError::UnknownKey(_) | OpenError::BadSignature) => no_receipt(reader.global),
    }
}

/// A bare document cannot meet a demand that only a log can meet.
fn no_receipt(global: &Global) -> Exit {
    let reason = "the file is a signed document without a receipt, so nothing shows that it is in a log";
    refused(global, "trust_policy_not_met", "no_receipt", reason);
    Exit::Trust
}

/// Where there is no document, nobody has signed one: not the key that was named either.
fn no_document(global: &Global) -> Exit {
    let reason = "a signer is demanded, and the file holds no document that one could have signed";
    refused(global, "trust_policy_not_met", "no_document", reason);
    Exit::Trust
}

/// A document from the future is refused whatever else holds: the clock that signed it, or the reader's, is wrong.
fn not_yet(global: &Global, issued_at: Timestamp) {
    let reason = format!("the document is dated {issued_at}, which is still to come");
    refused(global, "refused", "not_yet_valid", &reason);
}

/// With the hint that belongs to the code.
fn refused(global: &Global, result: &str, code: &str, reason: &str) {
    advised(global, result, code, reason, codes::hint(code));
}

fn advised(global: &Global, result: &str, code: &str, reason: &str, hint: Option<&str>) {
    if global.json {
        return show::json(&json!({"result": result, "code": code, "reason": reason, "hint": hint}));
    }
    show::line(&format!("{}: {reason}", result.replace('_', " ")));
    if let Some(hint) = hint {
        show::note(global, &format!("hint: {hint}"));
    }
}

pub(super) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    Ok(input::read(path, LARGEST).map_err(|why| Failure::malformed(why).listed("cannot_read"))?)
}

fn instant(args: &VerifyArgs) -> anyhow::Result<Timestamp> {
    match &args.at {
        None => Ok(app::now()),
        Some(text) => Timestamp::parse(text).map_err(|error| Failure::usage(format!("--at: {error}")).into()),
    }
}

/// The keys that count. Of those in the data directory it is known when they signed.
fn trusted(settings: &Settings, given: &[String]) -> anyhow::Result<(Vec<VerifyingKey>, Validities)> {
    if given.is_empty() {
        let keys = app::keys(&settings.data.0)?;
        return Ok((keys.verifying(Purpose::Decision), Validities::of(&keys)));
    }
    let read = |text: &String| {
        let wrong = || Failure::usage(format!("--key {text}: it is no usable Ed25519 public key in base64"));
        public(text).ok_or_else(|| wrong().listed("key_public_malformed").into())
    };
    Ok((given.iter().map(read).collect::<anyhow::Result<_>>()?, Validities::default()))
}

fn public(text: &str) -> Option<VerifyingKey> {
    let bytes: [u8; 32] = STANDARD.decode(text).ok()?.try_into().ok()?;
    VerifyingKey::from_bytes(&bytes).ok()
}
