//! Everything that may stand where a good seller was expected, through the binary: each has its code for programs, its
//! sentence for people and its exit code, and nothing makes the program panic or steers the terminal.

use std::path::PathBuf;

use countersign_probe::testkit::dns::{NameServer, Reply, a};
use countersign_probe::testkit::{Authority, Behaviour, Leaf, Server};
use serde_json::Value;
use tokio::task::JoinSet;

use super::common::run;

/// A port on which nobody listens; the system gives out none below 32768.
const CLOSED: u16 = 1025;

/// URL, exit code, code, sentence.
type Row = (String, i32, &'static str, &'static str);

/// Servers and names for as long as the test runs.
struct World {
    authority: Authority,
    folder: tempfile::TempDir,
    names: NameServer,
    servers: Vec<Server>,
}

impl World {
    async fn new() -> Self {
        let zone = [
            ("private.example", vec![a("10.0.0.1")]),
            ("mixed.example", vec![a("8.8.8.8"), a("10.0.0.1")]),
            ("metadata.example", vec![a("169.254.169.254")]),
        ]
        .map(|(name, records)| (name.to_owned(), vec![Reply::records(records)]));
        let (authority, folder) = (Authority::new().expect("keys"), tempfile::tempdir().expect("a folder"));
        std::fs::write(folder.path().join("ca.pem"), authority.pem()).expect("written");
        let names = NameServer::start(zone).await.expect("a port");
        Self { authority, folder, names, servers: Vec::new() }
    }

    /// A seller of this name with a certificate for `certified`; its URL.
    async fn seller(&mut self, name: &str, certified: &str, leaf: Leaf, behaviour: Behaviour) -> String {
        let certified = format!("{certified}.localhost");
        let acceptor = self.authority.acceptor(&[&certified], leaf).expect("a certificate");
        let server = Server::start(acceptor, behaviour).await.expect("a port");
        let url = format!("https://{name}.localhost:{}/paid", server.port());
        self.servers.push(server);
        url
    }

    async fn honest(&mut self, name: &str, behaviour: Behaviour) -> String {
        self.seller(name, name, Leaf::Honest, behaviour).await
    }

    /// Sellers that answer in one bad way each: name, behaviour, exit code, code, sentence.
    async fn answers(&mut self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (name, behaviour, exit, code, sentence) in bad_answers() {
            rows.push((self.honest(name, behaviour).await, exit, code, sentence));
        }
        rows
    }

    async fn certificates(&mut self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (name, certified, leaf, code, sentence) in [
            ("expired", "expired", Leaf::Expired, "certificate_expired", "the certificate has expired"),
            ("self-signed", "self-signed", Leaf::SelfSigned, "certificate_untrusted", "no authority"),
            ("wrong-host", "another", Leaf::Honest, "certificate_wrong_host", "another host"),
        ] {
            rows.push((self.seller(name, certified, leaf, Behaviour::Silent).await, 4, code, sentence));
        }
        rows
    }

    fn flags(&self) -> Vec<String> {
        let ca = self.folder.path().join("ca.pem").display().to_string();
        ["--allow-loopback", "--name-server", &self.names.address().to_string(), "--ca", &ca]
            .map(str::to_owned)
            .to_vec()
    }
}

fn said(head: &str, body: &str) -> Behaviour {
    let length = body.len();
    Behaviour::Say(format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes())
}

fn bad_answers() -> Vec<(&'static str, Behaviour, i32, &'static str, &'static str)> {
    let payment = |line: &str, body: &str| said(&format!("402 Payment Required\r\n{line}"), body);
    let open = b"HTTP/1.1 402 Payment Required\r\ncontent-type: text/plain\r\n\r\n".to_vec();
    let huge = b"HTTP/1.1 402 Payment Required\r\ncontent-length: 104857600\r\n\r\n".to_vec();
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    let steering = r#"{"x402Version":1,"accepts":[{"scheme":"exact","network":"\u001b[2J\u0000\u0007","payTo":"x"}]}"#;
    vec![
        (
            "free",
            said("200 OK\r\ncontent-type: application/json", "{}"),
            4,
            "http.ungated",
            "without asking for payment",
        ),
        ("page", payment("content-type: text/html", "<!doctype html>Pay"), 1, "terms.none", "states no payment terms"),
        (
            "endless",
            Behaviour::Endless(open.clone(), b"    ".to_vec()),
            4,
            "transport.body_capped",
            "larger than we read",
        ),
        ("dripping", Behaviour::Drip(open), 4, "transport.body_slow", "came too slowly"),
        ("huge", Behaviour::Flood(huge, 100 << 20), 4, "transport.body_capped", "larger than we read"),
        ("silent", Behaviour::Silent, 4, "first_byte_timeout", "no complete response head"),
        (
            "header",
            payment(&format!("x-more: {}", "y".repeat(200_000)), ""),
            4,
            "head_too_large",
            "too many bytes or lines",
        ),
        ("cut-base64", payment("payment-required: eyJ4NDAyVmVyc2lvbiI6M", ""), 1, "header.not_base64", "not base64"),
        ("deep", payment("content-type: application/json", &deep), 1, "json.limit", "nested or sized beyond"),
        ("zero", payment("x-note: a\0b", "{}"), 4, "control_in_head", "zero byte"),
        ("control", payment("x-note: a\x01b", "{}"), 4, "head_malformed", "header"),
        ("steering", payment("content-type: application/json", steering), 1, "network.form", "network"),
        ("no-http", Behaviour::Say(b"220 mail ESMTP\r\n".to_vec()), 4, "not_http", "HTTP"),
    ]
}

