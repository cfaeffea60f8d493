//! Files that are there whole or not at all, and who may read them.
//!
//! What this program keeps is its owner's alone, also in a folder that others may enter: reveals open what the log keeps
//! closed, and who may open a lock may hold it. The exception is what the log shows to everybody. It can be read by whoever
//! is let into `log/`, which is closed until its owner opens it, so that another program may serve or copy it.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Its owner, who may write it too.
    Owner,
    /// Whoever reaches it: the public checkpoint, the cosigned one, the trust policy.
    All,
    /// Whoever reaches it, and nobody writes it again: full tiles and bundles.
    AllForGood,
}

impl Readers {
    fn mode(self) -> u32 {
        match self {
            Self::Owner => 0o600,
            Self::All => 0o644,
            Self::AllForGood => 0o444,
        }
    }
}

/// Opens for writing; a file that this makes is its owner's alone.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(Readers::Owner.mode());
    options
}

/// Makes a folder that only its owner may enter, and those above it.
pub(crate) fn private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes a folder whose names everybody may read who reaches it.
pub(crate) fn public_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o755).create(path)
}

/// Written beside, synced, then renamed, so that a crash leaves the old file or the new.
pub(crate) fn replace(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    let beside = beside(path, bytes, readers)?;
    fs::rename(&beside, path)?;
    sync_parent(path)
}

/// A file beside `path` that no other process and no other thread writes.
pub(crate) fn beside(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<PathBuf> {
    static TURN: AtomicU64 = AtomicU64::new(0);
    let turn = TURN.fetch_add(1, Ordering::Relaxed);
    let beside = path.with_extension(format!("new-{}-{turn}", std::process::id()));
    // One that is there was left by a process that died under the same number.
    let _absent = fs::remove_file(&beside);
    let mut file = private().mode(readers.mode()).create_new(true).open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(beside)
}

pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    // A bare file name has an empty parent, which means the current folder.
    let here =
        |parent: &Path| if parent.as_os_str().is_empty() { Path::new(".").to_owned() } else { parent.to_owned() };
    path.parent().map_or(Ok(()), |parent| fs::File::open(here(parent))?.sync_all())
}
