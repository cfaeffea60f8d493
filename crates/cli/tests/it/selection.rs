//! What is told of options beside the selected one, of a cap, and of a client that signs the first option it can.

use serde_json::Value;

use super::common::{Lab, run};

const PAYEE: &str = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// What `check` prints, and its exit code.
fn said(lab: &Lab, seller: &str, more: &[&str]) -> (String, Option<i32>) {
    let out = lab.check(folder().path(), &[more, &[lab.url(seller).as_str()]].concat());
    (String::from_utf8(out.stdout).expect("text"), out.status.code())
}

#[test]
fn a_cap_is_told_as_one_by_the_check_and_by_whoever_reads_its_decision() {
    let (lab, data) = (Lab::start(), folder());
    let cap = format!("payable: up to $0.01 in USDC on base (eip155:8453) to {PAYEE}");
    let out = lab.check(data.path(), &["--out", "cap.json", &lab.url("honest-upto")]);
    let text = String::from_utf8(out.stdout).expect("text");
    assert!(text.starts_with(&cap), "{text}");
    let verified = String::from_utf8(run(data.path(), &["verify", "cap.json"]).stdout).expect("text");
    assert!(verified.contains(&cap), "{verified}");
    let (text, _) = said(&lab, "honest-upto", &["--max-price-usd", "0.001"]);
    let option = "offer header[0]  payable, but outside your rules: max_price_usd; up to $0.01 in USDC on base";
    assert!(text.contains(option), "{text}");
    let (text, _) = said(&lab, "honest-v2", &[]);
    assert!(text.starts_with("payable: $0.01 in USDC"), "the control: {text}");
}

#[test]
fn an_option_outside_the_rules_is_told_as_that_and_so_is_a_client_that_would_sign_it() {
    let lab = Lab::start();
    let dear = "offer header[0]  payable with warnings (selection.stock_client), but outside your rules: \
                max_price_usd; $0.90 in USDC";
    let (text, exit) = said(&lab, "dear-first", &["--max-price-usd", "0.05"]);
    assert_eq!(exit, Some(0), "what is selected may be paid");
    assert!(text.starts_with("payable with warnings: $0.01 in USDC"), "{text}");
    let found = "selection.stock_client at selection: saw `accepts[0]: max_price_usd`, expected `accepts[1]`";
    assert!(text.contains(dear) && text.contains(found), "{text}");
    let (text, _) = said(&lab, "dear-first", &[]);
    assert!(!text.contains("outside your rules") && !text.contains("stock_client"), "the control: {text}");
    let (text, _) = said(&lab, "honest-tiers", &["--max-price-usd", "0.02"]);
    assert!(text.starts_with("payable: $0.01"), "its twin has the dear one behind: {text}");
    let (text, exit) = said(&lab, "honest-v2", &["--allow-pay-to", "0x5afe00000000000000000000000000000000c0de"]);
    assert!(text.contains("offer header[0]  payable, but outside your rules: allow_pay_to; $0.01"), "{text}");
    assert_eq!(exit, Some(1));
}

#[test]
fn a_warning_is_not_outweighed_by_a_millionth_of_a_dollar() {
    let lab = Lab::start();
    let (text, _) = said(&lab, "cheap-for-ever", &["--json"]);
    let decision: Value = serde_json::from_str(&text).expect("one JSON value");
    assert_eq!(decision["selected_payment"]["amount_atomic"], "10000");
    let told = (&decision["word"], &decision["offers"][1]["word_rule"]);
    assert_eq!(told, (&"payable_with_warnings".into(), &"selection.stock_client".into()), "a client takes the first");
}
