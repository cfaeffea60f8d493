//! `countersign receipt`: the receipt of a decision or a key again, or under a newer checkpoint.

use std::path::Path;
use std::sync::Arc;

use countersign_engine::check::receipt_id;
use countersign_engine::env::Env;
use countersign_engine::keys::leaves::{self, Edge};
use countersign_engine::log::{LogBook, Place};
use countersign_engine::receipt::Receipt;
use countersign_engine::verify::signed_part;
use serde_json::{Value, json};

use super::verify::{Kind, recognise};
use crate::Exit;
use crate::app::{self, Failure};
use crate::args::{Global, ReceiptCommand};
use crate::input;
use crate::private;
use crate::settings::Settings;
use crate::show;

pub(crate) async fn run(settings: &Settings, global: &Global, command: &ReceiptCommand) -> anyhow::Result<Exit> {
    match command {
        ReceiptCommand::Export { file, key, out, proof } => {
            let receipt = match (file, key) {
                (Some(file), _) => find(settings, global, &super::verify::read(file)?).await?,
                (None, key) => of_key(settings, key.as_deref().unwrap_or_default())?,
            };
            match proof {
                true => {
                    write(settings, global, out.as_deref(), &receipt.proof().to_string(), &json!({"what": "proof"}))
                }
                false => write(settings, global, out.as_deref(), &file_form(&receipt), &json!({"what": "receipt"})),
            }
        }
        ReceiptCommand::Upgrade { file, out } => {
            let old = parse(file, &super::verify::read(file)?)?;
            let book = app::stored(settings, LogBook::one_shot(&settings.data.0, Arc::new(Env::Real)))?;
            let new = book.upgrade(&old).map_err(|error| Failure::from(&error))?;
            if let Some(why) = new.stays {
                show::note(global, &format!("the receipt stays as it is: {why}"));
            }
            let state = if new.stays.is_none() { "renewed" } else { "stays" };
            let told = json!({"what": "receipt", "state": state, "reason": new.stays.map(|why| why.to_string())});
            write(settings, global, out.as_deref(), &file_form(&new.receipt), &told)
        }
    }
}

fn file_form(receipt: &Receipt) -> String {
    format!("{}\n", receipt.to_value())
}

/// A receipt. What is something else that this program writes is told by that: why it does not read as a receipt says
/// nothing to a person who took the wrong file.
fn parse(path: &Path, bytes: &[u8]) -> Result<Receipt, Failure> {
    let error = match Receipt::parse(bytes) {
        Ok(receipt) => return Ok(receipt),
        Err(error) => error,
    };
    let what = match recognise(bytes) {
        Kind::Answer => "an answer",
        Kind::Document => "a document",
        Kind::Proof => "a .tlog-proof",
        Kind::Note => "a checkpoint",
        Kind::Receipt | Kind::Broken => return Err(Failure::malformed(error.to_string()).coded(error.code())),
    };
    Err(Failure::malformed(format!("{} is {what}, and no receipt", input::named(path))).listed("not_a_receipt"))
}

/// The newest receipt of a key: the one of its end says when it began too.
fn of_key(settings: &Settings, id: &str) -> anyhow::Result<Receipt> {
    let (keys, place) = (app::keys(&settings.data.0)?, Place::new(&settings.data.0));
    let file = super::keys::find(&keys, id);
    let file = file.ok_or_else(|| super::keys::unknown(id))?;
    let edge = if keys.validity(file).until.is_some() { Edge::Until } else { Edge::From };
    let hint = "the next check that logs a decision writes it, and so does `countersign log serve` when it starts";
    let missing = || Failure::blocked("the log does not hold this key's last change yet", hint).coded("key_not_logged");
    Ok(leaves::kept(&keys, &place, file, edge).ok_or_else(missing)?)
}

/// The receipt itself, or the one that is kept for the decision in these bytes.
async fn find(settings: &Settings, global: &Global, bytes: &[u8]) -> anyhow::Result<Receipt> {
    if let Ok(receipt) = Receipt::parse(bytes) {
        return Ok(receipt);
    }
    let decision = signed_part(bytes).map_err(|error| Failure::malformed(error.to_string()).coded(error.code()))?;
    // A file that an editor ended with a line feed still holds the document that was signed.
    let kept = app::store(settings, global).await?.document(&receipt_id(decision.trim_ascii())).await;
    let Some(kept) = kept.map_err(|error| Failure::from(&error))? else {
        let hint = "decisions that selected nothing are logged with `check --log-misses` only";
        let missing = Failure::blocked("this data directory has no receipt for that document", hint);
        return Err(missing.coded("no_receipt_kept").into());
    };
    Ok(Receipt::parse(&kept.bytes).map_err(|error| Failure::malformed(error.to_string()).coded(error.code()))?)
}

/// To standard output, or to a file; then a program is `told` what is in it, and where.
fn write(settings: &Settings, global: &Global, out: Option<&Path>, text: &str, told: &Value) -> anyhow::Result<Exit> {
    let Some(path) = out else {
        show::raw(text.trim_end_matches('\n'));
        return Ok(Exit::Yes);
    };
    private::not_ours(&settings.data.0, path)?;
    private::write(path, text).map_err(|error| app::unwritten(path, &error))?;
    show::note(global, &format!("{} in {}", told["what"].as_str().unwrap_or_default(), path.display()));
    if global.json {
        let mut told = told.clone();
        told["out"] = json!(path.display().to_string());
        show::json(&told);
    }
    Ok(Exit::Yes)
}
