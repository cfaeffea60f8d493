//! A C2SP `.tlog-proof`. It does not say what it is a proof of: `--leaf` brings that, or its `extra` line.

use std::path::Path;

use countersign_engine::receipt::{ProvedProof, Receipt, Refusal, Signed, Subject, Unproved, beside, verify_proof};
use countersign_tlog::policy::Policy;
use serde_json::json;

use super::{Kind, Reader, receipt};
use crate::Exit;
use crate::app::Failure;
use crate::codes;
use crate::input;
use crate::show;

/// What a proof is called where a receipt has its schema.
const SCHEMA: &str = "c2sp.org/tlog-proof@v1";

const NO_LEAF: &str = "the proof does not say which entry it is of, and none was named";

pub(super) fn run(reader: &Reader<'_>, bytes: &[u8], policy: &Policy) -> anyhow::Result<Exit> {
    let subject = reader.args.leaf.as_deref().map(subject).transpose()?;
    Ok(match verify_proof(bytes, subject, &reader.demands(policy)?) {
        Err(Refusal::Inclusion(error)) if reader.args.leaf.is_some() => {
            let reason = format!("the entry in --leaf is not the one that the proof is of: {error}");
            super::refused(reader.global, "invalid", error.code(), &reason);
            Exit::No
        }
        Err(refusal) => receipt::refused(reader, receipt::Renewal::Proof, &refusal),
        Ok(ProvedProof::Checkpoint { index, signed }) => of_nothing(reader, index, &signed),
        Ok(ProvedProof::Entry(proved)) => match receipt::judge(reader, *proved) {
            Ok(accepted) => accepted.tell(reader, SCHEMA),
            Err(exit) => exit,
        },
    })
}

/// The entry in this file: a receipt of it, an answer that carries one, or the bytes that were logged.
fn subject(path: &Path) -> anyhow::Result<Subject> {
    let bytes = input::read(path, super::LARGEST)
        .map_err(|why| Failure::usage(format!("--leaf: {why}")).listed("leaf_unreadable"))?;
    let refuse = |why: String| Failure::usage(format!("--leaf {}: {why}", path.display())).listed("leaf_malformed");
    Ok(match super::recognise(&bytes) {
        Kind::Receipt => {
            Receipt::parse(&bytes).map(Box::new).map(Subject::Receipt).map_err(|error| refuse(error.to_string()))?
        }
        Kind::Answer => {
            let carried = beside(&bytes).map_err(|error| refuse(error.to_string()))?;
            let receipt = carried.ok_or_else(|| refuse("the answer carries no receipt".to_owned()))?;
            Subject::Receipt(Box::new(receipt))
        }
        Kind::Document if is_ours(&bytes) => {
            let why = "a signed document alone does not give its leaf, which takes the salt in its receipt";
            return Err(refuse(why.to_owned()).into());
        }
        Kind::Document | Kind::Proof | Kind::Note | Kind::Broken => Subject::Entry(as_logged(bytes)),
    })
}

fn is_ours(document: &[u8]) -> bool {
    let schema = serde_json::from_slice::<serde_json::Value>(document).unwrap_or_default();
    schema["schema"].as_str().is_some_and(|schema| schema.starts_with("countersign/"))
}

/// A leaf of ours that an editor ended with a line feed is still that leaf; of other entries every byte counts.
fn as_logged(bytes: Vec<u8>) -> Vec<u8> {
    let trimmed = bytes.trim_ascii();
    if countersign_core::leaf::Leaf::parse(trimmed).is_some() { trimmed.to_vec() } else { bytes }
}

/// The log signed the checkpoint, and that is all.
fn of_nothing(reader: &Reader<'_>, index: u64, signed: &Signed) -> Exit {
    let mut open = signed.not_proved();
    open.insert(0, Unproved { what: "that anything is in the log", why: NO_LEAF });
    let hint = codes::hint("no_leaf").unwrap_or_default();
    if reader.global.json {
        let mut value = receipt::checkpoint_json(signed);
        let told =
            [("schema", SCHEMA), ("result", "not_evaluated"), ("code", "no_leaf"), ("reason", NO_LEAF), ("hint", hint)];
        told.iter().for_each(|(member, text)| value[*member] = json!(text));
        value["index"] = json!(index);
        value["not_proved"] = receipt::rows(&open);
        show::json(&value);
        return Exit::NotEvaluated;
    }
    show::line(&format!("not evaluated: {NO_LEAF}"));
    let point = &signed.checkpoint;
    show::line(&format!("  claims     entry {index} of {} in the log {}", point.size, point.origin));
    receipt::print_signatures(signed);
    receipt::print_open(&open);
    show::note(reader.global, &format!("hint: {hint}"));
    Exit::NotEvaluated
}
