//! A receipt, or a signed checkpoint: what it proves to this reader, and what it leaves open.

use countersign_core::leaf::Meaning;
use countersign_core::sign::Validity;
use countersign_core::time::Timestamp;
use countersign_engine::receipt::{
    Known, Proved, Refusal, RefusalKind, SCHEMA, Signed, SignedBy, Signer, Unproved, verify, verify_checkpoint,
};
use countersign_engine::verify::Term;
use countersign_tlog::key::Algorithm;
use countersign_tlog::policy::{Policy, RejectError};
use serde_json::{Value, json};

use super::{Reader, decision, key};
use crate::Exit;
use crate::codes;
use crate::show;

/// A receipt that holds, and what it comes to.
pub(super) struct Accepted {
    proved: Proved,
    told: Told,
    /// Why it is not known who signed the document inside, where that is so.
    stranger: Option<String>,
}

impl Accepted {
    pub(super) fn json(&self) -> Value {
        self.told.json(&self.proved)
    }

    /// As the whole answer about a file of this form: `valid`, or not evaluated while the signer is not known. That the
    /// entry is in the log is shown either way, and anybody whose documents the log takes may have made it.
    pub(super) fn tell(&self, reader: &Reader<'_>, schema: &str) -> Exit {
        let hint = codes::hint("unknown_key").unwrap_or_default();
        if reader.global.json {
            let mut value = self.json();
            value["schema"] = json!(schema);
            if let Some(why) = &self.stranger {
                let told = [("result", "not_evaluated"), ("code", "unknown_key"), ("reason", why), ("hint", hint)];
                told.iter().for_each(|(member, text)| value[*member] = json!(text));
            }
            show::json(&value);
            return self.exit();
        }
        match &self.stranger {
            None => self.print("valid"),
            Some(why) => {
                show::line(&format!("not evaluated: {why}"));
                self.print("logged");
                show::note(reader.global, &format!("hint: {hint}"));
            }
        }
        self.exit()
    }

    fn exit(&self) -> Exit {
        if self.stranger.is_some() { Exit::NotEvaluated } else { Exit::Yes }
    }

    /// Under this first word.
    pub(super) fn print(&self, word: &str) {
        self.told.print(&self.proved, word);
    }
}

pub(super) fn run(reader: &Reader<'_>, bytes: &[u8], policy: &Policy) -> anyhow::Result<Exit> {
    Ok(match accept(reader, bytes, policy)? {
        Ok(accepted) => accepted.tell(reader, SCHEMA),
        Err(exit) => exit,
    })
}

/// Verifies a receipt; where it is refused, the reader has been told why.
pub(super) fn accept(reader: &Reader<'_>, bytes: &[u8], policy: &Policy) -> anyhow::Result<Result<Accepted, Exit>> {
    Ok(match verify(bytes, &reader.demands(policy)?) {
        Ok(proved) => judge(reader, proved),
        Err(refusal) => Err(refused(reader, Renewal::Receipt, &refusal)),
    })
}

/// What the document inside adds to what the log proves.
pub(super) fn judge(reader: &Reader<'_>, proved: Proved) -> Result<Accepted, Exit> {
    let signer = proved.signer(&reader.keys);
    if signer.is_none() && reader.demands_a_signer() {
        return Err(super::no_document(reader.global));
    }
    let invalid = RefusalKind::Invalid.as_str();
    if let Some((code, reason)) = signer.as_ref().and_then(|signer| objection(reader, signer)) {
        super::refused(reader.global, invalid, code, &reason);
        return Err(Exit::No);
    }
    if let Some((key, at)) = dated(&proved) {
        // It need not be among the trusted ones: what is dated outside a key's time is wrong, whoever's key it is.
        reader.judge_date(invalid, "the document inside is", &key, at)?;
        if Term::of(at, None, reader.now) == Term::NotYet {
            super::not_yet(reader.global, at);
            return Err(Exit::No);
        }
    }
    let told = Told::of(reader, &proved, signer.as_ref());
    let stranger = signer.as_ref().and_then(stranger);
    Ok(Accepted { proved, told, stranger })
}

/// A key speaks of itself: that its word is its own needs no list of keys.
fn stranger(signer: &Signer) -> Option<String> {
    let Signer::NotChecked(id) = signer else { return None };
    Some(format!("the document inside is signed by key {id}, which is not among the trusted keys"))
}

