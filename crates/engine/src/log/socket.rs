//! How a leaf gets to the process that holds the log: one line of JSON each way over `log/log.sock`.
//!
//! The socket lies in a folder that only its owner may enter, so whoever reaches it may write the data directory too.
//! The asker verifies what it gets all the same.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use countersign_core::json::{Limits, Profile, parse};
use countersign_tlog::sequencer::{Entry, Log};
use serde_json::{Value, json};

use super::{Ask, LogError, PATIENCE};
use crate::receipt::Receipt;

/// The longest line: a leaf of 65,535 bytes with every byte escaped.
const LONGEST: u64 = 512 << 10;

/// How long the holder waits for somebody who connected to say something.
const ASKER: Duration = Duration::from_secs(2);

/// The holder's side. Dropping it lets nobody in any more and waits for those who are inside.
pub(super) struct Door {
    path: PathBuf,
    closing: Arc<AtomicBool>,
    keeper: Option<JoinHandle<()>>,
}

impl Door {
    pub(super) fn open(path: &Path, log: Arc<Log>) -> io::Result<Self> {
        use std::os::unix::fs::PermissionsExt;
        // The lock is ours, so a socket that is there belongs to a process that died.
        let _absent = std::fs::remove_file(path);
        let listener = UnixListener::bind(path)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        let closing = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&closing);
        let dir = path.parent().unwrap_or(path).to_owned();
        let keeper =
            thread::Builder::new().name("log-door".into()).spawn(move || serve(&listener, &log, &dir, &told))?;
        Ok(Self { path: path.to_owned(), closing, keeper: Some(keeper) })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        // Accepting blocks; a visitor of our own wakes it up.
        let woken = UnixStream::connect(&self.path).is_ok();
        let _gone = std::fs::remove_file(&self.path);
        if let (true, Some(keeper)) = (woken, self.keeper.take()) {
            let _ended = keeper.join();
        }
    }
}

fn serve(listener: &UnixListener, log: &Log, dir: &Path, closing: &AtomicBool) {
    thread::scope(|scope| {
        for visitor in listener.incoming() {
            if closing.load(Ordering::SeqCst) {
                break;
            }
            if let Ok(visitor) = visitor {
                scope.spawn(move || answer(visitor, log, dir));
            }
        }
    });
}

/// A visitor who says nothing sensible is told so, and gone.
fn answer(mut visitor: UnixStream, log: &Log, dir: &Path) {
    let line = visitor.set_read_timeout(Some(ASKER)).and_then(|()| read_line(&visitor));
    let outcome = match line.ok().as_deref().and_then(ask) {
        Some(ask) => ask.answer(log, dir),
        None => Err(LogError::NotText),
    };
    let value = match outcome {
        Ok(receipt) => json!({"receipt": receipt.to_public_value().to_string()}),
        Err(error) => json!({"code": error.code(), "message": error.to_string()}),
    };
    let _gone = visitor.set_write_timeout(Some(ASKER)).and_then(|()| writeln!(visitor, "{value}"));
}

fn read_line(stream: &UnixStream) -> io::Result<String> {
    let mut line = String::new();
    BufReader::new(stream.take(LONGEST)).read_line(&mut line)?;
    if line.ends_with('\n') { Ok(line) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn ask(line: &str) -> Option<Ask> {
    if let Some(index) = member(line, "index") {
        return Some(Ask::Receipt(index.parse().ok()?));
    }
    let (key, leaf) = (member(line, "key")?, member(line, "leaf")?);
    let mut idempotency_key = [0; 32];
    hex::decode_to_slice(key, &mut idempotency_key).ok()?;
    Some(Ask::Append(Entry { idempotency_key, leaf: leaf.into_bytes() }))
}

fn written(ask: &Ask) -> io::Result<Value> {
    Ok(match ask {
        Ask::Receipt(index) => json!({"index": index.to_string()}),
        Ask::Append(entry) => {
            let leaf = std::str::from_utf8(&entry.leaf).map_err(|_| io::ErrorKind::InvalidData)?;
            json!({"key": hex::encode(entry.idempotency_key), "leaf": leaf})
        }
    })
}

fn member(line: &str, name: &str) -> Option<String> {
    let limits = Limits { string: 512 << 10, ..Limits::default() };
    let doc = parse(line.trim_end().as_bytes(), Profile::Signed, &limits).ok()?;
    doc.root().get(name)?.as_str().map(|text| text.into_owned())
}

/// Asks the holder. An error of the outer kind means that no answer came, and that another try is safe: an entry
/// carries its idempotency key.
pub(super) fn hand_over(path: &Path, ask: &Ask) -> io::Result<Result<Receipt, LogError>> {
    let mut holder = UnixStream::connect(path)?;
    holder.set_read_timeout(Some(PATIENCE))?;
    holder.set_write_timeout(Some(ASKER))?;
    writeln!(holder, "{}", written(ask)?)?;
    let line = read_line(&holder)?;
    Ok(match member(&line, "receipt") {
        Some(text) => Receipt::parse(text.as_bytes()).map_err(|error| LogError::Wrong(error.to_string())),
        None => {
            let part = |name| member(&line, name).unwrap_or_else(|| "unknown".to_owned());
            Err(LogError::Holder { code: part("code"), message: part("message") })
        }
    })
}
