//! The receipt: an inclusion proof under a signed checkpoint in one text file (C2SP tlog-proof, `.tlog-proof`).

use std::fmt;

use crate::merkle::{Hash, MAX_PROOF, VerifyError, verify_inclusion};
use crate::note::{MAX_NOTE, Note, NoteError};
use crate::policy::{Accepted, Policy, PostQuantum, RejectError};
use crate::text::{decimal, from_base64, hash_from_base64, to_base64};

/// The first line.
const HEADER: &str = "c2sp.org/tlog-proof@v1";

/// The largest `extra` value in bytes.
pub const MAX_EXTRA: usize = 48 * 1024;

/// The largest proof file in bytes: the note, 63 hash lines, and the longest `extra` in base64.
pub const MAX_PROOF_FILE: usize = MAX_NOTE + 68 * 1024;

/// A proof as read: well formed, nothing verified. Prints as the exact bytes it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlogProof {
    /// Bytes for the application that nobody signed; `None` without that line.
    pub extra: Option<Vec<u8>>,
    /// The leaf's index.
    pub index: u64,
    /// The inclusion proof, the leaf's sibling first.
    pub path: Vec<Hash>,
    /// The signed checkpoint.
    pub checkpoint: Note,
}

/// The bytes are not a `.tlog-proof`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// Larger than [`MAX_PROOF_FILE`].
    #[error("the proof is too large")]
    TooLarge,
    /// Not UTF-8.
    #[error("the proof is not UTF-8 text")]
    NotText,
    /// The first line is not `c2sp.org/tlog-proof@v1`.
    #[error("the first line is not c2sp.org/tlog-proof@v1")]
    Header,
    /// The `extra` line is not base64, or longer than [`MAX_EXTRA`].
    #[error("the extra line is not base64 or too long")]
    Extra,
    /// The `index` line is missing or not a number in shortest form.
    #[error("the index line is missing or not a number in shortest form")]
    Index,
    /// A hash line is not 32 bytes in base64, or no empty line follows.
    #[error("a hash line is not 32 bytes in base64")]
    Hash,
    /// More than 63 hashes.
    #[error("the proof has more than 63 hashes")]
    TooManyHashes,
    /// What follows the empty line is not a signed note.
    #[error(transparent)]
    Note(#[from] NoteError),
}

impl ProofError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge => "proof_too_large",
            Self::NotText => "proof_not_text",
            Self::Header => "proof_header",
            Self::Extra => "proof_extra",
            Self::Index => "proof_index",
            Self::Hash => "proof_hash",
            Self::TooManyHashes => "proof_too_many_hashes",
            Self::Note(error) => error.code(),
        }
    }
}

/// Why a well-formed proof does not show that the leaf is in an accepted log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotProved {
    /// The checkpoint is not accepted.
    #[error(transparent)]
    Rejected(#[from] RejectError),
    /// The leaf is not where the proof says.
    #[error(transparent)]
    Inclusion(#[from] VerifyError),
}

impl NotProved {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Rejected(error) => error.code(),
            Self::Inclusion(error) => error.code(),
        }
    }
}

impl TlogProof {
    /// Reads a proof file.
    pub fn parse(bytes: &[u8]) -> Result<Self, ProofError> {
        if bytes.len() > MAX_PROOF_FILE {
            return Err(ProofError::TooLarge);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| ProofError::NotText)?;
        let (header, rest) = text.split_once('\n').ok_or(ProofError::Header)?;
        if header != HEADER {
            return Err(ProofError::Header);
        }
        let (extra, rest) = parse_extra(rest)?;
        let (index, rest) = rest.split_once('\n').ok_or(ProofError::Index)?;
        let index = index.strip_prefix("index ").and_then(decimal).ok_or(ProofError::Index)?;
        let (path, note) = parse_path(rest)?;
        Ok(Self { extra, index, path, checkpoint: Note::parse(note.as_bytes())? })
    }

    /// Shows that `leaf` is entry `index` of a log the policy accepts.
    ///
    /// The caller hashes the leaf itself: that hash is what ties the receipt to the thing it is a receipt for.
    pub fn verify<'p>(&self, leaf: &Hash, policy: &'p Policy, pq: PostQuantum) -> Result<Accepted<'p>, NotProved> {
        let accepted = policy.accept(&self.checkpoint, pq)?;
        let (size, root) = (accepted.checkpoint.size, accepted.checkpoint.root);
        verify_inclusion(leaf, self.index, size, &self.path, &root)?;
        Ok(accepted)
    }
}

fn parse_extra(rest: &str) -> Result<(Option<Vec<u8>>, &str), ProofError> {
    let Some(after) = rest.strip_prefix("extra ") else { return Ok((None, rest)) };
    let (encoded, rest) = after.split_once('\n').ok_or(ProofError::Extra)?;
    let extra = from_base64(encoded).filter(|extra| extra.len() <= MAX_EXTRA).ok_or(ProofError::Extra)?;
    Ok((Some(extra), rest))
}

/// Hash lines up to the first empty line, and all that follows it.
fn parse_path(mut rest: &str) -> Result<(Vec<Hash>, &str), ProofError> {
    let mut path = Vec::new();
    loop {
        let (line, after) = rest.split_once('\n').ok_or(ProofError::Hash)?;
        if line.is_empty() {
            return Ok((path, after));
        }
        if path.len() == MAX_PROOF {
            return Err(ProofError::TooManyHashes);
        }
        path.push(hash_from_base64(line).ok_or(ProofError::Hash)?);
        rest = after;
    }
}

impl fmt::Display for TlogProof {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{HEADER}")?;
        if let Some(extra) = &self.extra {
            writeln!(out, "extra {}", to_base64(extra))?;
        }
        writeln!(out, "index {}", self.index)?;
        self.path.iter().try_for_each(|hash| writeln!(out, "{}", to_base64(hash.as_bytes())))?;
        write!(out, "\n{}", self.checkpoint)
    }
}

#[cfg(test)]
mod tests;