pub(super) fn run_note(reader: &Reader<'_>, bytes: &[u8], policy: &Policy) -> anyhow::Result<Exit> {
    let signed = match verify_checkpoint(bytes, &reader.demands(policy)?) {
        Ok(signed) => signed,
        Err(refusal) => return Ok(refused(reader, Renewal::Checkpoint, &refusal)),
    };
    if reader.demands_a_signer() {
        return Ok(super::no_document(reader.global));
    }
    let mut open = signed.not_proved();
    let why = "one checkpoint alone cannot show it; a monitor compares it with the ones before";
    open.push(Unproved { what: "that the log never rewrote its past", why });
    if reader.global.json {
        let mut value = checkpoint_json(&signed);
        value["result"] = json!("valid");
        value["not_proved"] = rows(&open);
        show::json(&value);
    } else {
        let point = &signed.checkpoint;
        show::line(&format!("valid: checkpoint of {}, {} entries, root {}", point.origin, point.size, point.root));
        print_signatures(&signed);
        print_open(&open);
    }
    Ok(Exit::Yes)
}

/// Where a newer one of what is too old comes from.
#[derive(Clone, Copy)]
pub(super) enum Renewal {
    /// From the log that gave it.
    Receipt,
    /// From whoever made the proof.
    Proof,
    /// From the log, which signs one every minute.
    Checkpoint,
}

impl Renewal {
    /// Its part of the hint for `checkpoint_too_old`, which begins with what the file is.
    fn of(self, hint: &str) -> &str {
        let kind = match self {
            Self::Receipt => "a receipt: ",
            Self::Proof => "a proof: ",
            Self::Checkpoint => "a checkpoint: ",
        };
        hint.split("; ").find_map(|part| part.strip_prefix(kind)).unwrap_or(hint)
    }
}

pub(super) fn refused(reader: &Reader<'_>, renewal: Renewal, refusal: &Refusal) -> Exit {
    refused_in(reader, "", renewal, refusal)
}

/// In a sentence that begins so.
pub(super) fn refused_in(reader: &Reader<'_>, begins: &str, renewal: Renewal, refusal: &Refusal) -> Exit {
    if let (Refusal::Rejected(RejectError::UnknownLog(log)), None) = (refusal, &reader.args.trust) {
        let reason = format!("{begins}nothing is known here of the log {log}, which is not the data directory's own");
        return super::not_evaluated(reader.global, refusal.code(), &reason);
    }
    let exit = match refusal.kind() {
        RefusalKind::Malformed => Exit::Malformed,
        RefusalKind::Invalid => Exit::No,
        RefusalKind::Trust => Exit::Trust,
        RefusalKind::Stale => Exit::NotEvaluated,
    };
    let hint = codes::hint(refusal.code()).map(|hint| renewal.of(hint));
    super::advised(reader.global, refusal.kind().as_str(), refusal.code(), &format!("{begins}{refusal}"), hint);
    exit
}

/// A wrong signature always counts; a signer that is not among the keys counts when the reader named keys.
fn objection(reader: &Reader<'_>, signer: &Signer) -> Option<(&'static str, String)> {
    match signer {
        Signer::Wrong(error) => Some((error.code(), format!("the document inside: {error}"))),
        Signer::NotChecked(id) | Signer::Itself(id) if reader.names_signers() => {
            Some(("unknown_key", format!("the document inside is signed by key {id}, which --key does not name")))
        }
        Signer::NotChecked(_) | Signer::Itself(_) | Signer::Trusted(_) => None,
    }
}

/// The key and the date that the document inside names; a key's word on itself is its own measure.
fn dated(proved: &Proved) -> Option<(String, Timestamp)> {
    let reveal = proved.receipt.reveal.as_ref().filter(|_| proved.key.is_none())?;
    let document: Value = serde_json::from_str(&reveal.document).ok()?;
    Some((document["keyId"].as_str()?.to_owned(), Timestamp::parse(document["issuedAt"].as_str()?).ok()?))
}

/// An accepted receipt, in words.
struct Told {
    document: Option<Value>,
    signed_by: Option<String>,
    signature: &'static str,
    /// When its key signs, where that is known and the date is within.
    within: Option<Validity>,
    open: Vec<Unproved>,
}

impl Told {
    fn of(reader: &Reader<'_>, proved: &Proved, signer: Option<&Signer>) -> Self {
        let document = proved.receipt.reveal.as_ref().and_then(|reveal| serde_json::from_str(&reveal.document).ok());
        let mut open = proved.not_proved();
        let (signed_by, signature) = match signer {
            Some(Signer::Trusted(id) | Signer::Itself(id)) => (Some(id.clone()), "valid"),
            Some(Signer::NotChecked(id)) => (Some(id.clone()), "not_checked"),
            Some(Signer::Wrong(_)) | None => (None, "not_checked"),
        };
        if signature != "valid" && document.is_some() {
            let why = "its key was not named; --key takes the signer's public key";
            open.insert(0, Unproved { what: "who signed the document", why });
        }
        if matches!(signer, Some(Signer::Itself(_))) {
            let why =
                "a key says of itself when it signs; compare it with what its owner publishes, or name it with --key";
            open.insert(0, Unproved { what: "whose key it is", why });
        }
        let within = dated(proved).and_then(|(key, at)| reader.within(&key, at));
        open.extend(dated(proved).and(key::unproved(within)));
        Self { document, signed_by, signature, within, open }
    }

