//! Seeds that are damaged, or are another log's: nothing is signed with them, and nothing is written over.

use std::os::unix::fs::PermissionsExt;

use super::*;

/// Every file of a data directory but the seeds themselves and the lock.
fn files(data: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(data).unwrap().map(Result::unwrap) {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path if path.ends_with("keys/log.seeds") => {}
            path => found.push((path.clone(), fs::read(path).unwrap())),
        }
    }
    found.sort();
    found
}

/// Where the digits of both seeds stand in the file's text.
fn digits(text: &str) -> Vec<usize> {
    let of = |member: &str| text.find(&format!("\"{member}\": \"")).unwrap() + member.len() + 5;
    [of("ed25519"), of("ml_dsa_44")].into_iter().flat_map(|start| start..start + 64).collect()
}

/// The same text with another hexadecimal digit there: one bit of the seed is flipped.
fn flipped(text: &str, at: usize) -> String {
    let digit = u8::from_str_radix(&text[at..=at], 16).unwrap() ^ (1 << (at % 4));
    format!("{}{digit:x}{}", &text[..at], &text[at + 1..])
}

/// As an earlier version wrote it.
fn unnamed(text: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
    value.as_object_mut().unwrap().remove("vkeys").unwrap();
    format!("{value:#}\n")
}

/// A log of one entry, and its seeds.
fn begun() -> (tempfile::TempDir, std::path::PathBuf, String) {
    begun_as(1)
}

/// The same, of other keys and another name for every number.
fn begun_as(seed: u64) -> (tempfile::TempDir, std::path::PathBuf, String) {
    let data = tempfile::tempdir().unwrap();
    append(&book(data.path(), seed), "{\"a\":1}").unwrap();
    let seeds = data.path().join("keys/log.seeds");
    let text = fs::read_to_string(&seeds).unwrap();
    (data, seeds, text)
}

/// Every flip of a digit is refused by every way to the log; the whole file is not.
fn every_flip_is_refused(data: &Path, seeds: &Path, whole: &str) {
    let before = files(data);
    for at in digits(whole) {
        fs::write(seeds, flipped(whole, at)).unwrap();
        let refused = append(&book(data, 2), "{\"a\":2}").unwrap_err();
        assert_eq!((refused.code(), refused.hint().contains("from a copy")), ("log_seeds_damaged", true), "{at}");
        assert_eq!(files(data), before, "digit {at}: nothing is written over");
    }
    fs::write(seeds, whole).unwrap();
    assert_eq!(append(&book(data, 2), "{\"a\":2}").unwrap().index, 1, "the control");
}

#[test]
fn no_digit_of_a_seeds_file_may_change() {
    let (data, seeds, whole) = begun();
    assert_eq!(digits(&whole).len(), 128);
    every_flip_is_refused(data.path(), &seeds, &whole);
}

#[test]
fn no_digit_of_an_older_seeds_file_may_change_where_something_names_its_keys() {
    // What is left beside the published checkpoint: the mark and the trust policy, one of them, none.
    for gone in [&[][..], &["log/trust"], &["log/trust", "keys/log.begun"]] {
        let (data, seeds, whole) = begun();
        gone.iter().for_each(|file| fs::remove_file(data.path().join(file)).unwrap());
        let whole = unnamed(&whole);
        assert!(!whole.contains("vkeys"));
        every_flip_is_refused(data.path(), &seeds, &whole);
    }
}

/// The mark names the Ed25519 key, and the trust policy both.
#[test]
fn an_older_seeds_file_is_held_against_mark_and_trust_where_nothing_was_published() {
    for (kept, gone) in [("keys/log.begun", "log/trust"), ("log/trust", "keys/log.begun")] {
        let (data, seeds, whole) = begun();
        for file in [gone, "log/checkpoint"] {
            fs::remove_file(data.path().join(file)).unwrap();
        }
        let (whole, before) = (unnamed(&whole), files(data.path()));
        let known = if kept == "log/trust" { 128 } else { 64 };
        for at in digits(&whole).into_iter().take(known).step_by(7) {
            fs::write(&seeds, flipped(&whole, at)).unwrap();
            let place = Place::new(data.path());
            let refused = [
                append(&book(data.path(), 2), "{\"a\":2}").unwrap_err(),
                place.signer().unwrap_err(),
                place.create(&env(3), None).unwrap_err(),
                book(data.path(), 4).trust().unwrap_err(),
            ];
            assert_eq!(refused.map(|error| error.code().to_owned()), ["log_seeds_damaged"; 4], "{kept} {at}");
            assert_eq!(files(data.path()), before, "{kept} {at}");
        }
        fs::write(&seeds, &whole).unwrap();
        assert_eq!(append(&book(data.path(), 2), "{\"a\":2}").unwrap().index, 1, "the control");
    }
}

