use super::*;
use crate::merkle::empty_root;

const ROOT: &str = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

#[test]
fn three_lines() {
    let text = format!("log.example.test/verdicts/2026\n0\n{ROOT}\n");
    let checkpoint = Checkpoint::parse(&text).unwrap();
    let origin = Origin::parse("log.example.test/verdicts/2026").unwrap();
    assert_eq!(checkpoint, Checkpoint::new(origin, 0, empty_root()));
    assert_eq!(checkpoint.to_string(), text);
    let extended = format!("{text}first\nsecond\n");
    let checkpoint = Checkpoint::parse(&extended).unwrap();
    assert_eq!(checkpoint.extensions, ["first", "second"]);
    assert_eq!(checkpoint.to_string(), extended);
}

#[test]
fn what_is_not_a_checkpoint() {
    use CheckpointError::{Extension, Lines, Origin, Root, Size};
    let long = "o".repeat(256);
    let rows = [
        ("".to_owned(), Lines),
        ("\n".to_owned(), Lines),
        (format!("o\n0\n{ROOT}"), Lines),
        ("o\n0\n".to_owned(), Lines),
        (format!("\n0\n{ROOT}\n"), Origin),
        (format!("{long}\n0\n{ROOT}\n"), Origin),
        (format!("o\r\n0\n{ROOT}\n"), Origin),
        (format!("o\n\n{ROOT}\n"), Size),
        (format!("o\n00\n{ROOT}\n"), Size),
        (format!("o\n-1\n{ROOT}\n"), Size),
        (format!("o\n9223372036854775808\n{ROOT}\n"), Size),
        (format!("o\n18446744073709551616\n{ROOT}\n"), Size),
        ("o\n1\n\n".to_owned(), Root),
        ("o\n1\nAA==\n".to_owned(), Root),
        (format!("o\n1\n{ROOT} \n"), Root),
        (format!("o\n1\n{ROOT}\n\n"), Extension),
        (format!("o\n1\n{ROOT}\na\n\nb\n"), Extension),
        (format!("o\n1\n{ROOT}\n{}", "x\n".repeat(17)), Extension),
    ];
    for (text, error) in rows {
        assert_eq!(Checkpoint::parse(&text), Err(error), "{text:?}");
    }
    assert!(Checkpoint::parse(&format!("o\n9223372036854775807\n{ROOT}\n{}", "x\n".repeat(16))).is_ok());
}

#[test]
fn growth_is_shown_from_every_older_state_and_from_nothing() {
    use crate::merkle::{MemoryTree, consistency_proof, empty_root, leaf_hash};
    let mut tree = MemoryTree::new();
    let origin = Origin::parse("log.example.test/verdicts/2026").unwrap();
    let mut states = vec![Checkpoint::new(origin.clone(), 0, empty_root())];
    for n in 0..9u64 {
        tree.push(leaf_hash(&n.to_be_bytes()));
        states.push(Checkpoint::new(origin.clone(), n + 1, tree.root()));
    }
    let newest = states[9].clone();
    for old in &states {
        let proof = if old.size == 0 { Vec::new() } else { consistency_proof(&tree, old.size, 9).unwrap() };
        assert_eq!(old.verify_growth(&newest, &proof), Ok(()), "{}", old.size);
        let more = [proof.as_slice(), &[tree.root()]].concat();
        assert!(old.verify_growth(&newest, &more).is_err(), "{} with a hash too many", old.size);
        let other = Checkpoint { root: leaf_hash(b"x"), ..old.clone() };
        assert!(other.verify_growth(&newest, &proof).is_err(), "{} with another root", old.size);
        let elsewhere = Checkpoint { origin: Origin::parse("log.example.test/b").unwrap(), ..old.clone() };
        assert_eq!(elsewhere.verify_growth(&newest, &proof), Err(GrowthError::OtherLog));
    }
    assert!(newest.verify_growth(&states[3], &[]).is_err(), "a log does not shrink");
    assert!(newest.verify_growth(&states[0], &[]).is_err(), "not even to nothing");
}
