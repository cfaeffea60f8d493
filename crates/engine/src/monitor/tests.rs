use std::fs;
use std::path::Path;
use std::sync::Arc;

use countersign_core::leaf::LeafType;
use countersign_tlog::policy::{Policy, PostQuantum};
use countersign_tlog::tile::edge;

use super::*;
use crate::env::Env;
use crate::log::LogBook;
use crate::published::Published;
use crate::testing::copy_folder;

mod progress;

/// A log, and mirrors of it as a static server would hold them.
struct World {
    data: tempfile::TempDir,
    mirror: tempfile::TempDir,
    policy: Policy,
}

fn append(data: &Path, texts: std::ops::Range<u64>, salt: &str) -> Published {
    append_at(Env::Real, data, texts, salt)
}

fn append_at(env: Env, data: &Path, texts: std::ops::Range<u64>, salt: &str) -> Published {
    let book = LogBook::serving(data, Arc::new(env));
    let log = book.hold().unwrap();
    std::thread::scope(|scope| {
        for n in texts {
            let book = &book;
            scope.spawn(move || book.append(LeafType::decision(), format!("{{\"{salt}\":{n}}}").as_bytes()).unwrap());
        }
    });
    Published::new(log)
}

/// Every file that the newest checkpoint implies.
fn mirror(public: &Published, to: &Path) {
    let checkpoint = public.checkpoint();
    let size: u64 = checkpoint.lines().nth(1).unwrap().parse().unwrap();
    fs::write(to.join("checkpoint"), checkpoint).unwrap();
    for last in edge(size) {
        for number in 0..=last.index() {
            let path = TilePath::at(last.content(), number, size).unwrap().to_string();
            fs::create_dir_all(to.join(&path).parent().unwrap()).unwrap();
            fs::write(to.join(&path), public.tile(&path).unwrap().bytes).unwrap();
        }
    }
}

impl World {
    /// A log of `size` leaves, mirrored.
    fn new(size: u64) -> Self {
        let (data, mirror) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let public = append(data.path(), 0..size, "a");
        self::mirror(&public, mirror.path());
        Self { data, mirror, policy: Policy::parse(public.trust().as_bytes()).unwrap() }
    }

    fn watch_at(&self, mirror: &Path) -> Result<Watched, Finding> {
        let (pq, now) = (PostQuantum::Required, Env::Real.now());
        let demands = Demands { policy: &self.policy, pq, max_age_ms: Some(600_000), now };
        watch(&Source::Folder(mirror.to_owned()), &demands, &Memory::in_file(&self.data.path().join("seen")))
    }

    fn watch(&self) -> Result<Watched, Finding> {
        self.watch_at(self.mirror.path())
    }

    fn grow(&self, texts: std::ops::Range<u64>) {
        mirror(&append(self.data.path(), texts, "a"), self.mirror.path());
    }

    /// The same log with the same keys, as it was when this is called, going on with other leaves.
    fn fork(&self) -> tempfile::TempDir {
        let fork = tempfile::tempdir().unwrap();
        copy_folder(self.data.path(), fork.path());
        countersign_tlog::sequencer::adopt(&fork.path().join("log")).unwrap();
        fork
    }
}

#[test]
fn honest_growth_is_accepted_from_every_size_on() {
    let world = World::new(3);
    let first = world.watch().unwrap();
    assert_eq!((first.before, first.signed.checkpoint.size), (None, 3));
    assert_eq!(first.kinds, BTreeMap::from([("countersign.decision.v1".to_owned(), 3)]));
    let again = world.watch().unwrap();
    assert_eq!((again.before, again.kinds.len()), (Some(3), 0), "nothing new");
    for (texts, size) in [(3..4, 4), (4..260, 260), (260..261, 261), (261..520, 520)] {
        world.grow(texts.clone());
        let grown = world.watch().unwrap();
        assert_eq!(
            (grown.signed.checkpoint.size, grown.kinds["countersign.decision.v1"]),
            (size, texts.end - texts.start)
        );
    }
    assert_eq!(fs::metadata(world.data.path().join("seen.commitments")).unwrap().len(), 520 * 32);
}

