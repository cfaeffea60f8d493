//! Servers that misbehave, each over real TLS, each with the word that a check says about it.

use super::*;
use crate::challenge::{self, Declared};
use crate::politeness::{Need, judge};

/// A head that is complete and honest; its body ends when the connection does.
const HEAD: &str = "HTTP/1.1 402 X\r\nA: b\r\n\r\n";
const CHUNKED: &str = "HTTP/1.1 402 X\r\nTransfer-Encoding: chunked\r\n\r\n";

async fn body(behaviour: Behaviour) -> (Vec<u8>, Vec<TransportFlag>) {
    let answer = ask(Leaf::Honest, HOST, behaviour).await.unwrap();
    assert_eq!(answer.body_complete, !answer.flags.iter().any(|flag| BROKEN.contains(flag)));
    let lab = [TransportFlag::LoopbackAllowed, TransportFlag::ExtraRoots];
    (answer.body, answer.flags.into_iter().filter(|flag| !lab.contains(flag)).collect())
}

/// The remarks that mean: this is not all of the body.
const BROKEN: [TransportFlag; 5] = [
    TransportFlag::ContentEncoding,
    TransportFlag::BodyShort,
    TransportFlag::BodyCapped,
    TransportFlag::BodySlow,
    TransportFlag::ChunkPadding,
];

#[tokio::test]
async fn a_body_is_whole_or_says_why_not() {
    use TransportFlag as F;
    let say = |text: &str| Behaviour::Say(text.into());
    let extended = |size: usize| format!("{CHUNKED}3;{}\r\nabc\r\n0\r\n\r\n", "e".repeat(size - 1));
    for (behaviour, bytes, flags) in [
        (say(&format!("{HEAD}abc")), "abc", vec![]),
        (say(&format!("{CHUNKED}3\r\nabc\r\n0\r\n\r\n")), "abc", vec![]),
        (say(&format!("{CHUNKED}3\r\nabc\r\n0\r\nTrailer: dropped\r\n\r\n")), "abc", vec![]),
        (say(&extended(256)), "abc", vec![]),
        (say(&extended(257)), "abc", vec![F::ChunkPadding]),
        (say(&format!("{CHUNKED}{}3\r\nabc\r\n0\r\n\r\n", "0".repeat(40))), "abc", vec![F::ChunkPadding]),
        (say(&format!("{CHUNKED}3\r\nabc\r\n")), "abc", vec![F::BodyShort]),
        (say(&format!("{CHUNKED}3\r\nabcdef\r\n0\r\n\r\n")), "abc", vec![F::BodyShort]),
        (say(&format!("{CHUNKED}xyz\r\nabc\r\n")), "", vec![F::BodyShort]),
        (say(&format!("{CHUNKED}fffffffffffffffff\r\nabc\r\n")), "", vec![F::BodyShort]),
        (Behaviour::Cut(format!("{HEAD}abc").into()), "abc", vec![F::BodyShort]),
        (Behaviour::Reset(format!("{HEAD}abc").into()), "abc", vec![F::BodyShort]),
        (Behaviour::Reset("HTTP/1.1 402 X\r\nContent-Length: 9\r\n\r\nabc".into()), "abc", vec![F::BodyShort]),
    ] {
        let told = format!("{behaviour:?}");
        assert_eq!(body(behaviour).await, (bytes.into(), flags), "{}", &told[..told.len().min(120)]);
    }
}

/// A packed body is not opened, and the head beside it is read all the same.
#[tokio::test]
async fn a_coding_that_nobody_asked_for_leaves_the_body_alone() {
    let coded = |coding: &str| format!("HTTP/1.1 402 X\r\nContent-Encoding: {coding}\r\nContent-Length: 3\r\n\r\nabc");
    for coding in ["gzip", "br", "identity, gzip", &"a".repeat(30_000)] {
        let answer = say(&coded(coding)).await.unwrap();
        assert!(answer.flags.contains(&TransportFlag::ContentEncoding));
        assert_eq!((answer.status, answer.body.len(), answer.body_complete), (402, 0, false));
        assert!(answer.headers.contains(&("content-encoding".to_owned(), coding.into())));
    }
    let plain = say(&coded("Identity")).await.unwrap();
    assert_eq!((plain.body.as_slice(), plain.body_complete), (&b"abc"[..], true), "positive control");
}

