use std::process::Command;

use countersign_core::leaf::LeafType;
use countersign_tlog::sequencer::Log;
use countersign_tlog::witness::Answer;

use super::*;
use crate::log::LogBook;
use crate::testing::copy_folder;

fn open(dir: &Path, trust: &str) -> Result<Witness, WitnessError> {
    let policy = Policy::parse(trust.as_bytes()).unwrap();
    Witness::open(dir, &policy, KeyName::parse("witness.example.test/w1"), Arc::new(Env::Real))
}

/// A log that grows when told.
struct Grown {
    book: LogBook,
    log: Arc<Log>,
}

impl Grown {
    fn new(data: &Path) -> Self {
        let book = LogBook::one_shot(data, Arc::new(Env::Real));
        let log = book.hold().unwrap();
        Self { book, log }
    }

    fn append(&self, text: &str) -> &Self {
        self.book.append(LeafType::decision(), text.as_bytes()).unwrap();
        self
    }

    fn request(&self, old: u64) -> Vec<u8> {
        self.log.witness_request(old, &self.log.head().note).unwrap().to_string().into_bytes()
    }
}

fn status(answer: &Result<String, NotCosigned>) -> u16 {
    match answer {
        Ok(_) => 200,
        Err(NotCosigned::Refused(refusal)) => refusal.status(),
        Err(NotCosigned::Ours(_)) => 503,
    }
}

/// A log of two leaves and another history of it, each of four leaves in the end.
fn two_histories(data: &Path, fork: &Path) -> (Grown, Grown) {
    let honest = Grown::new(data);
    honest.append("{\"a\":1}").append("{\"a\":2}");
    drop(honest);
    copy_folder(data, fork);
    countersign_tlog::sequencer::adopt(&fork.join("log")).unwrap();
    let (honest, forked) = (Grown::new(data), Grown::new(fork));
    honest.append("{\"a\":3}").append("{\"a\":4}");
    forked.append("{\"b\":3}").append("{\"b\":4}");
    (honest, forked)
}

#[test]
fn a_witness_cosigns_what_continues_and_nothing_else() {
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [data, fork, dir] = dirs.each_ref().map(tempfile::TempDir::path);
    let (honest, forked) = two_histories(data, fork);
    let witness = open(dir, &honest.log.trust()).unwrap();
    let ask = |body: &[u8]| witness.add_checkpoint(body);

    let lines = ask(&honest.request(0)).unwrap();
    let Answer::Cosigned(lines) = Answer::read(200, lines.as_bytes()) else { panic!("cosignatures") };
    let keys: Vec<VerifierKey> = witness.vkeys().iter().map(|vkey| VerifierKey::parse(vkey).unwrap()).collect();
    let whole = witness::with_cosignatures(&honest.log.head().note, &lines, &keys, u64::MAX);
    assert_eq!(whole.verify(&keys).unwrap().len(), 2, "Ed25519 and ML-DSA-44");

    assert_eq!(status(&ask(&forked.request(4))), 422, "another root for the size it cosigned");
    assert_eq!(status(&ask(&forked.request(0))), 409);
    forked.append("{\"b\":5}");
    assert_eq!(status(&ask(&forked.request(4))), 422, "a larger tree of another history");
    assert_eq!(status(&ask(b"old 4\n")), 400);
    honest.append("{\"a\":5}");
    assert_eq!(status(&ask(&honest.request(2))), 409);
    assert!(matches!(ask(&honest.request(0)), Err(NotCosigned::Refused(Refusal::OtherOld(4)))));
    assert_eq!(status(&ask(&honest.request(4))), 200, "the honest one goes on");
    assert_eq!(status(&ask(&honest.request(5))), 200, "and may repeat itself");

    let path = witness::monitoring_path(&honest.log.head().checkpoint.origin);
    let shown = Note::parse(&witness.checkpoint(&path).unwrap()).unwrap();
    assert_eq!(shown.text().lines().nth(1), Some("5"));
    assert_eq!(shown.verify(&keys).unwrap().len(), 2);
    assert_eq!(witness.checkpoint("../lock"), None);
}

