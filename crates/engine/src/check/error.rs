//! Why a check could not be finished, with a stable code and what to do about it.

use countersign_probe::RateLimited;
use countersign_store::StoreError;

use crate::env::NoRandomness;
use crate::keys::KeysError;

/// Why a check could not be finished. What the seller did is never one of these.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The domain was looked at often enough in the last minute. Nothing was sent, and nothing is remembered.
    #[error(transparent)]
    RateLimited(#[from] RateLimited),
    /// An earlier observation of the URL does not read, so nobody can say whether its recipient changed.
    #[error("the history of {url} is damaged: observation {row} does not read ({why}). Nothing was overwritten")]
    History {
        /// Whose history.
        url: String,
        /// The row's id.
        row: String,
        /// What is wrong with it.
        why: String,
    },
    /// The database refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No usable signing key.
    #[error(transparent)]
    Keys(KeysError),
    /// No randomness for a row id.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The reading of the answer ended in a defect of ours.
    #[error("the answer could not be read to its end: {0}")]
    Reading(String),
    /// The decision could not be written in canonical form.
    #[error("the decision could not be signed: {0}")]
    Seal(String),
}

impl From<KeysError> for CheckError {
    fn from(error: KeysError) -> Self {
        match error {
            KeysError::Seal(error) => Self::Seal(error.to_string()),
            error => Self::Keys(error),
        }
    }
}

impl CheckError {
    /// The codes that are a check's own, what each means in general, and what to do; the database and the keys have theirs
    /// ([`StoreError::code`], [`KeysError::code`]). [`CheckError::hint`] knows more about the case at hand.
    pub const CODES: [(&str, &str, &str); 5] = [
        (
            "rate_limited",
            "the domain was looked at often enough in the last minute, so nothing was sent",
            "ask again when the sentence says so",
        ),
        (
            "history_damaged",
            "an earlier observation of the URL does not read, so nobody can say whether its recipient changed",
            "put a backup of the database in its place",
        ),
        ("no_randomness", "the operating system gave no randomness", "try again once the system has started fully"),
        ("reading_ended", "the answer could not be read to its end", "report this as a defect of this program"),
        ("seal_failed", "the decision could not be signed", "report this as a defect of this program"),
    ];

    /// Stable code for callers.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::RateLimited(_) => "rate_limited",
            Self::History { .. } => "history_damaged",
            Self::Store(error) => error.code(),
            Self::Keys(error) => error.code(),
            Self::NoRandomness(_) => "no_randomness",
            Self::Reading(_) => "reading_ended",
            Self::Seal(_) => "seal_failed",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::RateLimited(limited) => {
                format!("nothing was sent; ask again in {} s", limited.retry_after_ms.div_ceil(1000))
            }
            Self::History { .. } => "put a backup of the database in its place; without this row a swapped recipient \
                                     would look like the first one"
                .to_owned(),
            Self::Store(error) => error.hint().to_owned(),
            Self::Keys(error) => error.hint().to_owned(),
            Self::NoRandomness(_) => "try again once the system has started fully".to_owned(),
            Self::Reading(_) | Self::Seal(_) => "report this as a defect of this program".to_owned(),
        }
    }
}
