//! How a leaf gets to the process that holds the log: one line of JSON each way over `log/log.sock`.
//!
//! The socket lies in a folder that only its owner may enter, so whoever reaches it may write the data directory too.
//! The asker verifies what it gets all the same, and the holder appends nothing but leaves: an entry is there for good.
//!
//! A visitor is a thread, and there are [`PLACES`] of them: whoever comes then waits in the system's queue. One that
//! says nothing, or a byte at a time, is shown out in time for those behind it to be answered before they give up.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use countersign_core::json::{Limits, Profile, parse};
use countersign_core::leaf::Leaf;
use countersign_tlog::sequencer::Log;
use serde_json::{Value, json};
use socket2::{Domain, SockAddr, Socket, Type};

mod address;

use super::{Ask, Deadline, LogError};
use crate::receipt::Receipt;
use address::Address;

/// The longest line: a receipt whose checkpoint carries many cosignatures.
const LONGEST: u64 = 512 << 10;

/// How long somebody who connected has to say all of it; less than half of [`super::PATIENCE`].
const ASKER: Duration = Duration::from_secs(2);

/// How many are inside at a time. Each waits for a batch, which takes leaves of all of them.
const PLACES: usize = 64;

/// The holder's side. Dropping it lets nobody in any more and waits for those who are inside.
pub(super) struct Door {
    address: Address,
    closing: Arc<AtomicBool>,
    keeper: Option<JoinHandle<()>>,
}

impl Door {
    pub(super) fn open(path: &Path, log: Arc<Log>) -> io::Result<Self> {
        Self::with_places(path, log, PLACES)
    }

    fn with_places(path: &Path, log: Arc<Log>, places: usize) -> io::Result<Self> {
        use std::os::unix::fs::PermissionsExt;
        let address = Address::of(path)?;
        // The lock is ours, so a socket that is there belongs to a process that died.
        let _absent = std::fs::remove_file(address.path());
        let listener = UnixListener::bind(address.path())?;
        std::fs::set_permissions(address.path(), std::fs::Permissions::from_mode(0o600))?;
        let closing = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&closing);
        let dir = path.parent().unwrap_or(path).to_owned();
        let places = Places::new(places);
        let serve = move || serve(&listener, &places, &told, |visitor| answer(visitor, &log, &dir));
        let keeper = thread::Builder::new().name("log-door".into()).spawn(serve)?;
        Ok(Self { address, closing, keeper: Some(keeper) })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        // Accepting blocks; a visitor of our own wakes it up.
        let woken = UnixStream::connect(self.address.path()).is_ok();
        let _gone = std::fs::remove_file(self.address.path());
        if let (true, Some(keeper)) = (woken, self.keeper.take()) {
            let _ended = keeper.join();
        }
    }
}

fn serve(listener: &UnixListener, places: &Places, closing: &AtomicBool, answer: impl Fn(UnixStream) + Sync) {
    let answer = &answer;
    thread::scope(|scope| {
        for visitor in listener.incoming() {
            // Waits while the house is full; those outside queue at the socket.
            let place = places.take();
            if closing.load(Ordering::SeqCst) {
                break;
            }
            let Ok(visitor) = visitor else { continue };
            // A panic over one visitor must not shut the door for those behind it. This one gets no answer and asks again.
            let inside = move || {
                let _told = catch_unwind(AssertUnwindSafe(|| answer(visitor)));
                drop(place);
            };
            // A system without another thread turns this one away; it tries again.
            let _turned_away = thread::Builder::new().name("log-visitor".into()).spawn_scoped(scope, inside);
        }
    });
}

/// Places for visitors, all of them free at first.
struct Places {
    free: Mutex<usize>,
    left: Condvar,
}

/// A place; dropping it frees it.
struct Place<'p>(&'p Places);

impl Places {
    fn new(free: usize) -> Self {
        Self { free: Mutex::new(free), left: Condvar::new() }
    }

    /// Waits for a free place.
    fn take(&self) -> Place<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self.left.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Place(self)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.left.notify_one();
    }
}

