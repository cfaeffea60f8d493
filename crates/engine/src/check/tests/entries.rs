//! One decision that several share, of whom one leaves in the middle.

use std::fs;
use std::pin::Pin;
use std::task::Poll;

use super::*;

/// Lets somebody go on as far as it goes by itself, which is not to the end.
async fn nudge(check: &mut Pin<Box<impl Future>>) {
    let done = std::future::poll_fn(|context| Poll::Ready(check.as_mut().poll(context).is_ready())).await;
    assert!(!done);
    tokio::task::yield_now().await;
}

#[tokio::test]
async fn whoever_takes_a_decision_over_from_one_who_left_gets_the_receipt_of_its_one_leaf() {
    let folder = tempfile::tempdir().unwrap();
    let checker = logging(folder.path(), Misses::Logged).await;
    // Another process has the log, so that nobody gets a receipt yet.
    fs::create_dir(folder.path().join("log")).unwrap();
    let elsewhere = fs::File::create(folder.path().join("log/lock")).unwrap();
    elsewhere.try_lock().unwrap();
    let request = request(CLOSED);
    let (mut first, mut second) = (Box::pin(checker.check(&request)), Box::pin(checker.check(&request)));
    // The keys of the log are the last that is made before it is waited for.
    while !folder.path().join("keys/log.seeds").exists() {
        nudge(&mut first).await;
        nudge(&mut second).await;
    }
    drop(first);
    drop(elsewhere);
    let (book, _) = checker.log.as_ref().unwrap();
    while book.status().map_or(0, |status| status.checkpoint.size) < 2 {
        tokio::task::yield_now().await;
    }
    // The leaf of the one who left is in, behind that of the key.
    let checked = second.await.unwrap();
    let receipt = checked.transparency.receipt();
    assert_eq!(receipt.map(|receipt| receipt.index), Some(1), "{:?}", checked.transparency);
    assert_eq!(book.status().unwrap().checkpoint.size, 2, "one leaf for the decision");
    assert!(checker.store.document(&receipt_id(&checked.bytes)).await.unwrap().is_some());
}

#[tokio::test]
async fn a_decision_that_is_entered_again_a_moment_later_leaves_what_it_left_before() {
    let folder = tempfile::tempdir().unwrap();
    let checker = logging(folder.path(), Misses::Logged).await;
    let (entry, bytes) = (Arc::new(Entry::default()), br#"{"a":1}"#);
    let enter = async |at| checker.enter(Arc::clone(&entry), bytes, true, at).await;
    let first = enter(NOW).await.unwrap();
    // As when the one before was gone, or the database was, just before all of it was done.
    let again = enter(NOW.plus_millis(5)).await.unwrap();
    assert_eq!(again.transparency.receipt(), first.transparency.receipt());
    assert!(first.transparency.receipt().is_some(), "{first:?}");
    assert_eq!((&first.unkept, &again.unkept), (&None, &None));
    for id in [&receipt_id(bytes), &hex::encode(Sha256::digest(bytes))] {
        assert_eq!(checker.store.document(id).await.unwrap().unwrap().issued_at, NOW, "{id}");
    }
}

#[tokio::test]
async fn a_receipt_that_cannot_be_kept_leaves_in_the_answer_which_says_so() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    // With one clock and one source of randomness, two checkers come to the same bytes.
    let whole = logging(folders[0].path(), Misses::Logged).await.check(&request(CLOSED)).await.unwrap();
    assert_eq!((whole.unkept.as_ref(), whole.answer()["pq_trust"].get("not_kept")), (None, None));

    // The store refuses the receipt and nothing else, since something else has its place.
    let checker = logging(folders[1].path(), Misses::Logged).await;
    let other = hex::encode(Sha256::digest(b"{}"));
    checker.store.put_document(&receipt_id(&whole.bytes), "receipt", &other, b"{}", NOW).await.unwrap();
    let checked = checker.check(&request(CLOSED)).await.unwrap();
    assert_eq!(checked.bytes, whole.bytes);
    let not_kept = checked.answer()["pq_trust"]["not_kept"].clone();
    assert_eq!(
        (&not_kept["code"], &not_kept["hint"]),
        (&value!("store_taken"), &value!("nothing was changed; try again"))
    );
    let beside = crate::receipt::beside(checked.answer().to_string().as_bytes()).unwrap();
    assert_eq!(
        (beside.as_ref(), beside.as_ref().map(|receipt| receipt.index)),
        (checked.transparency.receipt(), Some(1))
    );
}