#[test]
fn lines_that_somebody_adds_to_a_checkpoint_are_not_shown() {
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [data, dir] = dirs.each_ref().map(tempfile::TempDir::path);
    let log = Grown::new(data);
    log.append("{\"a\":1}");
    let witness = open(dir, &log.log.trust()).unwrap();
    let head = log.log.head();
    // 62 lines of a stranger beside the log's two are as many as a note may have.
    let junk =
        |n: usize| format!("\u{2014} stranger.example.test/{n} {}\n", "A".repeat(if n == 0 { 90_000 } else { 8 }));
    let swollen = String::from_utf8(log.request(0)).unwrap() + &(0..62).map(junk).collect::<String>();
    assert_eq!(status(&witness.add_checkpoint(swollen.as_bytes())), 200);

    let path = witness::monitoring_path(&head.checkpoint.origin);
    let shown = Note::parse(&witness.checkpoint(&path).unwrap()).unwrap();
    let own: Vec<VerifierKey> = witness.vkeys().iter().map(|vkey| VerifierKey::parse(vkey).unwrap()).collect();
    assert_eq!(shown.signatures().len(), 4, "the log's two and the witness's two");
    assert_eq!(shown.signatures()[..2], *head.note.signatures());
    assert_eq!(shown.verify(&own).unwrap().len(), 2);
    let state = fs::read(witness.file(&head.checkpoint.origin, "state")).unwrap();
    assert_eq!(Note::parse(&state).unwrap(), head.note);

    // An earlier version kept what it was given. What does not read is shown anew as soon as the log asks again.
    let note = swollen.split_once("\n\n").unwrap().1;
    fs::write(witness.file(&head.checkpoint.origin, "cosigned"), format!("{note}{}", junk(63))).unwrap();
    assert_eq!(status(&witness.add_checkpoint(&log.request(1))), 200);
    let again = Note::parse(&witness.checkpoint(&path).unwrap()).unwrap();
    assert_eq!(again.signatures().len(), 4);
}

#[test]
fn other_logs_are_unknown_and_unsigned_checkpoints_refused() {
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [data, other, dir] = dirs.each_ref().map(tempfile::TempDir::path);
    let (known, stranger) = (Grown::new(data), Grown::new(other));
    let witness = open(dir, &known.log.trust()).unwrap();
    assert_eq!(status(&witness.add_checkpoint(&stranger.request(0))), 404);
    known.append("{\"a\":1}");
    let body = String::from_utf8(known.request(0)).unwrap();
    assert_eq!(status(&witness.add_checkpoint(body.replacen("\n1\n", "\n2\n", 1).as_bytes())), 403);
    assert_eq!(status(&witness.add_checkpoint(body.as_bytes())), 200, "the control");
}

#[test]
fn a_witness_has_one_name_one_process_and_a_state_it_can_read() {
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [data, dir] = dirs.each_ref().map(tempfile::TempDir::path);
    let log = Grown::new(data);
    let policy = Policy::parse(log.log.trust().as_bytes()).unwrap();
    let start = |name: Option<&str>| Witness::open(dir, &policy, name.and_then(KeyName::parse), Arc::new(Env::Real));
    assert!(matches!(start(None), Err(WitnessError::Unnamed)));
    let witness = start(Some("w/1")).unwrap();
    assert!(matches!(start(Some("w/1")), Err(WitnessError::Held(_))));
    log.append("{\"a\":1}");
    witness.add_checkpoint(&log.request(0)).unwrap();
    let keys = witness.vkeys();
    drop(witness);
    assert!(matches!(start(Some("w/2")), Err(WitnessError::OtherName(_))));
    let witness = start(None).unwrap();
    assert_eq!(witness.vkeys(), keys);
    let state = witness.file(&log.log.head().checkpoint.origin, "state");
    fs::write(&state, "rubbish").unwrap();
    assert_eq!(status(&witness.add_checkpoint(&log.request(1))), 503, "it signs nothing");
}

#[test]
fn a_witness_whose_state_is_gone_cosigns_no_second_history() {
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [data, fork, dir] = dirs.each_ref().map(tempfile::TempDir::path);
    let (honest, forked) = two_histories(data, fork);
    let origin = honest.log.head().checkpoint.origin.clone();
    let start = || open(dir, &honest.log.trust());
    drop(start().unwrap());
    let witness = start().expect("a witness that never cosigned starts again");
    assert_eq!(status(&witness.add_checkpoint(&honest.request(0))), 200);
    let [state, shown] = ["state", "cosigned"].map(|ending| witness.file(&origin, ending));
    let mark = dir.join("witness.begun");
    assert_eq!(fs::read_to_string(&mark).unwrap(), format!("{origin}\n"));

    let away = dir.join("away");
    fs::rename(&state, &away).unwrap();
    assert_eq!(status(&witness.add_checkpoint(&forked.request(0))), 503, "while it runs");
    drop(witness);
    let refused = |why: &str| match start().map(drop) {
        Err(WitnessError::Forgot(path)) => assert_eq!(path, state, "{why}"),
        other => panic!("{why}: {other:?}"),
    };
    refused("by the mark and by what is shown");
    assert_eq!(WitnessError::Forgot(state.clone()).code(), "witness_state_lost");
    let kept = fs::read(&shown).unwrap();
    fs::remove_file(&shown).unwrap();
    refused("by the mark alone");
    fs::write(&shown, kept).unwrap();
    fs::remove_file(&mark).unwrap();
    refused("by what is shown alone, as an earlier version left it");

    fs::rename(&away, &state).unwrap();
    let witness = start().expect("the control");
    assert_eq!(status(&witness.add_checkpoint(&forked.request(0))), 409);
    assert_eq!(status(&witness.add_checkpoint(&honest.request(4))), 200);
    assert_eq!(fs::read_to_string(&mark).unwrap(), format!("{origin}\n"), "a state of an earlier version is marked");
    drop(witness);
    fs::write(&mark, "\n").unwrap();
    assert_eq!(start().map(drop).unwrap_err().code(), "witness_io", "a mark that does not read may be of any log");
}

