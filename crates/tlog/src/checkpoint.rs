//! Checkpoints: origin, size and root of a log as three lines of text (C2SP tlog-checkpoint).

use std::fmt;

use crate::key::MAX_NAME;
use crate::merkle::{Hash, MAX_SIZE, VerifyError, empty_root, verify_consistency};
use crate::note::Verified;
use crate::text::{decimal, hash_from_base64, to_base64};

/// The most extension lines a checkpoint may carry.
pub const MAX_EXTENSIONS: usize = 16;

/// The identity of a log: one line of 1 to 255 bytes without control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin(String);

impl Origin {
    /// Reads an origin; `None` when it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let right = (1..=MAX_NAME).contains(&text.len()) && !text.contains(|c: char| c.is_ascii_control());
        right.then(|| Self(text.to_owned()))
    }

    /// The line.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The text is not a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// Fewer than three lines, or the last line does not end.
    #[error("a checkpoint has at least three complete lines")]
    Lines,
    /// The first line is not an [`Origin`].
    #[error("the origin is empty, too long, or holds control characters")]
    Origin,
    /// The second line is not a decimal number up to 2^63 - 1 in shortest form.
    #[error("the size is not a number up to 2^63 - 1 in shortest form")]
    Size,
    /// The third line is not 32 bytes in base64.
    #[error("the root is not 32 bytes in base64")]
    Root,
    /// An extension line is empty, or there are more than [`MAX_EXTENSIONS`].
    #[error("an extension line is empty, or there are too many")]
    Extension,
}

impl CheckpointError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Lines => "checkpoint_lines",
            Self::Origin => "checkpoint_origin",
            Self::Size => "checkpoint_size",
            Self::Root => "checkpoint_root",
            Self::Extension => "checkpoint_extension",
        }
    }
}

/// The state of a log at one size. Prints as the note text, with its final line feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The log.
    pub origin: Origin,
    /// Its number of leaves, at most [`MAX_SIZE`].
    pub size: u64,
    /// Its root.
    pub root: Hash,
    /// Further lines. A type 0x06 signature does not cover them; see [`Self::is_covered_by`].
    pub extensions: Vec<String>,
}

impl Checkpoint {
    /// A checkpoint as our logs write it: without extensions.
    pub fn new(origin: Origin, size: u64, root: Hash) -> Self {
        Self { origin, size, root, extensions: Vec::new() }
    }

    /// Reads a note text.
    pub fn parse(text: &str) -> Result<Self, CheckpointError> {
        let body = text.strip_suffix('\n').ok_or(CheckpointError::Lines)?;
        let mut lines = body.split('\n');
        let (Some(origin), Some(size), Some(root)) = (lines.next(), lines.next(), lines.next()) else {
            return Err(CheckpointError::Lines);
        };
        let origin = Origin::parse(origin).ok_or(CheckpointError::Origin)?;
        let size = decimal(size).filter(|size| *size <= MAX_SIZE).ok_or(CheckpointError::Size)?;
        let root = hash_from_base64(root).ok_or(CheckpointError::Root)?;
        let extensions: Vec<String> = lines.take(MAX_EXTENSIONS + 1).map(str::to_owned).collect();
        if extensions.len() > MAX_EXTENSIONS || extensions.iter().any(String::is_empty) {
            return Err(CheckpointError::Extension);
        }
        Ok(Self { origin, size, root, extensions })
    }

    /// Whether signatures that hold cover all of it. Extension lines that a log has signed with type 0x06 alone may be
    /// anybody's: whoever accepts or cosigns the checkpoint would vouch for a stranger's words.
    pub fn is_covered_by(&self, log: &[Verified<'_>]) -> bool {
        self.extensions.is_empty() || log.iter().any(|one| one.key.algorithm().covers_text())
    }
}

/// Why one checkpoint is not shown to be an older state of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrowthError {
    /// They are of two logs.
    #[error("the checkpoints are of two logs")]
    OtherLog,
    /// The size 0 with a root that is not the empty one.
    #[error("an empty log has another root")]
    EmptyRoot,
    /// The proof does not hold.
    #[error(transparent)]
    Proof(#[from] VerifyError),
}

impl GrowthError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::OtherLog => "checkpoint_other_log",
            Self::EmptyRoot => "checkpoint_empty_root",
            Self::Proof(error) => error.code(),
        }
    }
}

impl Checkpoint {
    /// Shows that this is an older state of `newer`, or the same one: what a monitor asks of two checkpoints.
    ///
    /// Everything grows from an empty log, which therefore takes an empty proof.
    pub fn verify_growth(&self, newer: &Self, proof: &[Hash]) -> Result<(), GrowthError> {
        if self.origin != newer.origin {
            return Err(GrowthError::OtherLog);
        }
        if [self, newer].iter().any(|one| one.size == 0 && one.root != empty_root()) {
            return Err(GrowthError::EmptyRoot);
        }
        match (self.size, proof) {
            (0, []) => Ok(()),
            (0, _) => Err(VerifyError::WrongLength.into()),
            _ => Ok(verify_consistency(self.size, newer.size, proof, &self.root, &newer.root)?),
        }
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}\n{}\n{}", self.origin, self.size, to_base64(self.root.as_bytes()))?;
        self.extensions.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

#[cfg(test)]
mod tests;
