//! A path under which a socket can be bound and reached, however deep the data directory lies.
//!
//! The system copies the path into an address of some hundred bytes. On Linux a longer one is shortened by going through
//! the folder that it lies in, which stays open meanwhile and has a short name under `/proc`. Elsewhere, and without
//! `/proc`, a long path is refused.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// `sun_path` has 108 bytes (unix(7)), of which the last is a zero.
#[cfg(target_os = "linux")]
const MOST: usize = 107;

/// A socket's path in a form that fits.
pub(super) struct Address {
    path: PathBuf,
    _folder: Option<File>,
}

impl Address {
    #[cfg(target_os = "linux")]
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        use std::os::fd::AsRawFd;
        let (Some(folder), Some(name)) = (path.parent().filter(|_| path.as_os_str().len() > MOST), path.file_name())
        else {
            return Ok(Self { path: path.to_owned(), _folder: None });
        };
        let folder = File::open(folder)?;
        let short = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
        Ok(Self { path: short, _folder: Some(folder) })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), _folder: None })
    }

    /// Good for as long as this lives.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}
