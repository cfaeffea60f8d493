//! Every text of the log that a stranger may hand us: notes, checkpoints, proofs, policies, tile paths.
//! Properties: no panic, and what reads prints back as it was.
#![no_main]

use countersign_tlog::{checkpoint::Checkpoint, note::Note, policy::Policy, proof::TlogProof, tile::TilePath};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(note) = Note::parse(bytes) {
        assert_eq!(note.to_string().as_bytes(), bytes);
        let _ = Checkpoint::parse(note.text());
    }
    let _ = TlogProof::parse(bytes);
    let _ = Policy::parse(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(path) = TilePath::parse(text) {
        assert_eq!(path.to_string(), text);
    }
    if let Ok(checkpoint) = Checkpoint::parse(text) {
        assert_eq!(Checkpoint::parse(&checkpoint.to_string()).ok().as_ref(), Some(&checkpoint));
    }
});
