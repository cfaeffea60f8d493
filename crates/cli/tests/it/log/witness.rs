use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::common::{Server, append, ask, copy, run, told};

/// A log's folder, a witness that knows the log, and the policy that demands both of the witness's keys.
struct World {
    data: tempfile::TempDir,
    witness: Server,
    policy: PathBuf,
}

pub(crate) fn start_witness(data: &Path) -> Server {
    Server::start(
        data,
        &["log", "witness", "--state", "w", "--trust", "log/trust", "--name", "witness.example.test/w1"],
    )
}

pub(crate) fn policy(data: &Path, witness: &Server, address: &str) -> PathBuf {
    let mut text = std::fs::read_to_string(data.join("log/trust")).expect("a policy").replace("quorum none\n", "");
    for (vkey, turn) in witness.said["vkeys"].as_array().expect("keys").iter().zip(1..) {
        text += &format!("witness w{turn} {} http://{address}\n", vkey.as_str().expect("text"));
    }
    let path = data.join("policy");
    std::fs::write(&path, text + "group both all w1 w2\nquorum both\n").expect("written");
    path
}

impl World {
    fn new() -> Self {
        let data = tempfile::tempdir().expect("a folder");
        append(data.path(), &["{\"a\":1}"]);
        let witness = start_witness(data.path());
        let policy = policy(data.path(), &witness, &witness.address);
        Self { data, witness, policy }
    }

    fn serve(&self) -> Server {
        Server::start(self.data.path(), &["log", "serve", "--witnesses", self.policy.to_str().expect("text")])
    }

    fn monitor(&self, server: &Server) -> Option<i32> {
        let (url, policy) = (format!("http://{}/log", server.address), self.policy.to_str().expect("text"));
        told(self.data.path(), &["log", "monitor", &url, "--trust", policy]).0
    }

    fn verify(&self, server: &Server, index: u64) -> Option<i32> {
        let (status, receipt) = server.get(&format!("/log/receipt/{index}"));
        assert_eq!(status, 200);
        let file = self.data.path().join("receipt.json");
        std::fs::write(&file, receipt).expect("written");
        let policy = self.policy.to_str().expect("text");
        told(self.data.path(), &["verify", file.to_str().expect("text"), "--trust", policy]).0
    }
}

