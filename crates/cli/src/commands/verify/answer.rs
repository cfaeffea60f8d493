//! An answer: a signed decision, and its receipt beside it. Both must hold, and be of each other.

use countersign_engine::log::Place;
use countersign_engine::receipt::{BesideError, beside};
use countersign_engine::verify::verify;
use countersign_tlog::key::VerifierKey;

use super::decision::{self, InLog};
use super::{Reader, receipt};
use crate::Exit;
use crate::settings::Settings;

pub(super) fn run(settings: &Settings, reader: &Reader<'_>, bytes: &[u8]) -> anyhow::Result<Exit> {
    let verified = match verify(bytes, &reader.keys, reader.now) {
        Ok(verified) => verified,
        Err(error) => return Ok(decision::refused(reader, &error)),
    };
    let carried = match beside(bytes) {
        Ok(Some(carried)) => carried,
        Ok(None) if reader.args.demands_a_log() => return Ok(super::no_receipt(reader.global)),
        Ok(None) => return Ok(decision::accepted(reader, &verified, &InLog::NoReceipt)),
        Err(error) => return Ok(refused(reader, &error)),
    };
    let no_log = || Ok(decision::accepted(reader, &verified, &InLog::NoTrust));
    if !reader.args.demands_a_log() && !Place::new(&settings.data.0).trust().exists() {
        return no_log();
    }
    let policy = match reader.policy(settings)? {
        Ok(policy) => policy,
        Err(exit) => return Ok(exit),
    };
    // Who asks for the signer alone is not refused for a log that nobody named.
    let is_its_key = |key: &VerifierKey| key.name().as_str() == carried.log_origin.as_str();
    if !reader.args.demands_a_log() && !policy.logs().iter().any(is_its_key) {
        return no_log();
    }
    let file = carried.to_value().to_string();
    Ok(match receipt::accept(reader, file.as_bytes(), &policy)? {
        Ok(accepted) => decision::accepted(reader, &verified, &InLog::Proved(&accepted)),
        Err(exit) => exit,
    })
}

fn refused(reader: &Reader<'_>, error: &BesideError) -> Exit {
    let (word, exit) = match error {
        BesideError::Receipt(_) => ("malformed", Exit::Malformed),
        BesideError::Contradicts | BesideError::OtherDocument => ("invalid", Exit::No),
    };
    super::refused(reader.global, word, error.code(), &error.to_string());
    exit
}
