use std::fs;

use countersign_core::leaf::LeafType;
use countersign_probe::Limits;
use countersign_probe::testkit::{Behaviour, Server};

use super::*;
use crate::log::LogBook;

/// What one answer makes of a bundle that was asked for.
fn asked(answer: &str) -> Result<Option<Vec<u8>>, Unreachable> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let server = runtime.block_on(Server::start_http(Behaviour::Say(answer.into()))).unwrap();
    let address = format!("http://127.0.0.1:{}/log", server.port());
    #[expect(clippy::disallowed_methods, reason = "a test is its own configuration")]
    let base = ConfiguredUrl::from_configuration(&address).unwrap();
    let services = Arc::new(Services::new(&[], Limits { body: 3, ..Limits::default() }).unwrap());
    let source = Source::Api { services, base, runtime: runtime.handle().clone(), env: Arc::new(Env::Real) };
    source.file("tile/entries/000")
}

#[test]
fn what_a_server_did_with_a_file_is_told_apart() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n";
    assert_eq!(asked(&format!("{head}\r\nabc")), Ok(Some(b"abc".to_vec())), "the control");
    assert_eq!(asked("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"), Ok(None));
    for (answer, code) in [
        (format!("{head}content-encoding: gzip\r\n\r\nabc"), "log_packed"),
        (head.replace('3', "4") + "\r\nabcd", "log_file_too_long"),
        (format!("{head}\r\na"), "log_unreachable"),
        ("HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n".to_owned(), "log_unreachable"),
    ] {
        let error = asked(&answer).unwrap_err();
        assert_eq!(error.code(), code);
        assert!(error.to_string().contains("tile/entries/000"), "{error}");
    }
}

/// 256 entries of 65,535 bytes, each behind two bytes of length: 16,777,472.
#[test]
fn a_folder_gives_no_more_of_a_file_than_a_server_could() {
    let folder = tempfile::tempdir().unwrap();
    let source = Source::folder(folder.path().to_owned());
    let file = fs::File::create(folder.path().join("checkpoint")).unwrap();
    file.set_len(16_777_472).unwrap();
    assert_eq!(source.file("checkpoint").unwrap().unwrap().len(), 16_777_472);
    file.set_len(16_777_473).unwrap();
    assert_eq!(source.file("checkpoint").unwrap_err().code(), "log_file_too_long");
}

#[test]
fn a_segment_that_does_not_read_is_named() {
    let data = tempfile::tempdir().unwrap();
    let book = LogBook::serving(data.path(), Arc::new(Env::Real));
    book.append(LeafType::decision(), b"{}").unwrap();
    drop(book);
    let log = data.path().join("log");
    let segment = fs::read_dir(log.join("wal")).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(&segment).unwrap();
    fs::create_dir(&segment).unwrap();
    let error = Source::folder(log).file("tile/entries/000.p/1").unwrap_err();
    assert!(error.to_string().starts_with(&format!("{}: ", segment.display())), "{error}");
}
