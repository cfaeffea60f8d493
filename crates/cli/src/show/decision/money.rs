//! Dollars as people write them, and money that is on no chain. Documents keep the shortest form of a number.

use countersign_core::amount::Amount;
use serde_json::Value;

use super::terms::payee;
use super::{list, text};

/// `0.9` is ninety cents, `0.90`; what has no cents or more than two digits stands as it is.
pub(super) fn dollars(usd: &str) -> String {
    match usd.split_once('.') {
        Some((whole, fraction)) => format!("{whole}.{fraction:0<2}"),
        None => usd.to_owned(),
    }
}

/// What an option asks that is settled with Cloudflare; none for any other. Its profile counts US dollars in cents and pays
/// a role, on a network that no document names because it is no chain.
pub(super) fn with_cloudflare(document: &Value, offer: &Value) -> Option<String> {
    let place = format!("{}accepts[{}].network", channel(document, offer), offer["index"]);
    let told = |one: &&Value| one["rule"] == "profile.cloudflare" && one["subject"] == *place;
    let network = text(list(document, "findings").find(told)?, "observed");
    let asset = text(offer, "asset");
    let price = match Amount::parse(text(offer, "amount_atomic")) {
        Ok(cents) if asset == "USD" => format!("${}", dollars(&cents.usd(2).to_string())),
        Ok(units) => format!("{units} units of {asset}"),
        Err(_) => format!("no readable amount of {asset}"),
    };
    Some(format!("{price} with Cloudflare ({network}), on no chain, to {}", payee(offer)))
}

/// What the places of an option's channel begin with: the body's are marked where a header states options too.
fn channel(document: &Value, offer: &Value) -> &'static str {
    let in_header = |offer: &Value| offer["source"] == "header";
    if in_header(offer) || !list(document, "offers").any(in_header) { "" } else { "body:" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cents_have_two_digits() {
        for (usd, read) in
            [("0.9", "0.90"), ("1.5", "1.50"), ("0.01", "0.01"), ("0.005", "0.005"), ("3", "3"), ("0", "0")]
        {
            assert_eq!(dollars(usd), read);
        }
    }

    /// The second option of a body beside a header.
    #[test]
    fn cloudflares_cents_are_told_as_money_and_on_no_chain() {
        let subject = "body:accepts[1].network";
        let finding = json!({"rule": "profile.cloudflare", "subject": subject, "observed": "cloudflare:402"});
        let document = json!({"findings": [finding], "offers": [{"source": "header"}, {"source": "body"}]});
        let offer = |source: &str, index: u64, asset: &str, amount: Value| {
            let offer = json!({"source": source, "index": index, "asset": asset, "amount_atomic": amount,
                "network": null, "payTo": "merchant"});
            with_cloudflare(&document, &offer)
        };
        let on = "with Cloudflare (cloudflare:402), on no chain, to merchant";
        assert_eq!(offer("body", 1, "USD", json!("5")), Some(format!("$0.05 {on}")));
        assert_eq!(offer("body", 1, "USD", json!("90")), Some(format!("$0.90 {on}")));
        assert_eq!(offer("body", 1, "EUR", json!("5")), Some(format!("5 units of EUR {on}")));
        assert_eq!(offer("body", 1, "USD", Value::Null), Some(format!("no readable amount of USD {on}")));
        assert_eq!(offer("body", 0, "USD", json!("5")), None);
        assert_eq!(offer("header", 1, "USD", json!("5")), None);
    }

    #[test]
    fn the_places_of_a_body_alone_bear_no_mark() {
        let body = json!({"source": "body"});
        assert_eq!(channel(&json!({"offers": [body]}), &body), "");
        assert_eq!(channel(&json!({"offers": [{"source": "header"}, body]}), &body), "body:");
    }
}
