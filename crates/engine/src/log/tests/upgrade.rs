//! A receipt under a newer checkpoint.

use super::*;

#[test]
fn a_receipt_is_upgraded_to_the_newest_checkpoint_also_by_whoever_does_not_hold_the_log() {
    let data = tempfile::tempdir().unwrap();
    let (holder, other) = (book(data.path(), 1), book(data.path(), 2));
    let old = append(&holder, "{\"a\":1}").unwrap();
    append(&holder, "{\"a\":2}").unwrap();
    for book in [&holder, &other] {
        let new = book.upgrade(&old).unwrap();
        assert_eq!((new.index, &new.reveal, new.path.len()), (0, &old.reveal, 1));
        assert_eq!(new.checkpoint.text().lines().nth(1), Some("2"));
    }
    let elsewhere = Receipt { index: 1, ..old.clone() };
    assert_eq!(holder.upgrade(&elsewhere).unwrap_err().code(), "log_receipt_wrong");
    let beyond = Receipt { index: 7, ..old };
    assert_eq!(holder.upgrade(&beyond).unwrap_err().code(), "log_outside");
}

#[test]
fn an_upgrade_prefers_the_checkpoint_that_witnesses_cosigned() {
    use countersign_tlog::key::{Algorithm, KeyName, SignerKey};
    let data = tempfile::tempdir().unwrap();
    let (holder, other) = (book(data.path(), 1), book(data.path(), 2));
    let old = append(&holder, "{\"a\":1}").unwrap();
    let second = append(&holder, "{\"a\":2}").unwrap();
    let name = KeyName::parse("witness.example.test/w1").unwrap();
    let witness = SignerKey::from_seed(name, Algorithm::Ed25519Cosignature, &[9; 32]).unwrap();
    let line = witness.sign(second.checkpoint.text(), 1_788_253_200).unwrap();
    fs::write(data.path().join("log/cosigned"), format!("{}{line}\n", second.checkpoint)).unwrap();
    let third = append(&holder, "{\"a\":3}").unwrap();
    for book in [&holder, &other] {
        let new = book.upgrade(&old).unwrap();
        assert_eq!(new.checkpoint.text(), second.checkpoint.text());
        assert!(new.checkpoint.signatures().iter().any(|line| line.name() == witness.verifier().name()));
        let whole = Receipt { path: old.path.clone(), ..old.clone() };
        let unwitnessed = Receipt { checkpoint: third.checkpoint.clone(), ..whole };
        let onward = book.upgrade(&unwitnessed).unwrap();
        assert_eq!(onward.checkpoint.text(), third.checkpoint.text(), "a receipt at size 3 never goes back to size 2");
        let uncovered = book.upgrade(&third).unwrap();
        assert_eq!(uncovered.checkpoint.text(), third.checkpoint.text(), "no cosigned checkpoint reaches that far");
    }
}

#[test]
fn an_upgrade_keeps_the_cosigners_that_a_receipt_has() {
    use countersign_tlog::key::{Algorithm, KeyName, SignerKey};
    let data = tempfile::tempdir().unwrap();
    let book = book(data.path(), 1);
    let old = append(&book, "{\"a\":1}").unwrap();
    let line = |name: &str, note: &Note| {
        let key = SignerKey::from_seed(KeyName::parse(name).unwrap(), Algorithm::Ed25519Cosignature, &[9; 32]).unwrap();
        key.sign(note.text(), 1_788_253_200).unwrap()
    };
    let cosigned = |note: &Note, names: &[&str]| {
        let lines: Vec<_> = names.iter().map(|name| line(name, note)).collect();
        Note::new(note.text(), &[note.signatures(), &lines].concat()).unwrap()
    };
    let held = Receipt { checkpoint: cosigned(&old.checkpoint, &["w.example/1"]), ..old };
    let second = append(&book, "{\"a\":2}").unwrap().checkpoint;
    let file = data.path().join("log/cosigned");
    assert_eq!(book.upgrade(&held).unwrap(), held, "the newest checkpoint has no cosigner");
    fs::write(&file, cosigned(&second, &["w.example/2"]).to_string()).unwrap();
    assert_eq!(book.upgrade(&held).unwrap(), held, "another witness is not the one it has");
    fs::write(&file, cosigned(&second, &["w.example/2", "w.example/1"]).to_string()).unwrap();
    assert_eq!(
        book.upgrade(&held).unwrap().checkpoint.signatures().len(),
        4,
        "all it has, and one more, on a newer one"
    );
}
