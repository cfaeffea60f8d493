use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn vectors(name: &str) -> Value {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn hash(text: &Value) -> Hash {
    Hash::from_bytes(hex::decode(text.as_str().unwrap()).unwrap().try_into().unwrap())
}

fn hashes(list: &Value) -> Vec<Hash> {
    list.as_array().unwrap().iter().map(hash).collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

/// The tree whose entry `i` is the text `entry-i`.
pub(crate) fn family(size: u64) -> MemoryTree {
    let mut tree = MemoryTree::new();
    for i in 0..size {
        tree.push(leaf_hash(format!("entry-{i}").as_bytes()));
    }
    tree
}

#[test]
fn the_classic_tree_of_eight() {
    let data = vectors("merkle8.json");
    let mut tree = MemoryTree::new();
    let leaves = hashes(&data["leaf_hashes"]);
    assert_eq!(tree.root(), hash(&data["roots"][0]));
    for (i, entry) in data["leaves_hex"].as_array().unwrap().iter().enumerate() {
        assert_eq!(leaf_hash(&hex::decode(entry.as_str().unwrap()).unwrap()), leaves[i]);
        tree.push(leaves[i]);
        assert_eq!(tree.root(), hash(&data["roots"][i + 1]));
    }
    let roots = hashes(&data["roots"]);
    for row in data["inclusion"].as_array().unwrap() {
        let (index, size, proof) = (number(&row["index"]), number(&row["size"]), hashes(&row["proof"]));
        assert_eq!(inclusion_proof(&tree, index, size).unwrap(), proof);
        verify_inclusion(&leaves[index as usize], index, size, &proof, &roots[size as usize]).unwrap();
    }
    for row in data["consistency"].as_array().unwrap() {
        let (old, new, proof) = (number(&row["old"]), number(&row["new"]), hashes(&row["proof"]));
        assert_eq!(consistency_proof(&tree, old, new).unwrap(), proof);
        verify_consistency(old, new, &proof, &roots[old as usize], &roots[new as usize]).unwrap();
    }
}

#[test]
fn the_long_family_has_the_published_roots_and_proofs() {
    let data = vectors("tiles.json");
    let tree = family(70_000);
    for (size, expected) in data["roots"].as_object().unwrap() {
        let size: u64 = size.parse().unwrap();
        if size <= tree.size() {
            assert_eq!(root(&tree, size).unwrap(), hash(expected), "size {size}");
        }
    }
    for row in data["inclusion"].as_array().unwrap() {
        let (index, size, proof) = (number(&row["index"]), number(&row["size"]), hashes(&row["proof"]));
        if size <= tree.size() {
            assert_eq!(inclusion_proof(&tree, index, size).unwrap(), proof);
        }
        verify_inclusion(&hash(&row["leaf_hash"]), index, size, &proof, &hash(&row["root"])).unwrap();
    }
    for row in data["consistency"].as_array().unwrap() {
        let (old, new) = (number(&row["old"]), number(&row["new"]));
        if new <= tree.size() {
            assert_eq!(consistency_proof(&tree, old, new).unwrap(), hashes(&row["proof"]));
        }
    }
}

#[test]
fn stored_positions() {
    for row in vectors("stored_index.json").as_array().unwrap() {
        let (level, n) = (number(&row["level"]) as u8, number(&row["n"]));
        assert_eq!(stored_index(level, n), Some(number(&row["index"])), "({level}, {n})");
    }
    assert_eq!(stored_index(64, 0), None);
    assert_eq!(stored_index(0, u64::MAX), None);
    assert_eq!(stored_index(63, 1), None);
}

#[test]
fn the_edges_of_proofs() {
    let tree = family(3);
    let roots: Vec<Hash> = (0..=3).map(|size| root(&tree, size).unwrap()).collect();
    let [zero, one, _, three] = roots.try_into().unwrap();
    let leaf = leaf_hash(b"entry-0");
    assert_eq!(verify_inclusion(&leaf, 0, 1, &[], &one), Ok(()));
    assert_eq!(verify_inclusion(&leaf, 0, 0, &[], &zero), Err(VerifyError::IndexOutside));
    assert_eq!(verify_inclusion(&leaf, 1, 1, &[], &one), Err(VerifyError::IndexOutside));
    assert_eq!(verify_inclusion(&leaf, 0, 1, &[one], &one), Err(VerifyError::WrongLength));
    assert_eq!(verify_inclusion(&leaf, 0, 2, &[], &one), Err(VerifyError::WrongLength));
    assert_eq!(verify_inclusion(&leaf, 0, u64::MAX, &[one; 64], &one), Err(VerifyError::WrongLength));
    assert_eq!(verify_consistency(3, 3, &[], &three, &three), Ok(()));
    assert_eq!(verify_consistency(3, 3, &[], &one, &three), Err(VerifyError::WrongRoot));
    assert_eq!(verify_consistency(3, 3, &[one], &three, &three), Err(VerifyError::WrongLength));
    assert_eq!(verify_consistency(0, 3, &[], &zero, &three), Err(VerifyError::SizesOutside));
    assert_eq!(verify_consistency(3, 1, &[one], &three, &one), Err(VerifyError::SizesOutside));
    assert_eq!(verify_consistency(1, 3, &[], &one, &three), Err(VerifyError::WrongLength));
    assert_eq!(inclusion_proof(&tree, 3, 3), Err(ProveError::OutOfRange));
    assert_eq!(consistency_proof(&tree, 0, 3), Err(ProveError::OutOfRange));
    assert_eq!(root(&tree, 1 << 63), Err(ProveError::OutOfRange));
    let missing = NoSuchSubtree { level: 2, n: 0 };
    assert_eq!(root(&tree, 4), Err(ProveError::Read(missing)));
}

/// The definition of RFC 6962 section 2.1, recursive, as a second opinion on the folded one.
fn by_definition(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => empty_root(),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
            node_hash(&by_definition(left), &by_definition(right))
        }
    }
}

