//! The one envelope of everything we sign: a JSON object with `schema`, `issuedAt`, `keyId`, its own
//! members, and `signature`, base64 Ed25519 over the RFC 8785 bytes of the object without it.
//!
//! Keys are judged when they are loaded (weak and non-canonical ones are refused) and signatures are
//! verified strictly, so that no key owner can craft a document that two verifiers judge differently.

mod envelope;
mod key;
mod key_file;
mod key_statement;
pub mod stranger;

#[cfg(test)]
mod tests;

pub use envelope::{OpenError, Opened, SealError, open, seal};
pub use key::{KeyError, KeyId, SigningKey, VerifyingKey};
pub use key_file::{KeyFile, KeyFileError, KeyState, Purpose};
pub use key_statement::{KeyStatement, KeyStatementError, Validity};