/// What is announced and comes whole is whole, however long it took. The last two end past the third second, where
/// the rate counts while a body runs.
#[tokio::test]
async fn a_slow_body_that_ends_is_whole() {
    let long = |length: usize| format!("HTTP/1.1 402 X\r\nContent-Length: {length}\r\n\r\n");
    let wait = |millis: u64, bytes: &str| (Duration::from_millis(millis), bytes.as_bytes().to_vec());
    let (at_once, length, chunked) = tokio::join!(
        body(Behaviour::Pause(long(415).into(), vec![wait(1300, &"a".repeat(415))])),
        body(Behaviour::Pause(long(2).into(), vec![wait(1600, "a"), wait(1600, "b")])),
        body(Behaviour::Pause(CHUNKED.into(), vec![wait(1600, "1\r\na\r\n"), wait(1600, "1\r\nb\r\n0\r\n\r\n")])),
    );
    assert_eq!(at_once, (b"a".repeat(415), vec![]));
    assert_eq!(length, (b"ab".to_vec(), vec![]));
    assert_eq!(chunked, (b"ab".to_vec(), vec![]));
}

/// A flood of chunk extensions ends as soon as it is one, and does not wait for the deadline.
#[tokio::test]
async fn endless_extensions_and_trailers_end() {
    let extensions = Behaviour::Endless(CHUNKED.into(), format!("3;{}\r\nabc\r\n", "e".repeat(100)).into());
    let (bytes, flags) = body(extensions).await;
    assert!(bytes.len() < 64 << 10 && flags.contains(&TransportFlag::ChunkPadding), "{} {flags:?}", bytes.len());
    let trailers = Behaviour::Endless(format!("{CHUNKED}3\r\nabc\r\n0\r\n").into(), b"A: b\r\n".to_vec());
    assert_eq!(body(trailers).await, (b"abc".to_vec(), vec![TransportFlag::BodyShort]));
    let tiny = Behaviour::Endless(CHUNKED.into(), format!("80\r\n{}\r\n", "a".repeat(128)).into());
    let (bytes, flags) = body(tiny).await;
    assert_eq!((bytes.len(), flags), (1 << 20, vec![TransportFlag::BodyCapped]));
}

#[tokio::test]
async fn heads_that_are_not_one_plain_head_are_refused() {
    use RefusedCode as C;
    let ok = "Content-Length: 2\r\n\r\nok";
    assert_eq!(say(&format!("HTTP/1.1 402 X\r\n{ok}")).await.unwrap().body, b"ok", "positive control");
    for (head, code) in [
        ("HTTP/1.1 402 X\r\nA: b\r\n folded\r\n", C::HeadMalformed),
        ("HTTP/1.1 402 X\r\n folded: at once\r\n", C::HeadMalformed),
        ("HTTP/1.1 402 X\r\nA: \x01\r\n", C::HeadMalformed),
        ("HTTP/1.1 402 X\r\nA: b\rC: d\r\n", C::HeadMalformed),
        ("HTTP/1.1 402 X\r\nno colon\r\n", C::HeadMalformed),
        ("HTTP/1.1 402 X\r\n: no name\r\n", C::HeadMalformed),
        ("HTTP/1.1 40 X\r\n", C::HeadMalformed),
        ("HTTP/1.1 \r\n", C::HeadMalformed),
        ("HTTP/1.1 402 X\r\n\0: a\r\n", C::ControlInHead),
        ("HTTP/1.1 402 X\0\r\n", C::ControlInHead),
        ("HTTP/1.1 402 X\r\nTransfer-Encoding: gzip, chunked\r\n", C::LengthAndChunked),
        ("HTTP/1.1 402 X\r\nContent-Length: 3\r\n", C::LengthConflict),
        ("HTTP/1.1 402 X\r\nContent-Length: -1\r\n", C::HeadMalformed),
        ("HTTP/2.0 402 X\r\n", C::NotHttp),
        ("SSH-2.0-x\r\n", C::NotHttp),
    ] {
        assert_eq!(refused(&format!("{head}{ok}")).await, code, "{head:?}");
    }
    let announced = async |value: &str| say(&format!("HTTP/1.1 402 X\r\nContent-Length: {value}\r\n\r\nok")).await;
    for value in ["-1", "2x", "+2", "0x2", "", "2 2", "2,"] {
        assert_eq!(announced(value).await.unwrap_err().code, C::HeadMalformed, "{value:?}");
    }
    for value in ["18446744073709551614", "18446744073709551615", "18446744073709551616", "99999999999999999999"] {
        assert_eq!(announced(value).await.unwrap_err().code, C::BodyTooLarge, "{value:?}");
    }
    assert_eq!(announced("2, 3").await.unwrap_err().code, C::LengthConflict);
    for value in ["002", "2, 2", "  2  "] {
        let answer = announced(value).await.unwrap();
        assert_eq!((answer.body.as_slice(), answer.body_complete), (&b"ok"[..], true), "{value:?}");
    }
    let far = announced("18446744073709551613").await.unwrap();
    assert_eq!((far.body.as_slice(), far.body_complete), (&b"ok"[..], false), "the last that is read");
    assert!(far.flags.contains(&TransportFlag::BodyShort));
    let coded = "HTTP/1.1 402 X\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n";
    assert_eq!(refused(coded).await, C::TransferCoding);
}

