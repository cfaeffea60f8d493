use crate::common::{Server, run};

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
