//! The three file operations durability rests on, as a value, so that a test can make any of them fail.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Writing and syncing. The provided methods are the real thing.
pub trait Disk: Send + Sync {
    /// Writes all bytes at `offset`.
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_all_at(bytes, offset)
    }

    /// `fdatasync`: when it returns, the file's bytes survive a power cut.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    /// `fsync` of a directory: when it returns, names created or removed in it survive a power cut.
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }
}

/// The same error, and the file it is about, which the system does not say.
pub(super) fn at(path: &Path) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The file system as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {}
