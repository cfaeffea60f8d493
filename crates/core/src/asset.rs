//! Assets that offers ask for, as a table (`data/assets.tsv`) with one row per token and network.
//! An asset outside the table has no known decimals, so nobody may show a price in dollars for it:
//! 1000000 units are one dollar at 6 decimals and a millionth of a millionth at 18.
//!
//! A network without a sourced stablecoin has a line that says `unknown`: somebody looked, and there is nothing to
//! compare an asset with. That speaks neither for nor against an offer; a bound in dollars is still not met by it.

use crate::address;
use crate::network::{Family, Network};
use std::sync::OnceLock;

/// One token on one network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssetRow {
    /// CAIP-2 identifier of the network.
    pub network: &'static str,
    /// Contract in EIP-55 form, mint in base58, or Algorand asset number.
    pub address: &'static str,
    /// Ticker, for people.
    pub symbol: &'static str,
    /// Decimal places: one whole token is 10^decimals units.
    pub decimals: u8,
    /// `name` of the EIP-712 domain, when signing needs one and a source states it.
    pub eip712_name: Option<&'static str>,
    /// `version` of the EIP-712 domain, likewise.
    pub eip712_version: Option<&'static str>,
    /// Whether one whole token is meant to be one US dollar.
    pub usd_pegged: bool,
    /// How it is transferred: `eip3009`, `permit2`, `permit2+eip2612`, `transfer-checked`, `axfer`,
    /// or `-` when the sources do not say.
    pub method: &'static str,
    /// Whether the reference SDK has it among its default assets; its buyer refuses any other unless told otherwise.
    pub sdk_default: bool,
    /// Where the row comes from: a URL that anybody can open, then a remark.
    pub source: &'static str,
}

/// One line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Asset(AssetRow),
    /// No stablecoin of this network is known.
    Unknown {
        network: &'static str,
        source: &'static str,
    },
}

/// The row for an asset. EVM addresses match in any letter case, all others byte for byte.
pub fn lookup(network: &Network, address: &str) -> Option<&'static AssetRow> {
    let same = |row: &&AssetRow| match network.family() {
        Family::Evm => row.address.eq_ignore_ascii_case(address),
        Family::Svm | Family::Avm | Family::Other => row.address == address,
    };
    of(network).find(same)
}

/// The rows of one network, its default asset first.
pub fn of(network: &Network) -> impl Iterator<Item = &'static AssetRow> {
    table().iter().filter(move |row| row.network == network.as_str())
}

/// The known asset that `address` imitates without being it: an address of the network's own form with the same first
/// and last four letters or digits (what wallets show), or a text that equals a known address or ticker once
/// look-alike letters are read as the ASCII letters they resemble.
pub fn look_alike(network: &Network, address: &str) -> Option<&'static AssetRow> {
    if lookup(network, address).is_some() {
        return None;
    }
    let read = (!address.is_ascii()).then(|| address.chars().map(resembles).collect::<String>());
    of(network).find(|row| match &read {
        Some(read) => row.address.eq_ignore_ascii_case(read) || row.symbol.eq_ignore_ascii_case(read),
        None => same_ends(network.family(), row.address, address),
    })
}

/// The asset of `network` whose name or ticker `text` bears, compared as a person reads it: without regard to case,
/// spacing, punctuation, invisible characters and look-alike letters. A token has other names on other networks
/// (`USD Coin`, `USDC`), so those count too, as long as this network has a row for the same ticker.
pub fn named_like(network: &Network, text: &str) -> Option<&'static AssetRow> {
    let read = skeleton(text);
    let bears = |name: &str| skeleton(name) == read;
    let named = |row: &&AssetRow| bears(row.symbol) || row.eip712_name.is_some_and(bears);
    let symbols: Vec<_> = table().iter().filter(named).map(|row| row.symbol).collect();
    of(network).find(|row| symbols.contains(&row.symbol))
}

/// What is left of a name for a reader in a hurry: letters and digits in lower case, look-alikes folded (after UTS 39).
fn skeleton(text: &str) -> String {
    let letters = text.chars().map(resembles).filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase);
    let fold = |letter| match letter {
        '0' => 'o',
        '1' | 'i' => 'l',
        other => other,
    };
    letters.map(fold).collect()
}

/// Wallets shorten an address to its first and last four letters or digits; vanity addresses are made to match. Case
/// counts where it does in the address itself. Asset numbers (Algorand) are no such addresses.
fn same_ends(family: Family, known: &str, address: &str) -> bool {
    let ends = |text: &str| {
        let form = address::check(family, text).ok()?;
        let shown = match family {
            Family::Evm => form.normal.strip_prefix("0x")?.to_ascii_lowercase(),
            Family::Svm => form.normal,
            Family::Avm | Family::Other => return None,
        };
        Some((shown.get(..4)?.to_owned(), shown.get(shown.len().checked_sub(4)?..)?.to_owned()))
    };
    ends(known).is_some_and(|known| ends(address) == Some(known))
}

/// The ASCII letter that a Cyrillic, Greek or full-width letter is drawn like; other letters as
/// they are. A short list on purpose: letters that occur in hexadecimal, base58 and tickers.
fn resembles(letter: char) -> char {
    const PAIRS: [(&str, &str); 2] =
        [("АВСЕНІЈКМОРЅТХУаеорсухіјѕԁ", "ABCEHIJKMOPSTXYaeopcyxijsd"), ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο₮Ϲϲ", "ABEZHIKMNOPTYXoTCc")];
    if let Some(ascii) = u32::from(letter).checked_sub(0xFEE0).and_then(char::from_u32).filter(char::is_ascii_graphic) {
        return ascii;
    }
    let twin =
        |(from, to): (&str, &str)| from.chars().position(|each| each == letter).and_then(|at| to.chars().nth(at));
    PAIRS.into_iter().find_map(twin).unwrap_or(letter)
}

/// Every asset of the table, in file order.
pub fn table() -> &'static [AssetRow] {
    static TABLE: OnceLock<Vec<AssetRow>> = OnceLock::new();
    let asset = |line| match line {
        Line::Asset(row) => Some(row),
        Line::Unknown { .. } => None,
    };
    TABLE.get_or_init(|| lines().filter_map(row).filter_map(asset).collect())
}

fn lines() -> impl Iterator<Item = &'static str> {
    include_str!("../data/assets.tsv").lines().filter(|line| !line.starts_with('#'))
}

/// `None` for a malformed line; a test proves that the file has none.
fn row(line: &'static str) -> Option<Line> {
    let cells: [&'static str; 10] = line.split('\t').collect::<Vec<_>>().try_into().ok()?;
    let [network, address, symbol, decimals, name, version, peg, method, default, source] = cells;
    if address == "unknown" {
        return [symbol, decimals, name, version, peg, method, default]
            .iter()
            .all(|cell| *cell == "-")
            .then_some(Line::Unknown { network, source });
    }
    let known = |text: &'static str| (text != "-").then_some(text);
    let marked = |cell: &str, mark: &str| match cell {
        "-" => Some(false),
        cell => (cell == mark).then_some(true),
    };
    let (usd_pegged, sdk_default) = (marked(peg, "usd")?, marked(default, "yes")?);
    let decimals = decimals.parse().ok()?;
    let (eip712_name, eip712_version) = (known(name), known(version));
    Some(Line::Asset(AssetRow {
        network,
        address,
        symbol,
        decimals,
        eip712_name,
        eip712_version,
        usd_pegged,
        method,
        sdk_default,
        source,
    }))
}

#[cfg(test)]
mod tests;
