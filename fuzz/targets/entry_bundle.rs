//! A bundle of entries, as another log's storage hands it out. Input: the width less one, then the bundle.
//! Properties: no panic, and what reads is written back as it was.
#![no_main]

use countersign_tlog::tile::bundle;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((width, bytes)) = bytes.split_first() else { return };
    let width = u16::from(*width) + 1;
    if let Ok(entries) = bundle::decode(bytes, width) {
        assert_eq!(bundle::encode(&entries).as_deref(), Ok(bytes));
        assert_eq!(bundle::prefix(bytes, width), Some(bytes));
    }
});
