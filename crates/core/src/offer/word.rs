//! The word that an option, and an answer, comes to.

use serde::Serialize;

/// The word for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// Can be paid, nothing to warn of.
    Payable,
    /// Can be paid; read the findings first.
    PayableWithWarnings,
    /// A named client cannot pay it, or nobody should.
    NotPayable,
    /// It names another resource than the one asked.
    Mismatch,
    /// We did not see what is needed to say.
    NotEvaluated,
}

impl Word {
    /// Whether a client can pay the offer at all, as far as we can say.
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Payable | Self::PayableWithWarnings)
    }
}
