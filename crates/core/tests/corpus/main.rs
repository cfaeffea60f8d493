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
//! - a catalogue or manifest: C33, C36, C37, with the catalogue;
//! - a paid call or our own seller: C21, C40, C55, with the seller;
//! - MCP: C29, with the MCP client.
//!
//! `oracle` holds what the reference buyer was measured to do, `fair` what must not be held against a seller,
//! `properties` what holds for any input.

mod binding;
mod common;
mod fair;
mod money;
mod oracle;
mod place;
mod properties;
mod transport;
