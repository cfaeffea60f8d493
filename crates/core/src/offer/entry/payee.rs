//! Who is paid.

use super::{Entry, Profile};
use crate::address::{self, Checksum};
use crate::asset;
use crate::network::{Family, Network};

/// Addresses that nobody can spend from, in normal form: Ethereum's burn address, Solana's system program (32 zero
/// bytes) and incinerator, Algorand's, Stellar's and Hedera's zero accounts.
const DEAD_ENDS: [(Family, &str); 6] = [
    (Family::Evm, "0x000000000000000000000000000000000000dead"),
    (Family::Svm, "11111111111111111111111111111111"),
    (Family::Svm, "1nc1nerator11111111111111111111111111111111"),
    (Family::Avm, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAY5HFKQ"),
    (Family::Other, "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF"),
    (Family::Other, "0.0.0"),
];

/// What payments are made with and nobody is paid at, in normal form: Permit2, the proxies of `exact` and `upto` that are
/// its spenders, and the channels of `batch-settlement`; on Solana the token programs, that of associated accounts, and those
/// that a payment's instructions call. All of them as release 2.27 of the reference client names them.
const MACHINERY: [(Family, &str); 10] = [
    (Family::Evm, "0x000000000022d473030f116ddee9f6b43ac78ba3"),
    (Family::Evm, "0x402085c248eea27d92e8b30b2c58ed07f9e20001"),
    (Family::Evm, "0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002"),
    (Family::Evm, "0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003"),
    (Family::Svm, "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"),
    (Family::Svm, "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"),
    (Family::Svm, "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"),
    (Family::Svm, "ComputeBudget111111111111111111111111111111"),
    (Family::Svm, "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"),
    (Family::Svm, "L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95"),
];

impl Entry<'_> {
    pub(super) fn pay_to(&mut self, asset: &str, network: Option<&Network>) -> String {
        let (text, shown) = self.text("payTo");
        let family = self.family.unwrap_or(Family::Other);
        let Some(Ok(checked)) = text.as_deref().map(|text| address::check(family, text)) else {
            self.note("payee.form", "payTo", &shown, None);
            return shown;
        };
        if self.profile == Profile::Cloudflare {
            return checked.normal;
        }
        if checked.checksum == Checksum::Wrong {
            self.note("payee.checksum", "payTo", &shown, Some(&checked.display));
        }
        if nobodys(family, &checked.normal) {
            self.note("payee.zero", "payTo", &shown, None);
        }
        let same = if self.is_evm() { checked.normal.eq_ignore_ascii_case(asset) } else { checked.normal == asset };
        if same || network.is_some_and(|network| asset::lookup(network, &checked.normal).is_some()) {
            self.note("payee.is_asset", "payTo", &shown, None);
        }
        if MACHINERY.contains(&(family, checked.normal.as_str())) {
            self.note("payee.is_program", "payTo", &shown, None);
        }
        checked.normal
    }
}

/// Whether money sent there is lost. Zero in hexadecimal of any length is Ethereum's, Aptos's and Sui's. On EVM networks
/// nobody has a key of the addresses up to `0x…ffff`: precompiled contracts are given them (EIP-1352).
fn nobodys(family: Family, normal: &str) -> bool {
    let zeros = |digits: &str| digits.bytes().all(|byte| byte == b'0');
    let dead = normal.strip_prefix("0x").is_some_and(|digits| match family {
        Family::Evm => digits.get(..36).is_some_and(zeros),
        Family::Other => zeros(digits),
        Family::Svm | Family::Avm => false,
    });
    dead || DEAD_ENDS.contains(&(family, normal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machinery_is_written_as_addresses_are_compared() {
        for (family, address) in MACHINERY {
            assert_eq!(address::check(family, address).unwrap().normal, address);
        }
    }

    #[test]
    fn every_dead_end_is_an_address_of_its_family_and_its_neighbour_is_none() {
        for (family, address) in DEAD_ENDS {
            let normal = address::check(family, address).unwrap().normal;
            assert!(nobodys(family, &normal), "{address}");
        }
        assert!(nobodys(Family::Evm, &format!("0x{}", "0".repeat(40))));
        assert!(nobodys(Family::Evm, &format!("0x{}1", "0".repeat(39))), "a precompile");
        assert!(nobodys(Family::Evm, &format!("0x{}ffff", "0".repeat(36))));
        assert!(!nobodys(Family::Evm, &format!("0x{}10000", "0".repeat(35))));
        assert!(!nobodys(Family::Svm, "11111111111111111111111111111112"));
    }
}
