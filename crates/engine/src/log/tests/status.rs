use super::*;

/// What is signed between two reads of a status is no sign of an older copy.
#[test]
fn the_status_beside_busy_writers_sees_a_log_that_grows_and_nothing_wrong() {
    let data = tempfile::tempdir().unwrap();
    let (holder, done) = (book(data.path(), 1), AtomicBool::new(false));
    append(&holder, "{}").unwrap();
    let write = |writer: u64| {
        let texts = (0..).map(|n: u64| format!("{{\"writer\":{writer},\"n\":{n}}}"));
        texts.take_while(|_| !done.load(Ordering::SeqCst)).for_each(|text| drop(append(&holder, &text).unwrap()));
    };
    let sizes: Vec<_> = thread::scope(|scope| {
        let write = &write;
        (0..4).for_each(|writer| drop(scope.spawn(move || write(writer))));
        let look = |_| book(data.path(), 2).status().map(|status| status.checkpoint.size);
        let sizes = (0..60).map(look).collect();
        done.store(true, Ordering::SeqCst);
        sizes
    });
    let sizes: Vec<u64> = sizes.into_iter().map(Result::unwrap).collect();
    assert!(sizes.is_sorted() && sizes.first() < sizes.last(), "{sizes:?}");
}