/// The number of header lines is capped by itself, below the cap on bytes.
#[tokio::test]
async fn sixty_four_lines_are_read_and_one_more_is_not() {
    let head = |lines: usize| {
        let lines: String = (0..lines).map(|number| format!("X-{number}: 1\r\n")).collect();
        format!("HTTP/1.1 402 X\r\n{lines}\r\n")
    };
    assert_eq!(say(&head(64)).await.unwrap().headers.len(), 64);
    assert_eq!(refused(&head(65)).await, RefusedCode::HeadTooLarge);
}

#[tokio::test]
async fn endless_heads_end_as_soon_as_they_are_too_large() {
    use RefusedCode as C;
    for (first, piece, code) in [
        ("", "HTTP/1.1 100 Continue\r\n\r\n", C::TooManyInterim),
        ("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", C::TooManyInterim),
        ("HTTP/1.1 402 X\r\n", "X-A: b\r\n", C::HeadTooLarge),
        ("HTTP/1.1 402 ", "reason ", C::HeadTooLarge),
        ("HTTP/1.1 402 X\r\nA", "a", C::HeadTooLarge),
        ("HTTP/1.1 100 Continue\r\nA: ", "a", C::HeadTooLarge),
    ] {
        let endless = Behaviour::Endless(first.into(), piece.into());
        assert_eq!(ask(Leaf::Honest, HOST, endless).await.unwrap_err().code, code, "{first:?} {piece:?}");
    }
    let four = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(4) + "HTTP/1.1 402 X\r\nContent-Length: 0\r\n\r\n";
    let answer = say(&four).await.unwrap();
    assert_eq!((answer.interim, answer.status), (4, 402));
    assert!(answer.flags.contains(&TransportFlag::Interim));
}

/// A server that always has a little more to say is stopped by the deadline of the whole fetch.
#[tokio::test]
async fn the_deadline_of_the_whole_fetch_ends_a_body_that_never_pauses_long() {
    let authority = Authority::new().unwrap();
    let acceptor = authority.acceptor(&[HOST], Leaf::Honest).unwrap();
    let server = Server::start(acceptor, Behaviour::Drip(HEAD.into())).await.unwrap();
    let request = Request { url: url(server.port()), method: Method::Get, body: None };
    let limits = Limits { total: Duration::from_millis(800), ..Limits::default() };
    let answer = lab(&authority, limits).fetch(&request, NOW).await.unwrap();
    assert_eq!((answer.status, answer.body_complete), (402, false));
    assert!((1..=4).contains(&answer.body.len()), "{}", answer.body.len());
}

#[tokio::test]
async fn certificates_are_for_the_very_name() {
    use RefusedCode as C;
    for (name, expected) in [
        ("seller.localhost", Ok(402)),
        ("SELLER.localhost", Ok(402)),
        ("*.seller.localhost", Err(C::CertificateWrongHost)),
        // A wildcard needs two labels after it.
        ("*.localhost", Err(C::CertificateWrongHost)),
        ("a.seller.localhost", Err(C::CertificateWrongHost)),
        ("localhost", Err(C::CertificateWrongHost)),
        ("seller.localhost.example", Err(C::CertificateWrongHost)),
    ] {
        let got = ask(Leaf::Honest, name, Behaviour::Echo).await;
        assert_eq!(got.map(|answer| answer.status).map_err(|refused| refused.code), expected, "{name}");
    }
}

