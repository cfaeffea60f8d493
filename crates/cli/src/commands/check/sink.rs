//! A file that an answer goes to.
//!
//! It is opened before the look, so that a path nobody can write to is found while nothing has been asked, signed or
//! logged. What stood there before is kept until there is something to put in its place.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use crate::app::{self, Failure};
use crate::args::Global;
use crate::private;
use crate::show;

pub(super) struct Sink<'a> {
    path: &'a Path,
    file: File,
    /// Whether the file was not there before and holds nothing yet.
    made_empty: bool,
}

impl<'a> Sink<'a> {
    pub(super) fn open(path: &'a Path) -> anyhow::Result<Self> {
        let new = private::options().create_new(true).open(path);
        let opened = match new {
            Ok(file) => Ok(Self { path, file, made_empty: true }),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let old = private::options().open(path);
                old.map(|file| Self { path, file, made_empty: false })
            }
            Err(error) => Err(error),
        };
        opened.map_err(|error| app::unwritten(path, &error).into())
    }

    /// Puts `bytes` in the place of what was there.
    ///
    /// # Errors
    /// The disk refuses now: the answer is out, its file is not.
    pub(super) fn fill(mut self, global: &Global, what: &str, bytes: &[u8]) -> anyhow::Result<()> {
        self.made_empty = false;
        let written = self.emptied().and_then(|()| self.file.write_all(bytes));
        written.map_err(|error| {
            let hint = "the answer above is whole; the document is kept in the data directory as well";
            Failure::blocked(format!("cannot write {}: {error}", self.path.display()), hint).coded("cannot_write")
        })?;
        show::note(global, &format!("{what} in {}", self.path.display()));
        Ok(())
    }

    /// A device or a pipe holds nothing that could be cut off.
    fn emptied(&self) -> std::io::Result<()> {
        if self.file.metadata()?.is_file() { self.file.set_len(0) } else { Ok(()) }
    }
}

impl Drop for Sink<'_> {
    fn drop(&mut self) {
        if self.made_empty {
            let _left = std::fs::remove_file(self.path);
        }
    }
}
