#![expect(clippy::disallowed_methods, reason = "tests are their own configuration")]

use countersign_core::leaf::LeafType;

use super::*;
use crate::log::LogBook;

#[test]
fn a_cosignature_that_does_not_hold_or_is_of_an_unknown_key_is_not_kept() {
    use countersign_tlog::key::{Algorithm, KeyName, SignerKey};
    let data = tempfile::tempdir().unwrap();
    let book = LogBook::one_shot(data.path(), Arc::new(Env::Real));
    book.append(LeafType::decision(), b"{\"a\":1}").unwrap();
    let log = book.hold().unwrap();
    let signer = |name: &str, seed: u8| {
        SignerKey::from_seed(KeyName::parse(name).unwrap(), Algorithm::Ed25519Cosignature, &[seed; 32]).unwrap()
    };
    let (known, unknown) = (signer("w/1", 1), signer("w/2", 2));
    let keys = vec![known.verifier().clone()];
    let services = Services::new(&[], countersign_probe::Limits::default()).unwrap();
    let named = Named { url: ConfiguredUrl::from_configuration("http://127.0.0.1:1/").unwrap(), keys: keys.clone() };
    let cosigners = Cosigners::new(vec![named], services, Arc::new(Env::Real), data.path(), Box::new(|_, _| ()));
    let note = log.head().note.clone();
    let text = note.text().to_owned();
    let other = known.sign(&text.replacen("\n1\n", "\n2\n", 1), 5).unwrap();
    for lines in [vec![], vec![unknown.sign(&text, 5).unwrap()], vec![other]] {
        assert_eq!(cosigners.collect(&note, &lines, &keys), None);
        assert_eq!(cosigners.cosigned(), None);
    }
    assert_eq!(cosigners.collect(&note, &[known.sign(&text, 5).unwrap()], &keys), Some(1), "the control");
    assert!(data.path().join("cosigned").exists());
}
