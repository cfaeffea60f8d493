//! A look that is cut short, and the next one.

use super::*;

/// A log of 520 leaves in three bundles. What was read is remembered at 256 and 512.
struct Long {
    world: World,
    memory: Memory,
}

impl Long {
    fn new() -> Self {
        Self::of(World::new(520))
    }

    fn of(world: World) -> Self {
        let mut memory = Memory::in_file(&world.data.path().join("seen"));
        memory.every = 256;
        Self { world, memory }
    }

    fn look(&self) -> Result<Watched, Finding> {
        let (pq, now) = (PostQuantum::Required, Env::Real.now());
        let demands = Demands { policy: &self.world.policy, pq, max_age_ms: Some(600_000), now };
        watch(&Source::Folder(self.world.mirror.path().to_owned()), &demands, &self.memory)
    }

    fn bundle(&self, name: &str) -> std::path::PathBuf {
        self.world.mirror.path().join("tile/entries").join(name)
    }

    fn beside(&self, ending: &str) -> std::path::PathBuf {
        self.world.data.path().join(format!("seen.{ending}"))
    }

    /// Looks at the log while a bundle is away.
    fn cut_short_before(&self, name: &str) {
        let kept = fs::read(self.bundle(name)).unwrap();
        fs::remove_file(self.bundle(name)).unwrap();
        assert_eq!(self.look().unwrap_err().code(), "log_file_missing");
        fs::write(self.bundle(name), kept).unwrap();
    }

    /// A bundle that the next look reads is spoilt by this.
    fn spoil(&self, name: &str) {
        fs::write(self.bundle(name), [0, 1, b'x']).unwrap();
    }

    /// The next look ends, with 520 leaves of which so many are new, and remembers those of the log in this folder.
    fn goes_on(&self, before: Option<u64>, log: &Path) {
        let watched = self.look().unwrap();
        assert_eq!((watched.before, watched.signed.checkpoint.size), (before, 520));
        assert_eq!(watched.kinds.values().sum::<u64>(), 520 - before.unwrap_or(0));
        assert!(!self.beside("progress").exists());
        let other = Memory::in_file(&self.world.data.path().join("other"));
        let (pq, now) = (PostQuantum::Required, Env::Real.now());
        let demands = Demands { policy: &self.world.policy, pq, max_age_ms: Some(600_000), now };
        watch(&Source::folder(log.join("log")), &demands, &other).unwrap();
        let at_once = fs::read(self.world.data.path().join("other.commitments")).unwrap();
        assert!(fs::read(self.beside("commitments")).unwrap() == at_once, "the same as a look that was not cut short");
    }
}

#[test]
fn a_look_that_is_cut_short_is_taken_up_where_it_was() {
    let long = Long::new();
    long.cut_short_before("001");
    assert!(!long.world.data.path().join("seen").exists(), "nothing signed is remembered yet");
    long.spoil("000");
    long.cut_short_before("002.p/8");
    long.spoil("001");
    long.goes_on(None, long.world.data.path());
}

#[test]
fn growth_is_taken_up_behind_what_is_remembered() {
    let long = Long::of(World::new(10));
    long.look().unwrap();
    long.world.grow(10..520);
    long.cut_short_before("002.p/8");
    long.spoil("000");
    long.spoil("001");
    long.goes_on(Some(10), long.world.data.path());
}

/// Every entry is read where it counts for nothing: a spoilt first bundle is noticed.
#[test]
fn progress_that_is_not_of_this_log_counts_for_nothing() {
    let long = Long::new();
    long.cut_short_before("001");
    let (whole, first) = (fs::read_to_string(long.beside("progress")).unwrap(), fs::read(long.bundle("000")).unwrap());
    let with = |from: &str, to: &str| {
        assert!(whole.contains(from), "{whole}");
        whole.replace(from, to)
    };
    let root = &whole[whole.find("\"root\"").unwrap()..];
    long.spoil("000");
    for progress in [
        "rubbish".to_owned(),
        whole[..whole.len() / 2].to_owned(),
        with("\"from\":0", "\"from\":1"),
        with("\"size\":256", "\"size\":255"),
        with("\"size\":256", "\"size\":521"),
        with("\"root\":\"", "\"root\":\"00"),
        with(&root[..9], &format!("\"root\":\"{}", if root[8..].starts_with('0') { '1' } else { '0' })),
        with("\"kinds\":{", "\"kinds\":{\"x\":-1,"),
    ] {
        fs::write(long.beside("progress"), &progress).unwrap();
        assert_eq!(long.look().unwrap_err().code(), "log_bundle", "{progress}");
    }
    fs::write(long.beside("progress"), &whole).unwrap();
    fs::write(long.beside("commitments"), [0; 255 * 32]).unwrap();
    assert_eq!(long.look().unwrap_err().code(), "log_bundle", "its commitments are gone");
    fs::write(long.bundle("000"), first).unwrap();
    long.goes_on(None, long.world.data.path());
}

/// Nothing was remembered under a signature, so the second history is the first one that is seen whole.
#[test]
fn another_history_is_read_from_its_beginning() {
    let long = Long::of(World::new(5));
    let fork = long.world.fork();
    long.world.grow(5..520);
    long.cut_short_before("001");
    mirror(&append(fork.path(), 5..520, "b"), long.world.mirror.path());
    long.goes_on(None, fork.path());
}
