//! A signed answer (RFC 9421). Input: three header values, one a line: `Signature-Input`, `Signature` and a header that
//! may be covered in any form. Properties: no panic; nothing holds, because no key is known.
#![no_main]

use countersign_core::endpoint::ResourceUrl;
use countersign_core::http_signature::{self, Message, Outcome};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let names = ["signature-input", "signature", "content-digest"];
    let lines = text.splitn(3, |&byte| byte == b'\n');
    let headers: Vec<_> = names.iter().zip(lines).map(|(name, line)| ((*name).to_owned(), line.to_vec())).collect();
    let Ok(url) = ResourceUrl::parse("https://api.seller.example/paid?a=b") else { return };
    let message = Message { status: 402, headers: &headers, method: "GET", url: &url };
    if let Ok(signatures) = http_signature::verify(&message, |_| None) {
        assert!(signatures.iter().all(|one| one.outcome != Outcome::Holds));
    }
    let _any = http_signature::content_digest(&headers, b"{}");
});