/// What stands on the port instead of TLS 1.2 or 1.3 with HTTP/1.1.
#[tokio::test]
async fn what_is_no_tls_or_too_old_is_named() {
    use RefusedCode as C;
    // A ServerHello of TLS 1.1 (RFC 4346 7.4.1.3): version 3.2, 32 bytes of randomness, no session, AES128-SHA.
    let mut old = b"\x16\x03\x02\x00\x2a\x02\x00\x00\x26\x03\x02".to_vec();
    old.extend([7; 32]);
    old.extend(b"\x00\x00\x2f\x00");
    for (clear, code) in [
        (Clear::Say(old), C::TlsFailed),
        // The alert protocol_version of a server that has nothing newer than TLS 1.1.
        (Clear::Say(b"\x15\x03\x02\x00\x02\x02\x46".to_vec()), C::TlsFailed),
        (Clear::Say(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), C::TlsFailed),
        (Clear::Close, C::ClosedEarly),
        (Clear::Silent, C::TlsTimeout),
    ] {
        let server = Server::start_clear(clear.clone()).await.unwrap();
        let request = Request { url: url(server.port()), method: Method::Get, body: None };
        let limits = Limits { tls: Duration::from_millis(500), ..Limits::default() };
        let refused = lab(&Authority::new().unwrap(), limits).fetch(&request, NOW).await.unwrap_err();
        assert_eq!((refused.code, refused.chain.len()), (code, 0), "{clear:?} {}", refused.detail);
    }
    for (protocols, expected) in
        [(&[b"h2".as_slice()][..], Err(C::NoHttp1)), (&[], Ok(402)), (&[b"h2", b"http/1.1"], Ok(402))]
    {
        let authority = Authority::new().unwrap();
        let acceptor = authority.acceptor_for(&[HOST], Leaf::Honest, protocols).unwrap();
        let server = Server::start(acceptor, Behaviour::Echo).await.unwrap();
        let request = Request { url: url(server.port()), method: Method::Get, body: None };
        let got = lab(&authority, Limits::default()).fetch(&request, NOW).await;
        assert_eq!(got.map(|answer| answer.status).map_err(|refused| refused.code), expected, "{protocols:?}");
    }
}

/// Wherever a response points, nobody goes there: one connection is made and no more.
#[tokio::test]
async fn nothing_a_response_points_at_is_fetched() {
    let authority = Authority::new().unwrap();
    let elsewhere = Server::start(authority.acceptor(&[HOST], Leaf::Honest).unwrap(), Behaviour::Echo).await.unwrap();
    let other = format!("https://{HOST}:{}/", elsewhere.port());
    let places = [
        "https://10.0.0.1/",
        "https://169.254.169.254/",
        "http://seller.localhost/",
        other.as_str(),
        "/paid?q=1",
        "//a@b",
    ];
    let lines = |place: &str| {
        format!(
            "Location: {place}\r\nContent-Location: {place}\r\nRefresh: 0; url={place}\r\n\
             Link: <{place}>; rel=\"alternate\"\r\nAlt-Svc: h3=\":443\"\r\nSet-Cookie: a=b\r\n"
        )
    };
    for status in [300, 301, 302, 303, 307, 308, 402] {
        for place in places {
            let bytes = format!("HTTP/1.1 {status} X\r\n{}Content-Length: 2\r\n\r\n{{}}", lines(place));
            let acceptor = authority.acceptor(&[HOST], Leaf::Honest).unwrap();
            let server = Server::start(acceptor, Behaviour::Say(bytes.into())).await.unwrap();
            let url = url(server.port());
            let (turn, _) = judge(Vec::new(), &url, NOW, Need::Must).unwrap();
            let probed = challenge::probe(&lab(&authority, Limits::default()), turn, Declared::Nothing, NOW).await;
            assert_eq!((probed.result.unwrap().status, server.connections()), (status, 1), "{place}");
        }
    }
    assert_eq!(elsewhere.connections(), 0);
}