/// What needs no seller.
fn elsewhere() -> Vec<Row> {
    let closed = format!("https://closed.localhost:{CLOSED}/");
    [
        (closed.as_str(), 4, "connect_failed", "refused"),
        ("https://missing.example/", 4, "name_not_found", "there is no name missing.example"),
        ("https://private.example/", 4, "address_refused", "10.0.0.1 is in 10.0.0.0/8 (private)"),
        ("https://metadata.example/", 4, "address_refused", "cloud metadata"),
        ("https://mixed.example/", 4, "address_mixed", "beside public addresses"),
        ("https://one.localhost:6379/", 4, "port_refused", "port 6379 is not for sellers"),
        ("http://seller.example/", 3, "url_not_https", "must start with https://"),
        ("https://u:p@seller.example/", 3, "url_userinfo", "carries a user name or password"),
        ("https://127.0.0.1/", 3, "url_ip_literal", "the host is an IP address"),
        ("https://0x7f000001/", 3, "url_ip_literal", "the host is an IP address"),
        ("https://[::1]/", 3, "url_ip_literal", "the host is an IP address"),
        ("https://seller.example/a\u{1}b", 3, "url_bad_character", "a control character"),
        ("https://seller.example\\@127.0.0.1/", 3, "url_backslash", "has a backslash"),
        ("https://seller_1.example/", 3, "url_bad_host", "not a plain DNS name"),
        ("https://seller.example:0/", 3, "url_bad_port", "the port is not"),
        ("not a url", 3, "url_not_https", "must start with https://"),
    ]
    .map(|(url, exit, code, sentence)| (url.to_owned(), exit, code, sentence))
    .to_vec()
}

/// Every code of one line of `check --from`.
fn codes(line: &Value) -> Vec<&str> {
    let findings = line["findings"].as_array().into_iter().flatten().map(|finding| &finding["rule"]);
    findings.chain([&line["code"], &line["transport"]["refused"]]).filter_map(Value::as_str).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_input_has_its_code_its_sentence_and_its_exit() {
    let mut world = World::new().await;
    let rows = [world.answers().await, world.certificates().await, elsewhere()].concat();
    let list: Vec<&str> = rows.iter().map(|row| row.0.as_str()).collect();
    std::fs::write(world.folder.path().join("urls.txt"), list.join("\n")).expect("written");
    let (flags, folder) = (world.flags(), world.folder.path().to_owned());
    let listed = ask(&folder, &flags, vec!["check".to_owned(), "--from".to_owned(), "urls.txt".to_owned()]);
    let (exit, out, _) = listed.await;
    let lines: Vec<Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("one JSON value a line")).collect();
    assert_eq!((exit, lines.len()), (Some(4), rows.len()), "{out}");
    for (url, _, code, _) in &rows {
        // A URL with a password is repeated nowhere.
        let named = if *code == "url_userinfo" { Value::Null } else { Value::from(url.as_str()) };
        let line = lines.iter().find(|line| line["url"] == named).unwrap_or_else(|| panic!("{url} in {out}"));
        assert!(codes(line).contains(code), "{url}: {:?}", codes(line));
    }
    let mut looks = JoinSet::new();
    for row in rows {
        let (flags, folder) = (flags.clone(), tempfile::tempdir().expect("a folder"));
        looks.spawn(async move {
            let told = ask(folder.path(), &flags, vec!["check".to_owned(), row.0.clone()]).await;
            (row, told)
        });
    }
    for ((url, exit, _, sentence), (ended, out, talk)) in looks.join_all().await {
        let all = out + &talk;
        assert_eq!(ended, Some(exit), "{url}: {all}");
        assert!(all.contains(sentence), "{url} should say `{sentence}`: {all}");
        assert!(!all.contains("panicked"), "{all}");
        assert!(all.chars().all(|one| one == '\n' || !one.is_control()), "{url}: {all:?}");
    }
}

