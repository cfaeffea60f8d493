//! A decision for people: the answer first, then why, then the terms, then what was not looked at.

mod findings;
mod money;
mod terms;

use std::collections::BTreeMap;

use countersign_core::offer::{RailSeen, rules};
use countersign_engine::check::{Checked, Unkept};
use countersign_engine::transparency::Transparency;
use serde_json::Value;

use super::line;
use money::with_cloudflare;
use terms::terms;

/// Prints a decision of ours.
pub(crate) fn decision(checked: &Checked) {
    let document = &checked.document;
    line(&answer(document, if checked.lacks_receipt() { NO_RECEIPT } else { "" }));
    findings::told(document).iter().for_each(|one| line(one));
    redirect(document);
    recipient(document);
    offers(document);
    rails(document);
    not_evaluated(document);
    lab_switches(document);
}

/// Which lab switches the look was made under; a decision made under one says nothing about a seller on the net.
pub(crate) fn lab_switches(document: &Value) {
    let switches: Vec<&str> = document["transport"]["lab_switches"].as_array().map_or_else(Vec::new, |all| texts(all));
    if !switches.is_empty() {
        line(&format!("  lab switches on: {}", switches.join(", ")));
    }
}

/// Prints what the log said about it, and the receipt itself where no copy of it could be kept.
pub(crate) fn transparency(transparency: &Transparency, unkept: Option<&Unkept>) {
    match transparency {
        Transparency::CheckpointSigned(receipt) => {
            line(&format!("  logged as entry {} of {}", receipt.index, receipt.log_origin));
            if let Some(Unkept { reason, .. }) = unkept {
                line(&format!("  the receipt could not be kept here: {reason}"));
                line("  this is the only copy; keep it in a file:");
                line(&receipt.to_value().to_string());
            }
        }
        Transparency::NotLogged => {}
        Transparency::Unavailable { reason, hint, .. } => {
            line(&format!("  no receipt: {reason}"));
            line(&format!("           hint: {hint}"));
        }
    }
}

/// One line that answers the question: can this be paid, and on what terms, or why not. What is selected has a word of
/// its own, which may be another than that of the best option.
pub(crate) fn headline(document: &Value) -> String {
    answer(document, "")
}

/// Said of what is selected and ends in exit code 5. It is no part of the decision, which was signed before.
const NO_RECEIPT: &str = ", but without the receipt that --require-transparency demands";

/// The same, with what `lacks` beside the terms of what is selected.
fn answer(document: &Value, lacks: &str) -> String {
    let word = word(document).replace('_', " ");
    let payment = &document["selected_payment"];
    if !payment.is_null() {
        // The domain, because a long host name can wear another's: `shop.example.com.pay.example`.
        let at = document["registrable_domain"].as_str().map(|domain| format!(" at {domain}")).unwrap_or_default();
        return format!("{word}{lacks}: {}{at}", terms(payment));
    }
    let unmet = document["unmet_constraints"].as_array().map_or_else(Vec::new, |all| texts(all));
    if word.starts_with("payable") && !unmet.is_empty() {
        return format!("{word}, but {OUTSIDE}: {}", unmet.join(", "));
    }
    let refused = document["transport"]["refused"].as_str().map(|code| format!(" ({code})")).unwrap_or_default();
    let why = document["word_rule"].as_str().and_then(reason);
    format!("{word}: {}{refused}", why.map_or_else(|| text(document, "miss_reason").replace('_', " "), str::to_owned))
}

/// The word of what was selected, or of the answer where nothing was.
fn word(document: &Value) -> &str {
    text(list(document, "offers").find(|offer| selected(document, offer)).unwrap_or(document), "word")
}

/// Whether `offer` is the option that was selected.
fn selected(document: &Value, offer: &Value) -> bool {
    !document["selected_payment"].is_null() && offer["excluded_reason"].is_null()
}

/// How a mark stands inside a stranger's text, which must not close its own fence.
const MARK: &str = "\\u{60}";

/// A stranger's text between marks.
fn fenced(text: &str) -> String {
    format!("`{}`", text.replace('`', MARK))
}

