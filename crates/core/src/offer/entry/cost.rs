//! What a payment costs the buyer beside the price. Nobody but the seller knows, so what it says is taken at its word
//! where that makes the offer dearer, and everything it says in a way that is not understood makes the cost unknown.

use super::{Entry, extra_text};
use crate::amount::{Amount, Usd};
use crate::asset::AssetRow;
use crate::json::{Node, NodeKind};

/// Members that state a fee in atomic units of the asset. Each that stands there is added: two names for one fee cost
/// the seller a sale, one fee that was overlooked would cost the buyer money.
const IN_ATOMIC_UNITS: [&str; 9] = [
    "fee",
    "feeAmount",
    "fee_amount",
    "facilitatorFee",
    "facilitator_fee",
    "networkFee",
    "platformFee",
    "serviceFee",
    "gasFee",
];
/// Members that speak of a fee and state none: the account that pays Solana's and Algorand's.
const NO_FEES: [&str; 2] = ["feePayer", "fee_payer"];

impl Entry<'_> {
    /// The fees that the entry declares, in USD; none when they, or who pays the gas, are not known.
    pub(super) fn fees(&self, row: Option<&'static AssetRow>) -> Option<Usd> {
        let row = row.filter(|row| row.usd_pegged && self.sponsored(row))?;
        let stated = [Some(self.node), self.node.get("extra")].into_iter().flatten().flat_map(Node::members);
        let about_fees = stated.filter(|(name, node)| is_fee(name) && node.kind() != NodeKind::Null);
        about_fees.map(|(name, node)| fee(&name, node, row)).try_fold(Usd::default(), |sum, fee| Some(sum + fee?))
    }

    /// Whether the facilitator carries the payment to the chain: EIP-3009, signed and not sent. An entry that names no
    /// method is paid by its token's own; Permit2 wants an approval first, which the buyer sends.
    fn sponsored(&self, row: &AssetRow) -> bool {
        let absent = |member: &str| self.node.get("extra").and_then(|extra| extra.get(member)).is_none();
        let said = |member: &str, right: &str| extra_text(self.node, member).is_some_and(|text| text == right);
        row.method == "eip3009"
            && (absent("assetTransferMethod") || said("assetTransferMethod", "eip3009"))
            && (absent("paymentFlow") || said("paymentFlow", "authorization"))
    }
}

/// Whether one of the words of a member's name is *fee*: `serviceFee`, `fee_bps`, not `coffee`.
fn is_fee(name: &str) -> bool {
    if !name.as_bytes().windows(3).any(|three| three.eq_ignore_ascii_case(b"fee")) {
        return false;
    }
    let mut words = vec![String::new()];
    for one in name.chars() {
        if !one.is_ascii_lowercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| one.is_ascii_alphabetic()) {
            word.push(one.to_ascii_lowercase());
        }
    }
    let whole = name.eq_ignore_ascii_case("fee") || name.eq_ignore_ascii_case("fees");
    !NO_FEES.contains(&name) && (whole || words.iter().any(|word| word == "fee" || word == "fees"))
}

/// One fee in USD; none when the name or the value is of another form.
fn fee(name: &str, node: Node<'_>, row: &AssetRow) -> Option<Usd> {
    let digits = match node.kind() {
        NodeKind::Number => node.raw().to_owned(),
        _ => node.as_str()?.into_owned(),
    };
    let amount = Amount::parse(&digits).ok()?;
    IN_ATOMIC_UNITS.contains(&name).then(|| amount.usd(row.decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fee_is_told_by_the_words_of_its_name() {
        for name in ["fee", "fees", "FEE", "feeAmount", "serviceFee", "fee_bps", "Fee", "platform-fee", "x.fees"] {
            assert!(is_fee(name), "{name}");
        }
        for name in ["coffee", "feed", "feePayer", "fee_payer", "feeling", "amount", ""] {
            assert!(!is_fee(name), "{name}");
        }
    }
}