/// The program off the runtime's threads, which serve its sellers: exit code, data and talk.
async fn ask(folder: &std::path::Path, flags: &[String], args: Vec<String>) -> (Option<i32>, String, String) {
    static TOGETHER: tokio::sync::Semaphore = tokio::sync::Semaphore::const_new(4);
    let _turn = TOGETHER.acquire().await.expect("never closed");
    let (folder, all): (PathBuf, Vec<String>) = (folder.to_owned(), [args, flags.to_vec()].concat());
    let run = move || run(&folder, &all.iter().map(String::as_str).collect::<Vec<_>>());
    let out = tokio::task::spawn_blocking(run).await.expect("it ran");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (out.status.code(), text(out.stdout), text(out.stderr))
}

/// One of each kind: the sentence says which file, the code says what kind of mistake.
#[test]
fn every_mistake_has_a_code_of_its_own() {
    let data = tempfile::tempdir().expect("a folder");
    std::fs::write(data.path().join("empty.txt"), "# nothing\n").expect("written");
    let rows: [(&[&str], &str, i32); 11] = [
        (&["check", "--from", "absent.txt"], "cannot_read", 3),
        (&["check", "--from", "empty.txt"], "no_url", 2),
        (&["check", "https://one.localhost/", "--max-price-usd", "1.2.3"], "amount_not_digits", 2),
        (&["check", "https://one.localhost/", "--out", "absent/out.json"], "cannot_write", 2),
        (&["check", "https://one.localhost/", "--ca", "absent.pem"], "ca_unreadable", 2),
        (&["check", "https://one.localhost/", "--nat64", "10.0.0.0/8"], "settings_wrong", 2),
        (&["verify", "absent.json"], "cannot_read", 3),
        (&["verify", "empty.txt", "--key", "x"], "key_public_malformed", 2),
        (&["keys", "show", "0011"], "no_such_key", 2),
        (&["log", "status"], "log_missing", 4),
        (&["log", "serve", "--listen", "nowhere"], "cannot_listen", 2),
    ];
    for (args, code, exit) in rows {
        let (ended, said) = crate::common::told(data.path(), args);
        assert_eq!((ended, &said["code"]), (Some(exit), &code.into()), "{args:?} {said}");
    }
}

/// What is nearly right is answered with an example of what is.
#[test]
fn a_value_that_does_not_read_comes_with_one_that_does() {
    let data = tempfile::tempdir().expect("a folder");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let above = "115792089237316195423570985008687907853269984665640564039457584007913129639936"; // 2^256
    for (flag, value, code, example) in [
        ("--max-price-usd", "0,05", "amount_not_digits", "such as 0.05"),
        ("--max-price-usd", "$0.05", "amount_not_digits", "such as 0.05"),
        ("--max-price-usd", "-1", "amount_not_digits", "without a sign"),
        ("--max-total-cost-usd", "", "amount_empty", "such as 0.05"),
        ("--max-amount-atomic", above, "amount_too_large", "at most 2^256-1, such as 50000"),
        ("--max-amount-atomic", "0.05", "amount_not_digits", "such as 50000"),
        ("--min-observed-success", "95%", "usage", "such as 0.95"),
        ("--networks", "eip155:08453", "usage", "eip155:8453"),
        ("--deny-networks", "Base", "usage", "did you mean eip155:8453"),
        ("--networks", "nowhere", "usage", "such as base"),
    ] {
        let (exit, said) = crate::common::told(data.path(), &["check", "https://one.localhost/", flag, value]);
        assert_eq!((exit, &said["code"]), (Some(2), &code.into()), "{flag} {value} {said}");
        assert!(said["hint"].as_str().is_some_and(|hint| hint.contains(example)), "{flag} {value} {said}");
    }
    let (exit, said) = crate::common::told(data.path(), &["lab", "--port", &port]);
    assert_eq!((exit, &said["code"]), (Some(2), &"cannot_listen".into()), "{said}");
    assert!(said["error"].as_str().is_some_and(|error| error.contains(&port)), "{said}");
    assert!(said["hint"].as_str().is_some_and(|hint| hint.contains("--port")), "{said}");
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_url() {
    let data = tempfile::tempdir().expect("a folder");
    std::fs::write(data.path().join("urls.txt"), "\u{feff}https://127.0.0.1/\n").expect("written");
    let (exit, said) = crate::common::told(data.path(), &["check", "--from", "urls.txt"]);
    assert_eq!((exit, &said["code"], &said["url"]), (Some(3), &"url_ip_literal".into(), &"https://127.0.0.1/".into()));
}

/// The parser speaks before any command runs, and a program is told all the same.
#[test]
fn a_command_line_that_does_not_parse_is_told_as_json_where_json_was_asked_for() {
    let data = tempfile::tempdir().expect("a folder");
    for args in [
        &["check"][..],
        &["bogus"],
        &[],
        &["log"],
        &["check", "--bogus"],
        &["check", "https://a.example/", "--max-latency-ms", "soon"],
        &["check", "https://a.example/", "--from", "urls.txt"],
        &["verify", "a", "b"],
    ] {
        let out = run(data.path(), &[&["--json"], args].concat());
        let said: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|_| panic!("{args:?} {out:?}"));
        assert_eq!((out.status.code(), &said["code"]), (Some(2), &"usage".into()), "{args:?} {said}");
        let text = |name: &str| said[name].as_str().is_some_and(|text| !text.is_empty() && !text.contains('\n'));
        assert!(text("error") && text("hint") && !out.stderr.is_empty(), "{args:?} {said}");
        let plain = run(data.path(), args);
        assert_eq!(
            (plain.status.code(), plain.stdout.len()),
            (Some(2), 0),
            "{args:?}: without the flag, for people only"
        );
    }
    let help = run(data.path(), &["check", "--help", "--json"]);
    assert!(help.status.success() && help.stdout.starts_with(b"Look at a live paid endpoint"), "what was asked for");
}

