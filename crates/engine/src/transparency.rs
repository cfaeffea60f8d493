//! What an answer says about the log: `pq_trust.transparency`.
//!
//! Only `checkpoint_signed` is a receipt. A log that cannot be reached makes an answer poorer, never late or absent,
//! unless the buyer demanded the receipt.

use std::sync::Arc;

use countersign_core::leaf::Reveal;
use serde_json::{Value, json};

use crate::keys::leaves::{self, Change};
use crate::log::{LogBook, LogError};
use crate::receipt::Receipt;

/// Whether decisions that selected nothing are logged as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Misses {
    /// They are signed, and leave no leaf.
    #[default]
    Leafless,
    /// They are logged like any other.
    Logged,
}

/// What became of a decision's leaf.
#[derive(Clone, Debug)]
pub enum Transparency {
    /// It is durable, under a signed checkpoint.
    CheckpointSigned(Box<Receipt>),
    /// It was not to be logged.
    NotLogged,
    /// The log gave no receipt. That does not prove that nothing was appended.
    Unavailable {
        /// Stable code.
        code: String,
        /// For people.
        reason: String,
        /// What to do about it.
        hint: &'static str,
    },
}

/// Whether the buyer's demand for a receipt was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// None was made.
    None,
    /// There is a receipt.
    Met,
    /// There is none.
    Unmet,
}

impl Transparency {
    /// Logs what was prepared of a decision, behind every change of keys that the log lacks. Blocking: the log signs, or
    /// says why not.
    pub(crate) fn log(book: &LogBook, keys: Vec<Change>, decision: Reveal) -> Self {
        let until = book.deadline();
        match leaves::log(keys, book, until).and_then(|()| book.append_until(until, decision)) {
            Ok(receipt) => Self::CheckpointSigned(Box::new(receipt)),
            Err(error) => Self::unavailable(&error),
        }
    }

    /// As [`Transparency::log`], off the runtime's threads. Whoever waits may go; the leaf is logged all the same.
    pub(crate) async fn log_in_background(book: &Arc<LogBook>, keys: Vec<Change>, decision: Reveal) -> Self {
        let book = Arc::clone(book);
        let logged = tokio::task::spawn_blocking(move || Self::log(&book, keys, decision)).await;
        logged.unwrap_or_else(|error| Self::Unavailable {
            code: "log_ended".to_owned(),
            reason: error.to_string(),
            hint: LogError::AGAIN,
        })
    }

    /// No receipt, for this reason.
    pub(crate) fn unavailable(error: &LogError) -> Self {
        Self::Unavailable { code: error.code().to_owned(), reason: error.to_string(), hint: error.hint() }
    }

    /// The word in answers.
    pub fn state(&self) -> &'static str {
        match self {
            Self::CheckpointSigned(_) => "checkpoint_signed",
            Self::NotLogged => "not_logged",
            Self::Unavailable { .. } => "unavailable",
        }
    }

    /// The receipt, when there is one.
    pub fn receipt(&self) -> Option<&Receipt> {
        match self {
            Self::CheckpointSigned(receipt) => Some(receipt),
            Self::NotLogged | Self::Unavailable { .. } => None,
        }
    }

    /// Whether it meets a demand.
    pub fn meets(&self, required: bool) -> Demand {
        match (required, self.receipt()) {
            (false, _) => Demand::None,
            (true, Some(_)) => Demand::Met,
            (true, None) => Demand::Unmet,
        }
    }

    /// `{state, log_origin, index, receipt, reveal}`, with `code`, `reason` and `hint` when there is no receipt to be had.
    pub fn to_value(&self) -> Value {
        match self {
            Self::CheckpointSigned(receipt) => json!({
                "state": self.state(), "log_origin": receipt.log_origin.as_str(), "index": receipt.index,
                "receipt": receipt.to_public_value(), "reveal": receipt.reveal.as_ref().map(|reveal| reveal.to_value()),
            }),
            Self::NotLogged => {
                json!({"state": self.state(), "log_origin": null, "index": null, "receipt": null, "reveal": null})
            }
            Self::Unavailable { code, reason, hint } => json!({
                "state": self.state(), "log_origin": null, "index": null, "receipt": null, "reveal": null,
                "code": code, "reason": reason, "hint": hint,
            }),
        }
    }
}
