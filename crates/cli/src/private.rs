//! Files that only their owner reads: a decision says what somebody wanted to buy, and a reveal opens what the log
//! keeps closed.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Opens for writing; a file that this makes has mode 0600. One that is there keeps the mode its owner gave it.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

/// Writes `bytes` to `path`, in the place of what was there.
///
/// # Errors
/// What the system says when it refuses.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
    options().create(true).truncate(true).open(path)?.write_all(bytes.as_ref())
}
