use super::*;

/// Whole and byte by byte must agree.
fn scan(bytes: &[u8]) -> HeadScan {
    let mut whole = HeadScan::new(1000);
    whole.push(bytes);
    let mut drip = HeadScan::new(1000);
    bytes.chunks(1).for_each(|byte| drip.push(byte));
    assert_eq!((whole.trouble, whole.interim, &whole.received), (drip.trouble, drip.interim, &drip.received));
    whole
}

#[test]
fn an_honest_head_is_measured() {
    let scan = scan(b"HTTP/1.1 402 X\r\nContent-Length: 2\r\n\r\n{}");
    assert_eq!((scan.trouble(), scan.head_bytes(), scan.interim()), (None, 37, 0));
    assert!(!scan.bare_lf() && !scan.overran());
}

/// 18 bytes of interim head, 18 of the final one, two of body.
#[test]
fn the_first_bytes_are_kept_up_to_the_limit() {
    let bytes = b"HTTP/1.1 103 E\r\n\r\nHTTP/1.1 402 X\r\n\r\nok";
    let kept = |limit: usize| {
        let mut scan = HeadScan::new(limit);
        scan.push(bytes);
        (scan.trouble(), scan.heads(), scan.received.len())
    };
    assert_eq!(kept(40), (None, 36, 38));
    assert_eq!(kept(37), (None, 36, 37));
    assert_eq!(kept(36), (None, 36, 36));
    assert_eq!(kept(35), (Some(RefusedCode::HeadTooLarge), 35, 35));
}

#[test]
fn what_is_refused_is_named() {
    use RefusedCode as C;
    let long = format!("HTTP/1.1 402 X\r\nA: {}\r\n\r\n", "a".repeat(1000));
    let flood = "HTTP/1.1 100 C\r\n\r\n".repeat(5);
    for (bytes, code) in [
        ("HTTP/1.1 402 X\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", C::LengthAndChunked),
        ("HTTP/1.1 402 X\r\ncontent-length : 3\r\nTRANSFER-ENCODING:x\r\n\r\n", C::LengthAndChunked),
        ("HTTP/1.1 402 X\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\n", C::LengthConflict),
        ("HTTP/1.1 402 X\r\nContent-Length: 3, 5\r\n\r\n", C::LengthConflict),
        ("HTTP/1.1 402 X\r\nContent-Length: 18446744073709551615\r\n\r\n", C::BodyTooLarge),
        ("HTTP/1.1 402 X\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", C::TransferCoding),
        ("HTTP/1.1 402 X\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", C::TransferCoding),
        ("HTTP/1.1 402 X\r\nA: a\0b\r\n\r\n", C::ControlInHead),
        ("<html>hello</html>", C::NotHttp),
        ("HTTP/2 200\r\n\r\n", C::NotHttp),
        ("\r\nHTTP/1.1 402 X\r\n\r\n", C::NotHttp),
        ("HTTP/1.1 4x2 X\r\n\r\n", C::HeadMalformed),
        (&long, C::HeadTooLarge),
        (&flood, C::TooManyInterim),
    ] {
        assert_eq!(scan(bytes.as_bytes()).trouble(), Some(code), "{}", &bytes[..bytes.len().min(60)]);
    }
}

#[test]
fn what_is_odd_is_counted() {
    let lf = scan(b"HTTP/1.1 402 X\nContent-Length: 2\n\nok");
    assert!(lf.bare_lf() && lf.trouble().is_none());
    let interim = scan(b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\n\r\nHTTP/1.1 402 X\r\n\r\n");
    assert_eq!((interim.interim(), interim.head_bytes(), interim.trouble()), (2, 18, None));
    assert!(scan(b"HTTP/1.1 402 X\r\nContent-Length: 3\r\n\r\nabcd").overran());
    assert_eq!(scan(b"HTTP/1.1 402 X\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n").trouble(), None);
}

/// RFC 9110 8.6: one or more decimal digits, which may come as a list of the same number.
#[test]
fn a_length_is_digits_however_often_it_is_said() {
    use RefusedCode as C;
    let read = |lines: &[&str]| length(&lines.iter().map(|line| line.as_bytes()).collect::<Vec<_>>());
    assert_eq!(read(&[]), Ok(None));
    for lines in [&["5"][..], &["005"], &["5, 5"], &["5,5"], &["5", "5"], &["5", "05, 5"]] {
        assert_eq!(read(lines), Ok(Some(5)), "{lines:?}");
    }
    assert_eq!(read(&["0"]), Ok(Some(0)));
    assert_eq!(read(&["000"]), Ok(Some(0)));
    assert_eq!(read(&["18446744073709551613"]), Ok(Some(u64::MAX - 2)));
    for lines in [&["+5"][..], &["-5"], &["5 5"], &["0x5"], &["5.0"], &["5e0"], &[""], &["5,"], &[",5"], &["5", ""]] {
        assert_eq!(read(lines), Err(C::HeadMalformed), "{lines:?}");
    }
    for lines in [&["5, 6"][..], &["5", "6"], &["5, 5, 50"], &["18446744073709551616, 5"]] {
        assert_eq!(read(lines), Err(C::LengthConflict), "{lines:?}");
    }
    let long = "9".repeat(500);
    for lines in [&["18446744073709551614"][..], &["18446744073709551615"], &["18446744073709551616"], &[&long]] {
        assert_eq!(read(lines), Err(C::BodyTooLarge), "{lines:?}");
    }
}

proptest::proptest! {
    /// Nothing a server can write makes the scan panic, and how it is cut into reads changes nothing.
    #[test]
    fn any_bytes_are_judged_alike_in_any_pieces(bytes in "(HTTP/1.1 (100|402) X\r?\n)?([a-c:\0 ]{0,6}\r?\n){0,6}.{0,20}") {
        scan(bytes.as_bytes());
    }

    /// The same for bytes without any shape, after a head that is honest or none.
    #[test]
    fn no_bytes_make_the_scan_panic(
        head in proptest::sample::select(vec![
            "", "HTTP/1.1 402 X\r\n", "HTTP/1.1 402 X\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 100 C\r\n\r\n",
        ]),
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300),
    ) {
        scan(&[head.as_bytes(), &bytes].concat());
    }
}
