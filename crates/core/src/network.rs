//! Networks: CAIP-2 identifiers, and the short names, aliases and legacy forms that sellers write
//! instead of them. The table is data (`data/networks.tsv`), one row per network with its source.

use std::{fmt, sync::OnceLock};

/// A network named by a well-formed CAIP-2 identifier, known to the table or not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network(String);

/// The text is not a CAIP-2 identifier this program accepts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// Not `[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}`, or not the one spelling its namespace has for a network.
    #[error("not a CAIP-2 network id (namespace:reference)")]
    NotCaip2,
    /// `bip122` ids name a genesis block that several Bitcoin forks share.
    #[error("this id is shared by several forks of Bitcoin")]
    Ambiguous,
}

impl NetworkError {
    /// Stable code for callers.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotCaip2 => "network_not_caip2",
            Self::Ambiguous => "network_ambiguous",
        }
    }
}

/// How addresses and assets of a network are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Ethereum and its relatives: `0x` and 40 hex digits.
    Evm,
    /// Solana: base58 of 32 bytes.
    Svm,
    /// Algorand: base32 with a checksum.
    Avm,
    /// Anything else: no rule of ours applies.
    Other,
}

/// One row of the network table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkRow {
    /// CAIP-2 identifier.
    pub caip2: &'static str,
    /// Short name, as x402 version 1 and the checking tools write it.
    pub name: &'static str,
    /// Address family.
    pub family: Family,
    /// Whether its money is play money.
    pub testnet: bool,
    /// Published time until a payment is settled, in milliseconds, when a source states one.
    pub settlement_latency_ms: Option<u64>,
    /// Where the row comes from: a URL that anybody can open, then a remark.
    pub source: &'static str,
    aliases: &'static str,
}

/// In which form a network was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The CAIP-2 identifier itself.
    Caip2,
    /// The short name of the table (the form of x402 version 1).
    ShortName,
    /// A loose name such as `base-mainnet`.
    Alias,
    /// Algorand's full genesis hash, which is not CAIP-2 but which clients normalise.
    AlgorandLegacy,
}

/// A network and the form it was written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkRead {
    /// The network meant.
    pub network: Network,
    /// How the text named it.
    pub form: Form,
}

/// The full genesis hashes that Algorand sellers wrote before July 2026, and the id they stand for.
const ALGORAND_LEGACY: [(&str, &str); 2] = [
    ("algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=", "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k"),
    ("algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDexi9/cOUJOiI=", "algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDe"),
];

/// Reads a network in any form that sellers and buyers use. `None` when the text names none.
pub fn read(text: &str) -> Option<NetworkRead> {
    if let Ok(network) = Network::parse_caip2(text) {
        return Some(NetworkRead { network, form: Form::Caip2 });
    }
    if let Some((_, caip2)) = ALGORAND_LEGACY.iter().find(|(legacy, _)| *legacy == text) {
        return Some(NetworkRead { network: Network((*caip2).to_owned()), form: Form::AlgorandLegacy });
    }
    by_name(text)
}

fn by_name(text: &str) -> Option<NetworkRead> {
    let found = |row: &NetworkRow, form| NetworkRead { network: Network(row.caip2.to_owned()), form };
    let short = table().iter().find(|row| row.name == text).map(|row| found(row, Form::ShortName));
    let alias = || table().iter().find(|row| row.aliases().any(|alias| alias == text));
    short.or_else(|| alias().map(|row| found(row, Form::Alias)))
}

/// The network of the table that `text` is likely to mean where [`read`] finds none: letter case, a leading zero, hexadecimal
/// digits, another separator or a missing namespace explain the difference. A guess to be told, never one to pay by.
pub fn meant(text: &str) -> Option<&'static NetworkRow> {
    if text.len() > LONGEST_MEANT {
        return None;
    }
    let wanted = folded(text);
    let names = |row: &'static NetworkRow| row.aliases().chain([row.caip2, row.name]);
    table().iter().find(|row| names(row).any(|name| folded(name) == wanted))
}

/// No id with a slip of the hand is longer than this.
const LONGEST_MEANT: usize = 64;

/// What is left of a network's name when everything that people get wrong in one is taken away.
fn folded(text: &str) -> String {
    let plain = text.trim().to_ascii_lowercase().replace([':', '_', ' ', '/'], "-");
    let (namespace, reference) = plain.rsplit_once('-').unwrap_or(("eip155", &plain));
    chain_id(reference).map_or_else(|| plain.clone(), |id| format!("{namespace}-{id}"))
}

fn chain_id(text: &str) -> Option<u64> {
    text.strip_prefix("0x").map_or_else(|| text.parse(), |digits| u64::from_str_radix(digits, 16)).ok()
}

