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