#[test]
fn a_log_that_rewrites_its_past_is_convicted() {
    let world = World::new(5);
    let fork = world.fork();
    world.grow(5..9);
    assert_eq!(world.watch().unwrap().signed.checkpoint.size, 9);
    let doctored = tempfile::tempdir().unwrap();

    mirror(&append(fork.path(), 0..4, "b"), doctored.path());
    let same_size = world.watch_at(doctored.path()).unwrap_err();
    assert!(matches!(same_size, Finding::Forked(9)), "{same_size}");
    let evidence = fs::read(world.data.path().join("seen.evidence")).unwrap();
    assert_eq!(evidence, fs::read(doctored.path().join("checkpoint")).unwrap());

    mirror(&append(fork.path(), 4..300, "b"), doctored.path());
    let larger = world.watch_at(doctored.path()).unwrap_err();
    assert_eq!((larger.code(), larger.kind(), larger.convicts()), ("log_rewritten", RefusalKind::Invalid, true));

    assert_eq!(world.watch().unwrap().before, Some(9), "and what was seen of the honest log still stands");
    world.grow(9..11);
    assert_eq!(world.watch().unwrap().signed.checkpoint.size, 11);
}

#[test]
fn a_smaller_log_is_old_or_has_shrunk_depending_on_when_it_was_signed() {
    let world = World::new(2);
    let old = tempfile::tempdir().unwrap();
    copy_folder(world.mirror.path(), old.path());
    let fork = world.fork();
    world.grow(2..6);
    world.watch().unwrap();
    let older = world.watch_at(old.path()).unwrap_err();
    assert_eq!((older.code(), older.kind(), older.convicts()), ("log_older", RefusalKind::Stale, false));
    let shrunk = tempfile::tempdir().unwrap();
    let in_a_minute = Env::fixed(Timestamp::from_seconds(Env::Real.now().seconds() + 60), 1);
    mirror(&append_at(in_a_minute, fork.path(), 0..1, "b"), shrunk.path());
    let finding = world.watch_at(shrunk.path()).unwrap_err();
    assert!(matches!(finding, Finding::Shrunk { shown: 3, known: 6 }), "{finding}");
}

#[test]
fn doctored_files_are_named() {
    let world = World::new(300);
    let path = |file: &str| world.mirror.path().join(file);
    let flip = |file: &str, at: usize| {
        let mut bytes = fs::read(path(file)).unwrap();
        bytes[at] ^= 1;
        fs::write(path(file), bytes).unwrap();
    };
    let code = || world.watch().map(drop).map_err(|finding| finding.code());
    for (file, at, expected) in [("tile/0/000", 40, "log_tile"), ("tile/entries/000", 0, "log_bundle")] {
        flip(file, at);
        assert_eq!(code(), Err(expected), "{file}");
        flip(file, at);
    }
    flip("tile/entries/001.p/44", 20);
    // The byte is one of the commitment's digits: it becomes another digit, or no digit at all.
    assert!(matches!(code(), Err("log_tile" | "leaf_form")));
    flip("tile/entries/001.p/44", 20);
    fs::rename(path("tile/entries/001.p/44"), path("away")).unwrap();
    assert_eq!(code(), Err("log_file_missing"));
    fs::rename(path("away"), path("tile/entries/001.p/44")).unwrap();
    assert_eq!(code(), Ok(()), "the control");
}

#[test]
fn entries_that_agree_with_their_tile_and_not_with_the_root_are_found() {
    let (world, other) = (World::new(3), World::new(3));
    for file in ["tile/entries/000.p/3", "tile/0/000.p/3"] {
        fs::copy(other.mirror.path().join(file), world.mirror.path().join(file)).unwrap();
    }
    assert_eq!(world.watch().unwrap_err().code(), "log_other_entries");
    assert!(other.watch().is_ok(), "the control");
}

#[test]
fn rules_of_entries() {
    let leaf = |digit: &str, kind: &str| {
        let commitment = digit.repeat(64);
        format!("{{\"commitment\":\"{commitment}\",\"ts\":\"2026-09-01T09:00:00Z\",\"type\":\"{kind}\"}}")
    };
    let mut leaves = Leaves::default();
    assert_eq!(leaves.add(leaf("a", "countersign.decision.v1").as_bytes()), Ok(()));
    assert_eq!(leaves.add(leaf("b", "countersign.newer.v7").as_bytes()), Ok(()), "a kind of a later version");
    assert_eq!((leaves.unknown, leaves.new.len()), (1, 2));
    assert_eq!(leaves.add(leaf("a", "countersign.verdict.v1").as_bytes()), Err(BadLeaf::Twice));
    let good = leaf("c", "countersign.decision.v1");
    for bad in [
        good.replace("countersign.", "other."),
        good.replace(":00Z", ":01Z"),
        good.replace(",\"ts\"", ", \"ts\""),
        good.replace("cc", "CC"),
        good.replace('}', ",\"x\":1}"),
        good[1..].to_owned(),
        String::new(),
    ] {
        assert_eq!(leaves.add(bad.as_bytes()), Err(BadLeaf::Form), "{bad}");
    }
    assert_eq!(leaves.add(good.as_bytes()), Ok(()), "the control");
}