impl Network {
    /// Reads a CAIP-2 identifier, byte for byte (references are case-sensitive). Of a namespace whose networks we know how
    /// to spell, only that spelling is read: two names for one network would let a seller past a list of denied ones.
    ///
    /// # Errors
    /// [`NetworkError`] when the text has another shape, or is a `bip122` id.
    pub fn parse_caip2(text: &str) -> Result<Self, NetworkError> {
        let (namespace, reference) = text.split_once(':').ok_or(NetworkError::NotCaip2)?;
        let plain = |byte: u8| byte == b'-' || byte.is_ascii_digit();
        let right = (3..=8).contains(&namespace.len())
            && (1..=32).contains(&reference.len())
            && namespace.bytes().all(|byte| plain(byte) || byte.is_ascii_lowercase())
            && reference.bytes().all(|byte| plain(byte) || byte == b'_' || byte.is_ascii_alphabetic());
        match namespace {
            _ if !right => Err(NetworkError::NotCaip2),
            "bip122" => Err(NetworkError::Ambiguous),
            _ if !spelled(namespace, reference) => Err(NetworkError::NotCaip2),
            _ => Ok(Self(text.to_owned())),
        }
    }

    /// The CAIP-2 identifier.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The row of the table, when the network is in it.
    pub fn row(&self) -> Option<&'static NetworkRow> {
        table().iter().find(|row| row.caip2 == self.0)
    }

    /// Whether its money is play money, as far as the table knows.
    pub fn is_test(&self) -> bool {
        self.row().is_some_and(|row| row.testnet)
    }

    /// How this network writes addresses; from the CAIP-2 namespace, so it works beyond the table.
    pub fn family(&self) -> Family {
        match self.0.split_once(':').map(|(namespace, _)| namespace) {
            Some("eip155") => Family::Evm,
            Some("solana") => Family::Svm,
            Some("algorand") => Family::Avm,
            _ => Family::Other,
        }
    }
}

/// How references of a namespace are spelled.
type Spelling = fn(&str) -> bool;

/// Namespaces with the one form of their references, from the CAIP-2 profiles of the chain-agnostic namespaces.
const SPELLINGS: [(&str, Spelling); 9] = [
    ("eip155", plain_number),
    ("aptos", plain_number),
    // The first 32 characters of the genesis hash, in base58, base64url and hex.
    ("solana", |text| {
        text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() && !b"0OIl".contains(&byte))
    }),
    ("algorand", |text| text.len() == 32),
    ("polkadot", |text| text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))),
    ("cosmos", |text| !text.contains('_')),
    ("stellar", |text| matches!(text, "pubnet" | "testnet")),
    ("hedera", |text| matches!(text, "mainnet" | "testnet" | "previewnet" | "devnet")),
    ("sui", |text| matches!(text, "mainnet" | "testnet" | "devnet")),
];

/// Whether the reference is spelled as its namespace spells it; of a namespace that is not listed, any is.
fn spelled(namespace: &str, reference: &str) -> bool {
    SPELLINGS.iter().find(|(name, _)| *name == namespace).is_none_or(|(_, right)| right(reference))
}

/// Decimal digits without a leading zero: `8453`, not `08453`, `0x2105` or `8453-`.
fn plain_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'))
}

impl fmt::Display for Network {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl serde::Serialize for Network {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.0)
    }
}

impl NetworkRow {
    /// Loose names that mean this network.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> {
        self.aliases.split(',').filter(|alias| *alias != "-")
    }
}

/// Every row of the table, in file order.
pub fn table() -> &'static [NetworkRow] {
    static TABLE: OnceLock<Vec<NetworkRow>> = OnceLock::new();
    TABLE.get_or_init(|| lines().filter_map(row).collect())
}

fn lines() -> impl Iterator<Item = &'static str> {
    include_str!("../data/networks.tsv").lines().filter(|line| !line.starts_with('#'))
}

/// `None` for a malformed line; a test proves that the file has none.
fn row(line: &'static str) -> Option<NetworkRow> {
    let [caip2, name, family, stage, latency, aliases, source] =
        line.split('\t').collect::<Vec<_>>().try_into().ok()?;
    let settlement_latency_ms = match latency {
        "-" => None,
        digits => Some(digits.parse().ok()?),
    };
    let testnet = match stage {
        "main" => false,
        "test" => true,
        _ => return None,
    };
    Some(NetworkRow { caip2, name, family: family_named(family)?, testnet, settlement_latency_ms, source, aliases })
}

fn family_named(name: &str) -> Option<Family> {
    match name {
        "evm" => Some(Family::Evm),
        "svm" => Some(Family::Svm),
        "avm" => Some(Family::Avm),
        "other" => Some(Family::Other),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
