use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::Arc;

use countersign_core::leaf::LeafType;
use countersign_engine::env::Env;
use countersign_engine::log::LogBook;

use crate::common::{Server, append, run, told};

#[test]
fn a_log_is_made_served_and_closed_in_good_order() {
    let data = tempfile::tempdir().expect("a folder");
    let server = Server::start(data.path(), &["log", "serve"]);
    assert_eq!(server.said["size"], 0);
    let (status, checkpoint) = server.get("/log/checkpoint");
    let text = String::from_utf8(checkpoint).expect("text");
    let origin = server.said["origin"].as_str().expect("an origin").to_owned();
    assert_eq!((status, text.lines().next(), text.lines().nth(1)), (200, Some(origin.as_str()), Some("0")));
    let (_, trust) = server.get("/log/trust");
    assert_eq!(std::fs::read(data.path().join("log/trust")).expect("written"), trust);
    assert_eq!(server.stop(), Some(0));
    let again = Server::start(data.path(), &["log", "serve"]);
    assert_eq!(again.said["origin"], origin.as_str(), "the same log once more");
}

#[test]
fn one_directory_is_served_once() {
    let data = tempfile::tempdir().expect("a folder");
    let _first = Server::start(data.path(), &["log", "serve"]);
    let second = run(data.path(), &["log", "serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(second.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&second.stderr).contains("hint:"), "with a way out");
    let taken = run(data.path(), &["log", "serve", "--listen", "nowhere"]);
    assert_eq!(taken.status.code(), Some(4), "the log is asked for before the port");
}

/// The shell lets the server write 1,024 bytes into a file, which the log's first segment soon reaches: a real write
/// that fails, through the real binary.
#[test]
fn a_failed_write_ends_the_process_and_the_next_one_goes_on() {
    let data = tempfile::tempdir().expect("a folder");
    append(data.path(), &["{\"a\":0}"]);
    let script =
        format!("trap '' XFSZ; ulimit -f 2; exec {} log serve --listen 127.0.0.1:0", env!("CARGO_BIN_EXE_countersign"));
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", &script]).current_dir(data.path()).env("COUNTERSIGN_DATA", data.path());
    let mut server = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell starts");
    let mut line = String::new();
    let mut said = std::io::BufReader::new(server.stdout.take().expect("a pipe"));
    std::io::BufRead::read_line(&mut said, &mut line).expect("a line");
    assert!(line.starts_with("serving "), "{line}");
    // Whoever asked when it ended takes the log over itself: every document gets its receipt.
    let book = LogBook::one_shot(data.path(), Arc::new(Env::Real));
    for n in 1..8 {
        let receipt = book.append(LeafType::decision(), format!("{{\"a\":{n}}}").as_bytes()).expect("a receipt");
        assert_eq!(receipt.index, n);
    }
    drop(book);
    let ended = server.wait_with_output().expect("it ends");
    let talk = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(4), "{talk}");
    assert!(talk.contains("error: the log has ended at write: ") && talk.contains("hint: "), "{talk}");
    assert_eq!(told(data.path(), &["log", "fsck"]).0, Some(0), "and nothing is damaged");
}

/// One caller per open file that the process may have, and more: the log itself must not notice.
#[test]
fn callers_who_hold_connections_leave_the_log_its_files() {
    let data = tempfile::tempdir().expect("a folder");
    let server = Server::start_under(data.path(), "ulimit -n 64", &["log", "serve"]);
    let held: Vec<TcpStream> = (0..100).map(|_| holding("127.0.0.1", &server.address)).collect();
    append(data.path(), &["{\"a\":0}"]);
    assert_eq!(told(data.path(), &["log", "status"]).1["size"], 1, "a leaf and its receipt, beside a hundred callers");
    assert!(answered("127.0.0.2", &server.address), "another source finds its half of the places");
    drop(held);
    while !answered("127.0.0.1", &server.address) {
        std::thread::yield_now();
    }
    append(data.path(), &["{\"a\":1}"]);
    assert_eq!(server.stop(), Some(0), "it is the same process to the end");
}

/// A caller at `from` who begins a request and says no more.
#[expect(clippy::disallowed_methods, reason = "a test is the caller here, from an address of its choice")]
fn holding(from: &str, address: &str) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("a runtime");
    let connect = async {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.bind(format!("{from}:0").parse().expect("an address"))?;
        socket.connect(address.parse().expect("an address")).await?.into_std()
    };
    let mut stream = runtime.block_on(connect).expect("it listens");
    stream.set_nonblocking(false).expect("a blocking socket");
    // Whoever gets no place is closed, before or after this is written.
    let _closed = stream.write_all(b"GET /log/checkpoint HTTP/1.1\r\n");
    stream
}

fn answered(from: &str, address: &str) -> bool {
    let mut stream = holding(from, address);
    let asked = stream.write_all(b"host: a\r\nconnection: close\r\n\r\n");
    let mut bytes = Vec::new();
    asked.and_then(|()| stream.read_to_end(&mut bytes)).is_ok() && bytes.starts_with(b"HTTP/1.1 200 ")
}
