//! Asking a paid endpoint for its terms: GET, and POST only where the endpoint itself says that POST is the way in.

use countersign_core::endpoint::ResourceUrl;
use countersign_core::time::Timestamp;

use crate::guarded::{Answer, Door, Method, Refused, Request};

/// The answer that counts, and the method that brought it.
#[derive(Clone, Debug)]
pub struct Probed {
    /// What the endpoint said.
    pub answer: Answer,
    /// The method of the request that it answered.
    pub method: Method,
}

/// Asks `url` with GET. When it answers 405 and its `Allow` names POST, asks once more with POST and the body `{}`.
/// Each request has its own deadline, and each resolves and judges the host afresh.
///
/// # Errors
/// [`Refused`] by the request that would have counted.
pub async fn probe(door: &Door, url: &ResourceUrl, now: Timestamp) -> Result<Probed, Refused> {
    let get = Request { url: url.clone(), method: Method::Get, body: None };
    let answer = door.fetch(&get, now).await?;
    if !wants_post(&answer) {
        return Ok(Probed { answer, method: Method::Get });
    }
    let post = Request { url: url.clone(), method: Method::Post, body: Some(b"{}".to_vec()) };
    Ok(Probed { answer: door.fetch(&post, now).await?, method: Method::Post })
}

/// RFC 9110 15.5.6: a 405 lists the methods that do work in `Allow`.
fn wants_post(answer: &Answer) -> bool {
    let allows = |value: &[u8]| {
        value.split(|byte| *byte == b',').any(|method| method.trim_ascii().eq_ignore_ascii_case(b"POST"))
    };
    answer.status == 405 && answer.headers.iter().any(|(name, value)| name == "allow" && allows(value))
}
