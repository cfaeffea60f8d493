//! A file that an answer goes to.
//!
//! It is opened before the look, so that a path nobody can write to is found while nothing has been asked, signed or
//! logged. What stood there before is kept until there is something to put in its place; where nothing stood, nothing is
//! left either, because a program that waits for the file takes an empty one for the answer.

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
    /// What stood there before.
    there: Option<File>,
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
        (Some(out), Some(receipt)) if out.is(receipt) => {
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
        let there = match private::options().create_new(true).open(path) {
            // It was made to see that it can be.
            Ok(_empty) => std::fs::remove_file(path).map(|()| None),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => private::options().open(path).map(Some),
            Err(error) => Err(error),
        };
        there.map(|there| Self { path, there }).map_err(|error| app::unwritten(path, &error).into())
    }

    /// Puts `bytes` in the place of what was there.
    ///
    /// # Errors
    /// The disk refuses now: the answer is out, its file is not.
    pub(super) fn fill(self, global: &Global, what: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let written = match (self.file_id(), self.there.as_ref()) {
            // A pipe is written to as it was opened: its reader may take the end of one opening for the end of all.
            (None, Some(mut device)) => device.write_all(bytes),
            _ => private::write(self.path, bytes),
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
        let left = if self.there.is_none() { "is not made" } else { "is unchanged" };
        show::note(global, &format!("no {what}: {why}; {} {left}", self.path.display()));
    }

    /// Whether both are one file, whatever it is called, or would be made as one. Two answers may go to one device.
    fn is(&self, other: &Sink<'_>) -> bool {
        match (&self.there, &other.there) {
            (None, None) => private::place(self.path).is_some_and(|place| private::place(other.path) == Some(place)),
            _ => self.file_id().is_some_and(|id| other.file_id() == Some(id)),
        }
    }

    /// What tells a file that is there from every other.
    fn file_id(&self) -> Option<(u64, u64)> {
        let file = self.there.as_ref()?.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some((file.dev(), file.ino()))
    }
}
