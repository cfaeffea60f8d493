use super::*;
use proptest::prelude::*;

fn normal(text: &str) -> Result<String, UrlError> {
    ResourceUrl::parse(text).map(|url| url.as_str().to_owned())
}

#[test]
fn the_normal_form_changes_host_and_port_only() {
    for (text, expected) in [
        ("https://API.Example.com:443/v1/weather?q=a%20b#frag", "https://api.example.com/v1/weather?q=a%20b"),
        ("HTTPS://api.example.com", "https://api.example.com/"),
        ("https://api.example.com?x=1", "https://api.example.com/?x=1"),
        ("https://api.example.com/?", "https://api.example.com/?"),
        ("https://api.example.com/A/%7e%7E//b/", "https://api.example.com/A/%7e%7E//b/"),
        ("https://api.example.com:8443/x", "https://api.example.com:8443/x"),
        ("https://api.example.com:08443/x", "https://api.example.com:8443/x"),
        ("https://api.example.com/x?to=a@b", "https://api.example.com/x?to=a@b"),
        ("https://shop.localhost:8443/", "https://shop.localhost:8443/"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://BÜCHER.example/", "https://xn--bcher-kva.example/"),
    ] {
        assert_eq!(normal(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn the_parts_are_at_hand() {
    let url = ResourceUrl::parse("https://API.example.com:8443/x?y").unwrap();
    assert_eq!(
        (url.host(), url.port(), url.origin().as_str()),
        ("api.example.com", 8443, "https://api.example.com:8443")
    );
    let plain = ResourceUrl::parse("https://api.example.com/x").unwrap();
    assert_eq!((plain.port(), plain.origin().as_str()), (443, "https://api.example.com"));
}

#[test]
fn the_folder_ends_with_the_last_slash_of_the_path() {
    for (text, folder) in [
        ("https://api.example.com", "https://api.example.com/"),
        ("https://api.example.com/v1/weather", "https://api.example.com/v1/"),
        ("https://api.example.com/v1/", "https://api.example.com/v1/"),
        ("https://api.example.com:8443/x?next=/a/b", "https://api.example.com:8443/"),
    ] {
        assert_eq!(ResourceUrl::parse(text).unwrap().folder(), folder, "{text}");
    }
}

#[test]
fn every_spelling_of_an_ip_address_is_refused() {
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "0x7f000001",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "256.1.1.1",
        "1.2.3.4.5",
        "1.2.3.08",
        "999999999999",
        "[fe80::1%25eth0]",
    ] {
        assert_eq!(normal(&format!("https://{host}/")), Err(UrlError::IpLiteral), "{host}");
    }
}

#[test]
fn a_host_that_is_not_a_plain_name_is_refused() {
    for host in [
        "localhost.",
        "example.com.",
        "example.com..",
        ".example.com",
        "a_b.example.com",
        "-a.example.com",
        "a-.example.com",
        "a%2fb.example.com",
        "a%00b.com",
        "ex%61mple.com",
        "xn--a.example.com",
        "ｅxample.com",
        "ex\u{ad}ample.com",
        "ex\u{200b}ample.com",
        "a*b.com",
        "example。com",
        "faß\u{200d}.de",
    ] {
        assert_eq!(normal(&format!("https://{host}/")), Err(UrlError::BadHost), "{host}");
    }
    assert_eq!(normal(&format!("https://{}.com/", "a".repeat(64))), Err(UrlError::BadHost));
}

#[test]
fn a_text_that_two_parsers_read_differently_is_refused() {
    for (text, expected) in [
        ("https://example.com@127.0.0.1/", UrlError::Userinfo),
        ("https://a:b@example.com/", UrlError::Userinfo),
        ("https://@example.com/", UrlError::Userinfo),
        ("https://example.com\\@127.0.0.1/", UrlError::Backslash),
        ("https:\\\\example.com/", UrlError::NotHttps),
        ("https://example.com/a\\b", UrlError::Backslash),
        ("https:///example.com/", UrlError::NoHost),
        ("https://", UrlError::NoHost),
        ("https://:443/", UrlError::NoHost),
        ("https:example.com", UrlError::NotHttps),
        ("http://example.com/", UrlError::NotHttps),
        ("ftp://example.com/", UrlError::NotHttps),
        ("", UrlError::NotHttps),
        (" https://example.com/", UrlError::NotHttps),
        ("https://exam\tple.com/", UrlError::BadCharacter),
        ("https://example.com/\r\nX: y", UrlError::BadCharacter),
        ("https://example.com\r\n/", UrlError::BadCharacter),
        ("https://example.com/a b", UrlError::BadCharacter),
        ("https://example.com/é", UrlError::BadCharacter),
        ("https://example.com/\u{7f}", UrlError::BadCharacter),
        ("https://example.com/ ", UrlError::BadCharacter),
        ("https://example.com:0/", UrlError::BadPort),
        ("https://example.com:/", UrlError::BadPort),
        ("https://example.com:65536/", UrlError::BadPort),
        ("https://example.com:44a/", UrlError::BadPort),
        ("https://example.com/a/../b", UrlError::NotNormal),
        ("https://example.com/./b", UrlError::NotNormal),
        ("https://example.com/%2e%2E/b", UrlError::NotNormal),
        ("https://example.com/{id}", UrlError::NotNormal),
        ("https://example.com/?\"", UrlError::NotNormal),
    ] {
        assert_eq!(normal(text), Err(expected), "{text:?}");
    }
}

#[test]
fn the_length_limit_is_2048_bytes() {
    let of = |length: usize| format!("https://example.com/{}", "a".repeat(length - 20));
    assert!(normal(&of(2048)).is_ok());
    assert_eq!(normal(&of(2049)), Err(UrlError::TooLong));
}

/// Computed with an outside program (Python, `hashlib`).
#[test]
fn endpoint_ids_match_the_vectors() {
    let id = |chain: &str, pay_to: &str, url: &str| {
        let network = crate::network::read(chain).unwrap().network;
        EndpointId::of(&network, pay_to, &ResourceUrl::parse(url).unwrap()).to_string()
    };
    let expected = "ea3003f970dc29eb254c7ef4f0611dc62a9842ba96c51570c4c41fa7df6cf45d";
    let payee = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
    assert_eq!(id("base", payee, "https://API.Example.com:443/v1/weather?q=a%20b#frag"), expected);
    assert_eq!(id("eip155:8453", &payee.to_lowercase(), "https://api.example.com/v1/weather?q=a%20b"), expected);
    let mint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
    assert_eq!(id("solana", mint, "https://bücher.example/"), SOLANA_ID);
    assert_ne!(id("solana", &mint.to_lowercase(), "https://bücher.example/"), SOLANA_ID);
}

const SOLANA_ID: &str = "5e00fa8870a4dad3e3f5ccf5b38a5af15f7ead3ef47c18a9e1b81c462b23345e";

#[test]
fn the_preimage_is_the_canonical_form() {
    let network = Network::parse_caip2("eip155:8453").unwrap();
    let url = ResourceUrl::parse("https://a.example/x").unwrap();
    assert_eq!(
        String::from_utf8(canonical(&network, "0xAB\"\n", &url)).unwrap(),
        r#"{"chain":"eip155:8453","payTo":"0xab\"\n","resourceUrl":"https://a.example/x"}"#
    );
}

proptest! {
    #[test]
    fn a_normal_form_is_a_fixed_point(text in "https://[a-zA-Z0-9.-]{1,20}(:[0-9]{1,5})?(/[!-~]{0,20})?") {
        if let Ok(url) = ResourceUrl::parse(&text) {
            let again = ResourceUrl::parse(url.as_str());
            prop_assert_eq!(again, Ok(url.clone()));
            let parsed = Url::parse(url.as_str()).unwrap();
            prop_assert_eq!(parsed.host_str(), Some(url.host()));
            prop_assert_eq!(parsed.as_str(), url.as_str());
        }
    }

    #[test]
    fn no_text_panics(text in "(https://)?.{0,60}") {
        let _ = ResourceUrl::parse(&text);
    }
}
