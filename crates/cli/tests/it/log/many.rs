use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;

use serde_json::Value;

use crate::common::{Server, command, told};

/// Sellers on loopback, until this is dropped.
struct Lab {
    child: Child,
    honest: String,
}

impl Lab {
    fn start(folder: &Path) -> Self {
        let mut child =
            command(folder, &["lab", "--port", "0"]).stderr(Stdio::piped()).spawn().expect("the lab starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let tried = lines.find_map(|line| line.ok().filter(|line| line.starts_with("try: "))).expect("an example");
        let honest = tried.rsplit(' ').next().expect("a URL").to_owned();
        Self { child, honest }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// Twenty domains, each with one offer at least that can be paid.
const SELLERS: [&str; 20] = [
    "honest-v2",
    "honest-v1",
    "honest-dual",
    "honest-networks",
    "honest-solana",
    "honest-tiers",
    "honest-old-header",
    "honest-empty-header",
    "honest-l402",
    "honest-lower",
    "honest-words",
    "honest-schema",
    "honest-chunked",
    "honest-interim",
    "honest-spaced",
    "honest-ample",
    "honest-signed",
    "honest-jws",
    "honest-did-web",
    "honest-digest",
];

#[test]
fn twenty_checks_at_once_on_one_served_directory_each_get_their_own_receipt() {
    let data = tempfile::tempdir().expect("a folder");
    let lab = Lab::start(data.path());
    let server = Server::start(data.path(), &["log", "serve"]);
    // All of them share the turns of a domain, so each asks a seller of its own.
    let check = |seller: &str| {
        let url = lab.honest.replacen("honest-v2", seller, 1);
        let args = ["check", "--allow-loopback", "--ca", "lab-ca.pem", "--require-transparency", &url];
        let (code, said) = told(data.path(), &args);
        let at = said["pq_trust"]["transparency"].clone();
        assert_eq!((code, at["state"].as_str()), (Some(0), Some("checkpoint_signed")), "{said}");
        at["index"].as_u64().expect("an index")
    };
    let indices: BTreeSet<u64> = thread::scope(|scope| {
        let all: Vec<_> = SELLERS.map(|seller| scope.spawn(move || check(seller))).into();
        all.into_iter().map(|one| one.join().expect("a receipt")).collect()
    });
    assert_eq!(indices, (1..=20).collect(), "behind the key's, every check has an entry of its own");

    let url = format!("http://{}/log", server.address);
    let (code, seen) = told(data.path(), &["log", "monitor", &url, "--trust", "log/trust", "--require-pq"]);
    assert_eq!((code, &seen["size"]), (Some(0), &Value::from(21)), "{seen}");
    assert_eq!(told(data.path(), &["log", "fsck"]).0, Some(0));
}
