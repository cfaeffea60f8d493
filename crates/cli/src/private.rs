//! Files that only their owner reads: a decision says what somebody wanted to buy, and a reveal opens what the log
//! keeps closed.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::app::Failure;

/// Opens for writing; a file that this makes has mode 0600. One that is there keeps the mode its owner gave it.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

/// Makes a folder that only its owner may enter, and those above it. One that is there stays as it is.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Puts `bytes` in the place of what was at `path`, whose mode stays. They are written beside it and renamed, so that
/// a full disk or the end of the process leaves what was there. A device or a pipe takes them as they come.
///
/// # Errors
/// What the system says when it refuses; then the file is as it was.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    // Who may not write to a file may not replace it either.
    let mode = match options().open(path).and_then(|file| Ok((file.metadata()?, file))) {
        Ok((there, _)) if there.is_file() => there.permissions(),
        Ok((_, mut device)) => return device.write_all(bytes.as_ref()),
        Err(error) if error.kind() == ErrorKind::NotFound => Permissions::from_mode(0o600),
        Err(error) => return Err(error),
    };
    // A link stays, and what it leads to is replaced.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let beside = beside(&path);
    let done = fill(&beside, bytes.as_ref(), mode).and_then(|()| fs::rename(&beside, &path));
    if done.is_err() {
        let _gone = fs::remove_file(&beside);
    }
    done
}

/// A name of this process alone, in the folder of `path`.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(format!(".new-{}", std::process::id()));
    path.with_file_name(name)
}

fn fill(path: &Path, bytes: &[u8], mode: Permissions) -> io::Result<()> {
    // One that is there was left by a process that died under the same number.
    let _absent = fs::remove_file(path);
    let mut file = options().create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.set_permissions(mode)?;
    file.sync_all()
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
pub(crate) fn place(path: &Path) -> Option<PathBuf> {
    let made = || {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(parent.canonicalize().ok()?.join(path.file_name()?))
    };
    path.canonicalize().ok().or_else(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second name of the old file still has the old bytes: they were never cut off.
    #[test]
    fn a_file_is_replaced_whole_and_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        write(&at("a"), "old").unwrap();
        assert_eq!(mode(&at("a")), 0o600);
        fs::set_permissions(at("a"), Permissions::from_mode(0o640)).unwrap();
        fs::hard_link(at("a"), at("before")).unwrap();
        std::os::unix::fs::symlink(at("a"), at("link")).unwrap();
        write(&at("link"), "new").unwrap();
        assert_eq!(fs::read(at("before")).unwrap(), b"old");
        assert_eq!((fs::read(at("a")).unwrap().as_slice(), mode(&at("a"))), (&b"new"[..], 0o640));
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        write(Path::new("/dev/null"), "gone").unwrap();
        assert!(write(&at("absent/a"), "x").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing is left beside");
    }
}