fn flip(hash: &Hash, bit: usize) -> Hash {
    let mut bytes = *hash.as_bytes();
    bytes[bit / 8 % 32] ^= 1 << (bit % 8);
    Hash::from_bytes(bytes)
}

proptest! {
    #[test]
    fn every_inclusion_proof_verifies_and_no_flipped_bit_does(size in 1u64..600, pick in any::<u64>(), bit in 0usize..256) {
        let tree = family(size);
        let index = pick % size;
        let leaf = tree.hash(0, index).unwrap();
        let leaves: Vec<Hash> = (0..size).map(|n| tree.hash(0, n).unwrap()).collect();
        let top = tree.root();
        prop_assert_eq!(top, by_definition(&leaves));
        let proof = inclusion_proof(&tree, index, size).unwrap();
        prop_assert_eq!(verify_inclusion(&leaf, index, size, &proof, &top), Ok(()));
        prop_assert!(verify_inclusion(&flip(&leaf, bit), index, size, &proof, &top).is_err());
        prop_assert!(verify_inclusion(&leaf, index, size, &proof, &flip(&top, bit)).is_err());
        for at in 0..proof.len() {
            let mut wrong = proof.clone();
            wrong[at] = flip(&wrong[at], bit);
            prop_assert!(verify_inclusion(&leaf, index, size, &wrong, &top).is_err());
            wrong.remove(at);
            prop_assert!(verify_inclusion(&leaf, index, size, &wrong, &top).is_err());
        }
        for other in (0..size).filter(|other| *other != index) {
            prop_assert!(verify_inclusion(&leaf, other, size, &proof, &top).is_err());
        }
    }

    #[test]
    fn every_consistency_proof_verifies_and_no_flipped_bit_does(new in 1u64..600, pick in any::<u64>(), bit in 0usize..256) {
        let tree = family(new);
        let old = pick % new + 1;
        let (before, after) = (root(&tree, old).unwrap(), tree.root());
        let proof = consistency_proof(&tree, old, new).unwrap();
        prop_assert_eq!(verify_consistency(old, new, &proof, &before, &after), Ok(()));
        prop_assert!(verify_consistency(old, new, &proof, &flip(&before, bit), &after).is_err());
        prop_assert!(verify_consistency(old, new, &proof, &before, &flip(&after, bit)).is_err());
        for at in 0..proof.len() {
            let mut wrong = proof.clone();
            wrong[at] = flip(&wrong[at], bit);
            prop_assert!(verify_consistency(old, new, &wrong, &before, &after).is_err());
            wrong.remove(at);
            prop_assert!(verify_consistency(old, new, &wrong, &before, &after).is_err());
        }
    }

    #[test]
    fn no_numbers_make_the_verifiers_panic(a in any::<u64>(), b in any::<u64>(), count in 0usize..70, shift in 0u32..64) {
        let (a, b) = (a >> shift, b >> (shift / 2));
        let zero = empty_root();
        let proof = vec![zero; count];
        prop_assert!(verify_inclusion(&zero, a, b, &proof, &leaf_hash(b"x")).is_err());
        prop_assert!(verify_consistency(a, b, &proof, &zero, &leaf_hash(b"x")).is_err());
    }
}

#[test]
fn paths_that_share_an_edge_are_the_same_paths() {
    let mut tree = MemoryTree::new();
    for size in 1..=130u64 {
        tree.push(leaf_hash(&size.to_be_bytes()));
        let paths = Paths::new(&tree, size).unwrap();
        for index in 0..size {
            assert_eq!(paths.path(index), inclusion_proof(&tree, index, size), "{index} of {size}");
        }
        assert_eq!(paths.path(size), Err(ProveError::OutOfRange));
    }
    assert!(matches!(Paths::new(&tree, 0), Err(ProveError::OutOfRange)));
    assert!(matches!(Paths::new(&tree, 131), Err(ProveError::Read(_))));
    assert!(matches!(Paths::new(&tree, MAX_SIZE + 1), Err(ProveError::OutOfRange)));
}
