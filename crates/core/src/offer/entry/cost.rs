//! What a payment costs the buyer beside the price. Nobody but the seller knows, so what it says is taken at its word
//! where that makes the offer dearer, and everything it says in a way that is not understood makes the cost unknown.

use std::borrow::Cow;

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

/// Most fees of one entry that are told as unreadable: a thousand more say no more.
const MOST_TOLD: usize = 16;

/// One fee that the entry speaks of.
struct Stated {
    /// Its place inside the entry.
    member: String,
    /// The value, for display.
    shown: String,
    /// How much, in atomic units of the asset; none when name or value are of a form that is not understood.
    units: Option<Amount>,
}

impl Entry<'_> {
    /// The fees that the entry declares, in USD; none when they, or who pays the gas, are not known. Says which of them
    /// cannot be read, and when the others come to more than the price itself.
    pub(super) fn fees(&mut self, price: Option<&Amount>, row: Option<&'static AssetRow>) -> Option<Usd> {
        let stated = self.stated_fees();
        self.judge_fees(&stated, price);
        let row = row.filter(|row| row.usd_pegged && self.sponsored(row))?;
        let usd = |fee: Stated| fee.units.map(|units| units.usd(row.decimals));
        stated.into_iter().try_fold(Usd::default(), |sum, fee| Some(sum + usd(fee)?))
    }

    fn judge_fees(&mut self, stated: &[Stated], price: Option<&Amount>) {
        for fee in stated.iter().filter(|fee| fee.units.is_none()).take(MOST_TOLD) {
            self.note("fee.form", &fee.member, &fee.shown, None);
        }
        let over = price.filter(|price| price.exceeded_by(stated.iter().filter_map(|fee| fee.units.as_ref())));
        if let Some((price, dearest)) = over.zip(stated.iter().max_by_key(|fee| &fee.units)) {
            let most = format!("fees of at most {price} in all");
            self.note("fee.above_price", &dearest.member, &dearest.shown, Some(&most));
        }
    }

    fn stated_fees(&self) -> Vec<Stated> {
        let inside = self.node.get("extra");
        let places = [("", Some(self.node)), ("extra.", inside)].into_iter();
        let members = places.filter_map(|(place, node)| Some((place, node?)));
        let all = members.flat_map(|(place, node)| node.members().map(move |(name, node)| (place, name, node)));
        let about_fees = all.filter(|(_, name, node)| is_fee(name) && node.kind() != NodeKind::Null);
        about_fees.map(|(place, name, node)| stated(place, &name, node)).collect()
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

fn stated(place: &str, name: &str, node: Node<'_>) -> Stated {
    let shown = node.as_str().map_or_else(|| node.raw().to_owned(), Cow::into_owned);
    Stated { member: format!("{place}{name}"), shown, units: units(name, node) }
}

/// One fee in atomic units; none when the name or the value is of another form.
fn units(name: &str, node: Node<'_>) -> Option<Amount> {
    let digits = match node.kind() {
        NodeKind::Number => node.raw().to_owned(),
        _ => node.as_str()?.into_owned(),
    };
    IN_ATOMIC_UNITS.contains(&name).then(|| Amount::parse(&digits).ok())?
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
