//! Strict JSON. Properties: no panic; what one profile accepts the wider one accepts with the same bytes;
//! canonical form is a fixed point; and it equals an outside canonicalizer's wherever both read the text.
#![no_main]

use countersign_core::json::{self, Limits, Profile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let limits = Limits::default();
    let signed = json::canonicalize(text, Profile::Signed, &limits);
    let wide = json::canonicalize(text, Profile::Rfc8785, &limits);
    let observed = json::observe(text, &limits);
    assert_eq!(json::parse(text, Profile::Signed, &limits).is_ok(), signed.is_ok());
    assert_eq!(json::parse(text, Profile::Rfc8785, &limits).is_ok(), wide.is_ok());
    if let Ok(bytes) = &signed {
        assert_eq!(wide.as_ref().ok(), Some(bytes));
        assert!(observed.as_ref().is_ok_and(|(_, defects)| defects.is_empty()));
    }
    let Ok(bytes) = wide else { return };
    assert!(observed.is_ok());
    assert_eq!(json::canonicalize(&bytes, Profile::Rfc8785, &limits).as_ref(), Ok(&bytes));
    let value: serde_json::Value = serde_json::from_slice(text).expect("what we accept is JSON");
    let outside = serde_json_canonicalizer::to_vec(&value).expect("a value prints");
    assert_eq!(bytes, outside);
});
