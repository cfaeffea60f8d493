//! Asking a paid endpoint for its terms: by the method that somebody declared, then by the one that the endpoint itself
//! names, and never a third time.
//!
//! A POST can have effects, so it is sent only where a catalogue or the endpoint says that POST is the way in, with the
//! body `{}`, and not where a body is required that we do not have: an answer to a wrong body says nothing about terms.

use countersign_core::time::Timestamp;

use crate::guarded::{Answer, Door, Method, Refused, Request};
use crate::politeness::Turn;

/// What a catalogue, or the person who asks, says about how the endpoint is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Declared {
    /// Nobody said anything.
    #[default]
    Nothing,
    /// GET.
    Get,
    /// POST, and no body is required.
    Post,
    /// POST with a body that we do not have.
    PostWithBody,
}

/// What came of a look.
#[derive(Clone, Debug)]
pub struct Probed {
    /// The method of the request that counts, which is the last one sent.
    pub method: Method,
    /// What it was answered, or why it was not.
    pub result: Result<Answer, Refused>,
}

/// Looks once: asks by the declared method, GET by default. When that is answered 405 and `Allow` names the other
/// method, asks once more. Each request has its own deadline, and each resolves and judges the host afresh.
pub async fn probe(door: &Door, turn: Turn, declared: Declared, now: Timestamp) -> Probed {
    let method = first(declared);
    let result = ask(door, &turn, method, now).await;
    match result.as_ref().ok().and_then(|answer| second(method, declared, answer)) {
        None => Probed { method, result },
        Some(method) => Probed { method, result: ask(door, &turn, method, now).await },
    }
}

async fn ask(door: &Door, turn: &Turn, method: Method, now: Timestamp) -> Result<Answer, Refused> {
    let body = match method {
        Method::Get => None,
        Method::Post => Some(b"{}".to_vec()),
    };
    door.fetch(&Request { url: turn.url().clone(), method, body }, now).await
}

fn first(declared: Declared) -> Method {
    match declared {
        Declared::Post => Method::Post,
        Declared::Nothing | Declared::Get | Declared::PostWithBody => Method::Get,
    }
}

fn second(asked: Method, declared: Declared, answer: &Answer) -> Option<Method> {
    let other = match asked {
        Method::Get => Method::Post,
        Method::Post => Method::Get,
    };
    let possible = other == Method::Get || declared != Declared::PostWithBody;
    (possible && names(answer, other)).then_some(other)
}

/// RFC 9110 15.5.6: a 405 lists the methods that do work in `Allow`.
fn names(answer: &Answer, method: Method) -> bool {
    let lists = |value: &[u8]| {
        value.split(|byte| *byte == b',').any(|one| one.trim_ascii().eq_ignore_ascii_case(method.as_str().as_bytes()))
    };
    answer.status == 405 && answer.headers.iter().any(|(name, value)| name == "allow" && lists(value))
}

#[cfg(test)]
mod tests;
