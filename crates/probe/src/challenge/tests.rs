//! Which requests a look sends, and what the answer to each comes to when the core reads it.

use countersign_core::endpoint::ResourceUrl;
use countersign_core::offer::{self, BodyEnd, Exchange, NotEvaluated, ReadingKind};

use super::*;
use crate::guarded::{DoorConfig, RefusedCode};
use crate::politeness::{Need, judge};
use crate::testkit::{Authority, Behaviour, Leaf, Server};

/// 2026-09-01, inside the validity of an honest leaf.
const NOW: Timestamp = Timestamp::from_seconds(1_788_253_200);
const HOST: &str = "seller.localhost";
/// A 402 with one option of one cent in USDC on Base.
const PAID: &str = "402 Payment Required\r\nPAYMENT-REQUIRED: eyJ4NDAyVmVyc2lvbiI6MiwiZXJyb3IiOiJQYXltZW50IHJlcXVpcmVkIiwicmVzb3VyY2UiOnsidXJsIjoiaHR0cHM6Ly9zZWxsZXIubG9jYWxob3N0L3BhaWQiLCJkZXNjcmlwdGlvbiI6IngiLCJtaW1lVHlwZSI6ImFwcGxpY2F0aW9uL2pzb24ifSwiYWNjZXB0cyI6W3sic2NoZW1lIjoiZXhhY3QiLCJuZXR3b3JrIjoiZWlwMTU1Ojg0NTMiLCJhbW91bnQiOiIxMDAwMCIsImFzc2V0IjoiMHg4MzM1ODlmQ0Q2ZURiNkUwOGY0YzdDMzJENGY3MWI1NGJkQTAyOTEzIiwicGF5VG8iOiIweDIwOTY5M0JjNmFmYzBDNTMyOGJBMzZGYUYwM0M1MTRFRjMxMjI4N0MiLCJtYXhUaW1lb3V0U2Vjb25kcyI6NjAsImV4dHJhIjp7Im5hbWUiOiJVU0QgQ29pbiIsInZlcnNpb24iOiIyIn19XX0=\r\n";

/// A seller that answers by method; how many requests it saw, the method that counted, and what it came to.
async fn look(declared: Declared, rows: Vec<(&'static str, &'static str)>) -> (usize, Method, ReadingKind) {
    let authority = Authority::new().unwrap();
    let server =
        Server::start(authority.acceptor(&[HOST], Leaf::Honest).unwrap(), Behaviour::ByMethod(rows)).await.unwrap();
    let door =
        Door::new(DoorConfig { allow_loopback: true, extra_roots: vec![authority.root()], ..DoorConfig::default() });
    let url = ResourceUrl::parse(&format!("https://{HOST}:{}/paid", server.port())).unwrap();
    let (turn, _) = judge(Vec::new(), &url, NOW, Need::Must).unwrap();
    let probed = probe(&door, turn, declared, NOW).await;
    let answer = probed.result.unwrap();
    let reading = offer::read(&Exchange {
        url: url.as_str(),
        method: probed.method.as_str(),
        status: answer.status,
        headers: &answer.headers,
        body: &answer.body,
        body_end: if answer.body_complete { BodyEnd::Whole } else { BodyEnd::Stopped },
        seen_at: NOW,
        keys: &[],
    });
    (server.connections(), probed.method, reading.kind)
}