/// Where a redirect would have led. The address is a stranger's: it stands between marks, and whose it is beside it.
fn redirect(document: &Value) {
    let redirect = &document["redirect"];
    let Some(location) = redirect["location"].as_str() else { return };
    let site = text(redirect, "site");
    let whose = match text(redirect, "leads") {
        "elsewhere" => format!("at another site: {site}"),
        "without_tls" => format!("at {site}, without TLS"),
        "nowhere" => "which is no address".to_owned(),
        _ => format!("at the same site: {site}"),
    };
    line(&format!("  would have led to {}, {whose}", fenced(location)));
}

/// How well the recipient of what was selected is known.
fn recipient(document: &Value) {
    let Some(chosen) = list(document, "offers").find(|offer| selected(document, offer)) else { return };
    if let Some(known) = acquaintance(text(chosen, "payTo_history"), &chosen["payTo_looks"]) {
        line(&format!("  recipient: {known}"));
    }
}

fn acquaintance(known: &str, looks: &Value) -> Option<String> {
    let looks = if *looks == 1 { "1 earlier look".to_owned() } else { format!("{looks} earlier looks") };
    Some(match known {
        "first" => "first look, there is nothing to compare it with yet".to_owned(),
        "seen" => format!("seen at {looks}; not established, which takes two that are ten minutes apart"),
        "established" => format!("established, seen at {looks}"),
        "new" => "new, on a network or asset that was not offered before".to_owned(),
        "changed" => "another than the known one, which your rules accept".to_owned(),
        _ => return None,
    })
}

/// Every option, unless the headline has already told the only one.
fn offers(document: &Value) {
    let told = !document["selected_payment"].is_null() && list(document, "offers").count() == 1;
    list(document, "offers").filter(|_| !told).for_each(|offer| line(&option(document, offer)));
}

/// `offer header[0]  payable, but outside your rules: max_price_usd; $0.90 in USDC on …`
fn option(document: &Value, offer: &Value) -> String {
    let outside = bounds(offer);
    let outside = if outside.is_empty() { ":".to_owned() } else { format!(", but {OUTSIDE}: {outside};") };
    let word = text(offer, "word").replace('_', " ");
    let asks = with_cloudflare(document, offer).unwrap_or_else(|| terms(offer));
    format!("  offer {}  {word}{}{outside} {asks}", place(offer), rule(offer))
}

/// Every bound that an option does not meet.
fn bounds(offer: &Value) -> String {
    let bound = |one: &Value| {
        let unknown = if one["why"] == "unknown" { " (unknown)" } else { "" };
        format!("{}{unknown}", text(one, "constraint"))
    };
    list(offer, "excluded_by").map(bound).collect::<Vec<_>>().join(", ")
}

/// Said of an option that others could pay and this buyer does not want.
const OUTSIDE: &str = "outside your rules";

/// Header and body each count their options from 0.
fn place(offer: &Value) -> String {
    format!("{}[{}]", text(offer, "source"), offer["index"])
}

/// The rule that gave an option its word.
fn rule(offer: &Value) -> String {
    offer["word_rule"].as_str().map(|rule| format!(" ({rule})")).unwrap_or_default()
}

/// The other ways to pay that the answer names; none of them was looked at.
fn rails(document: &Value) {
    let named = other_rails(document);
    if !named.is_empty() {
        line(&format!("  other payment rails named: {}", named.join(", ")));
    }
}

/// Without x402 itself, which is no other way.
fn other_rails(document: &Value) -> Vec<&str> {
    let named = document["rails"].as_array().map_or_else(Vec::new, |all| texts(all));
    named.into_iter().filter(|rail| *rail != RailSeen::X402.as_str()).collect()
}

/// What was not looked at, one line a reason.
fn not_evaluated(document: &Value) {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in list(document, "not_evaluated") {
        by_reason.entry(text(one, "why")).or_default().push(text(one, "what"));
    }
    for (why, what) in by_reason {
        line(&format!("  not evaluated: {} ({why})", what.join(", ")));
    }
}

fn reason(rule: &str) -> Option<&'static str> {
    rules::table().iter().find(|row| row.id == rule).map(|row| row.reason)
}

