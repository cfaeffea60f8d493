//! The life of a leaf without accidents.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use countersign_tlog::checkpoint::Checkpoint;
use countersign_tlog::merkle::verify_consistency;
use countersign_tlog::sequencer::{AppendError, Config, Entry, Flush, Log, Logged, Step};
use countersign_tlog::tile::TilePath;
use countersign_tlog::witness::{self, AddCheckpoint, State};

use super::common::*;

#[test]
fn a_receipt_verifies_for_a_stranger_with_both_signatures() {
    let home = Home::new();
    let log = home.open(Config::one_shot());
    for n in 0..3 {
        let appended = append(&log, entry(n)).unwrap();
        assert_eq!((appended.index, appended.logged, appended.head.time), (n, Logged::Now, START));
        assert_eq!(verify(&appended.proof(), &leaf(n), &log.trust()), n + 1);
    }
    let head = log.head();
    // The published root of three such entries.
    assert_eq!(head.checkpoint.root.to_string(), "a64bf26e09128f6fe2fe6f8b2d8c801e166b57c047a7cd9b2b809e7a96a2f1cb");
    assert_eq!(head.note.signatures().len(), 2);
    for n in 0..3 {
        assert_eq!(verify(&log.receipt(n).unwrap(), &leaf(n), &log.trust()), 3);
        assert_eq!(log.leaf(n).unwrap(), leaf(n));
    }
    assert_eq!(log.receipt(3).map_err(|error| error.code()), Err("log_outside"));
}

#[test]
fn leaves_that_wait_together_share_one_checkpoint() {
    let home = Home::new();
    let log = home.open(Config { flush: Flush::Window(Duration::from_secs(600)), batch: 300, ..Config::default() });
    let all = append_all(&log, (0..300).map(entry));
    for (n, outcome) in (0..).zip(all) {
        let appended = outcome.unwrap();
        assert_eq!(appended.index, n);
        assert_eq!(verify(&appended.proof(), &leaf(n), &log.trust()), 300, "one batch");
    }
}

#[test]
fn a_retry_gets_the_same_index_and_another_leaf_a_conflict() {
    let home = Home::new();
    let log = home.open(Config { flush: Flush::Window(Duration::from_secs(600)), batch: 4, ..Config::default() });
    let other = || Entry { idempotency_key: key(0), leaf: b"other".to_vec() };
    // Within one batch.
    let outcomes = append_all(&log, [entry(0), entry(0), other(), entry(1)]);
    let seen: Vec<_> = outcomes.iter().map(|o| o.as_ref().map(|a| (a.index, a.logged)).map_err(|e| *e)).collect();
    let expected = [Ok((0, Logged::Now)), Ok((0, Logged::Before)), Err(AppendError::Conflict(0)), Ok((1, Logged::Now))];
    assert_eq!(seen, expected);
    log.close();
    // After a start.
    let log = home.open(Config::one_shot());
    let again = append(&log, entry(1)).unwrap();
    assert_eq!((again.index, again.logged, again.head.checkpoint.size), (1, Logged::Before, 2));
    assert_eq!(verify(&again.proof(), &leaf(1), &log.trust()), 2);
    assert_eq!(append(&log, other()).unwrap_err().code(), "idempotency_conflict");
    assert_eq!(log.head().checkpoint.size, 2, "nothing was added");
}

#[test]
fn leaves_without_a_place_are_refused() {
    let home = Home::new();
    let log = home.open(Config::one_shot());
    for length in [0, 65_536] {
        let long = Entry { idempotency_key: key(9), leaf: vec![7; length] };
        assert_eq!(append(&log, long), Err(AppendError::LeafLength));
    }
    let longest = Entry { idempotency_key: key(9), leaf: vec![7; 65_535] };
    assert_eq!(append(&log, longest.clone()).unwrap().index, 0);
    assert_eq!(log.leaf(0).unwrap(), longest.leaf);
}

#[test]
fn a_full_queue_says_busy_and_nothing_is_lost() {
    let home = Home::new();
    let (arrived, arrivals) = mpsc::channel();
    let (go, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let observe = move |step: Step| {
        if step == Step::Assigned {
            arrived.send(()).unwrap();
            gate.lock().unwrap().recv().unwrap();
        }
    };
    let log = home.open(Config { batch: 1, queue: 2, observe: Arc::new(observe), ..Config::one_shot() });
    let (tell, told) = mpsc::channel();
    let send = |n: u64| {
        let tell = tell.clone();
        log.append(entry(n), move |outcome| tell.send((n, outcome.map(|a| a.index))).unwrap());
    };
    send(0);
    arrivals.recv().unwrap();
    (1..4).for_each(send);
    assert_eq!(told.recv().unwrap(), (3, Err(AppendError::Busy)), "one is at work, two wait, the fourth is refused");
    (0..3).for_each(|_| go.send(()).unwrap());
    log.flush();
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [(0, Ok(0)), (1, Ok(1)), (2, Ok(2))]);
}

