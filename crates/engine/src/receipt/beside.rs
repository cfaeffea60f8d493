//! The receipt inside an answer, where nobody signed what stands around it.
//!
//! `pq_trust.transparency` repeats parts of the receipt for readers in a hurry, so all of it is held against the receipt,
//! and the receipt against the decision it stands beside: a sound receipt of another decision says nothing about this one.

use serde_json::Value;

use super::{Receipt, ReceiptError};
use crate::transparency::Transparency;
use crate::verify::{canonical, signed_part};

/// Why what stands beside a decision is no receipt of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BesideError {
    /// It does not read.
    #[error(transparent)]
    Receipt(#[from] ReceiptError),
    /// The state, the log or the index beside the receipt are not the receipt's.
    #[error("what the answer says about its receipt is not what the receipt says")]
    Contradicts,
    /// The receipt reveals another document, or none.
    #[error("the receipt in the answer is not for the decision it stands beside")]
    OtherDocument,
}

impl BesideError {
    /// Stable code for callers.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Receipt(error) => error.code(),
            Self::Contradicts => "receipt_contradicted",
            Self::OtherDocument => "receipt_other_document",
        }
    }
}

/// The receipt of the decision in `answer`, well formed and not verified; none when the answer carries none.
///
/// # Errors
/// [`BesideError`]
pub fn beside(answer: &[u8]) -> Result<Option<Receipt>, BesideError> {
    let whole: Value = serde_json::from_slice(&canonical(answer).map_err(ReceiptError::Json)?)
        .map_err(|_| ReceiptError::Member("pq_trust"))?;
    let told = &whole["pq_trust"]["transparency"];
    if told["receipt"].is_null() {
        return if told["state"] == "checkpoint_signed" { Err(BesideError::Contradicts) } else { Ok(None) };
    }
    let receipt = Receipt::parse(whole_receipt(told)?.to_string().as_bytes())?;
    if Transparency::CheckpointSigned(Box::new(receipt.clone())).to_value() != *told {
        return Err(BesideError::Contradicts);
    }
    let decision = signed_part(answer).map_err(|_| BesideError::OtherDocument)?;
    let revealed = receipt.reveal.as_ref().map(|reveal| reveal.document.as_bytes());
    if revealed == Some(&*decision) { Ok(Some(receipt)) } else { Err(BesideError::OtherDocument) }
}

/// The file form: the public receipt with its reveal inside.
fn whole_receipt(told: &Value) -> Result<Value, ReceiptError> {
    let mut receipt = told["receipt"].as_object().cloned().ok_or(ReceiptError::Member("receipt"))?;
    if !told["reveal"].is_null() {
        receipt.insert("reveal".to_owned(), told["reveal"].clone());
    }
    Ok(Value::Object(receipt))
}