#[test]
fn a_damaged_seed_of_a_log_that_was_lost_makes_no_other_log() {
    for form in [str::to_owned, unnamed] {
        let (data, seeds, whole) = begun();
        fs::remove_dir_all(data.path().join("log")).unwrap();
        fs::remove_file(data.path().join("log-head")).unwrap();
        fs::write(&seeds, flipped(&form(&whole), digits(&form(&whole))[0])).unwrap();
        assert_eq!(append(&book(data.path(), 2), "{}").unwrap_err().code(), "log_seeds_damaged");
        fs::write(&seeds, form(&whole)).unwrap();
        assert_eq!(append(&book(data.path(), 2), "{}").unwrap_err().code(), "log_lost", "the control");
    }
}

/// One origin was given to two logs, and the seeds of the first came back from a copy.
#[test]
fn whole_seeds_of_another_log_of_the_same_name_do_not_replace_what_is_known_of_this_one() {
    let origin = || Origin::parse("log.example.test/one");
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (data, seed) in [(&one, 1), (&two, 2)] {
        Place::new(data.path()).create(&env(seed), origin()).unwrap();
        append(&book(data.path(), seed), "{}").unwrap();
    }
    let seeds = two.path().join("keys/log.seeds");
    let whole = fs::read(&seeds).unwrap();
    // Where nothing beside the keys names them any more, the published checkpoint still does.
    for (gone, code) in [("", "log_seeds"), ("log/trust", "log_seeds"), ("keys/log.begun", "log_other_keys")] {
        if !gone.is_empty() {
            fs::remove_file(two.path().join(gone)).unwrap();
        }
        let before = files(two.path());
        fs::copy(one.path().join("keys/log.seeds"), &seeds).unwrap();
        let refused = append(&book(two.path(), 3), "{}").unwrap_err();
        assert_eq!((refused.code(), refused.hint().contains("restore")), (code, true), "{gone}: {refused}");
        assert_eq!(files(two.path()), before, "{gone}");
    }
    fs::write(&seeds, whole).unwrap();
    assert_eq!(append(&book(two.path(), 3), "{\"a\":2}").unwrap().index, 1, "the control");
}

#[test]
fn whole_seeds_of_a_log_of_another_name_are_not_taken_for_this_ones() {
    let (one, two) = (begun(), begun_as(9));
    fs::copy(&one.1, &two.1).unwrap();
    let place = Place::new(two.0.path());
    assert_eq!(place.signer().unwrap_err().code(), "log_seeds");
    assert_eq!(append(&book(two.0.path(), 2), "{\"a\":2}").unwrap_err().code(), "log_other");
    fs::write(&two.1, &two.2).unwrap();
    assert!(place.signer().unwrap().is_some(), "the control");
}

#[test]
fn seeds_that_others_may_read_or_that_do_not_read_are_refused() {
    let (data, seeds, _) = begun();
    assert_eq!(fs::metadata(&seeds).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&seeds, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(append(&book(data.path(), 2), "{\"a\":2}").unwrap_err().code(), "log_seeds");
    fs::set_permissions(&seeds, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&seeds, "{}").unwrap();
    assert_eq!(append(&book(data.path(), 3), "{\"a\":3}").unwrap_err().code(), "log_seeds_damaged");
}

/// A bit may also flip outside of the digits: then the file does not read, or gives the same keys.
#[test]
fn no_bit_of_a_seeds_file_makes_other_keys() {
    let (data, seeds, whole) = begun();
    let trust = book(data.path(), 2).trust().unwrap();
    for (at, bit) in (0..whole.len()).step_by(3).map(|at| (at, at % 8)) {
        let mut bytes = whole.clone().into_bytes();
        bytes[at] ^= 1 << bit;
        fs::write(&seeds, bytes).unwrap();
        match book(data.path(), 2).trust() {
            Ok(same) => assert_eq!(same, trust, "byte {at}"),
            Err(refused) => assert_eq!(refused.code(), "log_seeds_damaged", "byte {at}"),
        }
    }
}
