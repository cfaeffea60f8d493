//! A bucket whose name is wrong, through the real binary.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;

use serde_json::Value;

use crate::common::{append, command};

/// Gives every request the same answer, as S3 does of a bucket that does not exist. Its address.
fn no_bucket() -> String {
    const BODY: &str = "<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>";
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut lines = BufReader::new(stream.try_clone().expect("a handle")).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let head = format!("HTTP/1.1 404 Not Found\r\ncontent-length: {}\r\n\r\n", BODY.len());
            let _gone = stream.write_all(format!("{head}{BODY}").as_bytes());
        }
    });
    address
}

/// Exit code, the one JSON line, and what was said beside it.
fn init(data: &Path, environment: &[(&str, &str)]) -> (Option<i32>, Value, String) {
    let mut command = command(data, &["log", "init", "--json", "--tiles", "s3://mispelt/logs"]);
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL"] {
        command.env_remove(name);
    }
    let output = command.envs(environment.iter().copied()).output().expect("the binary starts");
    let said = serde_json::from_slice(&output.stdout).expect("one JSON value");
    (output.status.code(), said, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_log_is_not_begun_for_a_bucket_that_does_not_exist() {
    let data = tempfile::tempdir().expect("a folder");
    let (code, said, _) = init(data.path(), &[]);
    assert_eq!((code, said["code"].as_str()), (Some(4), Some("tiles_no_credentials")), "{said}");

    let endpoint = no_bucket();
    let account = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_ENDPOINT_URL", &endpoint)];
    let (code, said, _) = init(data.path(), &account);
    assert_eq!((code, said["code"].as_str()), (Some(4), Some("tiles_no_bucket")), "{said}");
    assert!(!data.path().join("keys/log.seeds").exists() && !data.path().join("log").exists(), "nothing was begun");
    let away = [account[0], account[1], ("AWS_ENDPOINT_URL", "http://127.0.0.1:1")];
    let (code, _, told) = init(data.path(), &away);
    assert_eq!(code, Some(0), "one that is only away is waited for: {told}");
    assert!(told.contains("tile storage: the bucket: http://127.0.0.1:1: connect_failed"), "{told}");
    append(data.path(), &["{\"a\":1}"]);
}