/// Waits for something that happens in the background, and gives up in the end.
pub(crate) fn eventually(what: &str, mut there: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !there() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn signatures(server: &Server) -> usize {
    String::from_utf8(server.get("/log/checkpoint").1).expect("text").matches("\u{2014} ").count()
}

#[test]
fn a_witnessed_log_satisfies_a_quorum_without_ever_waiting_for_it() {
    let world = World::new();
    let alone = Server::start(world.data.path(), &["log", "serve"]);
    assert_eq!(world.monitor(&alone), Some(5), "nobody has cosigned");
    assert_eq!(world.verify(&alone, 0), Some(5));
    assert_eq!(alone.stop(), Some(0));

    let server = world.serve();
    eventually("cosigned", || signatures(&server) == 4);
    assert_eq!(world.monitor(&server), Some(0));
    let (status, beside) = server.get("/log/cosigned");
    assert_eq!((status, String::from_utf8(beside).expect("text").matches("\u{2014} ").count()), (200, 4));
    assert_eq!(world.verify(&server, 0), Some(0), "the log gives receipts under the cosigned checkpoint");
    append(world.data.path(), &["{\"a\":2}", "{\"a\":3}"]);
    let third = |server: &Server| server.get("/log/checkpoint").1.windows(3).any(|three| three == b"\n3\n");
    eventually("cosigned again", || third(&server) && signatures(&server) == 4);
    assert_eq!(world.verify(&server, 2), Some(0));
    assert_eq!(server.stop(), Some(0));

    // A log's own folder shows the same as its read API.
    let monitored =
        told(world.data.path(), &["log", "monitor", "log", "--trust", world.policy.to_str().expect("text")]);
    assert_eq!((monitored.0, &monitored.1["cosigned"]["lag"]), (Some(0), &0.into()), "{}", monitored.1);
    assert_eq!(monitored.1["cosigned"]["witnesses"].as_array().map(Vec::len), Some(2));
    assert!(monitored.1["age_seconds"].as_u64().is_some_and(|age| age < 60), "{}", monitored.1);

    // What was cosigned outlives the process, also when no witness answers afterwards.
    let away = policy(world.data.path(), &world.witness, "127.0.0.1:1");
    let again = Server::start(world.data.path(), &["log", "serve", "--witnesses", away.to_str().expect("text")]);
    assert_eq!(world.verify(&again, 2), Some(0));
}

#[test]
fn a_witness_that_is_away_delays_nothing() {
    let world = World::new();
    let policy = policy(world.data.path(), &world.witness, "127.0.0.1:1");
    let server = Server::start(world.data.path(), &["log", "serve", "--witnesses", policy.to_str().expect("text")]);
    append(world.data.path(), &["{\"a\":2}"]);
    let (status, checkpoint) = server.get("/log/checkpoint");
    assert_eq!((status, checkpoint.windows(3).any(|three| three == b"\n2\n")), (200, true));
    assert_eq!(signatures(&server), 2);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_log_restored_from_an_older_copy_is_told_by_its_witness() {
    let (world, older) = (World::new(), tempfile::tempdir().expect("a folder"));
    copy(&world.data.path().join("log"), &older.path().join("log"));
    copy(&world.data.path().join("keys"), &older.path().join("keys"));
    std::fs::copy(world.data.path().join("log-head"), older.path().join("log-head")).expect("copied");
    countersign_tlog::sequencer::adopt(&older.path().join("log")).expect("adopted");
    append(world.data.path(), &["{\"a\":2}", "{\"a\":3}"]);
    let server = world.serve();
    let talk = |server: &Server| std::fs::read_to_string(&server.talk).expect("talk");
    eventually("cosigned", || talk(&server).contains(" cosigns\n"));
    let policy = world.policy.to_str().expect("text");
    let signed = || std::fs::read(older.path().join("log/head")).expect("a head");
    let before = signed();
    let out = run(older.path(), &["log", "serve", "--witnesses", policy, "--listen", "127.0.0.1:0"]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(4), "{said}");
    assert!(said.contains("the log has 1 leaves, but the witness http://127.0.0.1:"), "{said}");
    assert!(said.contains("has seen 3: was it restored from an older copy?"), "{said}");
    assert_eq!(signed(), before, "nothing was signed");
    // Nor when there is no checkpoint to show to the witness: it shows the one that it has.
    let public = older.path().join("log/checkpoint");
    let kept = std::fs::read(&public).expect("a checkpoint");
    std::fs::write(&public, "rubbish").expect("written");
    let out = run(older.path(), &["log", "serve", "--witnesses", policy, "--listen", "127.0.0.1:0"]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(4), "{said}");
    assert!(said.contains("has seen 3: was it restored from an older copy?"), "{said}");
    assert_eq!(signed(), before, "nothing was signed");
    std::fs::write(&public, kept).expect("written");

    // A witness that comes back later ends the log then; one that is away keeps nobody from starting.
    let address = world.witness.address.clone();
    let World { data, witness, policy } = world;
    assert_eq!(witness.stop(), Some(0));
    let policy = policy.to_str().expect("text");
    let began = Instant::now();
    let mut restored = Server::start(older.path(), &["log", "serve", "--witnesses", policy]);
    assert!(began.elapsed() < Duration::from_secs(5), "a witness that is away delays no start");
    let back = Server::start_at(data.path(), &["log", "witness", "--state", "w", "--trust", "log/trust"], &address);
    assert_eq!(restored.child.wait().expect("it ends").code(), Some(4), "{}", talk(&restored));
    assert!(talk(&restored).contains("has seen 3: was it restored from an older copy?"), "{}", talk(&restored));
    drop(back);
}

/// Something in the place of a witness: away when the log starts, and then it names a size, which nobody signs.
fn claims(size: u64) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for (turn, stream) in listener.incoming().enumerate() {
            let mut stream = stream.expect("a connection");
            // A request is smaller than this; what matters is that it has begun.
            let _asked = stream.read(&mut [0; 65_536]);
            let (status, body) = if turn == 0 { (503, String::new()) } else { (409, format!("{size}\n")) };
            let head = format!("HTTP/1.1 {status} S\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _gone = stream.write_all((head + &body).as_bytes());
        }
    });
    address
}

