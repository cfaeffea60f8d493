//! The door under visitors who come to stay. Every check here goes the way of another process.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Instant;

use countersign_core::leaf::{LeafType, Minute, Reveal, Salt};
use countersign_core::time::Timestamp;

use super::*;
use crate::env::Env;
use crate::log::{LogBook, PATIENCE};

/// A log held in `data`, with a second door of its own that has this many places.
fn house(data: &Path, places: usize) -> (LogBook, Door, PathBuf) {
    let book = LogBook::one_shot(data, Arc::new(Env::Real));
    let path = data.join("door");
    let door = Door::with_places(&path, book.hold().unwrap(), places).unwrap();
    (book, door, path)
}

fn soon() -> Deadline {
    Deadline::after(PATIENCE)
}

fn leaf(n: u8) -> Leaf {
    let minute = Minute::of(Timestamp::from_seconds(1_788_253_200));
    Reveal::new(LeafType::decision(), minute, Salt::from_bytes([n; 32]), format!("{{\"a\":{n}}}")).leaf().unwrap()
}

/// Hands a leaf over, and says how long that took.
fn entered(path: &Path, n: u8) -> (Duration, Receipt) {
    let began = Instant::now();
    let receipt = hand_over(path, &Ask::Append { key: [n; 32], leaf: leaf(n) }, soon()).unwrap().unwrap();
    (began.elapsed(), receipt)
}

#[test]
fn who_finds_the_house_full_waits_and_is_answered() {
    let data = tempfile::tempdir().unwrap();
    let (_book, _door, path) = house(data.path(), 2);
    let stuck = [UnixStream::connect(&path).unwrap(), UnixStream::connect(&path).unwrap()];
    let (waited, receipt) = entered(&path, 1);
    assert_eq!(receipt.index, 0);
    assert!(waited >= ASKER / 2, "both places were taken: {waited:?}");
    assert!(waited < PATIENCE, "{waited:?}");
    drop(stuck);
}

#[test]
fn stuck_visitors_do_not_keep_twenty_others_waiting() {
    let data = tempfile::tempdir().unwrap();
    let (_book, _door, path) = house(data.path(), PLACES);
    let stuck: Vec<UnixStream> = (0..PLACES / 2).map(|_| UnixStream::connect(&path).unwrap()).collect();
    let mut indices: Vec<u64> = thread::scope(|scope| {
        let all: Vec<_> = (0..20)
            .map(|n| {
                scope.spawn({
                    let path = &path;
                    move || entered(path, n)
                })
            })
            .collect();
        let joined = all.into_iter().map(|one| one.join().unwrap());
        joined
            .map(|(waited, receipt)| {
                assert!(waited < ASKER, "{waited:?}");
                receipt.index
            })
            .collect()
    });
    indices.sort_unstable();
    assert_eq!(indices, (0..20).collect::<Vec<_>>());
    drop(stuck);
}

