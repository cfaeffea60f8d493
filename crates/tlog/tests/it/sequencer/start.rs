//! What a start refuses, and what it does not.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use countersign_tlog::checkpoint::{Checkpoint, Origin};
use countersign_tlog::key::{Algorithm, KeyName, SignerKey};
use countersign_tlog::merkle::empty_root;
use countersign_tlog::note::Note;
use countersign_tlog::sequencer::tiles::{MemoryTiles, Tiles as _};
use countersign_tlog::sequencer::{self, AppendError, Config, Keys, Log, Logged, OpenError, Seen};

use super::common::*;

fn code(opened: Result<Log, OpenError>) -> &'static str {
    opened.map_or_else(|error| error.code(), |_| "open")
}

#[test]
fn a_directory_without_a_log_and_a_second_log_in_one_directory_are_refused() {
    let home = Home::new();
    assert_eq!(sequencer::init(&home.path(), &origin(), &real_disk()).unwrap_err().code(), "log_exists");
    let empty = tempfile::tempdir().unwrap();
    let open = |path: &std::path::Path, keys: Keys| {
        Log::open(path, Config::one_shot(), keys, clock(&home.now), home.tiles.clone())
    };
    assert_eq!(code(open(empty.path(), keys())), "log_missing");
    let other = Origin::parse("log.example.test/other").unwrap();
    assert_eq!(code(open(&home.path(), Keys::from_seeds(&other, &[1; 32], &[2; 32]).unwrap())), "log_other");
    assert_eq!(code(open(&home.path(), keys())), "open");
}

#[test]
fn two_logs_never_have_one_directory() {
    let home = Home::new();
    let first = home.open(Config::one_shot());
    assert_eq!(code(home.try_open(Config::one_shot())), "log_held");
    assert_eq!(sequencer::adopt(&home.path()).unwrap_err().code(), "log_held");
    append(&first, entry(0)).unwrap();
    first.close();
    assert_eq!(code(home.try_open(Config::one_shot())), "open");
}

#[test]
fn a_copied_directory_is_refused_until_it_is_adopted() {
    let home = Home::new();
    let log = home.open(Config::one_shot());
    append(&log, entry(0)).unwrap();
    log.close();
    let copy = home.dir.path().join("copy");
    copy_dir(&home.path(), &copy);
    let open = || Log::open(&copy, Config::one_shot(), keys(), clock(&home.now), home.tiles.clone());
    let is_copy = |dir: &std::path::Path| sequencer::is_copy(dir, &origin()).unwrap();
    assert_eq!((is_copy(&home.path()), is_copy(&copy)), (false, true));
    assert_eq!(code(open()), "log_copied");
    assert_eq!(code(home.try_open(Config::one_shot())), "open", "the original still runs");
    assert_eq!(sequencer::adopt(&copy).unwrap(), origin());
    assert!(!is_copy(&copy));
    let log = open().unwrap();
    assert_eq!(append(&log, entry(1)).unwrap().index, 1);
}

#[test]
fn a_directory_restored_from_an_older_copy_is_refused_by_each_record() {
    let home = Home::new();
    let second = home.dir.path().join("second");
    let with_second = || Config { second_record: Some(second.clone()), ..Config::one_shot() };
    let log = home.open(with_second());
    append(&log, entry(0)).unwrap();
    log.close();
    let old = home.dir.path().join("old");
    copy_dir(&home.path(), &old);
    let log = home.open(with_second());
    append(&log, entry(1)).unwrap();
    let newest = log.head().note.to_string();
    log.close();
    // Today's files are overwritten in place, so that inode and device stay.
    copy_dir(&old, &home.path());

    let nothing = || Arc::new(MemoryTiles::default());
    let open =
        |config: Config, tiles: Arc<MemoryTiles>| Log::open(&home.path(), config, keys(), clock(&home.now), tiles);
    assert_eq!(code(open(with_second(), nothing())), "log_behind");
    let by = || "witness.example.test/w1".to_owned();
    let seen = |seen: Seen| code(open(Config { seen: vec![seen], ..Config::one_shot() }, nothing()));
    assert_eq!(seen(Seen::Checkpoint { by: by(), note: newest.clone().into_bytes() }), "log_behind");
    assert_eq!(seen(Seen::Size { by: by(), size: 2 }), "log_behind");
    assert_eq!(seen(Seen::OtherHistory { by: by(), size: 1 }), "log_forked");
    assert_eq!(seen(Seen::Size { by: by(), size: 1 }), "open", "the control");
    assert_eq!(code(open(Config::one_shot(), home.tiles.clone())), "log_behind", "the published checkpoint");
    // Without any record nobody can know: this is why there are several.
    let log = open(Config::one_shot(), nothing()).unwrap();
    let other = sequencer::Entry { idempotency_key: key(7), leaf: b"another history".to_vec() };
    append(&log, other).unwrap();
    log.close();
    assert_eq!(code(open(with_second(), nothing())), "log_forked", "the same size and another root");
    assert_eq!(code(open(Config::one_shot(), home.tiles.clone())), "log_forked");
}

