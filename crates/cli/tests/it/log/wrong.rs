//! Commands given wrongly: what each says, and what to do.

use crate::common::{append, told};

/// A policy with a witness to ask, and another log.
const STRANGE: &str = "log log.example.test/countersign/2026+56f58098+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4\n\
     witness one witness.example.test/w1+e07bb2cd+BCmsuuFBvMrwsi4alNNNC8c2HlJtC/4SyJeUvJMilm3X http://127.0.0.1:1\n\
     quorum one\n";

/// Exit code, code and hint of the commands, in data directories without a log, with one, and that are none.
#[test]
fn each_wrong_command_says_what_to_do() {
    let data = tempfile::tempdir().expect("a folder");
    let log = data.path().join("has");
    std::fs::create_dir(&log).expect("a folder");
    append(&log, &["{\"a\":1}"]);
    std::fs::write(data.path().join("file"), "").expect("written");
    let (trust, strange) = ("has/log/trust", "strange");
    std::fs::write(data.path().join(strange), STRANGE).expect("written");
    let ours = std::fs::read_to_string(data.path().join(trust)).expect("a policy");
    let ours = ours.lines().next().expect("a line").to_owned();
    for (args, exit, code, hint) in [
        (&["status", "--data", "none"][..], 4, "log_missing", "--data"),
        (&["adopt", "--data", "none"], 4, "log_missing", "countersign log init"),
        (&["init", "--data", "has"], 4, "log_exists", "countersign log status"),
        (&["status", "--data", "file"], 4, "log_io", "names a folder"),
        (&["init", "--data", "file"], 4, "log_io", "names a folder"),
        (&["serve", "--data", "has", "--listen", "nowhere"], 2, "cannot_listen", "127.0.0.1:4410"),
        (&["serve", "--data", "has", "--witnesses", trust], 2, "no_witness", "countersign log witness"),
        (&["serve", "--data", "none", "--listen", "nowhere"], 2, "cannot_listen", "127.0.0.1:4410"),
        (
            &["init", "--data", "none", "--origin", "https://log.example/2026"],
            2,
            "usage",
            "scheme out: log.example/2026",
        ),
        (
            &["serve", "--data", "has", "--witnesses", strange, "--listen", "127.0.0.1:0"],
            2,
            "witnesses_without_log",
            &ours,
        ),
        (&["monitor", "http://127.0.0.1:1/log", "--trust", trust], 4, "log_unreachable", "try again"),
        (&["monitor", "none", "--trust", trust], 4, "log_no_checkpoint", "ends in /log"),
        (
            &["monitor", "has/log", "--trust", trust, "--state", "none/seen"],
            4,
            "state_unusable",
            "a folder that exists",
        ),
    ] {
        let (status, said) = told(data.path(), &[&["log"], args].concat());
        assert_eq!((status, said["code"].as_str()), (Some(exit), Some(code)), "{args:?}: {said}");
        assert!(said["hint"].as_str().is_some_and(|told| told.contains(hint)), "{args:?}: {said}");
        assert!(args[0] != "monitor" || said["result"] == "not_evaluated", "{args:?}: {said}");
    }
    assert!(!data.path().join("none").exists(), "no log was made on the way to a mistake");
    std::fs::write(log.join("log/identity"), "").expect("written");
    let (_, said) = told(&log, &["log", "adopt"]);
    let hint = said["hint"].as_str().expect("a hint");
    assert!(said["code"] == "log_other" && hint.contains("restore both from one copy"), "{said}");
}
