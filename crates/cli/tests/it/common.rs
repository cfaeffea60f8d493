//! The binary as a server in a data directory of its own, and a plain HTTP caller.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use countersign_core::leaf::LeafType;
use countersign_engine::env::Env;
use countersign_engine::log::LogBook;
use serde_json::Value;

pub(crate) fn command(data: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(args).current_dir(data).env("COUNTERSIGN_DATA", data);
    command
}

pub(crate) fn run(data: &Path, args: &[&str]) -> Output {
    command(data, args).output().expect("the binary starts")
}

/// With these bytes on standard input.
pub(crate) fn fed(data: &Path, args: &[&str], input: &[u8]) -> Output {
    let mut command = command(data, args);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    // Who refuses the arguments reads nothing.
    let _read = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("it ends")
}

/// A command that serves until this is dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    /// `address:port`, as it said.
    pub(crate) address: String,
    /// What it said when it was ready.
    pub(crate) said: Value,
    /// What it says on standard error.
    pub(crate) talk: PathBuf,
}

impl Server {
    pub(crate) fn start(data: &Path, args: &[&str]) -> Self {
        Self::start_at(data, args, "127.0.0.1:0")
    }

    pub(crate) fn start_at(data: &Path, args: &[&str], address: &str) -> Self {
        Self::spawn(data, command(data, &[args, &["--listen", address, "--json"]].concat()))
    }

    /// Under a limit that the shell sets first, such as `ulimit -n 64`.
    pub(crate) fn start_under(data: &Path, limit: &str, args: &[&str]) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{limit}; exec \"$@\""), "sh", env!("CARGO_BIN_EXE_countersign")]);
        shell.args(args).args(["--listen", "127.0.0.1:0", "--json"]).current_dir(data).env("COUNTERSIGN_DATA", data);
        Self::spawn(data, shell)
    }

    fn spawn(data: &Path, mut command: Command) -> Self {
        static TURN: AtomicU32 = AtomicU32::new(0);
        let talk = data.join(format!("talk-{}", TURN.fetch_add(1, Ordering::Relaxed)));
        let stderr = File::create(&talk).expect("a file");
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).spawn().expect("the binary starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let said: Value = serde_json::from_str(&line).expect("one JSON value");
        let address = said["listening"].as_str().expect("an address").to_owned();
        Self { child, address, said, talk }
    }

    /// Asks it to end and gives its exit code.
    pub(crate) fn stop(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill runs").success());
        self.child.wait().expect("it ends").code()
    }

    pub(crate) fn get(&self, path: &str) -> (u16, Vec<u8>) {
        ask(&self.address, "GET", path, b"")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// The lab's sellers, until this is dropped.
pub(crate) struct Lab {
    child: Child,
    folder: tempfile::TempDir,
    port: String,
}

impl Lab {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let args = ["lab", "--port", "0", "--ca-out", "ca.pem"];
        let mut child = command(folder.path(), &args).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let mut line = String::new();
        BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let told = line.split_once(" sellers on port ").expect("it is up").1;
        let port = told.split(',').next().expect("a number").to_owned();
        Self { child, folder, port }
    }

    /// Where this seller sells.
    pub(crate) fn url(&self, seller: &str) -> String {
        format!("https://{seller}.localhost:{}/paid", self.port)
    }

    /// `check` with these arguments, in the data directory `data`, by somebody who trusts the lab.
    pub(crate) fn check(&self, data: &Path, args: &[&str]) -> Output {
        let ca = self.folder.path().join("ca.pem");
        let trusting = ["check", "--allow-loopback", "--ca", ca.to_str().expect("text")];
        run(data, &[&trusting, args].concat())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// Status and body.
#[allow(clippy::disallowed_methods, reason = "a test is the caller here, and the address is its own")]
pub(crate) fn ask(address: &str, method: &str, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all(&[head.as_bytes(), body].concat()).expect("written");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("read");
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    let status = std::str::from_utf8(&bytes[9..12]).expect("a status").parse().expect("a number");
    (status, bytes[end + 4..].to_vec())
}

/// Appends through whoever holds the log of `data`.
pub(crate) fn append(data: &Path, texts: &[&str]) {
    let book = LogBook::one_shot(data, Arc::new(Env::Real));
    for text in texts {
        book.append(LeafType::decision(), text.as_bytes()).expect("a receipt");
    }
}

/// Exit code and what was said.
pub(crate) fn told(data: &Path, args: &[&str]) -> (Option<i32>, Value) {
    let out = run(data, &[args, &["--json"]].concat());
    (out.status.code(), serde_json::from_slice(&out.stdout).unwrap_or_default())
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else if path.extension().is_none_or(|ending| ending != "sock") {
            std::fs::copy(&path, &target).expect("copied");
        }
    }
}

/// Who may read and write a file, as `chmod` counts it.
pub(crate) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).expect("a file").permissions().mode() & 0o777
}
