#![expect(clippy::disallowed_methods, reason = "tests are their own configuration")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use countersign_core::leaf::LeafType;
use countersign_probe::configured::{ConfiguredUrl, Services};
use countersign_tlog::checkpoint::Origin;
use countersign_tlog::key::{Algorithm, SignerKey};
use countersign_tlog::merkle::Hash;
use countersign_tlog::sequencer::Log;
use countersign_tlog::sequencer::tiles::Witnesses as _;

use super::*;
use crate::cosigners::{Cosigners, Named};
use crate::env::Env;
use crate::log::{LogBook, Upgraded};
use crate::published::Published;
use crate::receipt::Receipt;
use crate::witness::Witness;

fn signer(name: &str, algorithm: Algorithm) -> SignerKey {
    SignerKey::from_seed(KeyName::parse(name).unwrap(), algorithm, &[name.as_bytes()[0]; 32]).unwrap()
}

/// A log named `log` with one key, and the witnesses `a` and `b`, both of which the policy demands.
struct Three {
    log: SignerKey,
    a: SignerKey,
    b: SignerKey,
}

impl Three {
    fn new() -> Self {
        let witness = |name| signer(name, Algorithm::Ed25519Cosignature);
        Self { log: signer("log", Algorithm::Ed25519), a: witness("a"), b: witness("b") }
    }

    fn held(&self, file: &Path) -> Held {
        let [log, a, b] = [&self.log, &self.a, &self.b].map(SignerKey::verifier);
        let policy = format!("log {log}\nwitness a {a}\nwitness b {b}\ngroup both all a b\nquorum both\n");
        Held::load(Policy::parse(policy.as_bytes()).unwrap(), file, &[a.clone(), b.clone()], 5)
    }

    fn note(&self, size: u64) -> Note {
        let root = Hash::from_bytes([u8::try_from(size).unwrap(); 32]);
        let text = Checkpoint::new(Origin::parse("log").unwrap(), size, root).to_string();
        Note::new(&text, &[self.log.sign(&text, 0).unwrap()]).unwrap()
    }

    fn cosigned(&self, size: u64, by: &[&SignerKey]) -> Note {
        let note = self.note(size);
        let lines: Vec<_> = by.iter().map(|key| key.sign(note.text(), 5).unwrap()).collect();
        Note::new(note.text(), &[note.signatures(), &lines].concat()).unwrap()
    }

    /// The size that a witness is asked about while the log has `head` leaves, and which turn it is.
    fn asked(&self, held: &mut Held, head: u64, old: u64, key: &SignerKey) -> (u64, Turn) {
        let (note, turn) = held.next(&self.note(head), old, &[key.verifier().clone()]);
        (at(&note).0, turn)
    }

    fn answers(&self, held: &mut Held, size: u64, key: &SignerKey) {
        let note = self.note(size);
        held.take(&note, &[key.sign(note.text(), 5).unwrap()]);
    }
}

#[test]
fn all_witnesses_are_led_to_one_checkpoint_and_the_fast_one_runs_ahead() {
    let three = Three::new();
    let (mut held, Three { a, b, .. }) = (three.held(Path::new("/nowhere")), &three);
    assert_eq!(three.asked(&mut held, 1, 0, a), (1, Turn::Newest));
    three.answers(&mut held, 1, a);
    assert_eq!(three.asked(&mut held, 2, 1, a), (2, Turn::Newest), "it has cosigned the goal");
    assert_eq!(three.asked(&mut held, 3, 0, b), (1, Turn::Goal), "not 3, about which nobody else was asked");
    three.answers(&mut held, 2, a);
    assert_eq!(held.shown(), Some(three.cosigned(2, &[a])), "the newest with any, while none is accepted");
    three.answers(&mut held, 1, b);
    assert_eq!(held.shown(), Some(three.cosigned(1, &[a, b])), "one that is accepted, although it is older");
    assert_eq!(three.asked(&mut held, 4, 1, b), (2, Turn::Goal), "where the fast one has got to");
    assert_eq!(three.asked(&mut held, 4, 2, a), (4, Turn::Newest));
    three.answers(&mut held, 4, a);
    assert_eq!(held.shown(), Some(three.cosigned(1, &[a, b])), "never replaced by one that is not");
    assert_eq!(held.with_cosignatures(&three.note(4)), three.cosigned(4, &[a]), "on the newest stands what there is");
    three.answers(&mut held, 2, b);
    assert_eq!(held.shown(), Some(three.cosigned(2, &[a, b])));
    assert_eq!(three.asked(&mut held, 9, 7, b), (9, Turn::Newest), "a witness cannot go back to a goal");
    assert_eq!(three.asked(&mut held, 9, 4, a), (9, Turn::Newest), "and the goal goes with it");
}

