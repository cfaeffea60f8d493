//! What the reference buyer does, as measured: @x402/core and @x402/evm 2.27.0 with default settings, USDC on Base.
//!
//! *Schema* is its exported schema, which its own decoder never asks; *buyer* is the outcome of `createPaymentPayload`.
//! Interop has to be the buyer's column exactly. Spec is the schema's column, stricter only where the specification's
//! text says more than the schema checks: amounts are decimal digits, assets are addresses of their network, and an
//! exact payment on an EVM network needs the signing name.

use countersign_core::offer::{Grade, Interop, Word};
use serde_json::{Value, json};

use crate::common::{Answer, PAYEE, USDC, entry, entry_1, rules, v1, v2, with};

const PASS: Grade = Grade::Pass;
const FAIL: Grade = Grade::Fail;
const SIGNS: Interop = Interop::Pass;

/// What our grades have to be for one edit of the honest challenge.
struct Row {
    edit: &'static str,
    to: Value,
    /// The schema's answer, as measured.
    schema: Grade,
    spec: Grade,
    interop: Interop,
    word: Word,
}

fn row(edit: &'static str, to: Value, schema: Grade, interop: Interop, word: Word) -> Row {
    Row { edit, to, schema, spec: schema, interop, word }
}

/// Where the specification's text says more than the schema.
fn stricter(edit: &'static str, to: Value, interop: Interop) -> Row {
    Row { edit, to, schema: PASS, spec: FAIL, interop, word: Word::NotPayable }
}

const fn refuses(rule: &'static str) -> Interop {
    Interop::Fail(rule)
}

/// The table of the measurement, row by row.
fn rows() -> Vec<Row> {
    use Word::{NotPayable, Payable, PayableWithWarnings as Warned};
    let testnet = json!("0x036CbD53842c5426634e7929541eC2318f3dCF7e");
    vec![
        row("amount", json!("10000"), PASS, SIGNS, Payable),
        row("amount", json!("1000000"), PASS, SIGNS, Payable),
        row("payTo", json!(PAYEE.to_ascii_lowercase()), PASS, SIGNS, Payable),
        row("payTo", json!("0x209693BC6AFC0C5328BA36FAF03C514EF312287C"), PASS, SIGNS, Payable),
        row("payTo", json!("0x209693bC6afc0C5328bA36FaF03C514EF312287C"), PASS, SIGNS, Warned),
        row("asset", json!(USDC.to_ascii_lowercase()), PASS, SIGNS, Payable),
        row("amount", json!("1000001"), PASS, refuses("amount.over_default_cap"), Warned),
        stricter("asset", json!("USDC"), refuses("asset.form")),
        row("asset", testnet, PASS, refuses("asset.other_network"), NotPayable),
        row("amount", json!(10_000), FAIL, SIGNS, Warned),
        row("/resource", json!("https://api.seller.example/paid"), FAIL, SIGNS, Warned),
        stricter("amount", json!("$0.01"), refuses("amount.form")),
        stricter("amount", json!("0.01"), refuses("amount.form")),
        stricter("amount", json!("-5"), refuses("amount.form")),
        stricter("amount", json!("1e4"), refuses("amount.form")),
        stricter("amount", json!(" 10000"), refuses("amount.form")),
        row("payTo", json!("0x0000000000000000000000000000000000000000"), PASS, SIGNS, NotPayable),
        stricter("extra", Value::Null, refuses("asset.eip712_missing")),
        row("extra", json!({"name": "US Dollar", "version": "2"}), PASS, SIGNS, NotPayable),
        row("maxTimeoutSeconds", json!(315_360_000), PASS, SIGNS, Warned),
        row("maxTimeoutSeconds", json!("60"), FAIL, SIGNS, Warned),
        row("maxTimeoutSeconds", json!("absent"), FAIL, refuses("timeout.missing"), NotPayable),
        row("network", json!("base"), FAIL, refuses("network.form"), NotPayable),
        row("payTo", json!([PAYEE]), FAIL, refuses("payee.form"), NotPayable),
        row("/x402Version", json!("2"), FAIL, refuses("version.form"), NotPayable),
        row("extra", flow("weekly"), PASS, refuses("extra.payment_flow"), NotPayable),
    ]
}

