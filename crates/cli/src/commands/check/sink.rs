//! A file that an answer goes to.
//!
//! It is opened before the look, so that a path nobody can write to is found while nothing has been asked, signed or
//! logged. What stood there before is kept until there is something to put in its place.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::app::{self, Failure};
use crate::args::{CheckArgs, Global};
use crate::private;
use crate::settings::Settings;
use crate::show;

pub(super) struct Sink<'a> {
    path: &'a Path,
    file: File,
    /// Whether the file was not there before and holds nothing yet.
    made_empty: bool,
}

/// The files of `--out` and of `--receipt`, which are two, and none of the data directory's own.
///
/// # Errors
/// Usage, and nothing was changed.
pub(super) fn both<'a>(settings: &Settings, args: &'a CheckArgs) -> anyhow::Result<[Option<Sink<'a>>; 2]> {
    let [out, receipt] = [args.out.as_deref(), args.receipt.as_deref()];
    [out, receipt].into_iter().flatten().try_for_each(|path| private::not_ours(&settings.data.0, path))?;
    let [out, receipt] = [out.map(Sink::open).transpose()?, receipt.map(Sink::open).transpose()?];
    match (&out, &receipt) {
        (Some(out), Some(receipt)) if out.file_id().is_some_and(|id| receipt.file_id() == Some(id)) => {
            let path = receipt.path.display();
            Err(Failure::usage(format!("--out and --receipt name one file, {path}, which cannot hold both"))
                .advised("give the decision and its receipt a file each")
                .into())
        }
        _ => Ok([out, receipt]),
    }
}

impl<'a> Sink<'a> {
    fn open(path: &'a Path) -> anyhow::Result<Self> {
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
        let written = match self.file_id() {
            Some(_) => private::write(self.path, bytes),
            None => self.file.write_all(bytes),
        };
        written.map_err(|error| {
            let hint = "the answer above is whole; the document is kept in the data directory as well";
            Failure::blocked(format!("cannot write {}: {error}", self.path.display()), hint).coded("cannot_write")
        })?;
        show::note(global, &format!("{what} in {}", self.path.display()));
        Ok(())
    }

    /// Leaves what was there before, and says so.
    pub(super) fn leave(self, global: &Global, what: &str, why: &str) {
        let left = if self.made_empty { "is not made" } else { "is unchanged" };
        show::note(global, &format!("no {what}: {why}; {} {left}", self.path.display()));
    }

    /// What tells a file from every other, whatever it is called. Two answers may go to one device.
    fn file_id(&self) -> Option<(u64, u64)> {
        let file = self.file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some((file.dev(), file.ino()))
    }
}

impl Drop for Sink<'_> {
    fn drop(&mut self) {
        if self.made_empty {
            let _left = std::fs::remove_file(self.path);
        }
    }
}
