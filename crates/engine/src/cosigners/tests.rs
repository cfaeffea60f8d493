#![expect(clippy::disallowed_methods, reason = "tests are their own configuration")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;

use countersign_core::leaf::LeafType;
use countersign_tlog::checkpoint::Origin;
use countersign_tlog::key::{Algorithm, KeyName, SignerKey};
use countersign_tlog::merkle::Hash;

use super::*;
use crate::log::{LogBook, Seeds, SeedsOf};
use crate::published::tests::Stored;
use crate::published::{NotServed, Published};

fn witness(name: &str, seed: u8) -> SignerKey {
    SignerKey::from_seed(KeyName::parse(name).unwrap(), Algorithm::Ed25519Cosignature, &[seed; 32]).unwrap()
}

fn cosigners(data: &Path, address: &str, keys: Vec<VerifierKey>, tell: Tell) -> Arc<Cosigners> {
    let services = Services::new(&[], countersign_probe::Limits::default()).unwrap();
    let url = ConfiguredUrl::from_configuration(&format!("http://{address}/")).unwrap();
    Cosigners::new(vec![Named { url, keys }], nobody(), services, Arc::new(Env::Real), data, tell)
}

/// A policy that accepts no log.
fn nobody() -> Policy {
    Policy::parse(b"quorum none\n").unwrap()
}

/// Answers every request with what `answer` makes of its text, from a thread that ends with the process.
fn service(answer: impl Fn(&str) -> (u16, String) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map(Result::unwrap) {
            let (mut asked, mut part) = (String::new(), [0; 65_536]);
            // A note ends in a signature line; a request without a body in an empty line.
            while !(asked.ends_with("\r\n\r\n") || asked.contains("\n\u{2014} ") && asked.ends_with('\n')) {
                let read = stream.read(&mut part).unwrap();
                asked += std::str::from_utf8(&part[..read]).unwrap();
            }
            let (status, body) = answer(&asked);
            let head = format!("HTTP/1.1 {status} S\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            stream.write_all((head + &body).as_bytes()).unwrap();
        }
    });
    address
}

/// A log of two leaves, and notes about it.
struct World {
    data: tempfile::TempDir,
    book: LogBook,
    log: Arc<Log>,
    log_keys: Vec<SignerKey>,
    witness: SignerKey,
}

impl World {
    fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let book = LogBook::one_shot(data.path(), Arc::new(Env::Real));
        for text in ["{\"a\":1}", "{\"a\":2}"] {
            book.append(LeafType::decision(), text.as_bytes()).unwrap();
        }
        let log = book.hold().unwrap();
        let seeds = Seeds::load(SeedsOf::Log, &data.path().join("keys/log.seeds")).unwrap().unwrap();
        let log_keys = seeds.signers().unwrap();
        Self { data, book, log, log_keys, witness: witness("w/1", 1) }
    }

    fn origin(&self) -> Origin {
        self.log.head().checkpoint.origin.clone()
    }

    fn note(&self, checkpoint: &Checkpoint, signers: &[&SignerKey]) -> String {
        let text = checkpoint.to_string();
        let lines: Vec<_> = signers.iter().map(|signer| signer.sign(&text, 5).unwrap()).collect();
        Note::new(&text, &lines).unwrap().to_string()
    }

    /// Signed by the log and cosigned by the witness.
    fn both(&self, checkpoint: &Checkpoint) -> String {
        let [first, second] = self.log_keys.as_slice() else { panic!("two keys") };
        self.note(checkpoint, &[first, second, &self.witness])
    }

    /// The first thing that is told of a witness that names this size, refuses what is shown from there, and shows this.
    fn hears(&self, size: u64, shows: Option<String>) -> Outcome {
        let from_there = format!("\r\n\r\nold {size}\n");
        let address = service(move |asked| match &shows {
            Some(shows) if asked.starts_with("GET ") => (200, shows.clone()),
            None if asked.starts_with("GET ") => (404, String::new()),
            _ if asked.contains(&from_there) => (422, String::new()),
            _ => (409, format!("{size}\n")),
        });
        let (tell, told) = mpsc::channel();
        let tell: Tell = Box::new(move |_, outcome| {
            let _first = tell.send(outcome);
        });
        let cosigners = cosigners(self.data.path(), &address, vec![self.witness.verifier().clone()], tell);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        cosigners.start(&self.log, runtime.handle());
        let outcome = told.recv_timeout(Duration::from_secs(20)).unwrap();
        runtime.shutdown_background();
        outcome
    }
}

