//! What a bucket's refusal means, in words that a person can act on. S3 says it in one word of its own, which comes
//! first: all else of its answer may be cut.

use std::error::Error as _;

use countersign_core::offer::clean;
use countersign_tlog::sequencer::tiles::TilesError;
use object_store::Error;

/// S3's words, each with what to do. From the list of error responses in the Amazon S3 API reference.
const REMEDIES: [(&str, &str); 12] = [
    (NO_BUCKET, "make the bucket, or correct its name in --tiles"),
    (
        "AccessDenied",
        "the credentials need s3:GetObject, s3:PutObject and s3:ListBucket; without the last, S3 denies what is only not there",
    ),
    ("InvalidAccessKeyId", "correct AWS_ACCESS_KEY_ID"),
    ("SignatureDoesNotMatch", "correct AWS_SECRET_ACCESS_KEY"),
    ("ExpiredToken", "get new credentials: AWS_SESSION_TOKEN has ended"),
    ("InvalidToken", "correct AWS_SESSION_TOKEN"),
    ("AuthorizationHeaderMalformed", "set AWS_REGION to the bucket's region"),
    ("PermanentRedirect", "set AWS_REGION to the bucket's region"),
    ("RequestTimeTooSkewed", "set this machine's clock right"),
    ("NotImplemented", "use a server that honours If-None-Match: *"),
    ("SlowDown", "it asks for fewer requests; this passes"),
    ("ServiceUnavailable", "this passes"),
];

pub(super) const NO_BUCKET: &str = "NoSuchBucket";

/// The word of S3 in an answer, when there is one.
pub(super) fn word(error: &Error) -> Option<String> {
    element(&error.to_string(), "Code").filter(|word| word.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// One line: S3's word and what to do, or else what broke on the way there.
pub(super) fn away(error: &Error) -> TilesError {
    let Some(word) = word(error) else { return TilesError::Unavailable(plain("the bucket", &innermost(error))) };
    let said = element(&error.to_string(), "Message").unwrap_or_default();
    let answer = plain(&format!("the bucket answers {}", clean::shown(&word)), &said);
    let remedy = REMEDIES.iter().find(|(known, _)| *known == word).map(|(_, remedy)| format!("; {remedy}"));
    TilesError::Unavailable(format!("{answer}{}", remedy.unwrap_or_default()))
}

fn plain(who: &str, words: &str) -> String {
    let words = clean::shown(words.replace(['\n', '\r'], " ").trim());
    if words.is_empty() { who.to_owned() } else { format!("{who}: {words}") }
}

/// The cause behind all causes; what wraps it says how often it was tried, and at length.
fn innermost(error: &Error) -> String {
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(std::error::Error::source) {
        cause = Some(deeper);
    }
    cause.map_or_else(|| error.to_string(), ToString::to_string)
}

/// The text of the first element of this name. S3's answers are flat, so nothing more of XML is read.
fn element(xml: &str, name: &str) -> Option<String> {
    let (_, after) = xml.split_once(&format!("<{name}>"))?;
    let (text, _) = after.split_once(&format!("</{name}>"))?;
    Some(text.to_owned()).filter(|text| !text.is_empty())
}