/// However many leaves follow within the time that a caller may retry, its leaf is not logged again.
#[test]
fn a_retry_is_known_for_a_time_at_whatever_rate_other_leaves_come() {
    let home = Home::new();
    let config = || Config { segment_bytes: 4000, remember: 50, ..Config::one_shot() };
    let first_segment = || home.path().join("wal/0000000000000001.wal").exists();
    let log = home.open(config());
    // Ten leaves fit into the first segment, and the next batch does not.
    append_all(&log, (0..10).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    append_all(&log, (10..1900).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    log.close();
    assert!(first_segment(), "1,900 leaves later and in the same second");
    let log = home.open(config());
    let again = append(&log, entry(7)).unwrap();
    assert_eq!((again.index, again.logged), (7, Logged::Before));
    home.now.fetch_add(16, Ordering::SeqCst);
    assert_eq!(append(&log, entry(1900)).unwrap().index, 1900);
    log.close();
    assert!(!first_segment(), "the control: fifteen seconds later it is forgotten");
    assert_eq!(append(&home.open(config()), entry(7)).unwrap().index, 1901);
}

#[test]
fn every_file_of_the_tree_is_served_while_it_grows_and_after_a_start() {
    let home = Home::new();
    let config = || Config { segment_bytes: 20_000, remember: 300, remember_for: Duration::ZERO, ..Config::one_shot() };
    let log = home.open(config());
    append_all(&log, (0..600).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    let old: Checkpoint = log.head().checkpoint.clone();
    append_all(&log, (600..1000).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    let new = log.head().checkpoint.clone();
    let check = |log: &Log| {
        // The published root of a thousand such entries.
        assert_eq!(
            log.head().checkpoint.root.to_string(),
            "d03d63b772af99019817ee3e018286d36a26161bdb5bfe8228e92c02abe9115d"
        );
        let proof = log.consistency(600, 1000).unwrap();
        verify_consistency(600, 1000, &proof, &old.root, &new.root).unwrap();
        for n in [0, 255, 256, 511, 600, 767, 768, 999] {
            assert_eq!(verify(&log.receipt(n).unwrap(), &leaf(n), &log.trust()), 1000);
            assert_eq!(log.leaf(n).unwrap(), leaf(n));
        }
        let length = |path: &str| log.tile(&TilePath::parse(path).unwrap()).unwrap().map(|bytes| bytes.len());
        assert_eq!(length("tile/0/000"), Some(8192));
        assert_eq!(length("tile/0/003.p/232"), Some(232 * 32));
        assert_eq!(length("tile/0/001.p/17"), Some(17 * 32), "a partial of an older size");
        assert_eq!(length("tile/1/000.p/3"), Some(96));
        assert_eq!(length("tile/0/003.p/233"), None);
        assert_eq!(length("tile/0/003"), None);
        // Each entry takes 2 + 9 bytes from entry-100 on.
        assert_eq!(length("tile/entries/001.p/2"), Some(22));
        assert_eq!(length("tile/entries/003.p/232"), Some(232 * 11));
    };
    check(&log);
    log.close();
    let mut stored: Vec<_> = home.tiles.paths().iter().map(ToString::to_string).collect();
    stored.sort();
    let full = ["tile/0/000", "tile/0/001", "tile/0/002", "tile/entries/000", "tile/entries/001", "tile/entries/002"];
    assert_eq!(stored, full, "full files only");
    check(&home.open(config()));
    // The keys of the last 300 leaves at least are remembered, and the first segment is gone.
    assert!(!home.path().join("wal/0000000000000001.wal").exists());
    let log = home.open(config());
    assert_eq!(append(&log, entry(700)).unwrap().index, 700);
}

#[test]
fn a_witness_cosigns_what_the_log_asks_and_stops_where_it_would_fork() {
    let home = Home::new();
    let log = home.open(Config::one_shot());
    append_all(&log, (0..5).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    let (keys, older) = (keys(), log.head().note.clone());
    let first =
        witness::judge(&log.witness_request(0, &older).unwrap(), keys.verifiers(), &State::empty()).unwrap().state;
    assert_eq!((first.size, first.root), (5, log.head().checkpoint.root));
    append_all(&log, (5..300).map(entry)).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    let newest = log.head().note.clone();
    let body = log.witness_request(5, &newest).unwrap().to_string();
    let request = AddCheckpoint::parse(body.as_bytes()).unwrap();
    assert_eq!(witness::judge(&request, keys.verifiers(), &first).map(|judged| judged.state.size), Ok(300));
    let forked = State { root: log.head().checkpoint.root, ..first };
    assert_eq!(witness::judge(&request, keys.verifiers(), &forked).map_err(|error| error.status()), Err(422));
    assert_eq!(log.witness_request(301, &newest).map_err(|error| error.code()), Err("log_outside"));
    let repeated = log.witness_request(5, &older).unwrap();
    assert_eq!(
        witness::judge(&repeated, keys.verifiers(), &first).map(|judged| judged.state),
        Ok(first),
        "an older one can be asked about"
    );
    assert_eq!(log.witness_request(6, &older).map_err(|error| error.code()), Err("log_outside"));
}