fn list<'a>(document: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    document[name].as_array().into_iter().flatten()
}

fn texts(values: &[Value]) -> Vec<&str> {
    values.iter().filter_map(Value::as_str).collect()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_reason_in_the_headline_is_the_rule_that_gave_the_word() {
        let mut document = json!({"word": "not_evaluated", "miss_reason": "no_402_envelope", "word_rule": null});
        assert_eq!(headline(&document), "not evaluated: no 402 envelope");
        document["word_rule"] = json!("http.not_found");
        document["findings"] = json!([{"rule": "terms.none", "severity": "block"}]);
        assert_eq!(headline(&document), "not evaluated: there is nothing at this URL");
    }

    #[test]
    fn x402_is_no_other_rail() {
        assert_eq!(other_rails(&json!({"rails": ["l402", "x402"]})), ["l402"]);
        assert!(other_rails(&json!({"rails": ["x402"]})).is_empty());
    }

    #[test]
    fn a_strangers_text_does_not_leave_its_fence() {
        assert_eq!(fenced("plain"), "`plain`");
        assert_eq!(fenced("x`, expected `0x1` - pay"), "`x\\u{60}, expected \\u{60}0x1\\u{60} - pay`");
    }

    #[test]
    fn how_well_a_recipient_is_known_is_a_sentence() {
        let told = |known: &str, looks: u64| acquaintance(known, &json!(looks)).unwrap_or_default();
        assert_eq!(told("first", 0), "first look, there is nothing to compare it with yet");
        assert!(told("seen", 1).starts_with("seen at 1 earlier look; not established"));
        assert_eq!(told("established", 4), "established, seen at 4 earlier looks");
        assert_eq!(acquaintance("-", &Value::Null), None);
    }

    #[test]
    fn an_option_outside_the_rules_names_every_bound() {
        let offer = |excluded: Value| {
            option(
                &Value::Null,
                &json!({"source": "header", "index": 0, "word": "payable_with_warnings", "word_rule": "amount.number",
                "usd": "0.9", "symbol": "USDC", "network": "eip155:8453", "rail": "base", "payTo": "0x2096",
                "excluded_by": excluded}),
            )
        };
        let terms = "$0.90 in USDC on base (eip155:8453) to no readable recipient";
        let word = "  offer header[0]  payable with warnings (amount.number)";
        assert_eq!(offer(json!([])), format!("{word}: {terms}"));
        let two = json!([{"constraint": "max_price_usd", "why": "outside"},
            {"constraint": "min_observations", "why": "unknown"}]);
        let told = "outside your rules: max_price_usd, min_observations (unknown)";
        assert_eq!(offer(two), format!("{word}, but {told}; {terms}"));
    }

    #[test]
    fn the_word_in_the_headline_is_that_of_what_would_be_signed() {
        let payment = json!({"symbol": "USDC", "network": "eip155:8453", "payTo": "x"});
        let offer = |reason, word| json!({"excluded_reason": reason, "word": word});
        let offers = [offer(json!("constraints_unmet"), "payable"), offer(Value::Null, "payable_with_warnings")];
        let document = json!({"word": "payable", "selected_payment": payment, "offers": offers});
        assert!(headline(&document).starts_with("payable with warnings: "), "{}", headline(&document));
    }

    #[test]
    fn the_headline_names_the_domain_that_somebody_registered() {
        let payment = json!({"usd": "0.01", "symbol": "USDC", "network": "eip155:8453", "rail": "base",
            "payTo": "0x209693bc6afc0c5328ba36faf03c514ef312287c"});
        let mut document = json!({"word": "payable", "selected_payment": payment, "registrable_domain": "pay.example"});
        let terms = "payable: $0.01 in USDC on base (eip155:8453) to 0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
        assert_eq!(headline(&document), format!("{terms} at pay.example"));
        let lacking = terms.replacen(':', &format!("{NO_RECEIPT}:"), 1);
        assert_eq!(answer(&document, NO_RECEIPT), format!("{lacking} at pay.example"));
        document["registrable_domain"] = Value::Null;
        assert_eq!(headline(&document), terms);
    }
}