#[test]
fn a_repeated_checkpoint_is_cosigned_again_and_nothing_is_written() {
    use std::os::unix::fs::MetadataExt as _;
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [data, dir] = dirs.each_ref().map(tempfile::TempDir::path);
    let log = Grown::new(data);
    let witness = open(dir, &log.log.trust()).unwrap();
    let origin = log.log.head().checkpoint.origin.clone();
    // A file that is replaced is another one, with another inode.
    let files = || ["state", "cosigned"].map(|ending| fs::metadata(witness.file(&origin, ending)).unwrap().ino());
    let (mut before, mut old) = ([0, 0], 0);
    for size in 0..3 {
        witness.add_checkpoint(&log.request(old)).unwrap();
        let written = files();
        assert!(written[0] != before[0] && written[1] != before[1], "a new checkpoint of size {size} is remembered");
        for _ in 0..2 {
            assert!(!witness.add_checkpoint(&log.request(size)).unwrap().is_empty());
            assert_eq!(files(), written, "size {size} again");
        }
        (before, old) = (written, size);
        log.append(&format!("{{\"a\":{size}}}"));
    }
}

const FOLDER: &str = "COUNTERSIGN_TEST_WITNESS";
const STEP: &str = "COUNTERSIGN_TEST_STEP";

fn die_at_judged(step: Step) {
    if step == Step::Judged {
        std::process::abort();
    }
}

fn die_at_persisted(step: Step) {
    if step == Step::Persisted {
        std::process::abort();
    }
}

fn die_at_begun(step: Step) {
    if step == Step::Begun {
        std::process::abort();
    }
}

fn die_at_signed(step: Step) {
    if step == Step::Signed {
        std::process::abort();
    }
}

/// Run by the next test in a process of its own, which it ends in the middle.
#[test]
fn a_witness_that_dies() {
    let (Ok(folder), Ok(step)) = (std::env::var(FOLDER), std::env::var(STEP)) else { return };
    let folder = Path::new(&folder);
    let trust = fs::read_to_string(folder.join("trust")).unwrap();
    let mut witness = open(&folder.join("witness"), &trust).unwrap();
    witness.observe = match step.as_str() {
        "judged" => die_at_judged,
        "persisted" => die_at_persisted,
        "begun" => die_at_begun,
        _ => die_at_signed,
    };
    let _never = witness.add_checkpoint(&fs::read(folder.join("request")).unwrap());
}

#[test]
fn a_witness_killed_anywhere_never_cosigns_two_histories() {
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [data, fork] = dirs.each_ref().map(tempfile::TempDir::path);
    let (honest, forked) = two_histories(data, fork);
    for (step, fork_after) in [("judged", 200), ("persisted", 409), ("begun", 409), ("signed", 409)] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("trust"), honest.log.trust()).unwrap();
        fs::write(folder.path().join("request"), honest.request(0)).unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "witness::tests::a_witness_that_dies", "--test-threads=1"])
            .env(FOLDER, folder.path())
            .env(STEP, step)
            .output()
            .unwrap();
        assert!(!child.status.success(), "it died at {step}");
        let witness = open(&folder.path().join("witness"), &honest.log.trust()).unwrap();
        let forked = status(&witness.add_checkpoint(&forked.request(0)));
        assert_eq!(forked, fork_after, "the other history after {step}");
        let old = if step == "judged" { 0 } else { 4 };
        let honest = status(&witness.add_checkpoint(&honest.request(old)));
        // Whichever history was remembered first is the only one that is ever cosigned.
        assert_eq!(honest == 200, forked != 200, "{step}: honest {honest}, forked {forked}");
    }
}

#[test]
fn no_digit_of_a_witness_seed_may_change() {
    let dir = tempfile::tempdir().unwrap();
    let read = || {
        let keys = keys(dir.path(), KeyName::parse("witness.example.test/w1"), &Env::Real)?;
        Ok(keys.iter().map(|key| key.verifier().to_string()).collect::<Vec<_>>())
    };
    let vkeys = read().unwrap();
    let file = dir.path().join("witness.seeds");
    let whole = std::fs::read_to_string(&file).unwrap();
    for member in ["ed25519", "ml_dsa_44"] {
        let start = whole.find(&format!("\"{member}\": \"")).unwrap() + member.len() + 5;
        for at in start..start + 64 {
            let digit = u8::from_str_radix(&whole[at..=at], 16).unwrap() ^ 1;
            std::fs::write(&file, format!("{}{digit:x}{}", &whole[..at], &whole[at + 1..])).unwrap();
            let Err(WitnessError::Seeds(refused)) = read() else { panic!("{member} {at}") };
            assert_eq!(refused.code(), "log_seeds_damaged");
        }
    }
    std::fs::write(&file, whole).unwrap();
    assert_eq!(read().unwrap(), vkeys, "the control");
}
