//! Keys that signed here and are gone. Nothing here can bring one back; who runs the place should know before the next
//! signature is made by another.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::Keys;
use crate::log::Place;

/// The ids of keys that a kept receipt of the log or one of these signed documents names, and that are not among `keys`.
pub fn lost<'d>(keys: &Keys, place: &Place, documents: impl IntoIterator<Item = &'d [u8]>) -> BTreeSet<String> {
    let mut named: BTreeSet<String> = documents.into_iter().filter_map(signer).chain(logged(place)).collect();
    for file in keys.all() {
        named.remove(&file.key.id().to_string());
    }
    named
}

fn signer(document: &[u8]) -> Option<String> {
    let document: Value = serde_json::from_slice(document).ok()?;
    document["keyId"].as_str().and_then(id)
}

/// Every change of a key has a receipt there, named after the key: `ID-from.json`, `ID-until.json`.
fn logged(place: &Place) -> Vec<String> {
    let files = fs::read_dir(place.key_receipts()).into_iter().flatten().filter_map(Result::ok);
    let named = |file: fs::DirEntry| file.file_name().to_str()?.split_once('-').and_then(|(name, _)| id(name));
    files.filter_map(named).collect()
}

/// A text in the form of a key's id: 16 digits of hexadecimal.
fn id(text: &str) -> Option<String> {
    let digits = text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    digits.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use countersign_core::sign::Purpose;
    use serde_json::json;

    use super::*;
    use crate::env::Env;

    #[test]
    fn a_key_is_lost_that_a_receipt_or_a_document_names_and_no_file_holds() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::new(folder.path());
        let mut keys = Keys::load(folder.path()).unwrap();
        let here = keys.current(Purpose::Decision, &Env::Real).unwrap().id().to_string();
        fs::create_dir_all(place.key_receipts()).unwrap();
        for name in [&here, "00112233445566aa"] {
            fs::write(place.key_receipts().join(format!("{name}-from.json")), "").unwrap();
        }
        fs::write(place.key_receipts().join("notes-of-mine.txt"), "").unwrap();
        let documents: Vec<Vec<u8>> =
            [json!({"keyId": here}), json!({"keyId": "ffeeddccbbaa9988"}), json!({"keyId": 1})]
                .iter()
                .map(|document| document.to_string().into_bytes())
                .chain([b"no JSON".to_vec()])
                .collect();
        let lost = lost(&keys, &place, documents.iter().map(Vec::as_slice));
        assert_eq!(lost.into_iter().collect::<Vec<_>>(), ["00112233445566aa", "ffeeddccbbaa9988"]);
    }
}
