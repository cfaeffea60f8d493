use std::convert::Infallible;

use proptest::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::*;
use crate::merkle::tests::family;
use crate::merkle::{consistency_proof, inclusion_proof, root};

fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tiles.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn paths_read_and_print_alike() {
    for row in vectors()["path_examples"].as_array().unwrap() {
        let text = row["path"].as_str().unwrap();
        let path = TilePath::parse(text).unwrap();
        assert_eq!(path.content(), Content::Hashes(row["level"].as_u64().unwrap() as u8));
        assert_eq!(path.index(), row["n"].as_u64().unwrap());
        assert_eq!(u64::from(path.width()), row["w"].as_u64().unwrap());
        assert_eq!(path.to_string(), text);
    }
    let bundle = TilePath::parse("tile/entries/x001/234.p/7").unwrap();
    assert_eq!((bundle.content(), bundle.index(), bundle.width()), (Content::Entries, 1234, 7));
    let last = TilePath::parse("tile/63/x018/x446/x744/x073/x709/x551/615.p/255").unwrap();
    assert_eq!(last.index(), u64::MAX);
    assert_eq!(last.to_string(), "tile/63/x018/x446/x744/x073/x709/x551/615.p/255");
}

#[test]
fn every_second_spelling_is_refused() {
    for text in vectors()["bad_paths"].as_array().unwrap() {
        assert!(TilePath::parse(text.as_str().unwrap()).is_err(), "{text}");
    }
    use PathError::{Index, Level, NotATile, Width};
    let rows = [
        ("", NotATile),
        ("/tile/0/000", NotATile),
        ("tiles/0/000", NotATile),
        ("tile/", Level),
        ("tile/0", Level),
        ("tile//000", Level),
        ("tile/00/000", Level),
        ("tile/64/000", Level),
        ("tile/256/000", Level),
        ("tile/+1/000", Level),
        ("tile/Entries/000", Level),
        ("tile/data/000", Level),
        ("tile/0/", Index),
        ("tile/0/0", Index),
        ("tile/0/1000", Index),
        ("tile/0/x000/000", Index),
        ("tile/0/x000/x001/000", Index),
        ("tile/0/x001", Index),
        ("tile/0/x001/", Index),
        ("tile/0/001/067", Index),
        ("tile/0/x001/x067", Index),
        ("tile/0/X001/067", Index),
        ("tile/0/000/", Index),
        ("tile/0/000.p", Index),
        ("tile/0/+00", Index),
        ("tile/0/\u{661}0", Index),
        ("tile/0/x018/x446/x744/x073/x709/x551/616", Index),
        ("tile/0/x001/x018/x446/x744/x073/x709/x551/615", Index),
        ("tile/0/000.p/", Width),
        ("tile/0/000.p/0", Width),
        ("tile/0/000.p/256", Width),
        ("tile/0/000.p/01", Width),
        ("tile/0/000.p/1/", Width),
        ("tile/0/000.p/1.p/1", Width),
        ("tile/0/000.p/-1", Width),
    ];
    for (text, error) in rows {
        assert_eq!(TilePath::parse(text), Err(error), "{text:?}");
    }
}

#[test]
fn the_layout_of_each_size() {
    for (size, levels) in vectors()["tile_layout"].as_object().unwrap() {
        let size: u64 = size.parse().unwrap();
        for row in levels.as_array().unwrap() {
            let content = Content::Hashes(row["level"].as_u64().unwrap() as u8);
            let full = row["full"].as_u64().unwrap();
            let path = |index: u64| TilePath::at(content, index, size).map(|path| path.to_string());
            let last = full.checked_sub(1).and_then(path);
            assert_eq!(last.as_deref(), row["last_full_path"].as_str());
            assert_eq!(path(full).as_deref(), row["partial_path"].as_str(), "size {size}");
        }
        assert_eq!(edge(size).len(), if size == 0 { 0 } else { levels.as_array().unwrap().len() + 1 });
    }
}

#[test]
fn a_size_implies_its_files_and_no_others() {
    let there = |text: &str, size| TilePath::parse(text).unwrap().exists_in(size);
    assert!(there("tile/0/273.p/112", 70_000) && there("tile/0/273.p/111", 70_000));
    assert!(!there("tile/0/273.p/113", 70_000) && !there("tile/0/273", 70_000));
    assert!(there("tile/entries/000", 256) && !there("tile/entries/001.p/1", 256));
    assert!(!there("tile/8/000.p/1", MAX_SIZE) && there("tile/7/000.p/127", MAX_SIZE));
    assert_eq!(TilePath::parse("tile/1/001").unwrap().end_leaf(), Some(131_072));
    assert_eq!(TilePath::parse("tile/63/000").unwrap().end_leaf(), None);
    assert_eq!(TilePath::at(Content::Hashes(64), 0, 1), None);
}

#[test]
fn tile_bytes_at_70_000() {
    let tree = family(70_000);
    for (path, expected) in vectors()["tile_sha256_at_70000"].as_object().unwrap() {
        let bytes = tile_bytes(&tree, &TilePath::parse(path).unwrap()).unwrap();
        assert_eq!(hex::encode(Sha256::digest(&bytes)), expected.as_str().unwrap(), "{path}");
    }
    let bundle = TilePath::parse("tile/entries/000").unwrap();
    assert_eq!(tile_bytes(&tree, &bundle), Err(ProveError::OutOfRange));
    let beyond = TilePath::parse("tile/1/001.p/18").unwrap();
    assert!(matches!(tile_bytes(&tree, &beyond), Err(ProveError::Read(_))));
}