#[test]
fn witnesses_that_are_demanded_later_do_not_undo_what_was_seen() {
    use countersign_tlog::key::{Algorithm, KeyName, SignerKey};
    let mut world = World::new(2);
    world.watch().unwrap();
    let name = KeyName::parse("witness.example.test/w1").unwrap();
    let witness = SignerKey::from_seed(name, Algorithm::Ed25519Cosignature, &[7; 32]).unwrap();
    let log = fs::read_to_string(world.data.path().join("log/trust")).unwrap().replace("quorum none\n", "");
    let policy = format!("{log}witness w1 {}\nquorum w1\n", witness.verifier());
    world.policy = Policy::parse(policy.as_bytes()).unwrap();
    world.grow(2..5);
    assert_eq!(world.watch().unwrap_err().code(), "quorum_missing", "the checkpoint of today");
    let shown = world.mirror.path().join("checkpoint");
    let note = fs::read_to_string(&shown).unwrap();
    let text = countersign_tlog::note::Note::parse(note.as_bytes()).unwrap().text().to_owned();
    let now = u64::try_from(Env::Real.now().seconds()).unwrap();
    fs::write(&shown, format!("{note}{}\n", witness.sign(&text, now).unwrap())).unwrap();
    assert_eq!(world.watch().unwrap().before, Some(2));
}

/// The checkpoint that a mirror shows, with a cosignature of `witness`.
fn cosigned_by(witness: &countersign_tlog::key::SignerKey, mirror: &Path) -> String {
    let note = fs::read_to_string(mirror.join("checkpoint")).unwrap();
    let text = countersign_tlog::note::Note::parse(note.as_bytes()).unwrap().text().to_owned();
    let now = u64::try_from(Env::Real.now().seconds()).unwrap();
    format!("{note}{}\n", witness.sign(&text, now).unwrap())
}

#[test]
fn a_quorum_is_judged_on_the_newest_cosigned_checkpoint_which_the_newest_must_continue() {
    use countersign_tlog::key::{Algorithm, KeyName, SignerKey};
    let mut world = World::new(3);
    let name = KeyName::parse("witness.example.test/w1").unwrap();
    let witness = SignerKey::from_seed(name, Algorithm::Ed25519Cosignature, &[7; 32]).unwrap();
    let log = fs::read_to_string(world.data.path().join("log/trust")).unwrap().replace("quorum none\n", "");
    world.policy = Policy::parse(format!("{log}witness w1 {}\nquorum w1\n", witness.verifier()).as_bytes()).unwrap();
    let fork = world.fork();

    let beside = world.mirror.path().join("cosigned");
    fs::write(&beside, cosigned_by(&witness, world.mirror.path())).unwrap();
    world.grow(3..300);
    // The second look has a memory that is ahead of what was cosigned.
    for before in [None, Some(300)] {
        let watched = world.watch().unwrap();
        let cosigned = watched.cosigned.unwrap();
        assert_eq!((watched.before, watched.signed.checkpoint.size), (before, 300));
        assert_eq!((cosigned.signed.checkpoint.size, cosigned.lag, cosigned.signed.witnesses.len()), (3, 297, 1));
    }

    let other = tempfile::tempdir().unwrap();
    mirror(&append(fork.path(), 0..4, "b"), other.path());
    let contradicting = cosigned_by(&witness, other.path());
    fs::write(&beside, &contradicting).unwrap();
    let split = world.watch().unwrap_err();
    assert_eq!((split.code(), split.kind(), split.convicts()), ("log_split", RefusalKind::Invalid, true));
    let kept = |ending: &str| fs::read_to_string(world.data.path().join(format!("seen.evidence{ending}"))).unwrap();
    let newest = fs::read_to_string(world.mirror.path().join("checkpoint")).unwrap();
    assert_eq!((kept(""), kept(".cosigned")), (newest, contradicting));

    let whole = cosigned_by(&witness, world.mirror.path());
    fs::write(&beside, whole.replacen("\n300\n", "\n301\n", 1)).unwrap();
    assert_eq!(world.watch().unwrap_err().code(), "note_bad_signature", "a cosigned checkpoint nobody signed");
    fs::write(&beside, whole).unwrap();
    assert_eq!(world.watch().unwrap().cosigned.unwrap().lag, 0, "the control");
}

#[test]
fn spoilt_tiles_convict_no_log() {
    let world = World::new(300);
    world.watch().unwrap();
    world.grow(300..301);
    let tile = world.mirror.path().join("tile/1/000.p/1");
    let whole = fs::read(&tile).unwrap();
    fs::write(&tile, [0; 32]).unwrap();
    let spoilt = world.watch().unwrap_err();
    assert_eq!((spoilt.code(), spoilt.convicts()), ("log_other_tiles", false));
    assert!(!world.data.path().join("seen.evidence").exists());
    fs::write(&tile, whole).unwrap();
    assert_eq!(world.watch().unwrap().before, Some(300), "the control");
}