#[tokio::test]
async fn the_ladder_goes_from_the_declared_method_to_the_one_that_is_named() {
    use Method::{Get, Post};
    use ReadingKind::{Challenge, NotEvaluated as Not};
    const NO: &str = "405 No\r\n";
    const NO_BUT_POST: &str = "405 No\r\nAllow: OPTIONS, post\r\n";
    const NO_BUT_GET: &str = "405 No\r\nAllow: GET\r\n";
    let wrong_method = Not(NotEvaluated::MethodNotAllowed);
    for (declared, get, post, expected) in [
        (Declared::Nothing, PAID, PAID, (1, Get, Challenge)),
        (Declared::Get, PAID, PAID, (1, Get, Challenge)),
        (Declared::Post, PAID, PAID, (1, Post, Challenge)),
        (Declared::PostWithBody, PAID, PAID, (1, Get, Challenge)),
        // The endpoint names POST itself.
        (Declared::Nothing, NO_BUT_POST, PAID, (2, Post, Challenge)),
        (Declared::Get, NO_BUT_POST, PAID, (2, Post, Challenge)),
        // It does not, and nobody declared it: a POST could have effects, so the question stays open.
        (Declared::Nothing, NO, PAID, (1, Get, wrong_method)),
        (Declared::Nothing, "405 No\r\nAllow: PUT\r\n", PAID, (1, Get, wrong_method)),
        (Declared::Nothing, "404 No\r\nAllow: POST\r\n", PAID, (1, Get, Not(NotEvaluated::ClientError))),
        // Grading the GET of a POST-only seller would be a false accusation.
        (Declared::Post, NO, PAID, (1, Post, Challenge)),
        (Declared::Post, PAID, NO_BUT_GET, (2, Get, Challenge)),
        (Declared::Post, PAID, NO, (1, Post, wrong_method)),
        // A body is required that we do not have: it is not posted at all.
        (Declared::PostWithBody, NO_BUT_POST, PAID, (1, Get, wrong_method)),
        // Each names the other: two requests, and no more.
        (Declared::Nothing, NO_BUT_POST, NO_BUT_GET, (2, Post, wrong_method)),
    ] {
        let got = look(declared, vec![("GET", get), ("POST", post)]).await;
        assert_eq!(got, expected, "{declared:?} GET {get:?} POST {post:?}");
    }
}

/// Answers that are no challenge are named and not graded.
#[tokio::test]
async fn what_is_no_challenge_is_said_and_not_graded() {
    use NotEvaluated as N;
    for (declared, lines, kind) in [
        (Declared::Nothing, "402 Payment Required\r\n", ReadingKind::NoTerms),
        // The price depends on the body, and an empty one makes the server fail.
        (Declared::Post, "500 recipient address required\r\n", ReadingKind::NotEvaluated(N::ServerError)),
        // The request is validated before the payment.
        (Declared::Post, "400 Bad Request\r\n", ReadingKind::NotEvaluated(N::ClientError)),
        (Declared::Nothing, "422 Unprocessable\r\n", ReadingKind::NotEvaluated(N::ClientError)),
        (Declared::Nothing, "307 T\r\nLocation: https://b.example/\r\n", ReadingKind::NotEvaluated(N::Redirect)),
        (Declared::Nothing, "308 P\r\nLocation: /paid\r\n", ReadingKind::NotEvaluated(N::Redirect)),
        (Declared::Nothing, "403 Forbidden\r\nServer: wall\r\n", ReadingKind::NotEvaluated(N::Wall)),
        (Declared::Nothing, "401 Unauthorized\r\n", ReadingKind::NotEvaluated(N::Wall)),
        (Declared::Nothing, "429 Too Many\r\nRetry-After: 60\r\n", ReadingKind::NotEvaluated(N::Wall)),
        (Declared::Nothing, "200 OK\r\n", ReadingKind::NotEvaluated(N::Reachable200)),
        (Declared::Nothing, "503 Busy\r\n", ReadingKind::NotEvaluated(N::ServerError)),
    ] {
        let (requests, _, got) = look(declared, vec![("GET", lines), ("POST", lines)]).await;
        assert_eq!((requests, got), (1, kind), "{lines:?}");
    }
}

/// A refusal carries the method of the request that was refused.
#[tokio::test]
async fn a_refused_look_names_its_method() {
    let url = ResourceUrl::parse("https://seller.localhost/paid").unwrap();
    let door = Door::new(DoorConfig::default());
    for (declared, method) in [(Declared::Nothing, Method::Get), (Declared::Post, Method::Post)] {
        let (turn, _) = judge(Vec::new(), &url, NOW, Need::Must).unwrap();
        let probed = probe(&door, turn, declared, NOW).await;
        assert_eq!((probed.method, probed.result.unwrap_err().code), (method, RefusedCode::AddressRefused));
    }
}
