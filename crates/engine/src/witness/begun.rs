//! Which logs a witness has begun to cosign, in a file beside its states: a state that is gone is then not taken for one
//! that never was.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use countersign_tlog::checkpoint::Origin;

use crate::files::{Readers, replace};

/// The mark `witness.begun`: one origin a line.
pub(super) struct Begun {
    path: PathBuf,
    origins: BTreeSet<Origin>,
}

impl Begun {
    /// Reads the mark in `dir`; no file marks nothing.
    ///
    /// # Errors
    /// What the system said; `InvalidData` when a line is no origin, because it may have been any.
    pub(super) fn load(dir: &Path) -> io::Result<Self> {
        let path = dir.join("witness.begun");
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        let unread = || io::Error::new(io::ErrorKind::InvalidData, "witness.begun has a line that is no origin");
        let origins = text.lines().map(|line| Origin::parse(line).ok_or_else(unread)).collect::<io::Result<_>>()?;
        Ok(Self { path, origins })
    }

    /// The logs, in order.
    pub(super) fn origins(&self) -> impl Iterator<Item = &Origin> {
        self.origins.iter()
    }

    /// Whether this log was begun.
    pub(super) fn has(&self, origin: &Origin) -> bool {
        self.origins.contains(origin)
    }

    /// Marks a log, durably; one that is marked costs nothing.
    ///
    /// # Errors
    /// What the system said. Nothing is marked then.
    pub(super) fn add(&mut self, origin: &Origin) -> io::Result<()> {
        if self.has(origin) {
            return Ok(());
        }
        let all: BTreeSet<Origin> = self.origins.iter().chain([origin]).cloned().collect();
        let text: String = all.iter().map(|origin| format!("{origin}\n")).collect();
        replace(&self.path, text.as_bytes(), Readers::Owner)?;
        self.origins = all;
        Ok(())
    }
}
