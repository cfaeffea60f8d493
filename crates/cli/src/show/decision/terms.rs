//! What an option asks, in one phrase: how much of what, on which network, to whom.

use countersign_core::address;
use countersign_core::network;
use countersign_core::offer::clean;
use serde_json::Value;

use super::money::dollars;
use super::{fenced, text};

/// `$0.01 in USDC plus $0.005 in declared fees on base (eip155:8453) to 0x2096…`
pub(super) fn terms(payment: &Value) -> String {
    format!("{}{} on {} to {}", price(payment), fees(payment), network(payment), payee(payment))
}

/// A cap is told as one: whoever reads it as the price expects to pay less than may be taken.
fn price(payment: &Value) -> String {
    let sum = match (payment["usd"].as_str(), payment["amount_atomic"].as_str()) {
        (Some(usd), _) => format!("${} in {}", dollars(usd), asset(payment)),
        (None, Some(atomic)) => format!("{atomic} units of {}", asset(payment)),
        (None, None) => format!("no readable amount of {}", asset(payment)),
    };
    match payment["scheme"].as_str() {
        None | Some("exact") => sum,
        Some("upto") => format!("up to {sum}"),
        Some(other) => format!("{sum} by the scheme {}", fenced(&clean::shown(other))),
    }
}

/// The ticker by our own table, or else the contract as the seller wrote it, so that no two tokens read alike.
fn asset(payment: &Value) -> String {
    let written = payment["asset"].as_str().filter(|asset| !is_absent(asset));
    match (payment["symbol"].as_str(), written) {
        (Some(symbol), _) => symbol.to_owned(),
        (None, Some(asset)) => {
            let asset = address_on(text(payment, "network"), asset).unwrap_or_else(|| clean::shown(asset));
            format!("an unknown asset, {},", fenced(&asset))
        }
        (None, None) => "an unknown asset".to_owned(),
    }
}

fn fees(payment: &Value) -> String {
    let fees = payment["fees_usd"].as_str().filter(|fees| *fees != "0");
    fees.map(|fees| format!(" plus ${} in declared fees", dollars(fees))).unwrap_or_default()
}

fn network(payment: &Value) -> String {
    match (payment["rail"].as_str(), payment["network"].as_str()) {
        (Some(name), network) => format!("{name} ({})", network.unwrap_or("-")),
        (None, Some(network)) => network.to_owned(),
        (None, None) => "no known network".to_owned(),
    }
}

/// What is no address is said to be none; off the networks that have addresses (Cloudflare's) a role stands there, and is
/// shown.
pub(super) fn payee(payment: &Value) -> String {
    let (network, pay_to) = (text(payment, "network"), text(payment, "payTo"));
    let named = match network::read(network) {
        _ if is_absent(pay_to) => None,
        Some(_) => address_on(network, pay_to),
        None => Some(pay_to.to_owned()),
    };
    match named {
        Some(named) if plain(&named) => named,
        Some(named) => fenced(&named),
        None => "no readable recipient".to_owned(),
    }
}

/// One word, which cannot pass for more of the line.
fn plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.'))
}

/// How a member that is not there, or holds nothing, is shown in a decision.
fn is_absent(shown: &str) -> bool {
    matches!(shown, "" | "absent" | "null")
}

/// People compare addresses letter by letter, so an EVM one is shown in its EIP-55 form.
fn address_on(network: &str, written: &str) -> Option<String> {
    let family = network::read(network)?.network.family();
    address::check(family, written).ok().map(|checked| checked.display)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PAYEE: &str = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
    /// Its capitals by EIP-55's own table of examples.
    const TOKEN: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

    /// One cent of USDC on Base with some members replaced.
    fn cent(changes: Value) -> String {
        let mut payment = json!({"scheme": "exact", "usd": "0.01", "amount_atomic": "10000", "symbol": "USDC",
            "network": "eip155:8453", "rail": "base", "asset": "0x8335", "payTo": PAYEE.to_lowercase()});
        changes.as_object().into_iter().flatten().for_each(|(name, value)| payment[name] = value.clone());
        terms(&payment)
    }

    #[test]
    fn what_a_scheme_may_take_is_told_by_its_kind() {
        let rest = format!("$0.01 in USDC on base (eip155:8453) to {PAYEE}");
        assert_eq!(cent(json!({})), rest);
        assert_eq!(cent(json!({"scheme": "upto"})), format!("up to {rest}"));
        let unpriced = json!({"scheme": "upto", "usd": null});
        assert!(cent(unpriced).starts_with("up to 10000 units of USDC on base"));
        assert!(cent(json!({"scheme": "auth-capture"})).starts_with("$0.01 in USDC by the scheme `auth-capture` on"));
        let forged = "exact` on base to me`";
        let told = "$0.01 in USDC by the scheme `exact\\u{60} on base to me\\u{60}` on base";
        assert!(cent(json!({"scheme": forged})).starts_with(told), "{}", cent(json!({"scheme": forged})));
    }

    #[test]
    fn fees_stand_beside_the_price() {
        let told = cent(json!({"fees_usd": "0.005"}));
        assert!(told.starts_with("$0.01 in USDC plus $0.005 in declared fees on base (eip155:8453)"), "{told}");
        assert_eq!(cent(json!({"fees_usd": "0"})), cent(json!({})));
    }

    #[test]
    fn an_unknown_token_is_named_by_its_contract() {
        let token = |asset: Value| cent(json!({"usd": null, "symbol": null, "asset": asset}));
        let told = format!("10000 units of an unknown asset, `{TOKEN}`, on base (eip155:8453) to {PAYEE}");
        assert_eq!(token(json!(TOKEN)), told);
        assert_eq!(token(json!(TOKEN.to_lowercase())), told, "compared letter by letter");
        assert!(
            token(json!("USDC` on base")).contains("asset, `USDC\\u{60} on base`, on base"),
            "no ticker of its own"
        );
        assert!(token(json!("x".repeat(500))).contains(&format!("`{}…`", "x".repeat(120))), "capped");
        assert_eq!(token(json!("absent")), format!("10000 units of an unknown asset on base (eip155:8453) to {PAYEE}"));
    }

    #[test]
    fn terms_without_a_readable_network_say_so() {
        let payment = json!({"amount_atomic": "10000", "network": null, "payTo": "0x2096"});
        assert_eq!(terms(&payment), "10000 units of an unknown asset on no known network to 0x2096");
    }

    #[test]
    fn what_is_no_address_is_no_recipient() {
        const BURNT: &str = "0x000000000000000000000000000000000000dEaD";
        let payee = |network: &str, pay_to: &str| payee(&json!({"network": network, "payTo": pay_to}));
        assert_eq!(payee("eip155:8453", &BURNT.to_lowercase()), BURNT);
        assert_eq!(payee("base", &BURNT.to_lowercase()), BURNT);
        assert_eq!(payee("cloudflare:402", "merchant"), "merchant");
        assert_eq!(payee("cloudflare:402", "us at good.example"), "`us at good.example`");
        assert_eq!(payee("stellar:pubnet", "GA|good.example"), "`GA|good.example`");
        for (network, pay_to) in [
            ("eip155:8453", "absent"),
            ("eip155:8453", "null"),
            ("eip155:8453", "walletaddress"),
            ("eip155:8453", "[\"0x1\"]"),
            ("stellar:pubnet", "absent"),
            ("no network", "null"),
        ] {
            assert_eq!(payee(network, pay_to), "no readable recipient", "{pay_to} on {network}");
        }
    }
}
