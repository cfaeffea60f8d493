use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use countersign_core::time::Timestamp;
use countersign_tlog::checkpoint::Origin;
use countersign_tlog::sequencer::disk::Disk;

use super::*;
use crate::testing::copy_folder;

mod flips;
mod seeds;
mod status;
mod upgrade;

fn env(seed: u64) -> Arc<Env> {
    Arc::new(Env::fixed(Timestamp::from_seconds(1_788_253_200), seed))
}

fn book(data: &Path, seed: u64) -> LogBook {
    LogBook::one_shot(data, env(seed))
}

fn append(book: &LogBook, text: &str) -> Result<Receipt, LogError> {
    book.append(LeafType::decision(), text.as_bytes())
}

#[test]
fn the_first_append_makes_a_log_whose_trust_file_verifies_the_receipt() {
    let data = tempfile::tempdir().unwrap();
    let receipt = append(&book(data.path(), 1), "{\"a\":1}").unwrap();
    assert_eq!(receipt.index, 0);
    let trust = fs::read(data.path().join("log/trust")).unwrap();
    let policy = Policy::parse(&trust).unwrap();
    let now = Timestamp::from_seconds(1_788_253_200);
    let demands = Demands { policy: &policy, pq: PostQuantum::Required, max_age_ms: Some(0), now };
    let proved = verify(receipt.to_value().to_string().as_bytes(), &demands).unwrap();
    assert_eq!(proved.leaf.unwrap().leaf_type, LeafType::decision());
    assert!(receipt.log_origin.as_str().starts_with("countersign.local/log/"));
}

#[test]
fn a_log_goes_on_where_it_ended_and_its_checkpoint_is_published() {
    let data = tempfile::tempdir().unwrap();
    for (index, text) in ["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"].into_iter().enumerate() {
        assert_eq!(append(&book(data.path(), index as u64), text).unwrap().index, index as u64);
    }
    let published = fs::read_to_string(data.path().join("log/checkpoint")).unwrap();
    assert_eq!(published.lines().nth(1), Some("3"), "{published}");
}

#[test]
fn whoever_does_not_hold_the_log_hands_the_leaf_over() {
    let data = tempfile::tempdir().unwrap();
    let holder = book(data.path(), 1);
    append(&holder, "{\"a\":1}").unwrap();
    let other = book(data.path(), 2);
    let receipt = append(&other, "{\"a\":2}").unwrap();
    assert_eq!(receipt.index, 1);
    assert!(other.hands.are_empty(), "it went over the socket");
    drop(holder);
    assert_eq!(append(&other, "{\"a\":3}").unwrap().index, 2, "the log is free again");
}

/// The lock of a log's folder, as another process has it: one that makes the log, and stops in the middle.
fn lock_of(data: &Path) -> fs::File {
    fs::create_dir_all(data.join("log")).unwrap();
    let file = fs::File::create(data.join("log/lock")).unwrap();
    file.try_lock().unwrap();
    file
}

#[test]
fn a_first_use_beside_one_that_stopped_in_the_middle_ends_with_a_reason() {
    let data = tempfile::tempdir().unwrap();
    let held = lock_of(data.path());
    let mut hasty = book(data.path(), 1);
    hasty.patience = Duration::ZERO;
    assert_eq!(append(&hasty, "{\"a\":1}").unwrap_err().code(), "log_unreachable");
    assert_eq!(hasty.take().map(drop).unwrap_err().code(), "log_held");
    hasty.place.create(&env(2), None).unwrap();
    let other = Origin::parse("log.example.test/other");
    assert_eq!(hasty.place.create(&env(2), other).unwrap_err().code(), "log_exists", "its name is given already");
    drop(held);
    assert_eq!(append(&hasty, "{\"a\":1}").unwrap().index, 0, "the control");
}

#[test]
fn whoever_starts_while_another_has_the_log_waits_for_its_turn() {
    for server in [false, true] {
        let data = tempfile::tempdir().unwrap();
        let held = lock_of(data.path());
        let book = if server { LogBook::serving(data.path(), env(1)) } else { book(data.path(), 1) };
        thread::scope(|scope| {
            let waiting = scope.spawn(|| if server { book.take().map(drop) } else { append(&book, "{}").map(drop) });
            // Its keys are the last that it makes before it asks for the lock.
            while !data.path().join("keys/log.seeds").exists() {
                thread::yield_now();
            }
            drop(held);
            waiting.join().unwrap().unwrap();
        });
    }
}

