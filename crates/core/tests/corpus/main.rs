//! Real challenges and reports from the field (C1 to C62), each re-authored with hosts and addresses of our own and
//! with the answer worked out by hand from what was reported. One named test a row.
//!
//! A row is here when one exchange without a payment can judge it. The others:
//!
//! - two looks: C34 (another payee on every look) and C59 (a price that climbs) are sellers `rotating-payee` and
//!   `price-walk` of the lab, judged by history;
//! - the probe: the second half of C18 (a head above 64 KiB is refused on the wire as `head_too_large`), C24's
//!   choice of method and C32's redirect are tested in `countersign-probe` and `countersign-engine`;
//! - a second request: C16's preflight, C19's other `Accept`;
//! - a catalogue or manifest: C33 (a catalogue's price against the live one), C36 (a manifest whose resources are gone) and
//!   C37 (prices in an OpenAPI document) compare a 402 with another document, which is not read yet;
//! - a paid call: C21 (what a seller makes of an undecodable payment), C40 (further members of a receipt) and C55 (a
//!   facilitator that refuses right payments) begin after a payment was sent, and a check sends none;
//! - another protocol: C29 is an error of an MCP call, which is no HTTP exchange.
//!
//! `oracle` holds what the reference buyer was measured to do, `fair` what must not be held against a seller,
//! `properties` what holds for any input.

mod asset;
mod binding;
mod common;
mod fair;
mod money;
mod oracle;
mod place;
mod properties;
mod transport;