#[test]
fn a_tree_read_from_tiles_gives_the_same_proofs() {
    let tree = family(70_000);
    for full_only in [false, true] {
        // With `full_only` the partial level-0 tile is gone and its full form is served in its place.
        let grown = family(70_144);
        let tiles = TileHashes::new(70_000, |path: &TilePath| {
            let served = !full_only || path.is_full() || path.content() != Content::Hashes(0);
            Ok::<_, Infallible>(if served { tile_bytes(&grown, path).ok() } else { None })
        });
        assert_eq!(root(&tiles, 70_000), Ok(tree.root()));
        for index in [0, 1000, 65_535, 65_536, 69_999] {
            assert_eq!(inclusion_proof(&tiles, index, 70_000).unwrap(), inclusion_proof(&tree, index, 70_000).unwrap());
        }
        assert_eq!(consistency_proof(&tiles, 257, 70_000).unwrap(), consistency_proof(&tree, 257, 70_000).unwrap());
        assert_eq!(tiles.hash(0, 70_000), Err(TileError::Outside));
        assert_eq!(tiles.hash(62, u64::MAX), Err(TileError::Outside));
    }
    let missing = TileHashes::new(3, |_: &TilePath| Ok::<_, Infallible>(None));
    assert_eq!(missing.hash(0, 0), Err(TileError::Missing(TilePath::parse("tile/0/000.p/3").unwrap())));
    let short = TileHashes::new(3, |_: &TilePath| Ok::<_, Infallible>(Some(vec![0; 95])));
    assert_eq!(short.hash(0, 0), Err(TileError::WrongLength(TilePath::parse("tile/0/000.p/3").unwrap())));
}

#[test]
fn bundles() {
    let data = &vectors()["entry_bundles"];
    let three = hex::decode(data["tile/entries/000.p/3"]["hex"].as_str().unwrap()).unwrap();
    assert_eq!(bundle::encode(&["entry-0", "entry-1", "entry-2"]).unwrap(), three);
    assert_eq!(bundle::decode(&three, 3).unwrap(), [b"entry-0", b"entry-1", b"entry-2"]);
    assert_eq!(bundle::encode(&[""]).unwrap(), [0, 0]);
    assert_eq!(bundle::decode(&[0, 0], 1).unwrap(), [b""]);
    let full: Vec<String> = (0..256).map(|i| format!("entry-{i}")).collect();
    let full = bundle::encode(&full).unwrap();
    assert_eq!(full.len() as u64, data["full_0_len"].as_u64().unwrap());
    assert_eq!(hex::encode(Sha256::digest(&full)), data["full_0_sha256"].as_str().unwrap());
    use bundle::BundleError::{EntryTooLong, Truncated, Width};
    assert_eq!(bundle::decode(&three, 2), Err(Width));
    assert_eq!(bundle::decode(&three, 4), Err(Width));
    assert_eq!(bundle::decode(&three, 0), Err(Width));
    assert_eq!(bundle::decode(&three, 257), Err(Width));
    for end in (1..three.len()).filter(|end| end % 9 != 0) {
        assert_eq!(bundle::decode(&three[..end], 3), Err(Truncated));
    }
    assert_eq!(bundle::encode::<&[u8]>(&[]), Err(Width));
    assert_eq!(bundle::encode(&vec![""; 257]), Err(Width));
    assert_eq!(bundle::encode(&[vec![0; 65_536]]), Err(EntryTooLong));
    assert!(bundle::encode(&[vec![0; 65_535]]).is_ok());
}

proptest! {
    #[test]
    fn a_path_that_reads_prints_back(text in "tile/(entries|[0-9]{1,2})/(x[0-9]{3}/){0,7}[0-9]{3}(\\.p/[0-9]{1,3})?") {
        if let Ok(path) = TilePath::parse(&text) {
            prop_assert_eq!(path.to_string(), text);
        }
    }

    #[test]
    fn a_path_that_prints_reads_back(level in 0u8..8, index in any::<u64>(), size in any::<u64>()) {
        if let Some(path) = TilePath::at(Content::Hashes(level), index >> (8 * level), size) {
            prop_assert_eq!(TilePath::parse(&path.to_string()), Ok(path));
        }
    }

    #[test]
    fn no_text_panics(text in ".{0,60}", bytes in proptest::collection::vec(any::<u8>(), 0..600), width in any::<u16>()) {
        let _ = TilePath::parse(&text);
        if let Ok(entries) = bundle::decode(&bytes, width) {
            prop_assert_eq!(bundle::encode(&entries).unwrap(), bytes);
        }
    }
}

#[test]
fn a_full_bundle_completes_its_tile_and_those_above_that_end_there() {
    for (bundle, files) in [
        (0, &["tile/entries/000", "tile/0/000"][..]),
        (254, &["tile/entries/254", "tile/0/254"]),
        (255, &["tile/entries/255", "tile/0/255", "tile/1/000"]),
        (511, &["tile/entries/511", "tile/0/511", "tile/1/001"]),
        (65_535, &["tile/entries/x065/535", "tile/0/x065/535", "tile/1/255", "tile/2/000"]),
    ] {
        let found: Vec<_> = completed_by(bundle).map(|path| path.to_string()).collect();
        assert_eq!(found, files);
        assert!(completed_by(bundle).all(|path| path.end_leaf() == Some((bundle + 1) * 256)));
    }
}
