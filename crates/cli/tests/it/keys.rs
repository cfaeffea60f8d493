//! Keys and their leaves, through the real binary.

use std::path::Path;

use countersign_core::sign::{KeyFile, seal};
use countersign_core::time::Timestamp;
use serde_json::{Map, Value};

use super::common::{Server, run, told};

fn check(data: &Path, name: &str) -> Value {
    let (_, answer) = told(data, &["check", "https://one.localhost/", "--log-misses"]);
    std::fs::write(data.join(name), answer.to_string()).expect("written");
    answer
}

fn keys(data: &Path) -> Vec<Value> {
    let (code, keys) = told(data, &["keys", "list"]);
    assert_eq!(code, Some(0), "{keys}");
    let mut keys = keys.as_array().expect("a list").clone();
    keys.sort_by_key(|key| key["from"].to_string());
    keys
}

/// A decision of this key, dated `at`.
fn forged(data: &Path, id: &str, at: &str) {
    let file = std::fs::read(data.join(format!("keys/decision-{id}.json"))).expect("a key file");
    let key = KeyFile::parse(&file).expect("a key file").key;
    let document = Map::from_iter([("schema".to_owned(), Value::from("countersign/decision/v1"))]);
    let bytes = seal(document, Timestamp::parse(at).expect("a time"), &key).expect("sealed");
    std::fs::write(data.join("forged.json"), bytes).expect("written");
}

#[test]
fn after_a_rotation_old_decisions_verify_and_what_is_dated_outside_a_keys_time_does_not() {
    let data = tempfile::tempdir().expect("a folder");
    let folder = data.path();
    let before = check(folder, "before.json");
    assert_eq!(run(folder, &["keys", "rotate"]).status.code(), Some(0));
    let after = check(folder, "after.json");
    let keys = keys(folder);
    let [old, new] = keys.as_slice() else { panic!("{keys:?}") };
    assert_eq!((&before["keyId"], &after["keyId"]), (&old["keyId"], &new["keyId"]));
    assert_eq!((&old["until"], &new["until"]), (&new["from"], &Value::Null));
    // 0 the old key's beginning, 1 the first decision, 2 the old key's end, 3 the new key's beginning, 4 the second.
    assert_eq!(old["logged"], serde_json::json!({"from": 0, "until": 2}));
    assert_eq!(new["logged"], serde_json::json!({"from": 3, "until": null}));
    assert_eq!(after["pq_trust"]["transparency"]["index"], 4);
    for name in ["before.json", "after.json"] {
        let (code, said) = told(folder, &["verify", name]);
        assert_eq!((code, said["key_validity"].is_object()), (Some(0), true), "{said}");
    }

    // By somebody else, who has the public key, the log's trust policy and the receipt of the key.
    let (old_id, public) = (old["keyId"].as_str().expect("text"), old["publicKey"].as_str().expect("text"));
    assert_eq!(run(folder, &["receipt", "export", "--key", old_id, "--out", "key.json"]).status.code(), Some(0));
    let (code, said) = told(folder, &["verify", "key.json", "--max-age", "1h"]);
    assert_eq!(
        (code, &said["key"]["until"], &said["document"]["signature"]),
        (Some(0), &old["until"], &"valid".into())
    );
    let elsewhere = |file: &str, more: &[&str]| told(folder, &[&["verify", file, "--key", public], more].concat());
    let known = ["--key-receipt", "key.json", "--trust", "log/trust", "--max-age", "1h"];
    let (code, said) = elsewhere("before.json", &known);
    assert_eq!((code, &said["key_validity"]["until"]), (Some(0), &old["until"]), "{said}");
    assert!(elsewhere("before.json", &[]).1["key_validity"].is_null(), "nothing is known without the receipt");

    let (from, until) = (old["from"].as_str().expect("text"), old["until"].as_str().expect("text"));
    let moved = |at: &str, by: i64| Timestamp::parse(at).expect("a time").plus_millis(by).to_string();
    for (at, wanted) in [(from.to_owned(), 0), (until.to_owned(), 0), (moved(from, -1000), 1), (moved(until, 1000), 1)]
    {
        forged(folder, old_id, &at);
        let own = told(folder, &["verify", "forged.json"]);
        let theirs = elsewhere("forged.json", &["--key-receipt", "key.json"]);
        for (code, said) in [own, theirs] {
            assert_eq!(code, Some(wanted), "{at} {said}");
            assert_eq!(said["code"] == "outside_key_validity", wanted == 1, "{said}");
        }
        assert_eq!(elsewhere("forged.json", &[]).0, Some(0), "the signature holds");
    }
    let (code, said) = elsewhere("before.json", &["--key-receipt", "before-receipt.json"]);
    assert_eq!(code, Some(2), "an absent file: {said}");
    assert_eq!(
        run(folder, &["receipt", "export", "before.json", "--out", "decision-receipt.json"]).status.code(),
        Some(0)
    );
    let (code, said) = elsewhere("before.json", &["--key-receipt", "decision-receipt.json"]);
    assert_eq!((code, &said["code"]), (Some(2), &"not_a_key_receipt".into()), "{said}");
}

