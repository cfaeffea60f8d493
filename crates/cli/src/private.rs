//! Files that only their owner reads: a decision says what somebody wanted to buy, and a reveal opens what the log
//! keeps closed.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::app::Failure;

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

/// What the program keeps in a data directory, beside the database and the files that SQLite gives its name.
const OURS: [&str; 3] = ["keys", "log", "log-head"];
const DATABASE: &str = "countersign.db";

/// Refuses a file for an answer where the data directory `data` keeps its own: a key or the history would be lost.
///
/// # Errors
/// Usage, with the file.
pub(crate) fn not_ours(data: &Path, path: &Path) -> Result<(), Failure> {
    let (Some(data), Some(place)) = (place(data), place(path)) else { return Ok(()) };
    let first = place.strip_prefix(data).ok().and_then(|inside| inside.components().next());
    let name = first.map(|first| first.as_os_str().to_string_lossy().into_owned());
    match name {
        Some(name) if OURS.contains(&name.as_str()) || name.starts_with(DATABASE) => {
            let why = "is where the data directory keeps its keys, its log and its history";
            Err(Failure::usage(format!("{} {why}: nothing is written there", path.display()))
                .advised("name a file outside the data directory"))
        }
        _ => Ok(()),
    }
}

/// Where a file is, or would be made, behind every link; none where it cannot be made.
fn place(path: &Path) -> Option<PathBuf> {
    let made = || {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(parent.canonicalize().ok()?.join(path.file_name()?))
    };
    path.canonicalize().ok().or_else(made)
}
