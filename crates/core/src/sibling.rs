//! Whether a host asks money for any path: what answered at one that cannot exist, beside the one that is for sale.
//!
//! Such a path is a *sibling*: the last segment of the URL is replaced by twenty random letters and digits, so nobody can
//! sell anything there on purpose. It is asked by GET only, which has no effect (RFC 9110 section 9.2.1): that POST may be
//! sent somewhere is said by a catalogue or by the endpoint, and of a made-up path nobody said it. Where GET is refused as a
//! method, nothing is known therefore.
//!
//! What counts against a host is one thing, that it states terms for such a path. That catches honest shops too that sell
//! `/city/NAME` and ask for money before they look whether there is such a city. A buyer cannot tell the two apart before
//! paying, so it is a warning and no refusal.

use serde::{Deserialize, Serialize};

use crate::endpoint::{ResourceUrl, UrlError};
use crate::finding::Finding;
use crate::offer::rules::{self, finding};
use crate::offer::{NotEvaluated, ReadingKind};

/// For how long an answer stands for the folder it was given in: one day.
pub const STANDS_MS: i64 = 24 * 60 * 60 * 1000;
/// For how long a look that brought no answer keeps the next one from being made: ten minutes, so that one bad moment
/// does not leave the question open for a day.
pub const FAILED_MS: i64 = 10 * 60 * 1000;

const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const LENGTH: usize = 20;

/// What answered at a sibling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// A 402 with terms: money is asked for what cannot be there.
    Challenge,
    /// A success: the host has a page for any path.
    Page,
    /// Any other answer, such as 404: nothing is sold there.
    Closed,
    /// GET is not answered there, which leaves open what POST would be.
    NoGet,
    /// No answer, a broken one, or a server's failure.
    Nothing,
    /// No request was sent: the name, the address, the connection or the certificate stood in the way.
    NotAsked,
}

/// One look at a sibling, in the form that is stored as an observation's facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// The made-up URL.
    pub asked: String,
    /// What came of it.
    pub seen: Seen,
    /// The word of the door, where it brought no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// The sibling of `url` that these random bytes name.
///
/// # Errors
/// [`UrlError::TooLong`] when the folder leaves no room for a name.
pub fn url(url: &ResourceUrl, random: &[u8; 32]) -> Result<ResourceUrl, UrlError> {
    let name = random.iter().take(LENGTH).map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
    ResourceUrl::parse(&name.fold(url.folder().to_owned(), |text, letter| text + letter.encode_utf8(&mut [0; 4])))
}

impl Seen {
    /// What an answer of this kind is at a path that cannot exist.
    pub const fn of(kind: ReadingKind) -> Self {
        use NotEvaluated as Not;
        match kind {
            ReadingKind::Challenge => Self::Challenge,
            ReadingKind::NotEvaluated(Not::Reachable200) => Self::Page,
            ReadingKind::NotEvaluated(Not::MethodNotAllowed) => Self::NoGet,
            ReadingKind::NotEvaluated(Not::NotReached | Not::BrokenOff | Not::ServerError) => Self::Nothing,
            ReadingKind::NoTerms
            | ReadingKind::NotEvaluated(Not::OtherRail | Not::Redirect | Not::Wall | Not::ClientError) => Self::Closed,
        }
    }

    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Challenge => "challenge",
            Self::Page => "page",
            Self::Closed => "closed",
            Self::NoGet => "no_get",
            Self::Nothing => "nothing",
            Self::NotAsked => "not_asked",
        }
    }

    /// Whether a look this old still stands. One from the future was made before the clock was set back.
    pub fn stands(self, age_ms: i64) -> bool {
        let until = if matches!(self, Self::Nothing | Self::NotAsked) { FAILED_MS } else { STANDS_MS };
        (0..until).contains(&age_ms)
    }
}

impl Look {
    /// Why the other paths of the host are as unknown as before this look; none when it told something.
    pub fn unknown(&self) -> Option<String> {
        match self.seen {
            Seen::Challenge | Seen::Page | Seen::Closed => None,
            Seen::NoGet => {
                Some("a path that cannot exist was asked and takes no GET; nothing else is sent there".into())
            }
            Seen::Nothing => Some("a path that cannot exist was asked and gave no usable answer".into()),
            Seen::NotAsked => Some(format!("a path that cannot exist could not be asked: {}", self.obstacle())),
        }
    }

    /// What stood in the way, in the words of the door's rule. Before a request is sent, only whoever stops waiting for it
    /// runs out of time for the first byte.
    fn obstacle(&self) -> &'static str {
        match self.refused.as_deref() {
            Some("first_byte_timeout") | None => "the URL itself was answered first",
            Some(word) => {
                rules::rule(&format!("transport.{word}")).map_or("no request could be sent", |rule| rule.reason)
            }
        }
    }
}

/// What a look `age_ms` ago says of a URL whose answer is of this kind. Terms elsewhere say nothing of a URL that states
/// none itself.
pub fn examine(kind: ReadingKind, look: &Look, age_ms: i64) -> Option<Finding> {
    let (rule, what) = match look.seen {
        Seen::Challenge if kind == ReadingKind::Challenge => ("http.wildcard", "402 with terms"),
        Seen::Page => ("http.catch_all", "a success"),
        Seen::Challenge | Seen::Closed | Seen::NoGet | Seen::Nothing | Seen::NotAsked => return None,
    };
    let name = look.asked.rsplit('/').next().unwrap_or_default();
    Some(finding(rule, "path", &format!("{}{what} at {name}", ago(age_ms)), Some("404")))
}

/// `3 h ago: `, or nothing within the first minute.
fn ago(age_ms: i64) -> String {
    match age_ms / 60_000 {
        ..=0 => String::new(),
        minutes @ 1..60 => format!("{minutes} min ago: "),
        minutes => format!("{} h ago: ", minutes / 60),
    }
}

#[cfg(test)]
mod tests;