/// The log has two leaves. A witness that names 9 is ahead of it; one that names 1 and refuses what continues size 1 has
/// another history. Neither status is signed.
#[test]
fn a_witness_is_believed_against_the_log_only_with_a_checkpoint_under_both_their_keys() {
    let world = World::new();
    let wrong = Hash::from_bytes([7; 32]);
    let ahead = Checkpoint::new(world.origin(), 9, wrong);
    let (ours, theirs) = (2, 9);
    let says = Outcome::Says(Contradiction::Ahead { ours, theirs });
    assert_eq!(world.hears(9, None), says);
    assert_eq!(world.hears(9, Some("rubbish".into())), says);
    let [log_key, _] = world.log_keys.as_slice() else { panic!("two keys") };
    assert_eq!(world.hears(9, Some(world.note(&ahead, &[&world.witness]))), says, "not signed by the log");
    assert_eq!(world.hears(9, Some(world.note(&ahead, &[log_key]))), says, "not cosigned");
    assert_eq!(world.hears(9, Some(world.note(&ahead, &[log_key, &witness("w/2", 2)]))), says, "by a stranger");
    let of_another_log = Checkpoint::new(Origin::parse("another.example/log").unwrap(), 9, wrong);
    assert_eq!(world.hears(9, Some(world.both(&of_another_log))), says, "of another log");
    let head = world.log.head().checkpoint.clone();
    assert_eq!(world.hears(9, Some(world.both(&head))), says, "a checkpoint of this log contradicts nothing");
    assert_eq!(world.hears(9, Some(world.both(&ahead))), Outcome::Shows(Contradiction::Ahead { ours, theirs }));

    let one = Checkpoint::new(world.origin(), 1, wrong);
    assert_eq!(world.hears(1, None), Outcome::Says(Contradiction::OtherHistory(1)));
    assert_eq!(world.hears(1, Some(world.both(&head))), Outcome::Says(Contradiction::OtherHistory(1)));
    assert_eq!(world.hears(1, Some(world.both(&one))), Outcome::Shows(Contradiction::OtherHistory(1)));
    assert_eq!(world.book.append(LeafType::decision(), b"{\"a\":3}").unwrap().index, 2, "nothing has ended");
}

#[test]
fn a_cosignature_that_does_not_hold_or_is_of_an_unknown_key_is_not_kept() {
    let data = tempfile::tempdir().unwrap();
    let book = LogBook::one_shot(data.path(), Arc::new(Env::Real));
    book.append(LeafType::decision(), b"{\"a\":1}").unwrap();
    let log = book.hold().unwrap();
    let (known, unknown) = (witness("w/1", 1), witness("w/2", 2));
    let keys = vec![known.verifier().clone()];
    let cosigners = cosigners(data.path(), "127.0.0.1:1", keys.clone(), Box::new(|_, _| ()));
    let note = log.head().note.clone();
    let text = note.text().to_owned();
    let other = known.sign(&text.replacen("\n1\n", "\n2\n", 1), 5).unwrap();
    for lines in [vec![], vec![unknown.sign(&text, 5).unwrap()], vec![other]] {
        assert_eq!(cosigners.collect(&note, &lines, &keys), Err(Outcome::Untrue));
        assert_eq!(cosigners.cosigned(), None);
    }
    assert_eq!(cosigners.collect(&note, &[known.sign(&text, 5).unwrap()], &keys), Ok(1), "the control");
    let line = |time| known.sign(&text, time).unwrap();
    let whole = |time| Note::new(&text, &[note.signatures(), &[line(time)]].concat());
    assert_eq!(cosigners.cosigned(), whole(5), "the log's lines and the witness's");
    assert_eq!(cosigners.collect(&note, &[line(6)], &keys), Ok(1));
    assert_eq!(cosigners.cosigned(), whole(6), "a newer line in place of the older one");
    let ahead = Env::Real.seconds() + 400;
    assert_eq!(cosigners.collect(&note, &[line(ahead)], &keys), Err(Outcome::InFuture));
    assert_eq!(cosigners.cosigned(), whole(6), "nor one from the future");
    let kept = std::fs::read(data.path().join("cosigned")).unwrap();
    assert_eq!(Note::parse(&kept).ok(), whole(6));
    assert_eq!(Held::load(nobody(), &data.path().join("cosigned"), &keys, 6).shown(), whole(6), "the next run has it");
}

/// A checkpoint of the log's own past, and a disk that changed a bit of it: the proof that fails says nothing of a second
/// history, and must not end the log.
#[test]
fn a_damaged_tile_proves_nothing_against_the_log() {
    let stored = Stored::new();
    let witness = witness("w/1", 1);
    let line = witness.sign(stored.early.text(), 5).unwrap();
    let lines: Vec<_> = stored.early.signatures().iter().cloned().chain([line]).collect();
    let (early, keys) = (Note::new(stored.early.text(), &lines).unwrap(), [witness.verifier().clone()]);
    stored.spoilt("tile/0/001", |log| {
        assert_eq!(evidence::proved(&log, &early, &keys), None);
        assert!(log.consistency(300, 1900).is_err(), "the control: the tile is needed");
    });
    let log = stored.open();
    assert_eq!(evidence::proved(&log, &early, &keys), None);
    assert!(log.consistency(300, 1900).is_ok());
}

/// The receipts that readers ask for stand under the cosigned checkpoint, which an earlier run may have kept.
#[test]
fn no_receipt_stands_under_a_cosigned_checkpoint_of_another_history() {
    let world = World::new();
    let leaves = world.log.head().checkpoint.size;
    let kept = |checkpoint: &Checkpoint| {
        let log = world.data.path().join("kept");
        std::fs::create_dir_all(&log).unwrap();
        std::fs::write(log.join("cosigned"), world.both(checkpoint)).unwrap();
        let keys = vec![world.witness.verifier().clone()];
        let cosigners = cosigners(&log, "127.0.0.1:1", keys, Box::new(|_, _| ()));
        Published::new(Arc::clone(&world.log)).with_cosigners(cosigners).receipt("0")
    };
    let other = Checkpoint::new(world.origin(), leaves, Hash::from_bytes([7; 32]));
    assert_eq!(kept(&other), Err(NotServed::Unproved(0)));
    assert!(kept(&world.log.head().checkpoint).is_ok(), "the control");
}
