//! What people and programs read, whole: a change of any line shows in a diff of `snapshots/`.
//!
//! `INSTA_UPDATE=always cargo test -p countersign --test it shapes` writes them anew. What differs from run to run stands
//! in square brackets.

use std::path::Path;
use std::process::Output;

use insta::{Settings, assert_snapshot};
use serde_json::Value;

use super::common::{Lab, run};

/// A port on which nobody listens; the system gives out none below 32768.
const DEAD: &str = "https://dead.localhost:1025/paid";

/// What differs from run to run, and what stands in its place.
const VARIABLE: [(&str, &str); 12] = [
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "[time]"),
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "[id]"),
    (r"\b[0-9a-f]{64}\b", "[sha256]"),
    (r"\b[0-9a-f]{16}\b", "[key id]"),
    (r"\+[0-9a-f]{8}\b", "+[key hash]"),
    (r"[A-Za-z0-9+/]{86}==", "[signature]"),
    (r"[A-Za-z0-9+/]{43}=", "[32 bytes]"),
    (r"(localhost|127\.0\.0\.1):\d{5}\b", "$1:[port]"),
    (r#"/[a-z2-7]{20}""#, r#"/[made up]""#),
    (r#""(latency_ms|age_s|observed_age_s)": \d+"#, r#""$1": [number]"#),
    (r"\d+ MiB free", "[number] MiB free"),
    (r#"/tmp/[^ :;,"\n]*"#, "[folder]"),
];

fn snapshots(take: impl FnOnce()) {
    let mut settings = Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    VARIABLE.iter().for_each(|(variable, shown)| settings.add_filter(variable, *shown));
    settings.bind(take);
}

/// Standard output, and after it the exit code and the talk where there is any. JSON is shown with one member a line.
fn whole(out: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    let said = text(&out.stdout);
    let said = match serde_json::from_str::<Value>(&said) {
        Ok(value) => serde_json::to_string_pretty(&short(value)).expect("JSON") + "\n",
        Err(_) => said,
    };
    let exit = out.status.code().expect("an exit code");
    format!("{said}--- exit {exit}\n{}", text(&out.stderr))
}

/// A whole document or checkpoint inside a receipt is shown by its name alone.
fn short(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > 250 => "[whole text]".into(),
        Value::Array(items) => items.into_iter().map(short).collect(),
        Value::Object(members) => members.into_iter().map(|(name, member)| (name, short(member))).collect(),
        other => other,
    }
}

/// Of one mode, whatever the mask of whoever runs the tests.
fn folder() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).expect("ours");
    folder
}

/// A first check, in a data directory of its own. On a busy machine the path asked beside the URL may not have answered
/// or been kept in time, and the answer says so; then it is another first check that shows the usual shape.
fn first(lab: &Lab, unusual: &str, args: &[&str]) -> String {
    let look = || whole(&lab.check(folder().path(), args));
    (0..20).map(|_| look()).find(|said| !said.contains(unusual)).expect("the lab answers")
}

/// Where the host answers, so does the other path.
const NOT_ANSWERED: &str = "other paths of the host";
/// Where it does not, that is kept all the same.
const NOT_KEPT: &str = "could not be kept in time";

#[test]
fn a_check_for_people() {
    let lab = Lab::start();
    snapshots(|| {
        let told = |seller: &str, more: &[&str]| first(&lab, NOT_ANSWERED, &[more, &[&lab.url(seller)]].concat());
        assert_snapshot!("check_good", told("honest-v2", &[]));
        assert_snapshot!("check_several_options", told("honest-networks", &[]));
        assert_snapshot!("check_two_stories", told("two-stories", &[]));
        assert_snapshot!("check_bad", told("amount-dollars", &[]));
        assert_snapshot!("check_outside_bounds", told("honest-v2", &["--max-price-usd", "0.005"]));
        assert_snapshot!("check_redirect", told("redirect-away", &[]));
        assert_snapshot!("check_refused", first(&lab, NOT_KEPT, &[&lab.url("expired-certificate")]));
        assert_snapshot!("check_dead", first(&lab, NOT_KEPT, &[DEAD]));
    });
}

#[test]
fn a_check_for_programs() {
    let lab = Lab::start();
    snapshots(|| {
        let told = |seller: &str| first(&lab, NOT_ANSWERED, &["--json", &lab.url(seller)]);
        assert_snapshot!("check_good_json", told("honest-v2"));
        assert_snapshot!("check_bad_json", told("amount-dollars"));
        assert_snapshot!("check_redirect_json", told("redirect-away"));
        assert_snapshot!("check_dead_json", first(&lab, NOT_KEPT, &["--json", DEAD]));
    });
}