/// The witness `b` is away while `a` is asked about 100 checkpoints.
#[test]
fn what_is_kept_is_bounded_and_holds_the_accepted_one_and_the_goal() {
    let three = Three::new();
    let (mut held, Three { a, b, .. }) = (three.held(Path::new("/nowhere")), &three);
    for size in 1..=2 {
        three.asked(&mut held, size, size - 1, a);
        three.answers(&mut held, size, a);
    }
    three.asked(&mut held, 2, 0, b);
    three.answers(&mut held, 1, b);
    assert_eq!(three.asked(&mut held, 3, 1, b), (2, Turn::Goal));
    for size in 3..=102 {
        assert_eq!(three.asked(&mut held, size, size - 1, a), (size, Turn::Newest));
        three.answers(&mut held, size, a);
    }
    let sizes: Vec<u64> = held.asked.keys().map(|at| at.0).collect();
    assert_eq!(sizes, [1, 2].into_iter().chain(87..=102).collect::<Vec<_>>(), "accepted, goal, and the newest 16");
    assert_eq!(held.shown(), Some(three.cosigned(1, &[a, b])));
    assert_eq!(three.asked(&mut held, 102, 1, b), (2, Turn::Goal));
    three.answers(&mut held, 2, b);
    assert_eq!(three.asked(&mut held, 102, 2, b), (102, Turn::Newest));
    three.answers(&mut held, 102, b);
    assert_eq!(held.shown(), Some(three.cosigned(102, &[a, b])));
}

#[test]
fn an_earlier_run_is_taken_up_as_far_as_its_cosignatures_hold() {
    let three = Three::new();
    let (dir, Three { a, b, .. }) = (tempfile::tempdir().unwrap(), &three);
    let file = dir.path().join("cosigned");
    let load = |note: &Note| {
        std::fs::write(&file, note.to_string()).unwrap();
        three.held(&file)
    };
    let whole = three.cosigned(3, &[a, b]);
    let mut held = load(&whole);
    assert_eq!(held.shown(), Some(whole.clone()));
    three.answers(&mut held, 4, a);
    assert_eq!(held.shown(), Some(whole.clone()), "it satisfied the quorum");

    let of_another_text = b.sign(three.note(4).text(), 5).unwrap();
    let [log, by_a, _] = whole.signatures() else { panic!("three lines") };
    let mut held = load(&Note::new(whole.text(), &[log.clone(), by_a.clone(), of_another_text]).unwrap());
    three.answers(&mut held, 4, a);
    assert_eq!(held.shown(), Some(three.cosigned(4, &[a])), "one that never did gives way");
    assert_eq!(load(&three.note(3)).shown(), None, "cosigned by nobody");

    // `held` loads at second 5, and 300 seconds is how far a clock may be ahead of it.
    let dated =
        |time| Note::new(whole.text(), &[log.clone(), by_a.clone(), b.sign(whole.text(), time).unwrap()]).unwrap();
    assert_eq!(load(&dated(305)).shown(), Some(dated(305)));
    assert_eq!(load(&dated(306)).shown(), Some(three.cosigned(3, &[a])), "kept while the clock was ahead, too");
}

/// The log signs an idle checkpoint anew: the newest signature is shown at once, with the cosignatures there are.
#[test]
fn a_checkpoint_that_is_signed_again_keeps_its_cosignatures() {
    let log = signer("log", Algorithm::MlDsa44);
    let three = Three { log, ..Three::new() };
    let mut held = three.held(Path::new("/nowhere"));
    let (text, a) = (three.note(1).text().to_owned(), &three.a);
    let signed = |time| Note::new(&text, &[three.log.sign(&text, time).unwrap()]).unwrap();
    let whole = |time| Note::new(&text, &[signed(time).signatures(), &[a.sign(&text, 5).unwrap()]].concat()).unwrap();
    held.next(&signed(10), 0, &[a.verifier().clone()]);
    held.take(&signed(10), &[a.sign(&text, 5).unwrap()]);
    assert_eq!(held.with_cosignatures(&signed(10)), whole(10));
    assert_eq!(held.with_cosignatures(&signed(70)), whole(70), "nobody was asked about it yet");
    held.next(&signed(70), 1, &[a.verifier().clone()]);
    assert_eq!(held.shown(), Some(whole(70)));
}

