//! Our tree against the published `tlog_tiles` crate, a port of another implementation: same roots, same proofs, and
//! each accepts the other's. Its tile paths are another dialect, so they are not compared.

use countersign_tlog::merkle::{
    Hash, MemoryTree, consistency_proof, inclusion_proof, leaf_hash, root, stored_index, verify_consistency,
    verify_inclusion,
};
use tlog_tiles::tlog::{
    self as theirs, check_record, check_tree, prove_record, prove_tree, record_hash, stored_hash_index,
    stored_hashes_for_record_hash, tree_hash,
};

/// Hashes in stored order, as the other crate wants to read them.
struct Stored(Vec<theirs::Hash>);

impl theirs::HashReader for Stored {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<theirs::Hash>, theirs::Error> {
        Ok(indexes.iter().map(|at| self.0[*at as usize]).collect())
    }
}

fn ours(hash: &theirs::Hash) -> Hash {
    Hash::from_bytes(hash.0)
}

fn their(hash: &Hash) -> theirs::Hash {
    theirs::Hash(*hash.as_bytes())
}

#[test]
fn both_implementations_agree_on_every_small_tree() {
    let (mut tree, mut stored) = (MemoryTree::new(), Stored(Vec::new()));
    for size in 1..=40u64 {
        let entry = format!("entry-{}", size - 1);
        assert_eq!(ours(&record_hash(entry.as_bytes())), leaf_hash(entry.as_bytes()));
        tree.push(leaf_hash(entry.as_bytes()));
        let new = stored_hashes_for_record_hash(size - 1, record_hash(entry.as_bytes()), &stored).unwrap();
        stored.0.extend(new);
        assert_eq!(stored_index(0, size - 1), Some(stored_hash_index(0, size - 1)));

        let top = root(&tree, size).unwrap();
        assert_eq!(ours(&tree_hash(size, &stored).unwrap()), top);
        for index in 0..size {
            let leaf = leaf_hash(format!("entry-{index}").as_bytes());
            let mine = inclusion_proof(&tree, index, size).unwrap();
            let other = prove_record(size, index, &stored).unwrap();
            assert_eq!(other.iter().map(ours).collect::<Vec<_>>(), mine);
            verify_inclusion(&leaf, index, size, &mine, &top).unwrap();
            check_record(&mine.iter().map(their).collect(), size, their(&top), index, their(&leaf)).unwrap();
        }
        for old in 1..=size {
            let before = root(&tree, old).unwrap();
            let mine = consistency_proof(&tree, old, size).unwrap();
            let other = prove_tree(size, old, &stored).unwrap();
            assert_eq!(other.iter().map(ours).collect::<Vec<_>>(), mine);
            verify_consistency(old, size, &mine, &before, &top).unwrap();
            check_tree(&mine.iter().map(their).collect(), size, their(&top), old, their(&before)).unwrap();
        }
    }
}
