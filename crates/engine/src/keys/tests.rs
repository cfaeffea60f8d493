use std::collections::BTreeSet;
use std::sync::Barrier;

use countersign_core::time::Timestamp;

use super::*;

const NOW: Timestamp = Timestamp::from_seconds(1_788_253_200);

fn current(keys: &Keys) -> usize {
    keys.all().iter().filter(|file| file.state == KeyState::Current).count()
}

#[test]
fn twenty_first_uses_at_once_make_one_key() {
    let folder = tempfile::tempdir().unwrap();
    let barrier = Barrier::new(20);
    let first = || {
        let mut keys = Keys::load(folder.path()).unwrap();
        barrier.wait();
        keys.current(Purpose::Decision, &Env::Real).unwrap().id().to_string()
    };
    let used: BTreeSet<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..20).map(|_| scope.spawn(first)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let keys = Keys::load(folder.path()).unwrap();
    assert_eq!((used.len(), keys.all().len(), current(&keys)), (1, 1, 1));
}

#[test]
fn rotations_at_once_leave_one_current_key() {
    let folder = tempfile::tempdir().unwrap();
    let barrier = Barrier::new(5);
    let rotate = || {
        let mut keys = Keys::load(folder.path()).unwrap();
        barrier.wait();
        keys.rotate(Purpose::Decision, &Env::Real).unwrap();
    };
    std::thread::scope(|scope| (0..5).for_each(|_| drop(scope.spawn(rotate))));
    let keys = Keys::load(folder.path()).unwrap();
    assert_eq!((keys.all().len(), current(&keys)), (5, 1));
}

/// The state a crash leaves: the new key is written and the old one is still called current. Both were made in the
/// same second, and with either order of their file names.
#[test]
fn after_a_crash_inside_a_rotation_the_newest_key_signs() {
    for seed in 0..8 {
        let folder = tempfile::tempdir().unwrap();
        let env = Env::fixed(NOW, seed);
        let mut keys = Keys::load(folder.path()).unwrap();
        let old = keys.current(Purpose::Decision, &env).unwrap().id();
        let path = folder.path().join("keys").join(format!("decision-{old}.json"));
        let before = fs::read(&path).unwrap();
        let new = keys.rotate(Purpose::Decision, &env).unwrap().id();
        fs::write(&path, before).unwrap();
        let mut keys = Keys::load(folder.path()).unwrap();
        assert_eq!(current(&keys), 2);
        assert_eq!(keys.current(Purpose::Decision, &env).unwrap().id(), new);
        assert_ne!(new, old);
        keys.rotate(Purpose::Decision, &env).unwrap();
        assert_eq!(current(&Keys::load(folder.path()).unwrap()), 1, "the next rotation mends it");
    }
}

fn document() -> Map<String, Value> {
    Map::from_iter([("schema".to_owned(), Value::from("countersign/decision/v1"))])
}

/// A process that has read its keys must not go on with one that another process replaced.
#[test]
fn whoever_signs_notices_a_rotation_and_never_dates_outside_a_keys_time() {
    let folder = tempfile::tempdir().unwrap();
    let (env, purpose) = (Env::fixed(NOW, 1), Purpose::Decision);
    let mut mine = Keys::load(folder.path()).unwrap();
    let seal = |keys: &mut Keys, now| {
        let bytes = keys.seal(purpose, document(), now, &env).unwrap();
        countersign_core::sign::open(&bytes, &keys.verifying(purpose)).unwrap()
    };
    let first = seal(&mut mine, NOW);
    // Both in one second: the new key begins a second later, where the old one ends.
    let second = Keys::load(folder.path()).unwrap().rotate(purpose, &env).unwrap().id();
    let after = seal(&mut mine, NOW);
    assert_eq!((after.key_id, after.issued_at), (second, Timestamp::from_seconds(1_788_253_201)));
    assert_ne!(first.key_id, second);
    for opened in [&first, &after] {
        let file = mine.all().iter().find(|file| file.key.id() == opened.key_id).unwrap();
        assert!(mine.validity(file).covers(opened.issued_at));
    }
    let later = seal(&mut mine, NOW.plus_millis(60_000));
    assert_eq!(later.issued_at, NOW.plus_millis(60_000));
}

#[test]
fn a_folder_that_another_process_keeps_locked_is_waited_for_and_not_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("keys");
    let held = lock_within(&dir, Lock::Exclusive, Duration::ZERO).unwrap();
    for kind in [Lock::Shared, Lock::Exclusive] {
        assert!(matches!(lock_within(&dir, kind, Duration::ZERO), Err(KeysError::Held(_))));
    }
    std::thread::scope(|scope| {
        let waiting =
            scope.spawn(|| Keys::load(folder.path()).unwrap().current(Purpose::Decision, &Env::Real).map(drop));
        drop(held);
        waiting.join().unwrap().unwrap();
    });
}
