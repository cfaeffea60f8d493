//! One changed bit in any small file of a data directory: the log starts with what it had signed, or says by name why it
//! does not, and then writes nothing. It never has another root for a size that was signed, and never another key.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::*;
use crate::fsck;

/// How many places of a file are tried.
const FLIPS: usize = 16;

/// Every file of a data directory and what is in it.
type Files = BTreeMap<PathBuf, Vec<u8>>;

fn files(data: &Path) -> Files {
    let mut found = Files::new();
    for path in fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path()) {
        match fs::metadata(&path).unwrap() {
            kind if kind.is_dir() => found.extend(files(&path)),
            kind if kind.is_file() => drop(found.insert(path.clone(), fs::read(&path).unwrap())),
            _ => {}
        }
    }
    found
}

/// Makes the directory hold these files and no others. The lock stays the file it is.
fn restore(data: &Path, whole: &Files) {
    let there = files(data);
    there.keys().filter(|path| !whole.contains_key(*path)).for_each(|path| fs::remove_file(path).unwrap());
    let differ = whole.iter().filter(|(path, bytes)| there.get(*path) != Some(*bytes));
    differ.for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
}

/// A log of three leaves that was closed, and what it has signed.
struct Victim {
    data: tempfile::TempDir,
    whole: Files,
    trust: String,
    checkpoint: Checkpoint,
}

impl Victim {
    fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let book = book(data.path(), 1);
        for text in ["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"] {
            append(&book, text).unwrap();
        }
        let (trust, checkpoint) = (book.trust().unwrap(), book.hold().unwrap().head().checkpoint.clone());
        drop(book);
        let whole = files(data.path());
        Self { data, whole, trust, checkpoint }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.data.path().join(name)
    }

    /// What `log status` and `log fsck` say, and whether there is a log to sign for; that changes nothing.
    fn look(&self) -> [Result<(), String>; 3] {
        let before = files(self.data.path());
        let signer = Place::new(self.data.path()).signer();
        let signer = signer.map(|origin| assert_eq!(origin.as_ref(), Some(&self.checkpoint.origin)));
        let status = book(self.data.path(), 2).status().map(|status| {
            assert_eq!((status.checkpoint, status.trust), (self.checkpoint.clone(), self.trust.clone()));
        });
        let tiles = DirTiles::new(&self.path("log"));
        let checked = fsck::check(self.data.path(), &tiles);
        let checked = checked.map(|whole| assert_eq!(whole.checkpoint, self.checkpoint));
        assert_eq!(files(self.data.path()), before, "looking changes nothing");
        let code = |error: LogError| error.code().to_owned();
        [status.map_err(code), checked.map_err(|fault| fault.code().to_owned()), signer.map_err(code)]
    }

    fn start(&self) -> Result<(), String> {
        let before = files(self.data.path());
        let book = book(self.data.path(), 2);
        match book.hold() {
            Ok(log) => {
                assert_eq!(log.head().checkpoint, self.checkpoint);
                assert_eq!((log.trust(), book.trust().unwrap()), (self.trust.clone(), self.trust.clone()));
                Ok(())
            }
            Err(refused) => {
                assert_eq!(files(self.data.path()), before, "{refused}: nothing is written");
                Err(refused.code().to_owned())
            }
        }
    }

    /// What a start and the looks say of each flip of this file. Bytes that are zero only fill it up.
    fn flipped(&self, name: &str) -> [BTreeSet<String>; 4] {
        let whole = &self.whole[&self.path(name)];
        let used: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != 0).collect();
        let mut said = [const { BTreeSet::new() }; 4];
        for (turn, at) in used.iter().step_by(used.len().div_ceil(FLIPS)).enumerate() {
            let mut bytes = whole.clone();
            bytes[*at] ^= 1 << (turn % 8);
            fs::write(self.path(name), bytes).unwrap();
            let [status, checked, signer] = self.look();
            for (said, new) in said.iter_mut().zip([self.start(), status, checked, signer]) {
                said.insert(new.err().unwrap_or_else(|| "fine".to_owned()));
            }
            restore(self.data.path(), &self.whole);
        }
        said
    }
}

/// What is said of a file, whichever bit of it changed: by a start, by `log status`, by `log fsck`, and on the question
/// whether there is a log to sign for.
const SAID: [(&str, [&[&str]; 4]); 7] = [
    // Two slots each, and of the two files either is enough.
    ("log/head", [&["fine"]; 4]),
    ("log-head", [&["fine"]; 4]),
    (
        "log/identity",
        [
            &["log_copied", "log_other"],
            &["fine", "log_other", "log_record"],
            &["fine", "log_other", "log_record"],
            &["fine"],
        ],
    ),
    // Published again from the head.
    ("log/checkpoint", [&["fine"], &["fine"], &["fsck_checkpoint"], &["fine"]]),
    // Written again from the keys.
    ("log/trust", [&["fine"]; 4]),
    ("keys/log.seeds", [&["log_seeds_damaged"], &["fine"], &["fine"], &["log_seeds_damaged"]]),
    ("keys/log.begun", [&["fine"]; 4]),
];

#[test]
fn a_changed_bit_in_any_small_file_is_recovered_from_or_told_by_name() {
    let victim = Victim::new();
    for (file, said) in SAID {
        for (told, may) in victim.flipped(file).iter().zip(said) {
            assert!(told.iter().all(|one| may.contains(&one.as_str())), "{file}: {told:?}, not {may:?}");
        }
    }
    let known: BTreeSet<PathBuf> = SAID.iter().map(|(file, _)| victim.path(file)).collect();
    let others: Vec<&PathBuf> = victim.whole.keys().filter(|path| !known.contains(*path)).collect();
    let (lock, segment) = (victim.path("log/lock"), victim.path("log/wal/0000000000000001.wal"));
    assert_eq!(others, [&lock, &segment], "an empty file, and one whose every bit the log's own tests change");
    assert_eq!(append(&book(victim.data.path(), 3), "{\"a\":4}").unwrap().index, 3, "the control");
}
