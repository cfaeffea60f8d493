//! A file that one holder has at a time, among processes and threads.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::files;

/// The lock of a file. Dropping it lets go, for every copy of the descriptor: a child process that another thread is
/// just starting has one until it runs its program, and would keep the lock for that long.
pub(crate) struct Lock(File);

impl Lock {
    /// Takes the lock of the file, made where there is none.
    pub(crate) fn alone(path: &Path) -> Result<Self, TryLockError> {
        let opened = files::private().create(true).truncate(false).open(path);
        let file = opened.map_err(TryLockError::Error)?;
        file.try_lock().map(|()| Self(file))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // What fails here is done when the last descriptor is closed.
        let _closed_later = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_free_at_once_though_a_child_has_a_copy_of_its_descriptor() {
        let folder = tempfile::tempdir().unwrap();
        let take = || Lock::alone(&folder.path().join("lock"));
        let first = take().unwrap();
        assert!(matches!(take(), Err(TryLockError::WouldBlock)));
        // As a child process has it that another thread is just starting.
        let inherited = first.0.try_clone().unwrap();
        drop(first);
        assert!(take().is_ok());
        drop(inherited);
    }
}