#[test]
fn many_at_once_on_one_directory_each_get_their_own_entry() {
    let data = tempfile::tempdir().unwrap();
    let indices: Vec<u64> = thread::scope(|scope| {
        let one = |n: u64| {
            let path = data.path().to_owned();
            scope.spawn(move || append(&book(&path, n), &format!("{{\"a\":{n}}}")).unwrap().index)
        };
        let all: Vec<_> = (0..20).map(one).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(indices.iter().copied().collect::<BTreeSet<_>>(), (0..20).collect());
}

#[test]
fn one_document_gets_one_entry_however_often_it_is_offered() {
    let data = tempfile::tempdir().unwrap();
    let book = book(data.path(), 1);
    append(&book, "{\"a\":1}").unwrap();
    // A second offer draws another salt, which makes another leaf: the log refuses it rather than logging twice.
    let refused = append(&book, "{\"a\":1}").unwrap_err();
    assert_eq!((refused.code(), refused.hint().contains("receipt export")), ("idempotency_conflict", true));
    assert_eq!(append(&book, "{\"a\":2}").unwrap().index, 1);
    let prepared = book.prepare(LeafType::decision(), b"{\"a\":3}").unwrap();
    assert_eq!([(); 3].map(|()| book.append_revealed(prepared.clone()).unwrap().index), [2, 2, 2]);
}

#[test]
fn the_status_makes_no_log_and_says_who_holds_one() {
    let data = tempfile::tempdir().unwrap();
    assert!(matches!(book(data.path(), 1).status(), Err(LogError::NoLog)));
    assert!(!data.path().join("log").exists());
    let holder = book(data.path(), 1);
    append(&holder, "{\"a\":1}").unwrap();
    let taken = book(data.path(), 2).status().unwrap();
    assert_eq!((taken.held, taken.checkpoint.size), (Held::Taken, 1));
    assert_eq!(book(data.path(), 2).hold().map(drop).unwrap_err().code(), "log_held");
    drop(holder);
    let free = book(data.path(), 2).status().unwrap();
    assert_eq!((free.held, free.checkpoint, free.trust), (Held::Free, taken.checkpoint, taken.trust));
}

#[test]
fn keys_without_their_log_never_start_a_second_history() {
    // With and without the head outside the log's folder: the mark beside the keys is enough.
    for head in [true, false] {
        let data = tempfile::tempdir().unwrap();
        append(&book(data.path(), 1), "{\"a\":1}").unwrap();
        fs::remove_dir_all(data.path().join("log")).unwrap();
        if !head {
            fs::remove_file(data.path().join("log-head")).unwrap();
        }
        let refused = append(&book(data.path(), 2), "{\"a\":2}").unwrap_err();
        assert_eq!((refused.code(), refused.hint().contains("log init")), ("log_lost", true), "{refused}");
        assert_eq!(book(data.path(), 2).status().unwrap_err().code(), "log_lost");
        assert_eq!(
            crate::fsck::check(data.path(), &DirTiles::new(&data.path().join("log"))).unwrap_err().code(),
            "log_lost"
        );
        assert_eq!(Place::new(data.path()).create(&env(3), None).unwrap_err().code(), "log_lost");
        assert!(!data.path().join("log").exists(), "nothing was made");
    }
}

#[test]
fn a_log_leaves_its_mark_before_it_signs_and_an_older_one_gets_it_when_it_is_opened() {
    let data = tempfile::tempdir().unwrap();
    let (place, mark) = (Place::new(data.path()), data.path().join("keys/log.begun"));
    place.create(&env(1), None).unwrap();
    assert!(!mark.exists(), "nothing is signed yet");
    let mut unmarked = book(data.path(), 2);
    // A folder in its place: the mark cannot be written.
    fs::create_dir(&mark).unwrap();
    assert_eq!(append(&unmarked, "{}").unwrap_err().code(), "log_io");
    assert!(
        !data.path().join("log-head").exists() && !data.path().join("log/checkpoint").exists(),
        "nothing is signed"
    );
    fs::remove_dir(&mark).unwrap();
    assert_eq!(append(&unmarked, "{}").unwrap().index, 0);
    let first = fs::read_to_string(&mark).unwrap();
    assert!(fs::read_to_string(place.trust()).unwrap().contains(&format!("log {first}")), "{first}");
    // As a log that an earlier version made.
    fs::remove_file(&mark).unwrap();
    unmarked = book(data.path(), 3);
    assert_eq!(append(&unmarked, "{\"a\":1}").unwrap().index, 1);
    assert_eq!(fs::read_to_string(&mark).unwrap(), first);
}

#[test]
fn a_log_that_is_given_up_makes_room_for_another_one_under_new_keys() {
    let data = tempfile::tempdir().unwrap();
    let old = append(&book(data.path(), 1), "{\"a\":1}").unwrap();
    fs::remove_dir_all(data.path().join("log")).unwrap();
    for file in ["keys/log.seeds", "log-head"] {
        fs::remove_file(data.path().join(file)).unwrap();
    }
    Place::new(data.path()).create(&env(2), None).unwrap();
    let new = append(&book(data.path(), 3), "{\"a\":1}").unwrap();
    assert_eq!(new.index, 0);
    assert_ne!(new.log_origin, old.log_origin);
    fs::remove_dir_all(data.path().join("log")).unwrap();
    fs::remove_file(data.path().join("log-head")).unwrap();
    assert_eq!(append(&book(data.path(), 4), "{}").unwrap_err().code(), "log_lost", "the mark is that of the new one");
}

#[test]
fn a_log_without_its_keys_gets_no_new_ones() {
    for left in ["log", "log-head"] {
        let data = tempfile::tempdir().unwrap();
        append(&book(data.path(), 1), "{\"a\":1}").unwrap();
        let keys = data.path().join("keys/log.seeds");
        fs::rename(&keys, data.path().join("kept")).unwrap();
        match left {
            "log" => fs::remove_file(data.path().join("log-head")).unwrap(),
            _ => fs::remove_dir_all(data.path().join("log")).unwrap(),
        }
        assert_eq!(append(&book(data.path(), 2), "{}").unwrap_err().code(), "log_keys_lost", "{left}");
        assert_eq!(Place::new(data.path()).create(&env(3), None).unwrap_err().code(), "log_keys_lost", "{left}");
        assert!(!keys.exists(), "none were made");
        if left == "log" {
            fs::rename(data.path().join("kept"), &keys).unwrap();
            assert_eq!(append(&book(data.path(), 4), "{}").unwrap().index, 1, "the control");
        }
    }
}

#[test]
fn a_making_that_was_cut_short_is_finished() {
    let data = tempfile::tempdir().unwrap();
    let place = Place::new(data.path());
    place.create(&env(1), Origin::parse("log.example.test/mine")).unwrap();
    fs::remove_dir_all(place.log()).unwrap();
    let receipt = append(&book(data.path(), 2), "{\"a\":1}").unwrap();
    assert_eq!(receipt.log_origin.as_str(), "log.example.test/mine");
}

#[test]
fn a_copied_and_a_rolled_back_log_are_refused_with_a_way_out() {
    let data = tempfile::tempdir().unwrap();
    append(&book(data.path(), 1), "{\"a\":1}").unwrap();
    let older = tempfile::tempdir().unwrap();
    copy_folder(data.path(), older.path());
    let refused = append(&book(older.path(), 2), "{\"a\":2}").unwrap_err();
    assert_eq!((refused.code(), refused.hint().contains("log adopt")), ("log_copied", true));
    append(&book(data.path(), 3), "{\"a\":3}").unwrap();
    fs::remove_dir_all(data.path().join("log")).unwrap();
    copy_folder(&older.path().join("log"), &data.path().join("log"));
    countersign_tlog::sequencer::adopt(&data.path().join("log")).unwrap();
    let refused = append(&book(data.path(), 4), "{\"a\":4}").unwrap_err();
    assert_eq!((refused.code(), refused.hint().contains("never sign again")), ("log_behind", true), "{refused}");
    assert_eq!(book(data.path(), 4).status().map(drop).unwrap_err().code(), "log_behind");
    assert_eq!(book(older.path(), 4).status().unwrap().checkpoint.size, 1, "a copy can be looked at");
}

#[test]
fn a_full_tile_is_stored_once_and_never_with_other_bytes() {
    use countersign_tlog::sequencer::tiles::TilesError;
    use countersign_tlog::tile::{Content, TilePath};
    let dir = tempfile::tempdir().unwrap();
    let (tiles, path) = (DirTiles::new(dir.path()), TilePath::full_at(Content::Hashes(0), 1_234_067));
    assert_eq!(tiles.get(&path), Ok(None));
    tiles.put(&path, b"bytes").unwrap();
    tiles.put(&path, b"bytes").unwrap();
    assert_eq!(tiles.put(&path, b"other"), Err(TilesError::Conflict(path)));
    assert_eq!(tiles.get(&path), Ok(Some(b"bytes".to_vec())));
    assert!(dir.path().join("tile/0/x001/x234/067").exists());
    assert_eq!(tiles.published(), Ok(None));
    tiles.publish(b"one").unwrap();
    tiles.publish(b"two").unwrap();
    assert_eq!(tiles.published(), Ok(Some(b"two".to_vec())));
}

/// A disk whose syncs fail once the switch is on.
#[derive(Default)]
struct Unsynced(AtomicBool);

impl Disk for Unsynced {
    fn sync(&self, file: &fs::File) -> std::io::Result<()> {
        if self.0.load(Ordering::SeqCst) { Err(std::io::Error::other("injected")) } else { file.sync_data() }
    }
}

#[test]
fn after_a_failed_sync_this_process_signs_no_more_and_the_next_one_finds_the_leaf() {
    let data = tempfile::tempdir().unwrap();
    let (disk, (tell, told)) = (Arc::new(Unsynced::default()), mpsc::channel());
    let mut failing = book(data.path(), 1).when_in_doubt(move |fatal| tell.send(fatal.what).unwrap());
    failing.config.disk = disk.clone();
    append(&failing, "{\"a\":1}").unwrap();
    let signed = failing.hold().unwrap().head();
    disk.0.store(true, Ordering::SeqCst);
    let prepared = failing.prepare(LeafType::decision(), b"{\"a\":2}").unwrap();
    assert_eq!(failing.append_revealed(prepared.clone()).unwrap_err().code(), "log_outcome_unknown");
    assert_eq!(told.recv(), Ok("sync"), "whoever asked for it is told");
    disk.0.store(false, Ordering::SeqCst);
    let refused = append(&failing, "{\"a\":3}").unwrap_err();
    assert!(matches!(&refused, LogError::InDoubt(fatal) if fatal.what == "sync"), "{refused}");
    assert!(failing.hold().is_err() && failing.upgrade(&receipt_of(&signed)).is_err());
    assert_eq!(failing.status().unwrap().checkpoint, signed.checkpoint, "nothing was signed since");
    assert!(told.try_recv().is_err(), "told once");
    // This process lives on, and others go on behind the leaf that was written and never answered.
    let other = book(data.path(), 2);
    assert_eq!(append(&other, "{\"a\":4}").unwrap().index, 2);
    let again = other.append_revealed(prepared.clone()).unwrap();
    assert_eq!((again.index, again.reveal), (1, Some(prepared)), "what was in doubt is found again, and opens");
    assert_eq!(append(&failing, "{\"a\":5}").unwrap_err().to_string(), refused.to_string(), "the reason stays");
    assert_eq!(other.hold().unwrap().head().checkpoint.size, 3, "and it does not sign through the other either");
}

#[test]
fn who_hands_a_leaf_to_a_process_whose_disk_fails_takes_the_log_over() {
    let data = tempfile::tempdir().unwrap();
    let disk = Arc::new(Unsynced::default());
    let mut failing = book(data.path(), 1);
    failing.config.disk = disk.clone();
    append(&failing, "{\"a\":1}").unwrap();
    disk.0.store(true, Ordering::SeqCst);
    let other = book(data.path(), 2);
    assert_eq!(append(&other, "{\"a\":2}").unwrap().index, 1);
    assert!(!other.hands.are_empty(), "it has the log now");
    assert_eq!(failing.hold().map(drop).unwrap_err().code(), "log_in_doubt");
}

/// A receipt for leaf 0 under `head`, which holds one leaf.
fn receipt_of(head: &countersign_tlog::sequencer::Head) -> Receipt {
    let (checkpoint, note) = (head.checkpoint.clone(), head.note.clone());
    let (log_origin, leaf_hash) = (checkpoint.origin, checkpoint.root);
    Receipt { log_origin, index: 0, leaf_hash, path: Vec::new(), checkpoint: note, reveal: None }
}

#[test]
fn a_wait_for_another_process_is_over_when_its_patience_is() {
    let data = tempfile::tempdir().unwrap();
    let holder = book(data.path(), 1);
    append(&holder, "{\"a\":1}").unwrap();
    let mut hasty = book(data.path(), 2);
    // The holder would answer at once: only a wait of its own for the answer would get it.
    hasty.patience = Duration::ZERO;
    assert_eq!(append(&hasty, "{\"a\":2}").unwrap_err().code(), "log_unreachable");
    hasty.patience = PATIENCE;
    assert_eq!(append(&hasty, "{\"a\":2}").unwrap().index, 1, "the control");
}

#[test]
fn a_server_that_no_command_could_reach_does_not_start() {
    let data = tempfile::tempdir().unwrap();
    append(&book(data.path(), 1), "{\"a\":1}").unwrap();
    let in_the_way = data.path().join("log/log.sock");
    fs::create_dir(&in_the_way).unwrap();
    let refused = LogBook::serving(data.path(), env(2)).hold().map(drop).unwrap_err();
    assert_eq!(refused.code(), "log_door", "{refused}");
    assert_eq!(append(&book(data.path(), 3), "{\"a\":2}").unwrap().index, 1, "a command needs nobody");
    fs::remove_dir(&in_the_way).unwrap();
    assert!(LogBook::serving(data.path(), env(4)).hold().is_ok(), "the control");
}

/// `log/log.sock` alone is 13 bytes; the address of a socket holds 107.
#[cfg(target_os = "linux")]
#[test]
fn a_directory_too_deep_for_the_address_of_a_socket_is_served_like_any_other() {
    let data = tempfile::tempdir().unwrap();
    let deep = data.path().join("d".repeat(100));
    let holder = LogBook::serving(&deep, env(1));
    holder.hold().unwrap();
    let other = book(&deep, 2);
    assert_eq!(append(&other, "{\"a\":1}").unwrap().index, 0);
    assert!(other.hands.are_empty(), "it went over the socket");
    drop(holder);
    assert!(!deep.join("log/log.sock").exists());
}

/// Ten years ahead, as a machine without a battery may begin; 300 seconds are allowed.
#[test]
fn a_log_signed_under_a_clock_far_ahead_says_so_and_signs_nothing_more_until_then() {
    const YEARS: i64 = 1_788_253_200 + 10 * 365 * 86_400;
    let data = tempfile::tempdir().unwrap();
    let at = |seconds: i64, seed| {
        let env = Arc::new(Env::fixed(Timestamp::from_seconds(seconds), seed));
        LogBook::one_shot(data.path(), env)
    };
    append(&at(YEARS, 1), "{\"a\":1}").unwrap();
    let signed = Timestamp::from_seconds(YEARS);
    let refused = append(&at(YEARS - 301, 2), "{\"a\":2}").unwrap_err();
    assert_eq!((refused.code(), refused.hint()), ("log_clock_behind", LogError::CLOCK), "{refused}");
    assert_eq!(at(YEARS - 301, 2).status().unwrap().clock, Standing::Ahead(signed));
    assert_eq!(at(YEARS - 300, 2).status().unwrap().clock, Standing::Good(signed));
    assert_eq!(append(&at(YEARS - 300, 3), "{\"a\":3}").unwrap().index, 1, "the control");
}
