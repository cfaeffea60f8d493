//! The settings of the guarded door, through the binary and a name server of our own. Nothing is dialled: every
//! address is refused, and the sentence says by which rule.

use std::process::Output;

use countersign_probe::testkit::dns::{NameServer, Reply, a, aaaa};
use serde_json::{Value, json};

use super::common::{command, run};

/// A folder of the test's own, and a name server with a few names in it.
struct Place {
    folder: tempfile::TempDir,
    names: NameServer,
}

impl Place {
    async fn new() -> Self {
        let zone = [
            ("private.example", a("10.0.0.1")),
            ("translated.example", aaaa("64:ff9b::a00:1")),
            ("local-use.example", aaaa("64:ff9b:1:a00:0:100::")),
        ]
        .map(|(name, record)| (name.to_owned(), vec![Reply::records([record])]));
        let names = NameServer::start(zone).await.expect("a free port");
        Self { folder: tempfile::tempdir().expect("a folder"), names }
    }

    fn run(&self, args: &[&str], variables: &[(&str, &str)]) -> Output {
        command(self.folder.path(), args).envs(variables.iter().copied()).output().expect("the binary starts")
    }

    /// The refusal of a check: its code, its sentence and how the program ended.
    fn refusal(&self, host: &str, args: &[&str], variables: &[(&str, &str)]) -> (String, String, Option<i32>) {
        let (url, server) = (format!("https://{host}/paid"), self.names.address().to_string());
        let out = self.run(&[&["check", &url, "--json", "--name-server", &server], args].concat(), variables);
        let told: Value = serde_json::from_slice(&out.stdout).expect("one JSON value");
        let word = |name: &str| told["transport"][name].as_str().unwrap_or("-").to_owned();
        (word("refused"), word("reason"), out.status.code())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn denied_blocks_and_the_name_server_are_in_force() {
    let place = Place::new().await;
    let refused = |code: &str, why: &str| (code.to_owned(), why.to_owned(), Some(4));
    let private = refused("address_refused", "10.0.0.1 is in 10.0.0.0/8 (private)");
    assert_eq!(place.refusal("private.example", &[], &[]), private, "positive control: our name server was asked");
    let asked = place.names.asked("private.example");
    assert!(
        (2..=4).contains(&asked),
        "one question for each family, and again for the path beside unless cached: {asked}"
    );
    let missing = refused("name_not_found", "there is no name missing.example");
    assert_eq!(place.refusal("missing.example", &[], &[]), missing);
    let denied = refused("address_refused", "10.0.0.1 is in 10.0.0.0/16 (denied by configuration)");
    assert_eq!(place.refusal("private.example", &["--deny-address", "10.0.0.0/16"], &[]), denied);
    let variable = [("COUNTERSIGN_DENY_ADDRESSES", "192.0.2.0/24,10.0.0.0/16")];
    assert_eq!(place.refusal("private.example", &["--deny-address", "198.51.100.7"], &variable), denied);
    let file = "deny_addresses = [\"10.0.0.0/16\"]\n";
    std::fs::write(place.folder.path().join("countersign.toml"), file).expect("written");
    assert_eq!(place.refusal("private.example", &[], &[]), denied);
}

/// What is behind a prefix is judged as what it becomes; without the setting the whole prefix is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_translated_address_is_judged_as_what_it_becomes() {
    let place = Place::new().await;
    let sentence = |host: &str, args: &[&str]| place.refusal(host, args, &[]).1;
    for (host, address, prefix) in [
        ("translated.example", "64:ff9b::a00:1", "64:ff9b::/96"),
        ("local-use.example", "64:ff9b:1:a00:0:100::", "64:ff9b:1::/48"),
    ] {
        assert_eq!(sentence(host, &[]), format!("{address} is in outside 2000::/3 (not global unicast)"));
        assert_eq!(sentence(host, &["--nat64", prefix]), format!("{address} is in 10.0.0.0/8 (private)"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn config_shows_the_door_and_a_garbled_setting_is_usage() {
    let place = Place::new().await;
    std::fs::write(place.folder.path().join("door.toml"), "nat64 = [\"64:ff9b::/96\"]\n").expect("written");
    let args = ["config", "--json", "--config", "door.toml", "--deny-address", "198.51.100.0/24"];
    let out =
        place.run(&args, &[("COUNTERSIGN_NAME_SERVER", "192.0.2.53"), ("COUNTERSIGN_DENY_ADDRESSES", "192.0.2.0/24")]);
    let told: Value = serde_json::from_slice(&out.stdout).expect("one JSON value");
    let settings = [
        ("name_server", json!("192.0.2.53:53"), "COUNTERSIGN_NAME_SERVER"),
        ("deny_addresses", json!(["192.0.2.0/24", "198.51.100.0/24"]), "COUNTERSIGN_DENY_ADDRESSES, flag"),
        ("nat64", json!(["64:ff9b::/96"]), "door.toml"),
        ("log_misses", json!(false), "default"),
    ];
    for (name, value, from) in settings {
        assert_eq!(told[name], json!({"value": value, "from": from}), "{name}");
    }
    let bare = place.run(&["config", "--json"], &[("COUNTERSIGN_LOG_MISSES", "true")]);
    let bare: Value = serde_json::from_slice(&bare.stdout).expect("one JSON value");
    let values = ["name_server", "deny_addresses", "log_misses"].map(|name| bare[name]["value"].clone());
    assert_eq!(values, [json!(null), json!([]), json!(true)]);
    for (flag, value) in
        [("--deny-address", "10.0.0.1/8"), ("--nat64", "10.0.0.0/8"), ("--name-server", "ns.example.com")]
    {
        let out = place.run(&["config", flag, value], &[]);
        let told = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(
            (out.status.code(), told.starts_with(&format!("error: {flag}: `{value}`"))),
            (Some(2), true),
            "{told}"
        );
    }
}

/// `docs/settings.md` names every setting with its variable.
#[test]
fn the_document_of_settings_is_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let printed = String::from_utf8(run(folder.path(), &["config"]).stdout).expect("text");
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");
    let document = std::fs::read_to_string(document).expect("the document");
    let told: Vec<_> = document.lines().filter(|line| line.starts_with("| `")).collect();
    assert_eq!(told.len(), printed.lines().count(), "one row a setting");
    for line in printed.lines() {
        let (name, variable) = (line.split_whitespace().next(), line.rsplit(' ').next());
        let row = format!("| `{}` | `{}` |", name.unwrap_or_default(), variable.unwrap_or_default());
        assert!(told.iter().any(|one| one.starts_with(&row)), "{row}");
    }
}
