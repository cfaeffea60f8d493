//! The three file operations durability rests on, as a value, so that a test can make any of them fail.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
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

/// Opens for reading and writing. A file that this makes is its owner's alone, also in a folder that others may enter: it
/// holds what is not signed yet, and who may open a lock may hold it.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}

/// Makes a folder that only its owner may enter, and those above it.
pub(super) fn private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// The same error, and the file it is about, which the system does not say.
pub(super) fn at(path: &Path) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The file system as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {}
