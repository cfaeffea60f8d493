//! The EIP-712 digest of a signed offer: one fixed schema, so the type strings are written out and hashed
//! as they stand (offer-receipt extension, sections 3.2 and 4.3).

use sha3::{Digest as _, Keccak256};

use super::artifact::Terms;

const DOMAIN_TYPE: &str = "EIP712Domain(string name,string version,uint256 chainId)";
const OFFER_TYPE: &str = "Offer(uint256 version,string resourceUrl,string scheme,string network,string asset,string payTo,string amount,uint256 validUntil)";

/// What the signer of an offer signs: `keccak256(0x19 ‖ 0x01 ‖ domain ‖ offer)`. The chain id is 1 for every network; an
/// absent `validUntil` is 0.
pub fn digest(offer: &Terms) -> [u8; 32] {
    let domain = keccak([keccak(DOMAIN_TYPE), keccak("x402 offer"), keccak("1"), uint(1)].concat());
    let message = [
        keccak(OFFER_TYPE),
        uint(offer.version),
        keccak(&offer.resource_url),
        keccak(&offer.scheme),
        keccak(&offer.network),
        keccak(&offer.asset),
        keccak(&offer.pay_to),
        keccak(&offer.amount),
        uint(offer.valid_until.unwrap_or(0)),
    ];
    keccak([&[0x19, 0x01], domain.as_slice(), &keccak(message.concat())].concat())
}

fn keccak(bytes: impl AsRef<[u8]>) -> [u8; 32] {
    Keccak256::digest(bytes).into()
}

/// A number as the 32 bytes of a `uint256`.
fn uint(value: u64) -> [u8; 32] {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&value.to_be_bytes());
    word
}