#[test]
fn keys_are_made_and_rotated_without_a_log_and_their_leaves_follow() {
    let data = tempfile::tempdir().expect("a folder");
    let folder = data.path();
    for command in ["new", "rotate"] {
        let out = run(folder, &["keys", command]);
        let talk = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(0), "{talk}");
        assert!(talk.contains("log: unavailable: ") && talk.contains("hint: run `countersign log init`"), "{talk}");
    }
    assert!(!folder.join("log").exists(), "a log's name is for good, so a key does not make one");
    let logged = |keys: &[Value]| keys.iter().map(|key| key["logged"].clone()).collect::<Vec<_>>();
    let none = serde_json::json!({"from": null, "until": null});
    assert_eq!(logged(&keys(folder)), [none.clone(), none]);
    let id = keys(folder)[0]["keyId"].as_str().expect("text").to_owned();
    assert_eq!(run(folder, &["receipt", "export", "--key", &id]).status.code(), Some(4), "not yet");
    assert_eq!(run(folder, &["receipt", "export", "--key", "0011"]).status.code(), Some(2), "no such key");

    let (code, status) = told(folder, &["log", "init", "--origin", "log.example.test/mine"]);
    assert_eq!((code, &status["size"]), (Some(0), &Value::from(3)), "{status}");
    let places = [serde_json::json!({"from": 0, "until": 1}), serde_json::json!({"from": 2, "until": null})];
    assert_eq!(logged(&keys(folder)), places);
    assert_eq!(told(folder, &["log", "fsck"]).0, Some(0));
    let server = Server::start(folder, &["log", "serve"]);
    let url = format!("http://{}/log", server.address);
    let (code, seen) = told(folder, &["log", "monitor", &url, "--trust", "log/trust"]);
    assert_eq!((code, &seen["size"]), (Some(0), &Value::from(3)), "{seen}");
}

#[test]
fn a_new_signing_key_is_named_and_one_in_the_place_of_a_lost_one_is_a_warning() {
    let data = tempfile::tempdir().expect("a folder");
    let talk = || {
        let out = run(data.path(), &["check", "https://one.localhost/"]);
        String::from_utf8(out.stderr).expect("text")
    };
    let named = |id: &Value| format!("signing key {} was made now; ", id.as_str().expect("text"));
    let first = talk();
    let before = keys(data.path())[0]["keyId"].clone();
    assert!(first.contains(&named(&before)) && !first.contains("warning"), "{first}");
    let kept = talk();
    assert!(!kept.contains("signing key"), "said once: {kept}");
    let file = format!("keys/decision-{}.json", before.as_str().expect("text"));
    std::fs::remove_file(data.path().join(file)).expect("lost");
    let lost = talk();
    let after = keys(data.path())[0]["keyId"].clone();
    assert!(after != before && lost.contains(&named(&after)), "{lost}");
    let warning = "warning: decisions were signed here before, by a key that is not in ";
    assert_eq!(lost.matches(warning).count(), 1, "{lost}");
    let kept = talk();
    assert!(!kept.contains("signing key") && !kept.contains("warning"), "{kept}");
}