#[test]
fn nothing_but_a_leaf_is_appended_and_whoever_offers_something_else_is_told_why() {
    let data = tempfile::tempdir().unwrap();
    let (book, _door, path) = house(data.path(), 2);
    let good = String::from_utf8(leaf(1).to_bytes().unwrap()).unwrap();
    let zeroes = "0".repeat(64);
    for other in [
        "",
        "{}",
        "{\"a\":1}",
        &good[..good.len() - 1],
        &format!("{good} "),
        &good.replace("\"ts\"", " \"ts\""),
        &good.replace("countersign.", "elsewhere."),
        &good.replace(":00Z", ":30Z"),
        &good.replace("{", "{\"a\":1,"),
        &format!(r#"{{"commitment":"{zeroes}","type":"countersign.decision.v1"}}"#),
        &format!(r#"{{"type":"countersign.decision.v1","ts":"2026-09-01T09:00:00Z","commitment":"{zeroes}"}}"#),
    ] {
        let refused = exchange(&path, &json!({"key": zeroes, "leaf": other}), soon()).unwrap().unwrap_err();
        assert_eq!((refused.code(), refused.hint()), ("log_leaf_form", LogError::LeafForm.hint()), "{other}");
        assert!(refused.to_string().contains("nothing was appended"), "{refused}");
    }
    for unread in
        [json!(1), json!({}), json!({"key": zeroes}), json!({"key": "00", "leaf": good}), json!({"index": "x"})]
    {
        let refused = exchange(&path, &unread, soon()).unwrap().unwrap_err();
        assert_eq!((refused.code(), refused.hint()), ("log_question", LogError::Question.hint()), "{unread}");
    }
    let log = book.hold().unwrap();
    assert_eq!(log.head().checkpoint.size, 0, "nothing came of them");
    assert_eq!(
        exchange(&path, &json!({"key": zeroes, "leaf": good}), soon()).unwrap().unwrap().index,
        0,
        "the control"
    );
    assert_eq!(log.leaf(0).unwrap(), good.as_bytes());
}

/// The holder answers at once, so whoever gives a step more time than there is left gets its answer.
#[test]
fn no_step_of_an_exchange_goes_on_after_its_time() {
    let data = tempfile::tempdir().unwrap();
    let (_book, _door, path) = house(data.path(), 2);
    let over = Deadline::after(Duration::ZERO);
    let ask = Ask::Append { key: [1; 32], leaf: leaf(1) };
    let late = |error: io::Error| assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    late(hand_over(&path, &ask, over).map(drop).unwrap_err());
    late(connect(&path, over).map(drop).unwrap_err());
    let mut asked = connect(&path, soon()).unwrap();
    writeln!(asked, "{}", written(&ask).unwrap()).unwrap();
    late(read_line(&asked, over).unwrap_err());
    assert!(read_line(&asked, soon()).unwrap().contains("receipt"), "the control");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a socket of the test itself")]
fn the_queue_before_a_holder_that_answers_nobody_is_left_in_time() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("door");
    let address = SockAddr::unix(&path).unwrap();
    let stopped = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
    stopped.bind(&address).unwrap();
    stopped.listen(1).unwrap();
    let mut queue = Vec::new();
    loop {
        let one = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        one.set_nonblocking(true).unwrap();
        match one.connect(&address) {
            Ok(()) => queue.push(one),
            Err(_) => break,
        }
    }
    let (tell, told) = mpsc::channel();
    let ask = Ask::Receipt { index: 0, from: 0 };
    thread::spawn(move || tell.send(hand_over(&path, &ask, Deadline::after(Duration::from_millis(50))).is_err()));
    assert_eq!(told.recv_timeout(PATIENCE), Ok(true));
}

#[test]
fn who_speaks_a_byte_at_a_time_is_shown_out_in_time() {
    let data = tempfile::tempdir().unwrap();
    let (_book, _door, path) = house(data.path(), 1);
    let mut slow = UnixStream::connect(&path).unwrap();
    let began = Instant::now();
    let drip = thread::spawn(move || {
        while slow.write_all(b"{").is_ok() {
            thread::sleep(Duration::from_millis(100))
        }
    });
    let (waited, _) = entered(&path, 1);
    assert!(waited >= ASKER / 2 && waited < PATIENCE, "{waited:?}");
    drip.join().unwrap();
    assert!(began.elapsed() < PATIENCE, "it learned that it was shown out");
}

#[test]
fn a_panic_over_one_visitor_keeps_the_door_open_for_the_next() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("door");
    let listener = UnixListener::bind(&path).unwrap();
    let (closing, first) = (AtomicBool::new(false), AtomicBool::new(true));
    let greet = |mut visitor: UnixStream| {
        assert!(!first.swap(false, Ordering::SeqCst), "injected");
        writeln!(visitor, "welcome").unwrap();
    };
    thread::scope(|scope| {
        scope.spawn(|| serve(&listener, &Places::new(1), &closing, greet));
        let heard = || read_line(&UnixStream::connect(&path).unwrap(), soon());
        assert!(heard().is_err(), "the first is told nothing");
        let second = heard();
        closing.store(true, Ordering::SeqCst);
        drop(UnixStream::connect(&path).unwrap());
        assert_eq!(second.unwrap(), "welcome\n");
    });
}
