//! What cosignatures sign (C2SP tlog-cosignature), byte by byte.
//!
//! A blob is the time, eight bytes big-endian in seconds since the Unix epoch and at most [`MAX_TIME`], and
//! the raw signature. Type 0x06 does
//! not cover a checkpoint's extension lines: [`crate::checkpoint::Checkpoint::is_covered_by`].

use crate::checkpoint::{Checkpoint, Origin};
use crate::key::{Algorithm, KeyName, NotSignable, SignerKey, VerifierKey};
use crate::merkle::Hash;

/// The latest time that a signature may state.
pub const MAX_TIME: u64 = (1 << 63) - 1;

/// The statement "this hash is the root over leaves `[start, end)` of the log `origin`".
///
/// A checkpoint is the subtree from 0. A subtree that starts later is stated without a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subtree {
    /// The log.
    pub origin: Origin,
    /// First leaf.
    pub start: u64,
    /// One past the last leaf.
    pub end: u64,
    /// Root over the leaves.
    pub hash: Hash,
}

impl Subtree {
    /// The message a type 0x06 key named `cosigner` signs at `time`: 12 fixed bytes, then both names behind their
    /// length in one byte, and all numbers in eight bytes big-endian. `None` when a later subtree carries a time.
    pub fn message(&self, cosigner: &KeyName, time: u64) -> Option<Vec<u8>> {
        if self.start != 0 && time != 0 {
            return None;
        }
        let mut bytes = b"subtree/v1\n\0".to_vec();
        push_name(&mut bytes, cosigner.as_str())?;
        bytes.extend_from_slice(&time.to_be_bytes());
        push_name(&mut bytes, self.origin.as_str())?;
        bytes.extend_from_slice(&self.start.to_be_bytes());
        bytes.extend_from_slice(&self.end.to_be_bytes());
        bytes.extend_from_slice(self.hash.as_bytes());
        Some(bytes)
    }

    /// Signs it without a time. Only a type 0x06 key can.
    pub fn sign(&self, key: &SignerKey) -> Result<Vec<u8>, NotSignable> {
        let verifier = key.verifier();
        let message = self.message(verifier.name(), 0).ok_or(NotSignable::Text)?;
        match verifier.algorithm() {
            Algorithm::MlDsa44 => Ok(join(0, &key.sign_raw(&message)?)),
            Algorithm::Ed25519 | Algorithm::Ed25519Cosignature => Err(NotSignable::Text),
        }
    }

    /// Whether `blob` is `key`'s type 0x06 signature over it.
    pub fn is_signed_by(&self, key: &VerifierKey, blob: &[u8]) -> bool {
        let Some((time, signature)) = split(blob) else { return false };
        let Some(message) = self.message(key.name(), time) else { return false };
        key.algorithm() == Algorithm::MlDsa44 && key.verify_raw(&message, signature)
    }
}

fn push_name(bytes: &mut Vec<u8>, name: &str) -> Option<()> {
    bytes.push(u8::try_from(name.len()).ok()?);
    bytes.extend_from_slice(name.as_bytes());
    Some(())
}

/// The type 0x04 message: two header lines, then the whole note text. It does not name the cosigner, which is why a
/// key may have one name only.
pub fn cosignature_message(time: u64, text: &str) -> Vec<u8> {
    format!("cosignature/v1\ntime {time}\n{text}").into_bytes()
}

/// The type 0x06 message for a note text; `None` when the text is not a checkpoint.
pub(crate) fn checkpoint_message(cosigner: &KeyName, time: u64, text: &str) -> Option<Vec<u8>> {
    let checkpoint = Checkpoint::parse(text).ok()?;
    let Checkpoint { origin, size, root, .. } = checkpoint;
    Subtree { origin, start: 0, end: size, hash: root }.message(cosigner, time)
}

/// The time and the raw signature; `None` when the blob ends before, or states a time beyond [`MAX_TIME`].
pub(crate) fn split(blob: &[u8]) -> Option<(u64, &[u8])> {
    let (time, signature) = blob.split_first_chunk()?;
    let time = u64::from_be_bytes(*time);
    (time <= MAX_TIME).then_some((time, signature))
}

pub(crate) fn join(time: u64, signature: &[u8]) -> Vec<u8> {
    [&time.to_be_bytes(), signature].concat()
}
