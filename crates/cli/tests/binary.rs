//! The binary as a person runs it: what it prints matters less here than how it ends.

use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(args)
        .current_dir(&folder)
        .env("COUNTERSIGN_DATA", folder.path())
        .output()
        .expect("the binary starts")
}

fn code(args: &[&str]) -> Option<i32> {
    run(args).status.code()
}

#[test]
fn the_demo_holds() {
    let out = run(&["demo", "--json", "--quiet"]);
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("one JSON value");
    assert_eq!(out.status.code(), Some(0), "{told:#}");
    assert_eq!(told["tampered_refused"], true);
    assert_eq!(told["checks"].as_array().map(Vec::len), Some(18));
}

#[test]
fn exit_codes_are_the_documented_ones() {
    assert_eq!(code(&["keys", "new"]), Some(0));
    assert_eq!(code(&["check"]), Some(2), "usage");
    assert_eq!(
        code(&["check", "https://a.example/", "--max-price-usd", "cheap"]),
        Some(2),
        "a bound that is no number"
    );
    for url in ["http://a.example/", "https://127.0.0.1/", "https://u@a.example/", "not a url"] {
        assert_eq!(code(&["check", url]), Some(3), "{url}");
    }
    assert_eq!(code(&["check", "https://nobody.localhost/"]), Some(4), "loopback is closed unless a lab opens it");
    assert_eq!(code(&["verify", "absent.json"]), Some(3));
}
