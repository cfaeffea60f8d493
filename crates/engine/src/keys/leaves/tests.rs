use std::fs;
use std::path::Path;
use std::sync::Arc;

use countersign_core::sign::Purpose;
use countersign_core::time::Timestamp;
use countersign_tlog::policy::{Policy, PostQuantum};

use super::*;
use crate::env::Env;
use crate::receipt::{Demands, Proved, verify};

/// 2026-09-01T09:00:00Z
const NOW: i64 = 1_788_253_200;

fn env(after: i64, seed: u64) -> Arc<Env> {
    Arc::new(Env::fixed(Timestamp::from_seconds(NOW + after), seed))
}

fn book(data: &Path, seed: u64) -> LogBook {
    LogBook::one_shot(data, env(0, seed))
}

/// A key, and `rotations` more, an hour apart.
fn keys(data: &Path, rotations: i64) -> Keys {
    let mut keys = Keys::load(data).unwrap();
    keys.current(Purpose::Decision, &env(0, 1)).unwrap();
    for hour in 1..=rotations {
        let seed = u64::try_from(hour).unwrap() + 1;
        keys.rotate(Purpose::Decision, &env(hour * 3600, seed)).unwrap();
    }
    Keys::load(data).unwrap()
}

fn by_age(keys: &Keys) -> Vec<KeyId> {
    let mut files: Vec<&KeyFile> = keys.all().iter().collect();
    files.sort_by_key(|file| file.created);
    files.iter().map(|file| file.key.id()).collect()
}

/// The kept receipt of the key called `id`.
fn kept_of(keys: &Keys, place: &Place, id: KeyId, edge: Edge) -> Option<Receipt> {
    keys.all().iter().find(|file| file.key.id() == id).and_then(|file| kept(keys, place, file, edge))
}

fn write(keys: &Keys, book: &LogBook) -> Result<(), LogError> {
    log(missing(keys, book.place()).unwrap(), book, book.deadline())
}

fn prove(data: &Path, receipt: &Receipt) -> Proved {
    let policy = Policy::parse(&fs::read(data.join("log/trust")).unwrap()).unwrap();
    let now = Timestamp::from_seconds(NOW);
    let demands = Demands { policy: &policy, pq: PostQuantum::Required, max_age_ms: None, now };
    verify(receipt.to_value().to_string().as_bytes(), &demands).unwrap()
}

#[test]
fn a_key_and_its_replacement_are_three_leaves_in_the_order_they_happened() {
    let data = tempfile::tempdir().unwrap();
    let (keys, book) = (keys(data.path(), 1), book(data.path(), 9));
    write(&keys, &book).unwrap();
    let ids = by_age(&keys);
    let hour = Timestamp::from_seconds(NOW + 3600);
    let expected = [
        (ids[0], Edge::From, 0, NOW, None),
        (ids[0], Edge::Until, 1, NOW, Some(hour)),
        (ids[1], Edge::From, 2, NOW + 3600, None),
    ];
    for (id, edge, index, from, until) in expected {
        let receipt = kept_of(&keys, book.place(), id, edge).unwrap();
        let statement = prove(data.path(), &receipt).key.unwrap();
        assert_eq!((receipt.index, statement.key.id()), (index, id));
        assert_eq!(statement.validity, Validity { from: Timestamp::from_seconds(from), until });
    }
    assert!(kept_of(&keys, book.place(), ids[1], Edge::Until).is_none(), "it still signs");
    assert!(missing(&keys, book.place()).unwrap().is_empty());
}

/// The states that a death between any two steps leaves: file without leaf, leaf without receipt, everything.
#[test]
fn whatever_a_death_left_undone_is_finished_and_nothing_is_logged_twice() {
    let data = tempfile::tempdir().unwrap();
    let first = keys(data.path(), 0);
    write(&first, &book(data.path(), 1)).unwrap();
    let keys = keys(data.path(), 1);
    let place = Place::new(data.path());
    let ids = by_age(&keys);
    // Two changes without a leaf; one of them is logged, and its receipt is lost.
    let mut undone = missing(&keys, &place).unwrap();
    assert_eq!(undone.len(), 2);
    book(data.path(), 2).append_revealed(undone.remove(0).reveal).unwrap();
    fs::remove_file(path(&place, ids[0], Edge::From)).unwrap();
    write(&keys, &book(data.path(), 3)).unwrap();
    let indices = [(ids[0], Edge::From), (ids[0], Edge::Until), (ids[1], Edge::From)]
        .map(|(id, edge)| prove(data.path(), &kept_of(&keys, &place, id, edge).unwrap()).receipt.index);
    assert_eq!(indices, [0, 1, 2]);
    let after = book(data.path(), 4).append(LeafType::decision(), b"{}").unwrap();
    assert_eq!(after.index, 3, "three changes are three leaves");
}