/// A visitor who says nothing sensible is told so, and gone.
fn answer(mut visitor: UnixStream, log: &Log, dir: &Path) {
    let line = read_line(&visitor, Deadline::after(ASKER));
    let outcome = line.map_err(|_| LogError::Question).and_then(|line| ask(&line)?.answer(log, dir));
    let value = match outcome {
        Ok(receipt) => json!({"receipt": receipt.to_public_value().to_string()}),
        Err(error) => json!({"code": error.code(), "message": error.to_string()}),
    };
    let _gone = visitor.set_write_timeout(Some(ASKER)).and_then(|()| writeln!(visitor, "{value}"));
}

/// One whole line, all of it in time.
fn read_line(stream: &UnixStream, until: Deadline) -> io::Result<String> {
    let mut line = String::new();
    BufReader::new(Timed { stream, until }.take(LONGEST)).read_line(&mut line)?;
    if line.ends_with('\n') { Ok(line) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Reads until an instant, however many reads that takes: the socket's own timeout begins again with every byte.
struct Timed<'s> {
    stream: &'s UnixStream,
    until: Deadline,
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.until.or_timed_out()?))?;
        self.stream.read(buffer)
    }
}

fn ask(line: &str) -> Result<Ask, LogError> {
    match member(line, "leaf") {
        Some(leaf) => {
            let key = member(line, "key").and_then(|key| hex::decode(key).ok()?.try_into().ok());
            let leaf = Leaf::parse(leaf.as_bytes()).ok_or(LogError::LeafForm)?;
            Ok(Ask::Append { key: key.ok_or(LogError::Question)?, leaf })
        }
        None => {
            let number = |name| member(line, name).and_then(|text| text.parse().ok()).ok_or(LogError::Question);
            Ok(Ask::Receipt { index: number("index")?, from: number("from")? })
        }
    }
}

fn written(ask: &Ask) -> io::Result<Value> {
    Ok(match ask {
        Ask::Receipt { index, from } => json!({"index": index.to_string(), "from": from.to_string()}),
        Ask::Append { key, leaf } => {
            let leaf = leaf.to_bytes().ok().and_then(|bytes| String::from_utf8(bytes).ok());
            json!({"key": hex::encode(key), "leaf": leaf.ok_or(io::ErrorKind::InvalidData)?})
        }
    })
}

/// Connects in time. The queue before a holder that answers nobody fills up, and the system lets those behind it wait for
/// as long as the socket's time for writing.
#[expect(clippy::disallowed_methods, reason = "a socket of this machine, in our own data directory")]
fn connect(path: &Path, until: Deadline) -> io::Result<UnixStream> {
    let address = Address::of(path)?;
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_write_timeout(Some(until.or_timed_out()?))?;
    socket.connect(&SockAddr::unix(address.path())?)?;
    Ok(socket.into())
}

fn member(line: &str, name: &str) -> Option<String> {
    let limits = Limits { string: 512 << 10, ..Limits::default() };
    let doc = parse(line.trim_end().as_bytes(), Profile::Signed, &limits).ok()?;
    doc.root().get(name)?.as_str().map(|text| text.into_owned())
}

/// Asks the holder. An error of the outer kind means that no answer came in time, and that another try is safe: an entry
/// carries its idempotency key.
pub(super) fn hand_over(path: &Path, ask: &Ask, until: Deadline) -> io::Result<Result<Receipt, LogError>> {
    exchange(path, &written(ask)?, until)
}

fn exchange(path: &Path, question: &Value, until: Deadline) -> io::Result<Result<Receipt, LogError>> {
    let mut holder = connect(path, until)?;
    holder.set_write_timeout(Some(until.or_timed_out()?))?;
    writeln!(holder, "{question}")?;
    let line = read_line(&holder, until)?;
    Ok(match member(&line, "receipt") {
        Some(text) => Receipt::parse(text.as_bytes()).map_err(|error| LogError::Wrong(error.to_string())),
        None => {
            let part = |name| member(&line, name).unwrap_or_else(|| "unknown".to_owned());
            Err(LogError::Holder { code: part("code"), message: part("message") })
        }
    })
}

#[cfg(test)]
mod tests;