    fn json(&self, proved: &Proved) -> Value {
        let leaf = proved.leaf.as_ref().map(|leaf| {
            let known = matches!(leaf.leaf_type.meaning(), Meaning::Known(_));
            json!({"type": leaf.leaf_type.as_str(), "ts": leaf.minute.to_string(), "known": known})
        });
        let text = |name: &str| self.document.as_ref().and_then(|document| document.get(name).cloned());
        let document = self.document.as_ref().map(|_| {
            json!({
                "schema": text("schema"), "issuedAt": text("issuedAt"), "expiresAt": text("expiresAt"),
                "url": text("url"), "word": text("word"), "selected_payment": text("selected_payment"),
                "lab_switches": self.document.as_ref().map(|document| &document["transport"]["lab_switches"]),
                "keyId": self.signed_by, "signature": self.signature,
            })
        });
        let mut value = checkpoint_json(&proved.signed);
        value["result"] = json!("valid");
        value["schema"] = json!(SCHEMA);
        value["leaf_hash"] = json!(proved.receipt.leaf_hash.to_string());
        value["index"] = json!(proved.receipt.index);
        value["leaf"] = json!(leaf);
        value["document"] = json!(document);
        value["key"] = proved.key.as_ref().map_or(Value::Null, key::json);
        value["key_validity"] = key::within_json(self.within);
        value["not_proved"] = rows(&self.open);
        value
    }

    fn print(&self, proved: &Proved, word: &str) {
        let point = &proved.signed.checkpoint;
        show::line(&format!("{word}: entry {} of {} in the log {}", proved.receipt.index, point.size, point.origin));
        if proved.known == Known::Bytes {
            show::line(&format!("  what       the entry given with --leaf, leaf hash {}", proved.receipt.leaf_hash));
        }
        if let Some(leaf) = &proved.leaf {
            show::line(&format!(
                "  what       {} ({}), logged {}",
                leaf.leaf_type.meaning().about(),
                leaf.leaf_type,
                leaf.minute
            ));
        }
        if let Some(document) = &self.document {
            let text = |name: &str| document[name].as_str().unwrap_or("-").to_owned();
            show::line(&format!("  document   {} issued {}", text("schema"), text("issuedAt")));
            if document["url"].is_string() {
                show::line(&format!("  about      {}: {}", text("url"), decision::about(document)));
            }
            show::lab_switches(document);
            let by = self.signed_by.as_deref().unwrap_or("-");
            let checked = if self.signature == "valid" { "its signature holds" } else { "not checked" };
            show::line(&format!("  signed by  key {by}, {checked}"));
        }
        if let Some(statement) = &proved.key {
            show::line(&format!("  key        {}", key::about(statement)));
        }
        if let Some(validity) = &self.within {
            show::line(&format!("  dated      within the time of its key, which {}", key::signs(validity)));
        }
        print_signatures(&proved.signed);
        print_open(&self.open);
    }
}

pub(super) fn checkpoint_json(signed: &Signed) -> Value {
    let names = |list: &[SignedBy]| list.iter().map(|one| one.key.clone()).collect::<Vec<_>>();
    json!({
        "log_origin": signed.checkpoint.origin.as_str(), "size": signed.checkpoint.size,
        "root": signed.checkpoint.root.to_string(), "signed_at": signed.signed_at(), "pq": signed.pq.as_str(),
        "log_keys": names(&signed.log), "witnesses": names(&signed.witnesses),
    })
}

pub(super) fn rows(open: &[Unproved]) -> Value {
    open.iter().map(|row| json!({"what": row.what, "why": row.why})).collect()
}

pub(super) fn print_signatures(signed: &Signed) {
    for (who, list) in [("log", &signed.log), ("witness", &signed.witnesses)] {
        for one in list {
            let at = one.at.map_or(String::new(), |at| format!(" at {at}"));
            show::line(&format!("  {who:<10} {} ({}){at}", one.key, algorithm(one.algorithm)));
        }
    }
}

pub(super) fn print_open(open: &[Unproved]) {
    for row in open {
        show::line(&format!("  not proved: {}: {}", row.what, row.why));
    }
}

fn algorithm(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Ed25519 | Algorithm::Ed25519Cosignature => "Ed25519",
        Algorithm::MlDsa44 => "ML-DSA-44",
    }
}
