//! The evidence document `countersign/exchange/v1` (`docs/evidence.md`): the bytes of one exchange in hex, and none of
//! what we make of them, so that anybody can read them again. Header lines are not listed, because a list no longer
//! shows the order, the case and the spaces in which they came; they are read from `head`.

use countersign_core::time::Timestamp;
use countersign_probe::{Answer, Refused};
use serde_json::{Value, json};

use crate::transport;

/// What was sent to `url` by `method` at `at`, and what came back or why nothing usable did.
pub(crate) fn document(url: &str, method: &str, at: Timestamp, result: &Result<Answer, Refused>) -> Vec<u8> {
    let mut value = match result {
        Ok(answer) => answered(answer),
        Err(refused) => turned_down(refused),
    };
    value["schema"] = json!("countersign/exchange/v1");
    value["url"] = json!(url);
    value["method"] = json!(method);
    value["at"] = json!(at);
    value.to_string().into_bytes()
}

fn answered(answer: &Answer) -> Value {
    json!({
        "sent": hex::encode(&answer.wire.sent),
        "status": answer.status,
        "head": hex::encode(&answer.wire.received),
        "body": hex::encode(&answer.body),
        "body_complete": answer.body_complete,
        "flags": transport::flags(answer),
        "peer": answer.peer.to_string(),
        "certificates": certificates(&answer.chain),
    })
}

fn turned_down(refused: &Refused) -> Value {
    json!({
        "sent": hex::encode(&refused.wire.sent),
        "refused": refused.code.as_str(),
        "reason": refused.detail,
        "received": hex::encode(&refused.wire.received),
        "certificates": certificates(&refused.chain),
    })
}

fn certificates(chain: &[Vec<u8>]) -> Vec<String> {
    chain.iter().map(hex::encode).collect()
}

#[cfg(test)]
mod tests;
