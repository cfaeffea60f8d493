//! What is told of options beside the selected one, of a cap, and of a client that signs the first option it can.

use std::path::Path;

use serde_json::Value;

use super::common::{Lab, copy, run};

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

/// The log of a copied data directory signs nothing, so an offer is selected and has no receipt.
#[test]
fn what_is_selected_without_the_receipt_that_is_demanded_ends_in_exit_code_5_and_says_so() {
    let (lab, data, copied) = (Lab::start(), folder(), folder());
    let asked = |data: &Path, more: &[&str]| {
        let out = lab.check(data, &[more, &["--require-transparency"]].concat());
        (out.status.code(), String::from_utf8(out.stdout).expect("text"))
    };
    let trust = |text: &str| serde_json::from_str::<Value>(text).expect("one JSON value")["pq_trust"].clone();
    let (url, bad) = (lab.url("honest-v2"), lab.url("amount-dollars"));
    let (exit, text) = asked(data.path(), &[&url]);
    assert!(exit == Some(0) && text.starts_with("payable: $0.01"), "the control: {text}");
    copy(data.path(), copied.path());
    let lacking = "payable, but without the receipt that --require-transparency demands: $0.01 in USDC";
    let (exit, text) = asked(copied.path(), &[&url]);
    assert!(exit == Some(5) && text.starts_with(lacking), "{text}");
    assert!(text.contains("no receipt: ") && text.contains("is a copy of a log"), "{text}");
    std::fs::write(copied.path().join("list"), format!("{url}\n")).expect("written");
    for more in [&["--json", &url][..], &["--from", "list"]] {
        let (exit, text) = asked(copied.path(), more);
        let trust = trust(&text);
        let told = (&trust["unmet_constraints"], &trust["transparency"]["code"]);
        assert_eq!((exit, told), (Some(5), (&serde_json::json!(["require_transparency"]), &"log_copied".into())));
    }
    let (exit, text) = asked(copied.path(), &["--json", &bad]);
    assert_eq!((exit, trust(&text).get("unmet_constraints")), (Some(1), None), "nothing was selected");
    let out = lab.check(copied.path(), &["--json", &url]);
    let trust = trust(&String::from_utf8(out.stdout).expect("text"));
    assert_eq!((out.status.code(), trust.get("unmet_constraints")), (Some(0), None), "nothing was demanded");
    assert_eq!(trust["transparency"]["code"], "log_copied");
}
