//! What the tests of several modules need.

use std::fs;
use std::path::Path;

/// A data directory copied as a person would copy it: everything but sockets.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &target);
        } else if path.extension().is_none_or(|ending| ending != "sock") {
            fs::copy(&path, &target).unwrap();
        }
    }
}