/// A witness over HTTP that answers after a delay, or with 503 while it is away.
struct Remote {
    away: Arc<AtomicBool>,
    vkey: String,
    address: String,
}

impl Remote {
    fn new(dir: &Path, name: &str, trust: &str, delay: Duration) -> Self {
        let policy = Policy::parse(trust.as_bytes()).unwrap();
        let witness = Witness::open(&dir.join(name), &policy, KeyName::parse(name), Arc::new(Env::Real)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (away, vkey) = (Arc::new(AtomicBool::new(false)), witness.vkeys()[0].clone());
        let is_away = Arc::clone(&away);
        thread::spawn(move || {
            for mut stream in listener.incoming().map(Result::unwrap) {
                let body = request(&mut stream);
                thread::sleep(delay);
                let answer = (!is_away.load(Ordering::SeqCst)).then(|| witness.add_checkpoint(&body));
                let (status, body) = match answer {
                    Some(Ok(lines)) => (200, lines),
                    Some(Err(crate::witness::NotCosigned::Refused(no))) => (no.status(), no.body().1),
                    _ => (503, String::new()),
                };
                let head =
                    format!("HTTP/1.1 {status} S\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
                stream.write_all((head + &body).as_bytes()).unwrap();
            }
        });
        Self { away, vkey, address }
    }
}

/// The body of a request, which ends in a signature line.
fn request(stream: &mut TcpStream) -> Vec<u8> {
    let (mut asked, mut part) = (String::new(), [0; 65_536]);
    while !(asked.contains("\n\u{2014} ") && asked.ends_with('\n')) {
        let read = stream.read(&mut part).unwrap();
        asked += std::str::from_utf8(&part[..read]).unwrap();
    }
    asked.split_once("\r\n\r\n").unwrap().1.as_bytes().to_vec()
}

/// A log that grows while two witnesses are asked, both of which the policy demands.
struct Busy {
    data: tempfile::TempDir,
    book: LogBook,
    log: Arc<Log>,
    first: Receipt,
    witnesses: [Remote; 2],
    policy: Policy,
    cosigners: Arc<Cosigners>,
    runtime: tokio::runtime::Runtime,
}

impl Busy {
    fn new(delays: [u64; 2]) -> Self {
        let data = tempfile::tempdir().unwrap();
        let book = LogBook::one_shot(data.path(), Arc::new(Env::Real));
        let first = book.append(LeafType::decision(), b"{\"a\":0}").unwrap();
        let log = book.hold().unwrap();
        let remote = |at: usize| {
            let (name, delay) = (["w/0", "w/1"][at], Duration::from_millis(delays[at]));
            Remote::new(data.path(), name, &log.trust(), delay)
        };
        let witnesses = [remote(0), remote(1)];
        let lines = witnesses.iter().zip(0..).map(|(one, at)| format!("witness {at} {}\n", one.vkey));
        let policy = log.trust().replace("quorum none\n", "") + &lines.collect::<String>();
        let policy = Policy::parse((policy + "group both all 0 1\nquorum both\n").as_bytes()).unwrap();
        let cosigners = cosigners(data.path(), &witnesses, &policy);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        cosigners.start(&log, runtime.handle());
        Self { data, book, log, first, witnesses, policy, cosigners, runtime }
    }

    /// One more leaf, about which the witnesses hear at once.
    fn grow(&self) {
        let text = format!("{{\"a\":{}}}", self.log.head().checkpoint.size);
        self.book.append(LeafType::decision(), text.as_bytes()).unwrap();
        self.cosigners.offer(b"");
    }

    fn quorum(&self, note: &Note) -> Option<u64> {
        self.policy.accept(note, PostQuantum::Optional).ok().map(|accepted| accepted.checkpoint.size)
    }

    fn cosigned(&self) -> Option<u64> {
        self.quorum(&self.cosigners.cosigned()?)
    }

    fn eventually(&self, what: &str, there: impl Fn(&Self) -> bool) {
        let until = Instant::now() + Duration::from_secs(30);
        while !there(self) {
            assert!(Instant::now() < until, "{what}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn file(&self) -> PathBuf {
        self.data.path().join("log/cosigned")
    }
}

fn cosigners(data: &Path, witnesses: &[Remote; 2], policy: &Policy) -> Arc<Cosigners> {
    let named = witnesses.iter().map(|one| {
        let keys = vec![VerifierKey::parse(&one.vkey).unwrap()];
        Named { url: ConfiguredUrl::from_configuration(&format!("http://{}/", one.address)).unwrap(), keys }
    });
    let services = Services::new(&[], countersign_probe::Limits::default()).unwrap();
    let (env, log) = (Arc::new(Env::Real), data.join("log"));
    Cosigners::new(named.collect(), policy.clone(), services, env, &log, Box::new(|_, _| ()))
}

/// The log grows every 20 ms; a witness needs 5 ms, the other 150 ms: it never answers about the newest.
#[test]
fn a_busy_log_keeps_its_quorum_with_a_slow_witness_and_advances() {
    let busy = Busy::new([5, 150]);
    busy.eventually("a quorum", |busy| busy.cosigned().is_some());
    let mut sizes = vec![busy.cosigned().unwrap()];
    for _ in 0..100 {
        busy.grow();
        thread::sleep(Duration::from_millis(20));
        sizes.push(busy.cosigned().expect("a quorum, ever since there was one"));
    }
    assert!(sizes.is_sorted(), "{sizes:?}");
    sizes.dedup();
    assert!(sizes.len() >= 4, "2 s are enough for four goals: {sizes:?}");
    busy.eventually("the newest, when the log rests", |busy| busy.cosigned() == Some(101));
    let public = Published::new(Arc::clone(&busy.log)).with_cosigners(Arc::clone(&busy.cosigners));
    assert_eq!(busy.quorum(&Note::parse(public.checkpoint().as_bytes()).unwrap()), Some(101), "the control");
    busy.runtime.shutdown_background();
}

#[test]
fn a_witness_that_dies_takes_no_quorum_with_it_and_the_next_comes_when_it_is_back() {
    let busy = Busy::new([5, 5]);
    busy.eventually("a quorum", |busy| busy.cosigned() == Some(1));
    busy.witnesses[1].away.store(true, Ordering::SeqCst);
    let public = Published::new(Arc::clone(&busy.log)).with_cosigners(Arc::clone(&busy.cosigners));
    for _ in 0..30 {
        busy.grow();
        thread::sleep(Duration::from_millis(20));
        assert_eq!(busy.cosigned(), Some(1));
    }
    busy.eventually("the other one goes on", |_| {
        public.checkpoint().contains("\u{2014} w/0 ") && public.checkpoint().contains("\n31\n")
    });
    assert_eq!(busy.cosigned(), Some(1));
    let bytes = public.receipt("0").unwrap().to_string();
    assert_eq!(busy.quorum(&Receipt::parse(bytes.as_bytes()).unwrap().checkpoint), Some(1));
    let Upgraded { receipt, .. } = busy.book.upgrade(&busy.first).unwrap();
    assert_eq!(busy.quorum(&receipt.checkpoint), Some(1), "from the file beside the log");
    let again = cosigners(busy.data.path(), &busy.witnesses, &busy.policy);
    assert_eq!(again.cosigned(), busy.cosigners.cosigned(), "and after a restart");

    busy.witnesses[1].away.store(false, Ordering::SeqCst);
    busy.eventually("it is back", |busy| busy.cosigned() == Some(31));
    let written = |busy: &Busy| Note::parse(&std::fs::read(busy.file()).unwrap()).unwrap();
    busy.eventually("written", |busy| busy.quorum(&written(busy)) == Some(31));
    let Upgraded { receipt, .. } = busy.book.upgrade(&busy.first).unwrap();
    assert_eq!(busy.quorum(&receipt.checkpoint), Some(31), "the control");
    busy.runtime.shutdown_background();
}