#[test]
fn a_record_that_is_no_checkpoint_of_this_log_is_refused() {
    let home = Home::new();
    let log = home.open(Config::one_shot());
    append(&log, entry(0)).unwrap();
    let note = log.head().note.to_string();
    log.close();
    let open = |note: &str| {
        let seen = vec![Seen::Checkpoint { by: "w1".into(), note: note.into() }];
        code(home.try_open(Config { seen, ..Config::one_shot() }))
    };
    assert_eq!(open(&note), "open");
    assert_eq!(open("rubbish"), "log_record");
    assert_eq!(open(&note.replace("\n1\n", "\n2\n")), "log_record", "a size the log did not sign");
    assert_eq!(open(&signed_by_a_stranger(origin().as_str())), "log_other_keys");
}

/// The checkpoint of one leaf that a key which is not the log's has signed under this name.
fn signed_by_a_stranger(origin: &str) -> String {
    let text = Checkpoint::new(Origin::parse(origin).unwrap(), 1, empty_root()).to_string();
    let signer = SignerKey::from_seed(KeyName::parse(origin).unwrap(), Algorithm::Ed25519, &[1; 32]).unwrap();
    Note::new(&text, &[signer.sign(&text, 0).unwrap()]).unwrap().to_string()
}

/// The public checkpoint can be made again from the head, which a start holds against the log. It is no record then.
#[test]
fn a_damaged_public_checkpoint_is_replaced_where_the_head_is_whole() {
    let home = Home::new();
    let log = home.open(Config::one_shot());
    append(&log, entry(0)).unwrap();
    log.close();
    let public = || home.tiles.published().unwrap().unwrap();
    let opens = |damaged: &[u8]| {
        home.tiles.publish(damaged).unwrap();
        home.open(Config::one_shot()).close();
        let note = Note::parse(&public()).unwrap();
        assert_eq!(note.verify(keys().verifiers()).unwrap().len(), 2, "by both keys of the log");
        assert_eq!(note.text().lines().nth(1), Some("1"));
    };
    opens(b"");
    opens(b"rubbish");
    let whole = public();
    opens(&whole[..whole.len() / 2]);
    for at in (0..whole.len()).step_by(61) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        opens(&flipped);
    }
    opens(String::from_utf8(whole.clone()).unwrap().replacen("\n1\n", "\n2\n", 1).as_bytes());

    // Another log's is no damage, nor is one under this log's name that other keys signed.
    for (origin, why) in [("log.example.test/other", "log_record"), (origin().as_str(), "log_other_keys")] {
        let note = signed_by_a_stranger(origin);
        home.tiles.publish(note.as_bytes()).unwrap();
        assert_eq!(code(home.try_open(Config::one_shot())), why);
        assert_eq!(public(), note.as_bytes(), "it stays");
    }

    // Without a head it is the only record, and nothing may take its place.
    home.tiles.publish(b"rubbish").unwrap();
    let head = home.path().join("head");
    let kept = std::fs::read(&head).unwrap();
    std::fs::remove_file(&head).unwrap();
    assert_eq!(code(home.try_open(Config::one_shot())), "log_record");
    std::fs::write(&head, kept).unwrap();
    assert_eq!(code(home.try_open(Config::one_shot())), "open", "the control");
}

/// A public checkpoint that verifies is a record, whatever the head says: ahead of it, the log was rolled back.
#[test]
fn a_public_checkpoint_that_verifies_is_never_passed_over() {
    let home = Home::new();
    let log = home.open(Config::one_shot());
    append(&log, entry(0)).unwrap();
    log.close();
    let old = home.dir.path().join("old");
    copy_dir(&home.path(), &old);
    let log = home.open(Config::one_shot());
    append(&log, entry(1)).unwrap();
    log.close();
    copy_dir(&old, &home.path());
    let newest = home.tiles.published().unwrap().unwrap();
    assert_eq!(code(home.try_open(Config::one_shot())), "log_behind");
    assert_eq!(home.tiles.published().unwrap().unwrap(), newest, "and it stays");
}

