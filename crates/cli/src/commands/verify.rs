//! `countersign verify`: offline, from the file and trusted keys alone.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::sign::{OpenError, Purpose, VerifyingKey};
use countersign_core::time::Timestamp;
use countersign_engine::verify::{Verified, verify};
use serde_json::json;

use crate::Exit;
use crate::app::{self, Failure};
use crate::args::{Global, VerifyArgs};
use crate::settings::Settings;
use crate::show;

/// No decision of ours comes near this size.
const LARGEST: u64 = 1 << 20;

pub(crate) fn run(settings: &Settings, global: &Global, args: &VerifyArgs) -> anyhow::Result<Exit> {
    let bytes = read(&args.file)?;
    let keys = trusted(settings, &args.keys)?;
    let now = match &args.at {
        None => app::now(),
        Some(text) => Timestamp::parse(text).map_err(|error| Failure::usage(format!("--at: {error}")))?,
    };
    Ok(match verify(&bytes, &keys, now) {
        Ok(verified) => accepted(global, &verified),
        Err(error) => refused(global, &error),
    })
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let io = |error: std::io::Error| Failure::malformed(format!("cannot read {}: {error}", path.display()));
    if std::fs::metadata(path).map_err(io)?.len() > LARGEST {
        return Err(Failure::malformed(format!("{} is larger than any signed document", path.display())).into());
    }
    Ok(std::fs::read(path).map_err(io)?)
}

fn trusted(settings: &Settings, given: &[String]) -> anyhow::Result<Vec<VerifyingKey>> {
    if given.is_empty() {
        return Ok(app::keys(&settings.data.0)?.verifying(Purpose::Decision));
    }
    given.iter().map(|text| key(text).map_err(|why| Failure::usage(format!("--key {text}: {why}")).into())).collect()
}

fn key(text: &str) -> Result<VerifyingKey, String> {
    let bytes = STANDARD.decode(text).map_err(|error| error.to_string())?;
    let bytes: [u8; 32] = bytes.try_into().map_err(|_| "a public key has 32 bytes".to_owned())?;
    VerifyingKey::from_bytes(&bytes).map_err(|error| error.to_string())
}

fn accepted(global: &Global, verified: &Verified) -> Exit {
    let (word, exit) = if verified.expired { ("expired", Exit::NotEvaluated) } else { ("valid", Exit::Yes) };
    let end = verified.expires_at.map(|time| time.to_string());
    if global.json {
        show::json(&json!({
            "result": word, "schema": verified.schema, "keyId": verified.key_id,
            "issuedAt": verified.issued_at, "expiresAt": end, "not_checked": ["log inclusion"],
        }));
        return exit;
    }
    show::line(&format!("{word}: {} signed by key {} at {}", verified.schema, verified.key_id, verified.issued_at));
    if let Some(end) = end {
        show::line(&format!("  terms {} {end}", if verified.expired { "ended" } else { "good until" }));
    }
    if let Some(url) = verified.document["url"].as_str() {
        show::line(&format!("  about {url}: {}", verified.document["word"].as_str().unwrap_or("-")));
    }
    show::line("  not checked: inclusion in a log (this file carries no receipt)");
    exit
}

fn refused(global: &Global, error: &OpenError) -> Exit {
    let exit = match error {
        OpenError::UnknownKey(_) | OpenError::BadSignature => Exit::No,
        _ => Exit::Malformed,
    };
    let hint = matches!(error, OpenError::UnknownKey(_)).then_some("name the signer's public key with --key");
    if global.json {
        show::json(&json!({"result": "refused", "code": error.code(), "reason": error.to_string(), "hint": hint}));
    } else {
        show::line(&format!("refused: {error}"));
        if let Some(hint) = hint {
            show::note(global, &format!("hint: {hint}"));
        }
    }
    exit
}
