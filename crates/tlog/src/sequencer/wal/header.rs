//! The head of a write-ahead segment: which log, and the tree as it was when the segment was begun.
//!
//! ```text
//! magic 8 | header length u32 | CRC-32C of the rest u32
//! rest = SHA-256(origin) 32 | segment number u64 | size u64 | root 32 | time u64
//!        | for each of 8 levels: count u16, then that many hashes
//! ```
//!
//! The rows are the unfinished tile of each level, so a start needs no tile at all: it reads the segments it has.

use sha2::{Digest as _, Sha256};

use super::record::crc32c;
use crate::checkpoint::Origin;
use crate::merkle::Hash;
use crate::sequencer::edge::HEIGHT;

const MAGIC: &[u8; 8] = b"CSLOGW01";
const FRAME: usize = 16;
/// Eight rows of 255 hashes and the fixed members.
const MAX_HEADER: usize = 88 + HEIGHT as usize * (2 + 255 * 32);

/// What a segment begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sequencer) struct Header {
    pub(in crate::sequencer) origin: [u8; 32],
    pub(in crate::sequencer) number: u64,
    pub(in crate::sequencer) size: u64,
    pub(in crate::sequencer) root: Hash,
    pub(in crate::sequencer) time: u64,
    pub(in crate::sequencer) rows: Vec<Vec<Hash>>,
}

/// The name of a log in files: SHA-256 of its origin.
pub(in crate::sequencer) fn origin_hash(origin: &Origin) -> [u8; 32] {
    Sha256::digest(origin.as_str()).into()
}

impl Header {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut body = self.origin.to_vec();
        body.extend_from_slice(&self.number.to_be_bytes());
        body.extend_from_slice(&self.size.to_be_bytes());
        body.extend_from_slice(self.root.as_bytes());
        body.extend_from_slice(&self.time.to_be_bytes());
        for row in &self.rows {
            body.extend_from_slice(&(row.len() as u16).to_be_bytes());
            row.iter().for_each(|hash| body.extend_from_slice(hash.as_bytes()));
        }
        let length = (body.len() as u32).to_be_bytes();
        [MAGIC.as_slice(), &length, &crc32c(&body).to_be_bytes(), &body].concat()
    }

    /// The header and the number of bytes it takes; `None` when it is damaged.
    pub(super) fn decode(bytes: &[u8]) -> Option<(Self, usize)> {
        let (magic, rest) = bytes.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (crc, rest) = rest.split_first_chunk()?;
        let length = u32::from_be_bytes(*length) as usize;
        if magic != MAGIC || length > MAX_HEADER {
            return None;
        }
        let body = rest.get(..length).filter(|body| crc32c(body) == u32::from_be_bytes(*crc))?;
        Some((Self::decode_body(body)?, FRAME + length))
    }

    fn decode_body(body: &[u8]) -> Option<Self> {
        let (origin, rest) = body.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let (size, rest) = rest.split_first_chunk()?;
        let (root, rest) = rest.split_first_chunk()?;
        let (time, mut rest) = rest.split_first_chunk()?;
        let mut rows = Vec::with_capacity(usize::from(HEIGHT));
        for _ in 0..HEIGHT {
            let (count, after) = rest.split_first_chunk()?;
            let (hashes, after) = after.split_at_checked(usize::from(u16::from_be_bytes(*count)) * 32)?;
            rows.push(hashes.as_chunks::<32>().0.iter().map(|bytes| Hash::from_bytes(*bytes)).collect());
            rest = after;
        }
        rest.is_empty().then_some(Self {
            origin: *origin,
            number: u64::from_be_bytes(*number),
            size: u64::from_be_bytes(*size),
            root: Hash::from_bytes(*root),
            time: u64::from_be_bytes(*time),
            rows,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header() -> Header {
        let mut rows = vec![Vec::new(); 8];
        rows[0] = vec![Hash::from_bytes([3; 32]); 2];
        Header { origin: [1; 32], number: 4, size: 2, root: Hash::from_bytes([2; 32]), time: 5, rows }
    }

    #[test]
    fn a_header_reads_back_and_a_changed_one_does_not() {
        let bytes = header().encode();
        assert_eq!(bytes.len(), 16 + 88 + 8 * 2 + 64);
        assert_eq!(Header::decode(&[bytes.as_slice(), b"records"].concat()), Some((header(), bytes.len())));
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::decode(&changed), None, "bit {bit}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Header::decode(&[MAGIC.as_slice(), &bytes].concat());
            let _ = Header::decode_body(&bytes);
        }
    }
}
