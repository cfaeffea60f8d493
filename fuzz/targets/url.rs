//! The URL of an endpoint. Properties: no panic; the normal form is a fixed point and keeps https and a name.
#![no_main]

use countersign_core::endpoint::ResourceUrl;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(url) = ResourceUrl::parse(text) else { return };
    assert_eq!(ResourceUrl::parse(url.as_str()).as_ref().map(ResourceUrl::as_str), Ok(url.as_str()));
    assert!(url.as_str().starts_with("https://"));
    assert!(!url.host().is_empty() && url.host().parse::<std::net::IpAddr>().is_err());
});
