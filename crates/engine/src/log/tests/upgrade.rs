//! A receipt under a newer checkpoint.

use super::*;

#[test]
fn a_receipt_is_upgraded_to_the_newest_checkpoint_also_by_whoever_does_not_hold_the_log() {
    let data = tempfile::tempdir().unwrap();
    let (holder, other) = (book(data.path(), 1), book(data.path(), 2));
    let old = append(&holder, "{\"a\":1}").unwrap();
    append(&holder, "{\"a\":2}").unwrap();
    for book in [&holder, &other] {
        let new = book.upgrade(&old).unwrap().receipt;
        assert_eq!((new.index, &new.reveal, new.path.len()), (0, &old.reveal, 1));
        assert_eq!(new.checkpoint.text().lines().nth(1), Some("2"));
    }
    let elsewhere = Receipt { index: 1, ..old.clone() };
    assert_eq!(holder.upgrade(&elsewhere).unwrap_err().code(), "log_receipt_other_entry");
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
        let new = book.upgrade(&old).unwrap().receipt;
        assert_eq!(new.checkpoint.text(), second.checkpoint.text());
        assert!(new.checkpoint.signatures().iter().any(|line| line.name() == witness.verifier().name()));
        let whole = Receipt { path: old.path.clone(), ..old.clone() };
        let unwitnessed = Receipt { checkpoint: third.checkpoint.clone(), ..whole };
        let onward = book.upgrade(&unwitnessed).unwrap().receipt;
        assert_eq!(onward.checkpoint.text(), third.checkpoint.text(), "a receipt at size 3 never goes back to size 2");
        let uncovered = book.upgrade(&third).unwrap().receipt;
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
    let stays = Upgraded { receipt: held.clone(), stays: Some(Stays::Cosigner) };
    assert_eq!(book.upgrade(&held).unwrap(), stays, "the newest checkpoint has no cosigner");
    fs::write(&file, cosigned(&second, &["w.example/2"]).to_string()).unwrap();
    assert_eq!(book.upgrade(&held).unwrap(), stays, "another witness is not the one it has");
    fs::write(&file, cosigned(&second, &["w.example/2", "w.example/1"]).to_string()).unwrap();
    assert_eq!(
        book.upgrade(&held).unwrap().receipt.checkpoint.signatures().len(),
        4,
        "all it has, and one more, on a newer one"
    );
}

/// Of two checkpoints of one size nothing is lost: the later of the log's signatures, and every cosigner.
#[test]
fn checkpoints_of_one_size_are_put_together() {
    use countersign_tlog::key::{Algorithm, KeyName, SignerKey};
    let data = tempfile::tempdir().unwrap();
    let later = book(data.path(), 1);
    let first = append(&later, "{\"a\":1}").unwrap();
    drop(later);
    let unchanged = book(data.path(), 2).upgrade(&first).unwrap();
    assert_eq!(unchanged, Upgraded { receipt: first.clone(), stays: Some(Stays::Newest) });

    let key = |seed: u8| {
        let name = KeyName::parse(&format!("w.example/{seed}")).unwrap();
        SignerKey::from_seed(name, Algorithm::Ed25519Cosignature, &[seed; 32]).unwrap()
    };
    let cosigned = |note: &Note, by: &[(u8, u64)]| {
        let lines: Vec<_> = by.iter().map(|(seed, time)| key(*seed).sign(note.text(), *time).unwrap()).collect();
        Note::new(note.text(), &[note.signatures(), &lines].concat()).unwrap()
    };
    // The log itself signs again a minute later; then witnesses 1 and 2 have cosigned the earlier note.
    let in_a_minute = Env::fixed(Timestamp::from_seconds(1_788_253_260), 3);
    let again = LogBook::one_shot(data.path(), Arc::new(in_a_minute));
    let held = Receipt { checkpoint: cosigned(&first.checkpoint, &[(1, 100), (3, 100)]), ..first.clone() };
    fs::write(data.path().join("log/cosigned"), cosigned(&first.checkpoint, &[(1, 90), (2, 90)]).to_string()).unwrap();
    let joined = again.upgrade(&held).unwrap();
    let cosigners = |receipt: &Receipt| -> Vec<(String, u64)> {
        let lines = receipt.checkpoint.signatures().iter().filter(|line| line.name().as_str().starts_with("w."));
        let time =
            |line: &countersign_tlog::note::NoteSignature| u64::from_be_bytes(*line.blob().first_chunk().unwrap());
        lines.map(|line| (line.name().to_string(), time(line))).collect()
    };
    let all = [("w.example/1", 100), ("w.example/2", 90), ("w.example/3", 100)].map(|(name, at)| (name.to_owned(), at));
    assert_eq!((cosigners(&joined.receipt), joined.stays), (all.to_vec(), None));
    fs::remove_file(data.path().join("log/cosigned")).unwrap();
    let resigned = again.upgrade(&joined.receipt).unwrap();
    assert_eq!(cosigners(&resigned.receipt), all, "with the log's newer signature no cosigner goes");
    let older = again.upgrade(&resigned.receipt).unwrap();
    assert_eq!(older, Upgraded { receipt: resigned.receipt, stays: Some(Stays::Newest) });
}

#[test]
fn a_receipt_of_another_log_is_named_as_one() {
    let [here, there] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let (ours, theirs) = (book(here.path(), 1), book(there.path(), 2));
    append(&ours, "{\"a\":1}").unwrap();
    let receipt = append(&theirs, "{\"a\":1}").unwrap();
    let error = ours.upgrade(&receipt).unwrap_err();
    assert_eq!(error.code(), "log_receipt_other_log");
    assert!(error.to_string().contains(receipt.log_origin.as_str()), "{error}");
    assert!(theirs.upgrade(&receipt).is_ok(), "the control");
}