#[test]
fn a_logs_own_folder_is_watched_like_its_mirror() {
    for size in [3, 300] {
        let world = World::new(size);
        let (pq, now) = (PostQuantum::Required, Env::Real.now());
        let demands = Demands { policy: &world.policy, pq, max_age_ms: Some(600_000), now };
        let watched = watch(&Source::folder(world.data.path().join("log")), &demands, &Memory::default()).unwrap();
        assert_eq!((watched.signed.checkpoint.size, watched.kinds["countersign.decision.v1"]), (size, size));
    }
}

#[test]
fn a_memory_that_was_tampered_with_is_no_memory() {
    let world = World::new(4);
    world.watch().unwrap();
    let seen = world.data.path().join("seen");
    let note = fs::read_to_string(&seen).unwrap();
    fs::write(&seen, note.replacen("\n4\n", "\n3\n", 1)).unwrap();
    assert_eq!(world.watch().unwrap_err().code(), "state_checkpoint");
    fs::write(&seen, note).unwrap();
    fs::write(world.data.path().join("seen.commitments"), [0; 31]).unwrap();
    assert_eq!(world.watch().unwrap_err().code(), "state_short");
    fs::remove_file(&seen).unwrap();
    assert_eq!(world.watch().unwrap().before, None, "a fresh start is the way out");
}

#[test]
fn two_looks_at_once_do_not_share_a_memory() {
    let world = World::new(4);
    let memory = Memory::in_file(&world.data.path().join("seen"));
    let slow = memory.lock().unwrap();
    let refused = world.watch().unwrap_err();
    assert_eq!((refused.code(), refused.kind()), ("state_held", RefusalKind::Stale));
    assert!(!world.data.path().join("seen").exists(), "nothing was remembered");
    drop(slow);
    assert_eq!(world.watch().unwrap().signed.checkpoint.size, 4, "the control");
}

/// What no tile can show is no word of the log against itself.
#[test]
fn tiles_that_end_too_early_convict_no_log() {
    for error in [ProveError::Read(TileError::Outside), ProveError::OutOfRange] {
        let finding = tile_finding(error, 7);
        assert_eq!((finding.code(), finding.convicts()), ("log_other_tiles", false));
    }
}

/// A log that signs with Ed25519 alone states no time: the age of its newest checkpoint is what the whole policy makes of
/// the witnesses on it, also where the quorum itself is judged on the cosigned one.
#[test]
fn the_age_of_a_log_without_a_time_takes_the_quorum_on_its_newest_checkpoint() {
    use countersign_tlog::key::{Algorithm, KeyName, SignerKey};
    let mut world = World::new(3);
    let witness = |n: u8| {
        let name = KeyName::parse(&format!("witness.example.test/w{n}")).unwrap();
        SignerKey::from_seed(name, Algorithm::Ed25519Cosignature, &[n; 32]).unwrap()
    };
    let trust = append(world.data.path(), 0..0, "a").trust();
    let mut policy = format!("{}\n", trust.lines().find(|line| line.starts_with("log ")).unwrap());
    (1..=3).for_each(|n| policy += &format!("witness w{n} {}\n", witness(n).verifier()));
    policy += "group both all w1 w2\nquorum both\n";
    world.policy = Policy::parse(policy.as_bytes()).unwrap();
    let at = world.mirror.path().join("checkpoint");
    let bare = fs::read_to_string(&at).unwrap();
    let show = |cosigners: &[u8]| {
        fs::write(&at, &bare).unwrap();
        cosigners.iter().for_each(|n| fs::write(&at, cosigned_by(&witness(*n), world.mirror.path())).unwrap());
        let (pq, now) = (PostQuantum::Optional, Env::Real.now());
        let demands = Demands { policy: &world.policy, pq, max_age_ms: Some(600_000), now };
        let memory = Memory::in_file(&world.data.path().join("seen"));
        watch(&Source::Folder(world.mirror.path().to_owned()), &demands, &memory).map_err(|finding| finding.code())
    };
    assert!(show(&[1, 2]).unwrap().signed.signed_at().is_some());
    fs::copy(&at, world.mirror.path().join("cosigned")).unwrap();
    for others in [&[][..], &[1], &[1, 3]] {
        assert_eq!(show(others).unwrap_err(), "checkpoint_time_unknown", "{others:?}");
    }
    assert!(show(&[1, 2, 3]).is_ok(), "the control");
}
