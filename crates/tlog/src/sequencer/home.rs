//! The log's directory: who holds it, whether it is the original, and how far the log had come when it last answered.
//!
//! ```text
//! lock        held with flock while a process runs the log
//! identity    origin, and the device and inode of `lock` when the log was made here
//! head        two slots: size, root and time of the last checkpoint that was signed
//! wal/        write-ahead segments
//! ```
//!
//! A head is written after the batch's `fdatasync` and before its receipts leave, without a sync of its own: it costs
//! microseconds, outlives the process, and tells a start that a write-ahead file has lost what was signed.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::OpenError;
use super::disk::{Disk, at, private};
use super::wal::header::origin_hash;
use super::wal::record::crc32c;
use crate::checkpoint::Origin;
use crate::merkle::Hash;

const SLOT: u64 = 512;
const SLOT_BYTES: usize = 4 + 8 + 32 + 8 + 32 + 8 + 8 + 1;

/// The lock on a directory. Dropping it lets go, for every copy of the descriptor: a child process that another thread is
/// just starting has one until it runs its program, and would keep the lock for that long.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// Takes the lock of this file, which nobody else may have.
    pub(super) fn alone(file: File) -> Result<Self, TryLockError> {
        file.try_lock().map(|()| Self(file))
    }

    /// Takes the lock of this file beside others who only look.
    fn shared(file: File) -> Result<Self, TryLockError> {
        file.try_lock_shared().map(|()| Self(file))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // What fails here is done when the last descriptor is closed.
        let _closed_later = self.0.unlock();
    }
}

/// Takes the directory's lock; [`OpenError::Held`] when another process, or another log here, has it.
pub(super) fn lock(dir: &Path) -> Result<Lock, OpenError> {
    let path = dir.join("lock");
    let file = match private().open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(OpenError::Missing(dir.to_owned())),
        opened => opened.map_err(at(&path))?,
    };
    Lock::alone(file).map_err(|refused| match refused {
        TryLockError::WouldBlock => OpenError::Held(dir.to_owned()),
        TryLockError::Error(error) => error.into(),
    })
}

