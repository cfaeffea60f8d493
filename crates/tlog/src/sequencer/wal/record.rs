//! The records of a write-ahead segment, byte by byte. All numbers are big-endian.
//!
//! ```text
//! record  = length u32 | CRC-32C of the payload u32 | payload
//! entry   = 01 | index u64 | idempotency key 32 | leaf
//! commit  = 02 | size u64 | root 32 | root before 32 | time u64
//! ```
//!
//! A batch is its entries and one commit. Entries without a commit behind them were never answered.

use crc::{CRC_32_ISCSI, Crc, Table};

use crate::merkle::Hash;
use crate::tile::bundle::MAX_ENTRY;

static CRC32C: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

const ENTRY: u8 = 1;
const COMMIT: u8 = 2;
const ENTRY_HEAD: usize = 1 + 8 + 32;
const COMMIT_LENGTH: usize = 1 + 8 + 32 + 32 + 8;
const FRAME: usize = 8;

/// One leaf as written ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sequencer) struct Entry<'b> {
    pub(in crate::sequencer) index: u64,
    pub(in crate::sequencer) key: [u8; 32],
    pub(in crate::sequencer) leaf: &'b [u8],
}

/// The end of a batch: what the tree was and what it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sequencer) struct Commit {
    pub(in crate::sequencer) size: u64,
    pub(in crate::sequencer) root: Hash,
    pub(in crate::sequencer) before: Hash,
    /// Seconds since the Unix epoch, as signed.
    pub(in crate::sequencer) time: u64,
}

/// What stands at the front of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read<'b> {
    Entry(Entry<'b>, &'b [u8]),
    Commit(Commit, &'b [u8]),
    /// No record: the preallocated rest, a torn write, or damage.
    Nothing,
}

pub(in crate::sequencer) fn crc32c(bytes: &[u8]) -> u32 {
    CRC32C.checksum(bytes)
}

/// The bytes an entry with a leaf of this length takes.
pub(in crate::sequencer) const fn entry_length(leaf: usize) -> usize {
    FRAME + ENTRY_HEAD + leaf
}

/// The bytes a commit takes.
pub(in crate::sequencer) const COMMIT_BYTES: usize = FRAME + COMMIT_LENGTH;

pub(in crate::sequencer) fn push_entry(out: &mut Vec<u8>, entry: &Entry<'_>) {
    let index = entry.index.to_be_bytes();
    push(out, &[&[ENTRY], &index, &entry.key, entry.leaf]);
}

pub(in crate::sequencer) fn push_commit(out: &mut Vec<u8>, commit: &Commit) {
    let (size, time) = (commit.size.to_be_bytes(), commit.time.to_be_bytes());
    push(out, &[&[COMMIT], &size, commit.root.as_bytes(), commit.before.as_bytes(), &time]);
}

fn push(out: &mut Vec<u8>, parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    // Leaves are capped at MAX_ENTRY before they come here, so the length fits.
    out.extend_from_slice(&(length as u32).to_be_bytes());
    let mut crc = CRC32C.digest();
    parts.iter().for_each(|part| crc.update(part));
    out.extend_from_slice(&crc.finalize().to_be_bytes());
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

pub(super) fn read(bytes: &[u8]) -> Read<'_> {
    parse(bytes).unwrap_or(Read::Nothing)
}

fn parse(bytes: &[u8]) -> Option<Read<'_>> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (crc, rest) = rest.split_first_chunk()?;
    let length = u32::from_be_bytes(*length) as usize;
    if !(1..=ENTRY_HEAD + MAX_ENTRY).contains(&length) {
        return None;
    }
    let (payload, rest) = rest.split_at_checked(length)?;
    if crc32c(payload) != u32::from_be_bytes(*crc) {
        return None;
    }
    let (kind, body) = payload.split_first()?;
    match *kind {
        ENTRY => Some(Read::Entry(parse_entry(body)?, rest)),
        COMMIT if length == COMMIT_LENGTH => Some(Read::Commit(parse_commit(body)?, rest)),
        _ => None,
    }
}

fn parse_entry(body: &[u8]) -> Option<Entry<'_>> {
    let (index, rest) = body.split_first_chunk()?;
    let (key, leaf) = rest.split_first_chunk()?;
    Some(Entry { index: u64::from_be_bytes(*index), key: *key, leaf })
}

fn parse_commit(body: &[u8]) -> Option<Commit> {
    let (size, rest) = body.split_first_chunk()?;
    let (root, rest) = rest.split_first_chunk()?;
    let (before, rest) = rest.split_first_chunk()?;
    let time = rest.first_chunk()?;
    Some(Commit {
        size: u64::from_be_bytes(*size),
        root: Hash::from_bytes(*root),
        before: Hash::from_bytes(*before),
        time: u64::from_be_bytes(*time),
    })
}

/// The first whole commit anywhere in these bytes, and what follows it. Behind a bad record the framing is lost, so
/// every offset is tried; a commit has one length, which makes that quick.
pub(super) fn find_commit(bytes: &[u8]) -> Option<(Commit, &[u8])> {
    let mark = (COMMIT_LENGTH as u32).to_be_bytes();
    let marked = bytes.windows(mark.len()).enumerate().filter(|(_, window)| *window == mark);
    marked.filter_map(|(offset, _)| bytes.get(offset..)).find_map(|rest| match read(rest) {
        Read::Commit(commit, after) => Some((commit, after)),
        Read::Entry(..) | Read::Nothing => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hash(byte: u8) -> Hash {
        Hash::from_bytes([byte; 32])
    }

    #[test]
    fn the_checksum_is_crc_32c() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283, "the published check value of CRC-32C");
    }

    #[test]
    fn a_batch_has_these_bytes_and_reads_back() {
        let entry = Entry { index: 5, key: [7; 32], leaf: b"leaf" };
        let commit = Commit { size: 6, root: hash(1), before: hash(2), time: 9 };
        let mut bytes = Vec::new();
        push_entry(&mut bytes, &entry);
        assert_eq!(bytes.len(), entry_length(4));
        assert_eq!(&bytes[..4], [0, 0, 0, 45]);
        assert_eq!(&bytes[8..17], [1, 0, 0, 0, 0, 0, 0, 0, 5]);
        assert_eq!(find_commit(&bytes), None);
        push_commit(&mut bytes, &commit);
        assert_eq!(bytes.len(), entry_length(4) + COMMIT_BYTES);
        let Read::Entry(found, rest) = read(&bytes) else { panic!("an entry stands first") };
        assert_eq!((found, read(rest)), (entry, Read::Commit(commit, &[])));
        assert_eq!(find_commit(&bytes[3..]), Some((commit, &[][..])), "found without framing");
        assert_eq!(read(&[0; 64]), Read::Nothing);
    }

    #[test]
    fn one_changed_bit_is_never_read_as_the_record() {
        let mut bytes = Vec::new();
        push_commit(&mut bytes, &Commit { size: 6, root: hash(1), before: hash(2), time: 9 });
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&changed), Read::Nothing, "bit {bit}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = (read(&bytes), find_commit(&bytes));
        }
    }
}
