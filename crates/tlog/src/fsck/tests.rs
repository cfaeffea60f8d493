use std::collections::HashMap;
use std::convert::Infallible;

use super::*;
use crate::checkpoint::Origin;
use crate::tile::{edge, tile_bytes};

/// Every file of the log of `entry-<n>`, as a static server would hold it: full files and the edge's partial ones.
struct Stored {
    checkpoint: Checkpoint,
    files: HashMap<TilePath, Vec<u8>>,
}

impl Stored {
    fn new(size: u64) -> Self {
        let entries: Vec<Vec<u8>> = (0..size).map(|n| format!("entry-{n}").into_bytes()).collect();
        let mut tree = MemoryTree::new();
        for entry in &entries {
            tree.push(leaf_hash(entry));
        }
        let mut files = HashMap::new();
        for last in edge(size) {
            for number in 0..=last.index() {
                let path = TilePath::at(last.content(), number, size).unwrap();
                let bytes = match path.content() {
                    Content::Entries => {
                        let first = number as usize * 256;
                        bundle::encode(&entries[first..first + usize::from(path.width())]).unwrap()
                    }
                    Content::Hashes(_) => tile_bytes(&tree, &path).unwrap(),
                };
                files.insert(path, bytes);
            }
        }
        let checkpoint = Checkpoint::new(Origin::parse("log.example.test/a").unwrap(), size, tree.root());
        Self { checkpoint, files }
    }

    fn fsck(&self) -> Result<Report, FsckError<Infallible>> {
        fsck(&self.checkpoint, |path| Ok(self.files.get(path).cloned()), |_, _| ())
    }
}

#[test]
fn a_whole_log_is_whole_and_gives_the_published_root() {
    let sizes = [
        (0, (0, 0, 0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (1, (1, 1, 1), "40766b20"),
        (3, (3, 1, 1), "a64bf26e09128f6fe2fe6f8b2d8c801e166b57c047a7cd9b2b809e7a96a2f1cb"),
        (256, (256, 1, 2), "f85f4ead34080710b4d1e808301543aaab81aa04deb88599350dc26a4f2f58de"),
        (257, (257, 2, 3), "918b1cec64f317c76e3cf55c0536841c039eff06772ebb8828ce7c176028b5ac"),
        (1000, (1000, 4, 5), "d03d63b772af99019817ee3e018286d36a26161bdb5bfe8228e92c02abe9115d"),
        (65_537, (65_537, 257, 257 + 1 + 1), "b63007bf60359bdcbc1d1ef1ed256fe359d2b9d15aba68a3cee30a832f40c79e"),
    ];
    for (size, (entries, bundles, tiles), root) in sizes {
        let stored = Stored::new(size);
        assert!(stored.checkpoint.root.to_string().starts_with(root), "{size}");
        assert_eq!(stored.fsck(), Ok(Report { entries, bundles, tiles }), "{size}");
    }
}

#[test]
fn every_file_is_looked_at_and_every_change_is_named() {
    let whole = Stored::new(600);
    assert_eq!(whole.files.len(), 3 + 3 + 1);
    for path in whole.files.keys().copied().collect::<Vec<_>>() {
        let mut stored = Stored { checkpoint: whole.checkpoint.clone(), files: whole.files.clone() };
        *stored.files.get_mut(&path).unwrap().last_mut().unwrap() ^= 1;
        // A changed entry shows in the tile above it.
        let named = TilePath::at(Content::Hashes(0), path.index(), 600).unwrap();
        let expected = if path.content() == Content::Entries { named } else { path };
        assert_eq!(stored.fsck(), Err(FsckError::Tile(expected)), "{path}");
        stored.files.remove(&path);
        assert_eq!(stored.fsck(), Err(FsckError::Missing(path)));
        stored.files.insert(path, Vec::new());
        assert!(matches!(stored.fsck(), Err(FsckError::Bundle(..) | FsckError::Tile(_))), "{path}");
    }
    let mut other = Stored { checkpoint: whole.checkpoint.clone(), files: whole.files.clone() };
    other.checkpoint.root = leaf_hash(b"another");
    assert_eq!(other.fsck(), Err(FsckError::Root { found: whole.checkpoint.root }));
}

#[test]
fn a_full_file_stands_in_for_its_beginning() {
    let (older, mut newer) = (Stored::new(300), Stored::new(600));
    newer.checkpoint = older.checkpoint.clone();
    newer.files.retain(|path, _| path.is_full() || path.content() == Content::Hashes(1));
    // Of 300 leaves, level 1 has one hash, and the newer log's partial of two is another file.
    assert_eq!(newer.fsck(), Err(FsckError::Missing(TilePath::parse("tile/1/000.p/1").unwrap())));
    newer.files.extend(older.files.into_iter().filter(|(path, _)| path.content() == Content::Hashes(1)));
    let mut seen = Vec::new();
    let report = fsck(
        &newer.checkpoint,
        |path| Ok::<_, Infallible>(newer.files.get(path).cloned()),
        |index, entry| {
            seen.push((index, entry.to_vec()));
        },
    );
    assert_eq!(report, Ok(Report { entries: 300, bundles: 2, tiles: 3 }));
    assert_eq!((seen.len(), &seen[299]), (300, &(299, b"entry-299".to_vec())));
}