#[test]
fn the_signed_time_never_goes_back() {
    let home = Home::new();
    let log = home.open(Config::one_shot());
    assert_eq!(append(&log, entry(0)).unwrap().head.time, START);
    home.now.store(START + 100, Ordering::SeqCst);
    assert_eq!(append(&log, entry(1)).unwrap().head.time, START + 100);
    home.now.store(START - 200, Ordering::SeqCst);
    assert_eq!(append(&log, entry(2)).unwrap().head.time, START + 100);
    log.close();
    let log = home.open(Config::one_shot());
    assert_eq!(log.head().time, START + 100, "nor over a start");
    home.now.store(START + 101, Ordering::SeqCst);
    assert_eq!(append(&log, entry(3)).unwrap().head.time, START + 101);
}

/// Whoever watches the published file would call a log stale that has just started.
#[test]
fn a_start_without_a_new_leaf_publishes_what_it_signed() {
    let home = Home::new();
    let log = home.open(Config::one_shot());
    append(&log, entry(0)).unwrap();
    log.close();
    let public = || String::from_utf8(home.tiles.published().unwrap().unwrap()).unwrap();
    let before = public();
    home.now.store(START + 300, Ordering::SeqCst);
    let log = home.open(Config { publish_every: Duration::from_millis(1), ..Config::one_shot() });
    let signed = log.head().note.to_string();
    assert_ne!(signed, before, "the control: the start has signed");
    let began = Instant::now();
    while public() != signed {
        assert!(began.elapsed() < Duration::from_secs(10), "what is public is the checkpoint of before the start");
        std::thread::yield_now();
    }
}

#[test]
fn an_idle_head_is_signed_anew_with_the_same_root() {
    let home = Home::new();
    let log = home.open(Config { resign_every: Duration::from_millis(5), ..Config::one_shot() });
    append(&log, entry(0)).unwrap();
    let root = log.head().checkpoint.root;
    home.now.store(START + 60, Ordering::SeqCst);
    while log.head().time != START + 60 {
        std::thread::yield_now();
    }
    assert_eq!((log.head().checkpoint.root, log.head().checkpoint.size), (root, 1));
    assert_eq!(verify(&log.receipt(0).unwrap(), &leaf(0), &log.trust()), 1);
}

#[test]
fn a_caller_who_only_repeats_known_leaves_does_not_keep_the_signed_time_old() {
    let home = Home::new();
    let log = home.open(Config { resign_every: Duration::from_millis(200), ..Config::one_shot() });
    append(&log, entry(0)).unwrap();
    home.now.store(START + 60, Ordering::SeqCst);
    let began = Instant::now();
    while log.head().time != START + 60 {
        assert!(began.elapsed() < Duration::from_secs(5), "the head is signed {}", log.head().time);
        assert_eq!(append(&log, entry(0)).unwrap().logged, Logged::Before);
    }
    assert_eq!(log.head().checkpoint.size, 1);
}

/// 300 seconds are what a reader's clock may lag behind a signed time; beyond, the receipts would be refused.
#[test]
fn nothing_is_signed_while_the_last_signed_time_is_far_ahead_of_the_clock() {
    let home = Home::new();
    let ahead = START + 10 * 365 * 86_400;
    home.now.store(ahead, Ordering::SeqCst);
    let log = home.open(Config { resign_every: Duration::from_millis(1), ..Config::one_shot() });
    let head = append(&log, entry(0)).unwrap().head;
    home.now.store(ahead - 301, Ordering::SeqCst);
    let refused = AppendError::ClockBehind { signed: ahead, now: ahead - 301 };
    assert_eq!(append(&log, entry(1)), Err(refused), "while it runs");
    assert_eq!(log.head(), head, "nor while it idles");
    home.now.store(ahead - 300, Ordering::SeqCst);
    assert_eq!(append(&log, entry(1)).unwrap().head.time, ahead, "the control");
    log.close();
    home.now.store(START, Ordering::SeqCst);
    let before = std::fs::read(home.path().join("head")).unwrap();
    let refused = home.try_open(Config::one_shot()).map(drop).unwrap_err();
    assert!(matches!(refused, OpenError::ClockBehind { signed, now: START } if signed == ahead), "{refused}");
    assert_eq!(std::fs::read(home.path().join("head")).unwrap(), before, "nothing was signed");
    home.now.store(ahead + 1, Ordering::SeqCst);
    assert_eq!(home.open(Config::one_shot()).head().time, ahead + 1, "time passes, and it goes on");
}
