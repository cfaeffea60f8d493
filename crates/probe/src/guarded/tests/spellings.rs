//! The ways to hide a private address or a foreign host in a URL, from public collections of such tricks. Each is
//! stopped by the hygiene of the URL (`url_…`) or by the door, and the table says by which and with what word.

use super::*;

/// What a URL comes to at a strict door: the code of the gate that stops it.
async fn stopped(text: &str) -> String {
    let url = match ResourceUrl::parse(text) {
        Ok(url) => url,
        Err(error) => return error.code().to_owned(),
    };
    let request = Request { url, method: Method::Get, body: None };
    Door::new(DoorConfig::default()).fetch(&request, NOW).await.unwrap_err().code.as_str().to_owned()
}

#[tokio::test]
async fn no_spelling_of_a_private_address_gets_through() {
    let long = format!("https://{}.localhost/", "a".repeat(64));
    let longest = format!("https://a.localhost/{}", "a".repeat(2048));
    let rows = [
        // Addresses, plain and disguised.
        ("https://127.0.0.1/", "url_ip_literal"),
        ("https://2130706433/", "url_ip_literal"),
        ("https://0x7f000001/", "url_ip_literal"),
        ("https://0x7f.1/", "url_ip_literal"),
        ("https://0177.0.0.1/", "url_ip_literal"),
        ("https://017700000001/", "url_ip_literal"),
        ("https://127.1/", "url_ip_literal"),
        ("https://127.0.1/", "url_ip_literal"),
        ("https://0/", "url_ip_literal"),
        ("https://0x7f.0.0x0.01/", "url_ip_literal"),
        ("https://127.0.0.1./", "url_ip_literal"),
        ("https://169.254.169.254/latest/meta-data/", "url_ip_literal"),
        ("https://2852039166/", "url_ip_literal"),
        ("https://0xa9.0xfe.0xa9.0xfe/", "url_ip_literal"),
        ("https://0251.0376.0251.0376/", "url_ip_literal"),
        ("https://100.100.100.200/", "url_ip_literal"),
        ("https://192.0.0.192/", "url_ip_literal"),
        ("https://8.8.8.8/", "url_ip_literal"),
        ("https://999999999999/", "url_ip_literal"),
        ("https://256.1.1.1/", "url_ip_literal"),
        ("https://1.2.3.4.5/", "url_ip_literal"),
        ("https://1.2.3.08/", "url_ip_literal"),
        ("https://[::]/", "url_ip_literal"),
        ("https://[::1]/", "url_ip_literal"),
        ("https://[0:0:0:0:0:0:0:1]/", "url_ip_literal"),
        ("https://[::ffff:127.0.0.1]/", "url_ip_literal"),
        ("https://[::ffff:7f00:1]/", "url_ip_literal"),
        ("https://[::127.0.0.1]/", "url_ip_literal"),
        ("https://[64:ff9b::7f00:1]/", "url_ip_literal"),
        ("https://[2002:7f00:1::]/", "url_ip_literal"),
        ("https://[2001:0:7f00:1::]/", "url_ip_literal"),
        ("https://[fd00:ec2::254]/", "url_ip_literal"),
        ("https://[fe80::1%25eth0]/", "url_ip_literal"),
        ("https://[v1.x]/", "url_ip_literal"),
        // Digits and dots of other scripts.
        ("https://\u{2460}\u{2461}\u{2466}.0.0.1/", "url_ip_literal"),
        ("https://127\u{3002}0\u{3002}0\u{3002}1/", "url_ip_literal"),
        ("https://127\u{ff0e}0\u{ff0e}0\u{ff0e}1/", "url_ip_literal"),
        ("https://\u{ff11}27.0.0.1/", "url_ip_literal"),
        ("https://169\u{ff61}254\u{ff61}169\u{ff61}254/", "url_ip_literal"),
        ("https://\u{24db}\u{24de}calhost/", "url_bad_host"),
        ("https://example\u{3002}com/", "url_bad_host"),
        ("https://exam\u{ad}ple.com/", "url_bad_host"),
        ("https://xn--/", "url_bad_host"),
        // Names of this machine.
        ("https://localhost/", "address_refused"),
        ("https://LOCALHOST/", "address_refused"),
        ("https://a.localhost/", "address_refused"),
        ("https://localhost./", "url_bad_host"),
        ("https://example.com./", "url_bad_host"),
        ("https://example.com../", "url_bad_host"),
        ("https://.example.com/", "url_bad_host"),
        ("https://a..example.com/", "url_bad_host"),
        ("https://a_b.example.com/", "url_bad_host"),
        ("https://-a.example.com/", "url_bad_host"),
        ("https://a-.example.com/", "url_bad_host"),
        (&long, "url_bad_host"),
        (&longest, "url_too_long"),
        // Two hosts in one text.
        ("https://example.com@127.0.0.1/", "url_userinfo"),
        ("https://a:b@example.com/", "url_userinfo"),
        ("https://@example.com/", "url_userinfo"),
        ("https://example.com:80+&@127.88.23.245:22/#+@example.com:80/", "url_userinfo"),
        ("https://127.88.23.245:22/+&@example.com:80#+@example.com:80/", "url_ip_literal"),
        ("https://example.com:80+&@example.com:80#+@127.88.23.245:22/", "url_userinfo"),
        ("https://127.88.23.245:22/?@example.com:80/", "url_ip_literal"),
        ("https://127.88.23.245:22/#@example.com:80/", "url_ip_literal"),
        ("https://127.0.0.1#@example.com/", "url_ip_literal"),
        ("https://example.com:80\\@127.88.23.245:22/", "url_backslash"),
        ("https://example.com:80\\\\@127.88.23.245:22/", "url_backslash"),
        ("https://example.com\\@127.0.0.1/", "url_backslash"),
        ("https://127.88.23.245:22:80/", "url_bad_port"),
        ("https://0:0:0:0/", "url_bad_port"),
        ("https://example.com%2f@127.0.0.1/", "url_userinfo"),
        ("https://example.com%00.a.localhost/", "url_bad_host"),
        ("https://%31%32%37.0.0.1/", "url_ip_literal"),
        ("https://exam%70le.com/", "url_bad_host"),
        // Shapes of URL that parsers read differently.
        ("https:///127.0.0.1/", "url_no_host"),
        ("https:///example.com/", "url_no_host"),
        ("https:127.0.0.1", "url_not_https"),
        ("https:example.com", "url_not_https"),
        ("https:/example.com/", "url_not_https"),
        ("//example.com/", "url_not_https"),
        ("", "url_not_https"),
        ("http://a.localhost/", "url_not_https"),
        ("ftp://a.localhost/", "url_not_https"),
        ("file:///etc/passwd", "url_not_https"),
        ("gopher://a.localhost/", "url_not_https"),
        ("data:text/plain,x", "url_not_https"),
        (" https://example.com/", "url_not_https"),
        ("https://a.local\thost/", "url_bad_character"),
        ("https://a.local\nhost/", "url_bad_character"),
        ("https://example.com/\r\nHost: 127.0.0.1", "url_bad_character"),
        ("https://example.com/ HTTP/1.1", "url_bad_character"),
        ("https://example.com/\0", "url_bad_character"),
        ("https://example.com/\u{e9}", "url_bad_character"),
        ("https://example.com/a/../b", "url_not_normal"),
        ("https://example.com/%2e%2e/b", "url_not_normal"),
        // Ports.
        ("https://a.localhost:0/", "url_bad_port"),
        ("https://a.localhost:65536/", "url_bad_port"),
        ("https://a.localhost:/", "url_bad_port"),
        ("https://a.localhost:-1/", "url_bad_port"),
        ("https://a.localhost:22/", "port_refused"),
        ("https://a.localhost:80/", "port_refused"),
        ("https://a.localhost:6379/", "port_refused"),
        ("https://a.localhost:11211/", "port_refused"),
        ("https://a.localhost:27017/", "port_refused"),
    ];
    let mut wrong = Vec::new();
    for (text, code) in rows {
        let got = stopped(text).await;
        if got != code {
            wrong.push(format!("{text:?} {got}, not {code}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The positive controls: what is only unusual reaches the seller, and under the host that was written.
#[tokio::test]
async fn unusual_but_plain_urls_reach_their_seller() {
    let authority = Authority::new().unwrap();
    let names = ["seller.localhost", "xn--mnchen-3ya.localhost", "*.seller.localhost"];
    let server = Server::start(authority.acceptor(&names, Leaf::Honest).unwrap(), Behaviour::Echo).await.unwrap();
    let door = lab(&authority, Limits::default());
    for (before, after, line, host) in [
        ("https://seller.localhost", "/", "GET / HTTP/1.1", "seller.localhost"),
        ("HTTPS://SELLER.localhost", "/", "GET / HTTP/1.1", "seller.localhost"),
        ("https://seller.localhost", "", "GET / HTTP/1.1", "seller.localhost"),
        (
            "https://seller.localhost",
            "?u=https://127.0.0.1/@x",
            "GET /?u=https://127.0.0.1/@x HTTP/1.1",
            "seller.localhost",
        ),
        ("https://seller.localhost", "/@127.0.0.1/%2F", "GET /@127.0.0.1/%2F HTTP/1.1", "seller.localhost"),
        ("https://seller.localhost", "/a#@127.0.0.1", "GET /a HTTP/1.1", "seller.localhost"),
        ("https://m\u{fc}nchen.localhost", "/", "GET / HTTP/1.1", "xn--mnchen-3ya.localhost"),
        ("https://b-c.seller.localhost", "/%0d%0a", "GET /%0d%0a HTTP/1.1", "b-c.seller.localhost"),
    ] {
        let text = format!("{before}:{}{after}", server.port());
        let url = ResourceUrl::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let answer = door.fetch(&Request { url, method: Method::Get, body: None }, NOW).await.unwrap();
        let seen = String::from_utf8(answer.body).unwrap();
        let lines: Vec<&str> = seen.split("\r\n").collect();
        assert_eq!(lines[..2], [line.to_owned(), format!("host: {host}:{}", server.port())], "{text}");
    }
}