#[test]
fn standard_input_is_read_in_the_place_of_a_file_and_once() {
    let data = tempfile::tempdir().expect("a folder");
    let fed = |args: &[&str], input: &[u8]| {
        let out = crate::common::fed(data.path(), &[args, &["--json"]].concat(), input);
        (out.status.code(), serde_json::from_slice(&out.stdout).unwrap_or(Value::Null))
    };
    let (exit, said) = fed(&["check", "--from", "-"], b"https://127.0.0.1/\n");
    assert_eq!((exit, &said["code"]), (Some(3), &"url_ip_literal".into()), "{said}");
    let url = "https://one.localhost/";
    let args = ["check", url, "--log-misses", "--out", "d.json", "--receipt", "r.json", "--quiet"];
    assert_eq!(run(data.path(), &args).status.code(), Some(4));
    let read = |name: &str| std::fs::read(data.path().join(name)).expect("a file");
    assert_eq!(fed(&["verify", "-"], &read("d.json")).0, Some(0), "a decision");
    assert_eq!(fed(&["verify", "-"], &read("r.json")).1["result"], "valid", "its receipt");
    assert_eq!(
        fed(&["receipt", "export", "-"], &read("d.json")),
        (Some(0), serde_json::from_slice(&read("r.json")).expect("JSON"))
    );
    let (exit, said) = fed(&["verify", "-"], b"no document");
    assert_eq!((exit, &said["code"]), (Some(3), &"json_syntax".into()), "{said}");
    let (exit, said) = fed(&["verify", "-", "--trust", "-"], &read("r.json"));
    assert_eq!((exit, &said["code"]), (Some(2), &"trust_unreadable".into()), "{said}");
    let sentence = "the trust policy: cannot read standard input: it was read already, for another argument";
    assert_eq!(said["error"], sentence);
    let (exit, said) = fed(&["check", "--from", "-"], b"# none\n");
    assert_eq!((exit, &said["error"]), (Some(2), &"standard input names no URL; write one a line".into()));
}

#[test]
fn a_list_in_another_encoding_is_refused_with_its_line() {
    let data = tempfile::tempdir().expect("a folder");
    std::fs::write(data.path().join("urls.txt"), b"https://127.0.0.1/\n# caf\xc3\xa9\n# caf\xe9\nhttps://127.0.0.1/\n")
        .expect("written");
    let (exit, said) = crate::common::told(data.path(), &["check", "--from", "urls.txt"]);
    assert_eq!((exit, &said["code"]), (Some(3), &"list_not_text".into()), "{said}");
    assert_eq!(said["error"], "urls.txt: line 3 is not UTF-8");
    assert!(said["hint"].as_str().is_some_and(|hint| hint.contains("UTF-8")), "{said}");
    let (exit, said) = crate::common::told(data.path(), &["check", "--from", "."]);
    assert_eq!((exit, &said["error"]), (Some(3), &"cannot read .: it is a folder".into()), "{said}");
    assert!(said["hint"].is_string(), "{said}");
}