/// A data directory after a check, whose decision and receipt are in it, and one that selected nothing.
fn after_a_check(lab: &Lab, folder: &Path) {
    let out = lab.check(folder, &["--out", "decision.json", "--receipt", "receipt.json", &lab.url("honest-v2")]);
    assert_eq!(out.status.code(), Some(0));
    let decision = std::fs::read_to_string(folder.join("decision.json")).expect("the decision");
    let exported = run(folder, &["receipt", "export", "receipt.json", "--proof", "--out", "receipt.tlog-proof"]);
    assert_eq!(exported.status.code(), Some(0));
    let nothing = ["--out", "nothing.json", "--max-price-usd", "0.001", &lab.url("honest-v2")];
    assert_eq!(lab.check(folder, &nothing).status.code(), Some(1));
    std::fs::write(folder.join("changed.json"), decision.replacen("10000", "90000", 1)).expect("written");
}

#[test]
fn what_is_said_of_a_file_and_of_a_data_directory() {
    let (lab, data) = (Lab::start(), folder());
    after_a_check(&lab, data.path());
    snapshots(|| {
        let told = |args: &[&str]| whole(&run(data.path(), args));
        assert_snapshot!("verify_decision", told(&["verify", "decision.json"]));
        assert_snapshot!("verify_decision_json", told(&["verify", "decision.json", "--json"]));
        assert_snapshot!("verify_nothing_selected", told(&["verify", "nothing.json"]));
        assert_snapshot!("verify_nothing_selected_json", told(&["verify", "nothing.json", "--json"]));
        assert_snapshot!("verify_receipt", told(&["verify", "receipt.json"]));
        assert_snapshot!("verify_receipt_json", told(&["verify", "receipt.json", "--json"]));
        assert_snapshot!("verify_changed", told(&["verify", "changed.json"]));
        assert_snapshot!("verify_changed_json", told(&["verify", "changed.json", "--json"]));
        let stranger = folder();
        let elsewhere = |file: &str, more: &[&str]| {
            let path = data.path().join(file);
            whole(&run(stranger.path(), &[&["verify", path.to_str().expect("text")], more].concat()))
        };
        let trust = data.path().join("log/trust");
        let trust = ["--trust", trust.to_str().expect("text")];
        assert_snapshot!("verify_unknown_log", elsewhere("receipt.json", &[]));
        assert_snapshot!("verify_unknown_signer", elsewhere("receipt.json", &trust));
        assert_snapshot!("verify_proof", elsewhere("receipt.tlog-proof", &trust));
        assert_snapshot!("keys_list", told(&["keys", "list"]));
        assert_snapshot!("log_status", told(&["log", "status"]));
        assert_snapshot!("doctor", told(&["doctor", "--name-server", "192.0.2.53"]));
        assert_snapshot!("doctor_json", told(&["doctor", "--name-server", "192.0.2.53", "--json"]));
    });
}

#[test]
fn what_is_said_of_the_lab_and_of_mistakes() {
    let data = folder();
    snapshots(|| {
        let told = |args: &[&str]| whole(&run(data.path(), args));
        let listed = run(data.path(), &["lab", "--list"]).stdout;
        let listed = String::from_utf8(listed).expect("text");
        let about: Vec<&str> = listed.lines().filter(|line| !line.starts_with(' ')).collect();
        assert!(about.len() > 140 && listed.lines().count() == 2 * about.len(), "two lines a seller");
        assert_snapshot!("lab_list_begins", listed.lines().take(6).collect::<Vec<_>>().join("\n"));
        let walk: Vec<&str> = listed.lines().skip_while(|line| !line.starts_with("price-walk ")).take(2).collect();
        assert_snapshot!("lab_list_of_several_looks", walk.join("\n"));
        assert_snapshot!("error_lab_list_port", told(&["lab", "--list", "--port", "0"]));
        assert_snapshot!("error_url", told(&["check", "http://a.example/"]));
        assert_snapshot!("error_url_json", told(&["check", "http://a.example/", "--json"]));
        assert_snapshot!("error_bound", told(&["check", "https://a.example/", "--max-price-usd", "cheap"]));
        assert_snapshot!("error_no_file", told(&["verify", "absent.json"]));
    });
}