#[test]
fn a_witness_that_only_says_so_is_told_and_ends_nothing() {
    let world = World::new();
    let policy = policy(world.data.path(), &world.witness, &claims(999));
    let server = Server::start(world.data.path(), &["log", "serve", "--witnesses", policy.to_str().expect("text")]);
    let talk = || std::fs::read_to_string(&server.talk).expect("talk");
    let told = " says it has cosigned 999 leaves of this log, which has 1, and shows nothing signed for it";
    eventually("it is told", || talk().contains(told));
    append(world.data.path(), &["{\"a\":2}"]);
    let (status, checkpoint) = server.get("/log/checkpoint");
    assert_eq!((status, checkpoint.windows(3).any(|three| three == b"\n2\n")), (200, true), "{}", talk());
    assert_eq!(server.stop(), Some(0));

    // At a start its word is enough.
    let out = run(
        world.data.path(),
        &["log", "serve", "--witnesses", policy.to_str().expect("text"), "--listen", "127.0.0.1:0"],
    );
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(4), "{said}");
    assert!(said.contains("has seen 999: was it restored from an older copy?"), "{said}");
}

/// A witness that has cosigned one history refuses the other one at the same size.
#[test]
fn a_log_that_went_on_from_an_older_copy_does_not_start_beside_its_witness() {
    let (world, fork) = (World::new(), tempfile::tempdir().expect("a folder"));
    ["log", "keys"].iter().for_each(|name| copy(&world.data.path().join(name), &fork.path().join(name)));
    countersign_tlog::sequencer::adopt(&fork.path().join("log")).expect("adopted");
    append(world.data.path(), &["{\"a\":2}"]);
    append(fork.path(), &["{\"b\":2}"]);
    let server = world.serve();
    eventually("cosigned", || signatures(&server) == 4);
    let policy = world.policy.to_str().expect("text");
    let out = run(fork.path(), &["log", "serve", "--witnesses", policy, "--listen", "127.0.0.1:0"]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(4), "{said}");
    assert!(said.contains("has seen another history of this log at 2 leaves"), "{said}");
}

#[test]
fn a_witness_answers_over_http_as_the_specification_says() {
    let world = World::new();
    let post = |body: &[u8]| ask(&world.witness.address, "POST", "/add-checkpoint", body);
    assert_eq!(post(b"rubbish").0, 400);
    assert_eq!(post(&vec![b'a'; 200_000]).0, 413);
    let note = std::fs::read_to_string(world.data.path().join("log/checkpoint")).expect("a checkpoint");
    let submit = |old: u64, note: &str| post(format!("old {old}\n\n{note}").as_bytes());
    assert_eq!(submit(0, &note.replacen("\n1\n", "\n2\n", 1)).0, 403);
    assert_eq!(submit(0, &note.replacen("countersign.local", "elsewhere.local", 1)).0, 404);
    let (status, lines) = submit(0, &note);
    assert_eq!((status, String::from_utf8(lines).expect("text").lines().count()), (200, 2));
    assert_eq!(submit(0, &note), (409, b"1\n".to_vec()));
    assert_eq!(submit(2, &note).0, 400);
    assert_eq!(submit(1, &note).0, 200);
    let hash = std::fs::read_dir(world.data.path().join("w")).expect("a folder");
    let names = hash.map(|entry| entry.expect("an entry").file_name().into_string().expect("text"));
    let cosigned = names.filter_map(|name| name.strip_suffix(".cosigned").map(str::to_owned)).next().expect("a file");
    let (status, shown) = world.witness.get(&format!("/{cosigned}/checkpoint"));
    assert_eq!((status, String::from_utf8(shown).expect("text").matches("\u{2014} ").count()), (200, 4));
    assert_eq!(world.witness.get(&format!("/{}/checkpoint", "0".repeat(64))).0, 404);
}
