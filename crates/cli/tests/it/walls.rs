//! The import table of `ARCHITECTURE.md`, held against what cargo says.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Package → packages of ours it may import. Dev-dependencies count as well, except for [`BY_TESTS`].
const WALLS: [(&str, &[&str]); 7] = [
    ("countersign-core", &[]),
    ("countersign-tlog", &[]),
    ("countersign-probe", &["countersign-core"]),
    ("countersign-store", &["countersign-core"]),
    ("countersign-engine", &["countersign-core", "countersign-tlog", "countersign-probe", "countersign-store"]),
    ("countersign-server", &["countersign-core", "countersign-engine", "countersign-probe"]),
    (
        "countersign",
        &[
            "countersign-core",
            "countersign-tlog",
            "countersign-probe",
            "countersign-store",
            "countersign-engine",
            "countersign-server",
        ],
    ),
];

/// What tests alone may import: those of the read API write a log whose tiles are on disk only, which takes the sequencer's
/// own settings.
const BY_TESTS: [(&str, &str); 1] = [("countersign-server", "countersign-tlog")];

fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .output()
        .expect("cargo runs");
    let meta: serde_json::Value = serde_json::from_slice(&out.stdout).expect("cargo prints JSON");
    let packages = meta["packages"].as_array().expect("packages");
    let names = |package: &serde_json::Value| {
        let name = package["name"].as_str().expect("name").to_owned();
        let list = package["dependencies"].as_array().expect("dependencies").iter();
        let exempt = |one: &&serde_json::Value| {
            one["kind"] == "dev" && one["name"].as_str().is_some_and(|import| BY_TESTS.contains(&(&name, import)))
        };
        let imports =
            list.filter(|one| !exempt(one)).filter_map(|one| one["name"].as_str()).map(str::to_owned).collect();
        (name, imports)
    };
    packages.iter().map(names).collect()
}

#[test]
fn no_crate_imports_across_a_wall() {
    let imports = imports();
    let ours: BTreeSet<&str> = WALLS.iter().map(|wall| wall.0).collect();
    assert_eq!(imports.keys().map(String::as_str).collect::<BTreeSet<_>>(), ours, "every crate stands in the table");
    for (name, allowed) in WALLS {
        for import in imports[name].iter().filter(|import| ours.contains(import.as_str()) && *import != name) {
            assert!(allowed.contains(&import.as_str()), "{name} may not import {import}");
        }
    }
}

/// A second text beside the README would fall behind it.
#[test]
fn the_readme_of_a_crate_is_its_documentation() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (package, _) in WALLS {
        let folder = crates.join(package.strip_prefix("countersign-").unwrap_or("cli"));
        assert!(folder.join("README.md").exists(), "{package}");
        let root = ["lib.rs", "main.rs"].map(|name| std::fs::read_to_string(folder.join("src").join(name)));
        let root = root.into_iter().flatten().next().expect("a crate's root");
        assert!(root.contains("#![doc = include_str!(\"../README.md\")]\n") && !root.contains("//!"), "{package}");
    }
}

/// A runtime, randomness, sockets, and the system itself: none of them exists where WASM runs.
const BANNED: [&str; 9] =
    ["tokio ", "getrandom ", "hyper ", "socket2 ", "mio ", "reqwest ", "hickory-resolver ", "rustix ", "libc "];

#[test]
fn what_outsiders_verify_with_has_no_runtime_and_no_randomness() {
    // The log's formats and proofs are the crate without features; its writer is one.
    for pure in ["countersign-core", "countersign-tlog"] {
        let out = Command::new(env!("CARGO"))
            .args(["tree", "-p", pure, "-e", "normal", "--prefix", "none", "--offline"])
            .output()
            .expect("cargo runs");
        let tree = String::from_utf8(out.stdout).expect("text");
        assert!(tree.contains("ed25519-dalek"), "the tree was read");
        for banned in BANNED {
            assert!(!tree.lines().any(|line| line.starts_with(banned)), "{pure} may not depend on {banned}");
        }
    }
}

/// Sentences that the documents owe their readers. Each is asked for where somebody may draw the wrong conclusion.
#[test]
fn the_documents_say_what_an_answer_does_not_promise() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let rows = [
        ("decision.md", "Invocable promises no successful call"),
        ("decision.md", "that does not prove that nothing was appended"),
        ("log.md", "Keep your own copy of the answer"),
        ("log.md", "No long-term storage of evidence is promised"),
    ];
    for (file, sentence) in rows {
        let text = std::fs::read_to_string(root.join(file)).expect("the document");
        assert!(text.contains(sentence), "{file} no longer says: {sentence}");
    }
}
