use countersign_probe::{RefusedCode, TransportFlag, Wire};

use super::*;

const AT: Timestamp = Timestamp::from_seconds(1_790_000_000);

/// Bytes 0x47 0x0a are `G` and a line feed, 0x48 is `H`, 0x01 0x02 stand for a certificate.
fn wire() -> Wire {
    Wire { sent: b"G\n".to_vec(), received: b"H\n".to_vec() }
}

fn written(result: Result<Answer, Refused>) -> Value {
    serde_json::from_slice(&document("https://a.example/x", "GET", AT, &result)).unwrap()
}

#[test]
fn an_answer_is_its_bytes() {
    let answer = Answer {
        status: 402,
        headers: vec![("not".to_owned(), b"listed".to_vec())],
        body: b"{}".to_vec(),
        body_complete: false,
        head_bytes: 2,
        interim: 0,
        peer: ([192, 0, 2, 1], 443).into(),
        chain: vec![vec![1, 2], vec![3]],
        wire: wire(),
        latency_ms: 9,
        flags: vec![TransportFlag::BodyShort],
    };
    let expected = json!({
        "schema": "countersign/exchange/v1", "url": "https://a.example/x", "method": "GET", "at": "2026-09-21T14:13:20Z",
        "sent": "470a", "status": 402, "head": "480a", "body": "7b7d", "body_complete": false, "flags": ["body_short"],
        "peer": "192.0.2.1:443", "certificates": ["0102", "03"],
    });
    assert_eq!(written(Ok(answer)), expected);
}

#[test]
fn a_refusal_keeps_what_had_come() {
    let (code, detail) = (RefusedCode::HeadMalformed, "no colon".to_owned());
    let refused = Refused { code, detail, chain: vec![vec![1, 2]], wire: wire(), elapsed_ms: 3 };
    let expected = json!({
        "schema": "countersign/exchange/v1", "url": "https://a.example/x", "method": "GET", "at": "2026-09-21T14:13:20Z",
        "sent": "470a", "refused": "head_malformed", "reason": "no colon", "received": "480a", "certificates": ["0102"],
    });
    assert_eq!(written(Err(refused)), expected);
}
