use countersign_tlog::key::{Algorithm, KeyName, SignerKey};

use super::*;

/// A log's checkpoint of one entry with an extension line, signed by one of its two keys.
fn extended(by: Algorithm) -> Result<Option<Last>, MemoryError> {
    let folder = tempfile::tempdir().unwrap();
    let name = KeyName::parse("log.example.test/a").unwrap();
    let key = |algorithm| SignerKey::from_seed(name.clone(), algorithm, &[7; 32]).unwrap();
    let keys = [Algorithm::Ed25519, Algorithm::MlDsa44].map(key);
    let lines: Vec<String> = keys.iter().map(|key| format!("log {}\n", key.verifier())).collect();
    let policy = Policy::parse(format!("{}quorum none\n", lines.concat()).as_bytes()).unwrap();
    let root = "bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0=";
    let text = format!("log.example.test/a\n1\n{root}\nby the way\n");
    let signature = key(by).sign(&text, 1_788_253_200).unwrap();
    let memory = Memory::in_file(&folder.path().join("seen"));
    std::fs::write(folder.path().join("seen"), format!("{text}\n{signature}\n")).unwrap();
    memory.last(&policy)
}

/// A signature of type 0x06 leaves extension lines out, so they may be anybody's.
#[test]
fn extension_lines_are_remembered_only_under_a_signature_that_covers_them() {
    assert_eq!(extended(Algorithm::Ed25519).unwrap().unwrap().size(), 1, "the control");
    let refused = extended(Algorithm::MlDsa44).unwrap_err();
    assert!(matches!(refused, MemoryError::Checkpoint(RejectError::ExtensionsNotSigned(_))), "{refused}");
    assert_eq!(refused.kind(), RefusalKind::Trust);
}

#[test]
fn commitments_that_are_gone_are_too_short() {
    let folder = tempfile::tempdir().unwrap();
    let memory = Memory::in_file(&folder.path().join("seen"));
    assert_eq!(memory.commitments(1).unwrap_err().code(), "state_short");
    assert!(memory.commitments(0).unwrap().is_empty(), "the control");
}
