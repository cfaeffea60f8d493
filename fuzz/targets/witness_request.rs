//! The body of a request to a witness (C2SP tlog-witness).
//! Properties: no panic, and what reads is read again from what it prints.
#![no_main]

use countersign_tlog::witness::AddCheckpoint;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(request) = AddCheckpoint::parse(bytes) {
        assert_eq!(AddCheckpoint::parse(request.to_string().as_bytes()).ok(), Some(request));
    }
});