#[test]
fn two_who_write_at_once_write_one_leaf() {
    let data = tempfile::tempdir().unwrap();
    let keys = keys(data.path(), 2);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (keys, data) = (&keys, data.path());
            scope.spawn(move || write(keys, &book(data, seed)).unwrap());
        }
    });
    assert_eq!(book(data.path(), 9).append(LeafType::decision(), b"{}").unwrap().index, 5);
}

#[test]
fn a_log_that_is_away_stops_no_rotation_and_gets_its_leaves_later() {
    let data = tempfile::tempdir().unwrap();
    write(&keys(data.path(), 0), &book(data.path(), 1)).unwrap();
    let (there, away) = (data.path().join("log"), data.path().join("away"));
    fs::rename(&there, &away).unwrap();
    let keys = keys(data.path(), 1);
    assert!(matches!(write(&keys, &book(data.path(), 2)), Err(LogError::Lost(_))));
    fs::rename(&away, &there).unwrap();
    write(&keys, &book(data.path(), 3)).unwrap();
    let place = Place::new(data.path());
    assert_eq!(kept_of(&keys, &place, by_age(&keys)[1], Edge::From).unwrap().index, 2);
}

#[test]
fn a_key_that_is_only_announced_ends_nobody_and_says_nothing() {
    use countersign_core::sign::SigningKey;
    let data = tempfile::tempdir().unwrap();
    let current = keys(data.path(), 0).all()[0].key.id();
    let announced = KeyFile {
        purpose: Purpose::Decision,
        state: KeyState::Announced,
        created: Timestamp::from_seconds(NOW + 60),
        key: SigningKey::from_seed([8; 32]),
    };
    super::super::write(&data.path().join("keys"), &announced).unwrap();
    let changes = missing(&Keys::load(data.path()).unwrap(), &Place::new(data.path())).unwrap();
    let named: Vec<_> = changes.iter().map(|change| (change.key, change.edge)).collect();
    assert_eq!(named, [(current, Edge::From)]);
}

#[test]
fn a_receipt_that_was_read_is_not_read_again_and_one_that_went_is_missed() {
    let data = tempfile::tempdir().unwrap();
    let (keys, book) = (keys(data.path(), 1), book(data.path(), 1));
    write(&keys, &book).unwrap();
    let (read, place) = (Read::default(), book.place());
    let named = || read.missing(&keys, place).unwrap().into_iter().map(|one| (one.key, one.edge)).collect::<Vec<_>>();
    let (id, edge) = (by_age(&keys)[0], Edge::Until);
    assert_eq!(named(), []);
    // What was read is taken for what it was; whoever did not read it sees that it does not read.
    fs::write(path(place, id, edge), "rubbish").unwrap();
    assert_eq!(named(), []);
    assert_eq!(missing(&keys, place).unwrap().len(), 1);
    fs::remove_file(path(place, id, edge)).unwrap();
    assert_eq!(named(), [(id, edge)]);
    write(&keys, &book).unwrap();
    assert_eq!(named(), []);
}

/// What stands in the place of a kept receipt and is none of this change in this log: it is logged, and put there.
#[test]
fn a_kept_receipt_that_proves_nothing_here_is_none_and_is_replaced() {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (keys, book) = (keys(data.path(), 1), book(data.path(), 1));
    write(&keys, &book).unwrap();
    let (place, ids) = (book.place(), by_age(&keys));
    let file = path(place, ids[1], Edge::From);
    let (whole, ended) = (fs::read_to_string(&file).unwrap(), path(place, ids[0], Edge::Until));
    write(&keys, &self::book(other.path(), 2)).unwrap();
    for (case, text) in [
        ("another index", whole.replacen("\"index\":2", "\"index\":1", 1)),
        ("another change", fs::read_to_string(ended).unwrap()),
        ("no reveal", Receipt::parse(whole.as_bytes()).unwrap().to_public_value().to_string()),
        ("another log", fs::read_to_string(path(&Place::new(other.path()), ids[1], Edge::From)).unwrap()),
    ] {
        assert_ne!(text, whole, "{case}");
        fs::write(&file, text).unwrap();
        assert!(kept_of(&keys, place, ids[1], Edge::From).is_none(), "{case}");
        write(&keys, &book).unwrap();
        assert_eq!(kept_of(&keys, place, ids[1], Edge::From).map(|receipt| receipt.index), Some(2), "{case}");
    }
}
