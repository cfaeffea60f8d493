//! Real challenges and reports from the field (C1 to C62), each re-authored with hosts and addresses of our own and
//! with the answer worked out by hand from what was reported. `docs/corpus.md` says of each row what is answered, which
//! test shows it, and what one exchange without a payment cannot show; `page` holds it to that.
//!
//! `oracle` holds what the reference buyer was measured to do, `fair` what must not be held against a seller,
//! `properties` what holds for any input.

mod asset;
mod binding;
mod common;
mod elsewhere;
mod fair;
mod money;
mod oracle;
mod page;
mod place;
mod properties;
mod transport;
