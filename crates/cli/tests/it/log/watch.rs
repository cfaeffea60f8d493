use crate::common::{Server, append, copy, told};

#[test]
fn a_monitor_accepts_growth_and_convicts_a_log_with_two_histories() {
    let [data, fork, watcher] = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    append(data.path(), &["{\"a\":1}", "{\"a\":2}"]);
    copy(data.path(), fork.path());
    countersign_tlog::sequencer::adopt(&fork.path().join("log")).expect("adopted");

    let server = Server::start(data.path(), &["log", "serve"]);
    let trust = data.path().join("log/trust");
    let trust = trust.to_str().expect("text");
    let watch = |server: &Server| {
        let url = format!("http://{}/log", server.address);
        told(watcher.path(), &["log", "monitor", &url, "--trust", trust, "--state", "seen", "--require-pq"])
    };
    append(data.path(), &["{\"a\":3}"]);
    let (code, first) = watch(&server);
    assert_eq!((code, &first["result"], &first["size"]), (Some(0), &"consistent".into(), &3.into()), "{first}");
    append(data.path(), &["{\"a\":4}", "{\"a\":5}"]);
    let (code, grown) = watch(&server);
    assert_eq!((code, &grown["before"], &grown["size"]), (Some(0), &3.into(), &5.into()), "{grown}");
    assert_eq!(grown["new"]["countersign.decision.v1"], 2);

    append(fork.path(), &["{\"b\":3}", "{\"b\":4}", "{\"b\":5}", "{\"b\":6}"]);
    let forked = Server::start(fork.path(), &["log", "serve"]);
    let (code, finding) = watch(&forked);
    assert_eq!((code, finding["code"].as_str()), (Some(1), Some("log_rewritten")), "{finding}");
    let evidence = std::fs::read(watcher.path().join("seen.evidence")).expect("kept");
    assert_eq!(evidence, forked.get("/log/checkpoint").1);
    assert_eq!(watch(&server).0, Some(0), "the honest one still stands");
}

#[test]
fn a_monitor_ends_as_documented() {
    let [data, other] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    append(data.path(), &["{\"a\":1}"]);
    append(other.path(), &["{\"a\":1}"]);
    let mirror = data.path().join("mirror");
    std::fs::create_dir(&mirror).expect("a folder");
    std::fs::write(mirror.join("checkpoint"), "rubbish").expect("written");
    let code = |args: &[&str]| told(data.path(), &[&["log", "monitor"], args].concat()).0;
    let (ours, theirs) = ("log/trust", other.path().join("log/trust"));
    assert_eq!(code(&["log", "--trust", "absent"]), Some(2));
    assert_eq!(code(&["log", "--trust", ours, "--max-age", "soon"]), Some(2));
    assert_eq!(code(&["ftp://log.example/", "--trust", ours]), Some(2));
    assert_eq!(code(&["mirror", "--trust", ours]), Some(3));
    assert_eq!(code(&["nowhere", "--trust", ours]), Some(4));
    assert_eq!(code(&["http://127.0.0.1:1/log", "--trust", ours]), Some(4));
    assert_eq!(code(&["log", "--trust", theirs.to_str().expect("text")]), Some(5));
    let server = Server::start(data.path(), &["log", "serve"]);
    assert_eq!(code(&[&format!("http://{}/log", server.address), "--trust", ours]), Some(0), "the control");
}

#[test]
fn fsck_says_whole_or_names_what_differs() {
    let data = tempfile::tempdir().expect("a folder");
    assert_eq!(told(data.path(), &["log", "fsck"]).0, Some(4), "no log");
    append(data.path(), &["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"]);
    let (code, whole) = told(data.path(), &["log", "fsck"]);
    assert_eq!((code, &whole["result"], &whole["size"]), (Some(0), &"whole".into(), &3.into()), "{whole}");
    let served = Server::start(data.path(), &["log", "serve"]);
    assert_eq!(told(data.path(), &["log", "fsck"]).0, Some(0), "while it is in use");
    assert_eq!(served.stop(), Some(0));
    let checkpoint = data.path().join("log/checkpoint");
    let note = std::fs::read_to_string(&checkpoint).expect("a checkpoint");
    std::fs::write(&checkpoint, note.replacen("\n3\n", "\n2\n", 1)).expect("written");
    let (code, damaged) = told(data.path(), &["log", "fsck"]);
    assert_eq!((code, damaged["code"].as_str()), (Some(1), Some("fsck_checkpoint")), "{damaged}");
}

/// The last copy goes with its segment one day, so a file that is gone is told while there is one.
#[test]
fn fsck_names_what_the_storage_has_lost_until_a_command_stores_it_again() {
    let data = tempfile::tempdir().expect("a folder");
    let texts: Vec<_> = (0..256).map(|n| format!("{{\"a\":{n}}}")).collect();
    append(data.path(), &texts.iter().map(String::as_str).collect::<Vec<_>>());
    let fsck = || told(data.path(), &["log", "fsck"]);
    assert_eq!(fsck().0, Some(0), "the control");
    std::fs::remove_file(data.path().join("log/tile/entries/000")).expect("a stored bundle");
    let (code, lacking) = fsck();
    assert_eq!((code, &lacking["result"]), (Some(1), &"lacking".into()), "{lacking}");
    let reason = "the tile storage lacks what the log has stored: tile/entries/000, only in write-ahead segments";
    assert_eq!((&lacking["code"], &lacking["reason"]), (&"fsck_lacking".into(), &reason.into()));
    let served = Server::start(data.path(), &["log", "serve"]);
    while !data.path().join("log/tile/entries/000").exists() {
        std::thread::yield_now();
    }
    assert_eq!((served.stop(), fsck().0), (Some(0), Some(0)));
}

/// The state and the evidence are what convicts a log, so nobody is told to remove them.
#[test]
fn a_monitor_whose_memory_does_not_read_says_what_to_move_and_to_keep_it() {
    let data = tempfile::tempdir().expect("a folder");
    append(data.path(), &["{\"a\":1}"]);
    std::fs::write(data.path().join("seen"), "rubbish").expect("written");
    let (code, said) = told(data.path(), &["log", "monitor", "log", "--trust", "log/trust", "--state", "seen"]);
    let hint = "to begin again, move seen and seen.commitments away and keep them: what was seen before is a proof against the log";
    assert_eq!((code, said["hint"].as_str()), (Some(3), Some(hint)), "{said}");
}
