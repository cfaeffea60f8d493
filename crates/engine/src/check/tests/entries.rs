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
    assert_eq!(again.receipt(), first.receipt());
    assert!(first.receipt().is_some(), "{first:?}");
    for id in [&receipt_id(bytes), &hex::encode(Sha256::digest(bytes))] {
        assert_eq!(checker.store.document(id).await.unwrap().unwrap().issued_at, NOW, "{id}");
    }
}