/// The same client, asked about more edits on the same day.
fn further_rows() -> Vec<Row> {
    use Word::{NotPayable, Payable, PayableWithWarnings as Warned};
    vec![
        row("payTo", json!(USDC), PASS, SIGNS, NotPayable),
        row("payTo", json!("walletaddress"), PASS, refuses("payee.form"), NotPayable).but(FAIL),
        row("payTo", json!(PAYEE.replacen("0x", "0X", 1)), PASS, refuses("payee.form"), NotPayable).but(FAIL),
        row("amount", json!("0"), PASS, SIGNS, NotPayable),
        row("amount", json!("010000"), PASS, SIGNS, NotPayable).but(FAIL),
        row("amount", json!(10000.5), FAIL, refuses("amount.form"), NotPayable),
        row("maxTimeoutSeconds", json!(60.5), PASS, refuses("timeout.fraction"), NotPayable),
        row("maxTimeoutSeconds", json!(0), FAIL, SIGNS, NotPayable),
        row("maxTimeoutSeconds", json!(-5), FAIL, SIGNS, NotPayable),
        row("maxTimeoutSeconds", Value::Null, FAIL, SIGNS, NotPayable),
        row("maxTimeoutSeconds", json!("abc"), FAIL, refuses("timeout.unreadable"), NotPayable),
        row("maxTimeoutSeconds", json!(3601), PASS, SIGNS, Warned),
        row("asset", json!("0x1234567890123456789012345678901234567890"), PASS, refuses("asset.impostor"), NotPayable),
        row("network", json!("eip155:84532"), PASS, refuses("asset.other_network"), NotPayable),
        row("scheme", json!("foo"), PASS, refuses("scheme.unknown"), NotPayable).but(FAIL),
        row("extra", json!({"name": "USD Coin", "version": 2}), PASS, SIGNS, NotPayable),
        row("extra", flow("upfront"), PASS, SIGNS, Payable),
        row("/resource", json!("absent"), FAIL, SIGNS, Warned),
        row("/resource", Value::Null, FAIL, SIGNS, Warned),
        row("/x402Version", json!(3), FAIL, refuses("version.form"), NotPayable),
    ]
}

impl Row {
    /// The specification's text says more here than the schema.
    fn but(self, spec: Grade) -> Self {
        Self { spec, ..self }
    }
}

fn flow(name: &str) -> Value {
    json!({"name": "USD Coin", "version": "2", "paymentFlow": name})
}

/// The honest challenge after the edit: of the envelope after a `/`, of its only entry otherwise.
fn edited(row: &Row) -> Value {
    let mut challenge = v2(json!([entry()]));
    let (object, member) = match row.edit.strip_prefix('/') {
        Some(member) => (&mut challenge, member),
        None => (&mut challenge["accepts"][0], row.edit),
    };
    object[member] = row.to.clone();
    if let (true, Some(object)) = (row.to == json!("absent"), object.as_object_mut()) {
        object.remove(member);
    }
    challenge
}

#[test]
fn grades_are_the_columns_of_the_measurement() {
    for row in rows().into_iter().chain(further_rows()) {
        let reading = Answer::of(&edited(&row)).read();
        let offer = &reading.offers[0];
        let grades = (offer.spec, offer.interop, offer.word);
        assert_eq!(grades, (row.spec, row.interop, row.word), "{} {}", row.edit, row.to);
        assert!(row.schema == row.spec || row.spec == FAIL, "never more lenient than the schema");
    }
}

/// It passes over what is above its cap and signs the next, so each option is graded as if it were alone.
#[test]
fn the_second_option_is_signed_when_the_first_is_above_the_cap() {
    let priced = |amount: &str| with("amount", json!(amount));
    let reading = Answer::of(&v2(json!([priced("2000000"), priced("500000")]))).read();
    let seen: Vec<_> = reading.offers.iter().map(|offer| (offer.interop, offer.word)).collect();
    assert_eq!(seen, [(refuses("amount.over_default_cap"), Word::PayableWithWarnings), (SIGNS, Word::Payable)]);
    assert_eq!(reading.word, Word::Payable);
}

#[test]
fn an_empty_accepts_has_nothing_to_grade() {
    let reading = Answer::of(&v2(json!([]))).read();
    assert_eq!((reading.offers.len(), reading.word), (0, Word::NotPayable));
}

/// `if (paymentRequired)` is false for an empty header, so the client reads on in the body.
#[test]
fn an_empty_header_is_no_header() {
    let seller = Answer::new(402).body(v1(json!([entry_1()])).to_string());
    for empty in ["", "  \t"] {
        let reading = seller.clone().header("PAYMENT-REQUIRED", empty).read();
        let offer = &reading.offers[0];
        assert_eq!((offer.spec, offer.interop, offer.word), (PASS, SIGNS, Word::Payable));
        assert_eq!(rules(&reading), ["header.empty"]);
    }
    let twice = seller.header("PAYMENT-REQUIRED", "").header("PAYMENT-REQUIRED", "");
    assert_eq!(twice.read().word, Word::NotPayable, "fetch joins two empty lines to a comma, which is no base64");
}
