//! A signed document by itself.

use countersign_core::sign::OpenError;
use countersign_engine::verify::{Term, Verified, verify};
use serde_json::{Value, json};

use super::receipt::Accepted;
use super::{Reader, key};
use crate::Exit;
use crate::show;

/// What is known of the document's place in a log.
pub(super) enum InLog<'a> {
    /// The file carries no receipt.
    NoReceipt,
    /// It carries one, and the reader trusts no log yet.
    NoTrust,
    /// It carries one that holds.
    Proved(&'a Accepted),
}

/// What the document says became of the check.
enum Said<'a> {
    /// It is no decision.
    NoDecision,
    /// An option was selected.
    Selected,
    /// None was; the reason and the bounds that no option met, in the words that were signed.
    Nothing { reason: &'a str, unmet: Vec<&'a str> },
}

impl<'a> Said<'a> {
    fn of(document: &'a Value) -> Self {
        if document["schema"] != "countersign/decision/v1" {
            return Self::NoDecision;
        }
        if document["selected_payment"].is_object() {
            return Self::Selected;
        }
        let unmet = document["unmet_constraints"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        Self::Nothing { reason: document["miss_reason"].as_str().unwrap_or("no reason is given"), unmet }
    }

    /// Whether anything was selected; null where the document is no decision.
    fn selected(&self) -> Option<bool> {
        match self {
            Self::NoDecision => None,
            Self::Selected => Some(true),
            Self::Nothing { .. } => Some(false),
        }
    }

    /// What ends with the document, or has ended.
    fn print(&self, end: &str, over: bool) {
        let line = match self {
            Self::Nothing { .. } => format!("  {} until {end}", if over { "stood" } else { "stands" }),
            Self::NoDecision | Self::Selected => format!("  terms {} {end}", if over { "ended" } else { "good until" }),
        };
        show::line(&line);
    }

    /// What was decided about the URL.
    fn about(&self, document: &Value) -> String {
        match self {
            Self::Nothing { reason, unmet } if unmet.is_empty() => format!("nothing was selected: {reason}"),
            Self::Nothing { reason, unmet } => format!("nothing was selected: {reason} ({})", unmet.join(", ")),
            Self::NoDecision => document["word"].as_str().unwrap_or("-").to_owned(),
            Self::Selected => show::headline(document),
        }
    }
}

/// What a document says was decided about its URL.
pub(super) fn about(document: &Value) -> String {
    Said::of(document).about(document)
}

pub(super) fn run(reader: &Reader<'_>, bytes: &[u8]) -> Exit {
    match verify(bytes, &reader.keys, reader.now) {
        Ok(verified) => accepted(reader, &verified, &InLog::NoReceipt),
        Err(error) => refused(reader, &error),
    }
}

/// Accepts a signature that holds, if its date is one of the key's.
pub(super) fn accepted(reader: &Reader<'_>, verified: &Verified, log: &InLog<'_>) -> Exit {
    let global = reader.global;
    if let Err(exit) = reader.judge_date("refused", "the document is", &verified.key_id, verified.issued_at) {
        return exit;
    }
    let within = reader.within(&verified.key_id, verified.issued_at);
    let (word, exit) = match verified.term {
        Term::NotYet => {
            super::not_yet(global, verified.issued_at);
            return Exit::No;
        }
        Term::Over => ("expired", Exit::NotEvaluated),
        Term::Running => ("valid", Exit::Yes),
    };
    let end = verified.expires_at.map(|time| time.to_string());
    let said = Said::of(&verified.document);
    if global.json {
        let (open, receipt) = match log {
            InLog::NoReceipt | InLog::NoTrust => (vec!["log inclusion"], json!(null)),
            InLog::Proved(accepted) => (vec![], accepted.json()),
        };
        show::json(&json!({
            "result": word, "schema": verified.schema, "keyId": verified.key_id,
            "issuedAt": verified.issued_at, "expiresAt": end, "key_validity": key::within_json(within), "not_checked": open,
            "url": verified.document["url"], "word": verified.document["word"],
            "selected_payment": verified.document["selected_payment"],
            "lab_switches": verified.document["transport"]["lab_switches"],
            "selected": said.selected(), "miss_reason": verified.document["miss_reason"],
            "unmet_constraints": verified.document["unmet_constraints"], "receipt": receipt,
        }));
        return exit;
    }
    show::line(&format!("{word}: {} signed by key {} at {}", verified.schema, verified.key_id, verified.issued_at));
    if let Some(validity) = within {
        show::line(&format!("  dated within the time of its key, which {}", key::signs(&validity)));
    }
    if let Some(end) = end {
        said.print(&end, verified.term == Term::Over);
    }
    if let Some(url) = verified.document["url"].as_str() {
        show::line(&format!("  about {url}: {}", said.about(&verified.document)));
    }
    show::lab_switches(&verified.document);
    match log {
        InLog::NoReceipt => show::line("  not checked: inclusion in a log (this file carries no receipt)"),
        InLog::NoTrust => show::line("  not checked: inclusion in a log (name the logs you accept with --trust)"),
        InLog::Proved(accepted) => accepted.print("logged"),
    }
    exit
}

pub(super) fn refused(reader: &Reader<'_>, error: &OpenError) -> Exit {
    let (word, exit) = match error {
        OpenError::UnknownKey(_) if reader.names_signers() => ("refused", Exit::No),
        OpenError::UnknownKey(_) => ("not_evaluated", Exit::NotEvaluated),
        OpenError::BadSignature => ("refused", Exit::No),
        OpenError::Json(_) | OpenError::Member(_) => ("malformed", Exit::Malformed),
    };
    super::refused(reader.global, word, error.code(), &error.to_string());
    exit
}
