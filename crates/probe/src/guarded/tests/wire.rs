//! What is kept of an exchange, byte for byte, over real TLS.

use super::*;
use RefusedCode as C;

/// Neither the order of the lines, nor the case of their names, nor their spaces survive a reading of them.
#[tokio::test]
async fn the_heads_of_an_answer_are_kept_as_they_came() {
    let heads = b"HTTP/1.1 103 Early  Hints\r\nLink: </a>\r\n\r\n\
        HTTP/1.1 402 Pay \xfcs\r\nX-Z: 1\r\nx-A:  2\t\r\nX-z:3\nContent-LENGTH: 2\r\n\r\n";
    let answer = ask(Leaf::Honest, HOST, Behaviour::Say([&heads[..], b"ok"].concat())).await.unwrap();
    assert_eq!((answer.wire.received.as_slice(), answer.body.as_slice()), (&heads[..], &b"ok"[..]));
    let read: Vec<(&str, &[u8])> = answer.headers.iter().map(|(name, value)| (name.as_str(), &value[..])).collect();
    let expected: [(&str, &[u8]); 4] = [("x-z", b"1"), ("x-z", b"3"), ("x-a", b"2"), ("content-length", b"2")];
    assert_eq!(read, expected, "control: the reading has another order");
    assert_eq!((answer.interim, answer.head_bytes), (1, heads.len() - 41));
}

/// The echo's body is what the server got.
#[tokio::test]
async fn what_was_sent_is_kept_as_it_was_sent() {
    let answer = ask(Leaf::Honest, HOST, Behaviour::Echo).await.unwrap();
    assert!(answer.wire.sent.starts_with(b"GET /paid?q=1 HTTP/1.1\r\n"));
    assert_eq!(answer.wire.sent, answer.body);
    let authority = Authority::new().unwrap();
    let acceptor = authority.acceptor(&[HOST], Leaf::Honest).unwrap();
    let server = Server::start(acceptor, Behaviour::Say(b"HTTP/1.1 402 X\r\n\r\n".to_vec())).await.unwrap();
    let request = Request { url: url(server.port()), method: Method::Post, body: Some(b"{}".to_vec()) };
    let answer = lab(&authority, Limits::default()).fetch(&request, NOW).await.unwrap();
    let sent = String::from_utf8(answer.wire.sent).unwrap();
    assert!(sent.starts_with("POST /paid?q=1 HTTP/1.1\r\n") && sent.ends_with("content-length: 2\r\n\r\n{}"), "{sent}");
}

/// Each of these comes in one piece, so that all of it had arrived when it was refused.
#[tokio::test]
async fn what_was_refused_is_kept_as_far_as_it_came() {
    for (bytes, code) in [
        ("HTTP/1.1 402 X\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", C::LengthAndChunked),
        ("HTTP/1.1 103 E\r\n\r\nHTTP/1.1 402 X\r\nno colon\r\n\r\nok", C::HeadMalformed),
        ("HTTP/1.1 402 X\r\nA: a\0b\r\n\r\nok", C::ControlInHead),
        ("HTTP/1.1 101 X\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n", C::SwitchingProtocols),
        ("<html>hello</html>", C::NotHttp),
        ("HTTP/1.1 402 X\r\nA: b", C::ClosedEarly),
    ] {
        let refused = say(bytes).await.unwrap_err();
        assert_eq!((refused.code, refused.wire.received.as_slice()), (code, bytes.as_bytes()));
        assert!(refused.wire.sent.starts_with(b"GET "), "{code}");
    }
    let dripped = ask(Leaf::Honest, HOST, Behaviour::Drip(b"HTTP/1.1 402 ".to_vec())).await.unwrap_err();
    assert!(dripped.wire.received.starts_with(b"HTTP/1.1 402 x"), "a head that is never complete");
}

#[tokio::test]
async fn of_a_flood_the_first_64_kib_are_kept() {
    let endless = Behaviour::Endless(b"HTTP/1.1 402 X\r\nA".to_vec(), b"a".to_vec());
    let refused = ask(Leaf::Honest, HOST, endless).await.unwrap_err();
    assert_eq!((refused.code, refused.wire.received.len()), (C::HeadTooLarge, 64 << 10));
    let body = format!("HTTP/1.1 402 X\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}", "b".repeat(200_000));
    let refused = say(&body).await.unwrap_err();
    assert_eq!(refused.code, C::LengthConflict);
    assert!(refused.wire.received.len() <= 64 << 10 && body.as_bytes().starts_with(&refused.wire.received));
}

#[tokio::test]
async fn where_nobody_was_asked_nothing_was_sent() {
    let refused = ask(Leaf::Honest, "other.localhost", Behaviour::Echo).await.unwrap_err();
    assert_eq!((refused.code, refused.wire), (C::CertificateWrongHost, Wire::default()));
    let request = Request { url: url(6379), method: Method::Get, body: None };
    let refused = lab(&Authority::new().unwrap(), Limits::default()).fetch(&request, NOW).await.unwrap_err();
    assert_eq!((refused.code, refused.wire), (C::PortRefused, Wire::default()));
}

/// Whoever gives up keeps what had come by then: the head here, and the first byte behind it.
#[tokio::test]
async fn what_is_no_longer_waited_for_is_kept_as_far_as_it_came() {
    let authority = Authority::new().unwrap();
    let acceptor = authority.acceptor(&[HOST], Leaf::Honest).unwrap();
    let server = Server::start(acceptor, Behaviour::Drip(b"HTTP/1.1 402 X\r\n\r\n".to_vec())).await.unwrap();
    let request = Request { url: url(server.port()), method: Method::Get, body: None };
    let door = lab(&authority, Limits::default());
    let over = tokio::time::sleep(Duration::from_millis(700));
    let refused = door.fetch_until(&request, NOW, over).await.unwrap_err();
    assert_eq!((refused.code, refused.chain.len()), (C::FirstByteTimeout, 1));
    assert!(refused.wire.received.starts_with(b"HTTP/1.1 402 X\r\n\r\nx") && !refused.wire.sent.is_empty());
    let over = std::future::pending();
    assert_eq!(door.fetch_until(&request, NOW, over).await.unwrap().status, 402, "control");
}