/// Whether a process has the directory's lock. It is asked for on a file opened for reading, shared and for a moment
/// only, so a directory that nobody may write can be asked too.
pub(super) fn is_locked(dir: &Path) -> io::Result<bool> {
    let path = dir.join("lock");
    match Lock::shared(File::open(&path).map_err(at(&path))?) {
        Ok(_for_a_moment) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Writes who this directory is: the original of `origin`'s log.
pub(super) fn write_identity(dir: &Path, origin: &Origin) -> io::Result<()> {
    let lock = fs::metadata(dir.join("lock"))?;
    let text = format!("origin {origin}\ndevice {}\ninode {}\n", lock.dev(), lock.ino());
    let temporary = dir.join("identity.new");
    let mut file = private().create(true).truncate(true).open(&temporary).map_err(at(&temporary))?;
    file.write_all(text.as_bytes()).map_err(at(&temporary))?;
    file.sync_all()?;
    fs::rename(&temporary, dir.join("identity"))?;
    File::open(dir)?.sync_all()
}

/// What `identity` says. A byte that is no text makes it say something else, like any other damage.
fn read_identity(dir: &Path) -> io::Result<String> {
    let path = dir.join("identity");
    let bytes = fs::read(&path).map_err(at(&path))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The origin of the log a directory says it holds; `None` when it says nothing readable.
pub(super) fn read_origin(dir: &Path) -> io::Result<Option<Origin>> {
    let text = read_identity(dir)?;
    let line = text.lines().next().and_then(|line| line.strip_prefix("origin "));
    Ok(line.and_then(Origin::parse))
}

/// Refuses a directory that is not this log's, or that is a copy of it.
pub(super) fn check_identity(dir: &Path, origin: &Origin) -> Result<(), OpenError> {
    let text = read_identity(dir)?;
    let lock = fs::metadata(dir.join("lock"))?;
    let expected = [format!("origin {origin}"), format!("device {}", lock.dev()), format!("inode {}", lock.ino())];
    let [right_origin, device, inode] = &expected;
    let lines: Vec<&str> = text.lines().collect();
    match lines.as_slice() {
        [first, ..] if first != right_origin => Err(OpenError::OtherLog(dir.to_owned())),
        [_, second, third] if second == device && third == inode => Ok(()),
        _ => Err(OpenError::Copied(dir.to_owned())),
    }
}

/// Whether the last run said goodbye. After one that did not, the end of the write-ahead log is written anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    Open,
    Closed,
}

/// How far a log had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) size: u64,
    pub(super) root: Hash,
    /// Seconds since the Unix epoch of the last signature.
    pub(super) time: u64,
    /// Leaves whose full tiles and bundles are stored.
    pub(super) stored: u64,
    pub(super) run: Run,
}

impl Mark {
    /// Leaves whose full files were stored, in a log of `size` leaves; a multiple of 256.
    pub(super) fn stored_of(&self, size: u64) -> u64 {
        self.stored.min(size) / 256 * 256
    }
}

/// A file with two slots that are written in turn, so that one damaged slot leaves the one before it.
pub(super) struct Marks {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    file: File,
    origin: [u8; 32],
    turn: u64,
}

impl Marks {
    /// Opens the file, or makes it, and gives the newest mark in it. A file of another log, or one whose slots are
    /// both damaged, is `Err(None)`.
    pub(super) fn open(
        disk: &Arc<dyn Disk>,
        path: &Path,
        origin: &Origin,
    ) -> Result<(Self, Option<Mark>), Option<io::Error>> {
        let opened = private().create(true).truncate(false).open(path);
        let file = opened.map_err(|error| Some(at(path)(error)))?;
        let newest = newest(path, origin)?;
        let turn = newest.as_ref().map_or(0, |slot| slot.turn);
        let marks = Self { disk: Arc::clone(disk), path: path.to_owned(), file, origin: origin_hash(origin), turn };
        Ok((marks, newest.map(|slot| slot.mark)))
    }

    /// Where the file is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a mark over the older slot.
    pub(super) fn write(&mut self, mark: &Mark) -> io::Result<()> {
        self.turn += 1;
        let bytes = encode(&Slot { turn: self.turn, origin: self.origin, mark: *mark });
        self.disk.write_at(&self.file, &bytes, self.turn % 2 * SLOT)
    }
}

/// The newest mark in a file that is there, which is only read. Errors as for [`Marks::open`].
pub(super) fn read_mark(path: &Path, origin: &Origin) -> Result<Option<Mark>, Option<io::Error>> {
    newest(path, origin).map(|slot| slot.map(|slot| slot.mark))
}

fn newest(path: &Path, origin: &Origin) -> Result<Option<Slot>, Option<io::Error>> {
    let bytes = fs::read(path).map_err(|error| Some(at(path)(error)))?;
    let slots = [0, SLOT as usize].map(|at| bytes.get(at..).and_then(decode));
    match slots.into_iter().flatten().max_by_key(|slot| slot.turn) {
        Some(slot) if slot.origin == origin_hash(origin) => Ok(Some(slot)),
        None if bytes.iter().all(|byte| *byte == 0) => Ok(None),
        _ => Err(None),
    }
}

struct Slot {
    turn: u64,
    origin: [u8; 32],
    mark: Mark,
}

fn encode(slot: &Slot) -> Vec<u8> {
    let mark = &slot.mark;
    let mut body = slot.turn.to_be_bytes().to_vec();
    body.extend_from_slice(&slot.origin);
    body.extend_from_slice(&mark.size.to_be_bytes());
    body.extend_from_slice(mark.root.as_bytes());
    body.extend_from_slice(&mark.time.to_be_bytes());
    body.extend_from_slice(&mark.stored.to_be_bytes());
    body.push(match mark.run {
        Run::Open => 1,
        Run::Closed => 2,
    });
    [crc32c(&body).to_be_bytes().as_slice(), &body].concat()
}

fn decode(bytes: &[u8]) -> Option<Slot> {
    let (crc, body) = bytes.get(..SLOT_BYTES)?.split_first_chunk()?;
    if crc32c(body) != u32::from_be_bytes(*crc) {
        return None;
    }
    let (turn, rest) = body.split_first_chunk()?;
    let (origin, rest) = rest.split_first_chunk()?;
    let (size, rest) = rest.split_first_chunk()?;
    let (root, rest) = rest.split_first_chunk()?;
    let (time, rest) = rest.split_first_chunk()?;
    let (stored, rest) = rest.split_first_chunk()?;
    let run = match rest {
        [1] => Run::Open,
        [2] => Run::Closed,
        _ => return None,
    };
    let mark = Mark {
        size: u64::from_be_bytes(*size),
        root: Hash::from_bytes(*root),
        time: u64::from_be_bytes(*time),
        stored: u64::from_be_bytes(*stored),
        run,
    };
    Some(Slot { turn: u64::from_be_bytes(*turn), origin: *origin, mark })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk() -> Arc<dyn Disk> {
        Arc::new(super::super::disk::RealDisk)
    }

    fn mark(size: u64) -> Mark {
        Mark { size, root: Hash::from_bytes([size as u8; 32]), time: 7, stored: 0, run: Run::Open }
    }

    /// What a child process has of its parent until it runs its own program: another descriptor of the same opening.
    #[test]
    fn a_lock_that_is_dropped_is_free_though_a_descriptor_was_inherited() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        File::create(&path).unwrap();
        let held = lock(dir.path()).unwrap();
        let inherited = held.0.try_clone().unwrap();
        assert!(matches!(lock(dir.path()), Err(OpenError::Held(_))) && is_locked(dir.path()).unwrap());
        drop(held);
        assert!(!is_locked(dir.path()).unwrap() && lock(dir.path()).is_ok());
        let looking = Lock::shared(File::open(&path).unwrap()).unwrap();
        let also_inherited = looking.0.try_clone().unwrap();
        assert!(matches!(lock(dir.path()), Err(OpenError::Held(_))));
        drop(looking);
        assert!(lock(dir.path()).is_ok());
        drop((inherited, also_inherited));
    }

    #[test]
    fn the_newest_whole_slot_counts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("head");
        let origin = Origin::parse("log.example.test/a").unwrap();
        let (mut marks, none) = Marks::open(&disk(), &path, &origin).unwrap();
        assert_eq!(none, None);
        (1..=3).for_each(|size| marks.write(&mark(size)).unwrap());
        assert_eq!(Marks::open(&disk(), &path, &origin).unwrap().1, Some(mark(3)));
        let whole = fs::read(&path).unwrap();
        // The third write went to the second slot; damage there leaves the second mark.
        for at in 0..SLOT_BYTES {
            let mut bytes = whole.clone();
            bytes[SLOT as usize + at] ^= 1;
            fs::write(&path, &bytes).unwrap();
            assert_eq!(Marks::open(&disk(), &path, &origin).unwrap().1, Some(mark(2)));
        }
        fs::write(&path, &whole[..SLOT as usize + 50]).unwrap();
        assert_eq!(Marks::open(&disk(), &path, &origin).unwrap().1, Some(mark(2)), "a cut file");
    }

    #[test]
    fn another_logs_marks_and_rubbish_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("head");
        let origin = Origin::parse("log.example.test/a").unwrap();
        Marks::open(&disk(), &path, &origin).unwrap().0.write(&mark(1)).unwrap();
        let other = Origin::parse("log.example.test/b").unwrap();
        assert!(matches!(Marks::open(&disk(), &path, &other), Err(None)));
        fs::write(&path, b"rubbish").unwrap();
        assert!(matches!(Marks::open(&disk(), &path, &origin), Err(None)));
    }
}
