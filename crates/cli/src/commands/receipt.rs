//! `countersign receipt`: a decision's receipt again, or under a newer checkpoint.

use std::path::Path;
use std::sync::Arc;

use countersign_engine::check::receipt_id;
use countersign_engine::env::Env;
use countersign_engine::log::LogBook;
use countersign_engine::receipt::Receipt;
use countersign_engine::verify::signed_part;

use crate::Exit;
use crate::app::{self, Failure};
use crate::args::{Global, ReceiptCommand};
use crate::settings::Settings;
use crate::show;

pub(crate) async fn run(settings: &Settings, global: &Global, command: &ReceiptCommand) -> anyhow::Result<Exit> {
    match command {
        ReceiptCommand::Export { file, out, proof } => {
            let receipt = find(settings, &super::verify::read(file)?).await?;
            let text = if *proof { receipt.proof().to_string() } else { format!("{}\n", receipt.to_value()) };
            write(global, out.as_deref(), &text)
        }
        ReceiptCommand::Upgrade { file, out } => {
            let old = Receipt::parse(&super::verify::read(file)?);
            let old = old.map_err(|error| Failure::malformed(error.to_string()))?;
            let book = LogBook::one_shot(&settings.data.0, Arc::new(Env::Real));
            let new = book.upgrade(&old).map_err(|error| Failure::blocked(error.to_string(), error.hint()))?;
            write(global, out.as_deref(), &format!("{}\n", new.to_value()))
        }
    }
}

/// The receipt itself, or the one that is kept for the decision in these bytes.
async fn find(settings: &Settings, bytes: &[u8]) -> anyhow::Result<Receipt> {
    if let Ok(receipt) = Receipt::parse(bytes) {
        return Ok(receipt);
    }
    let decision = signed_part(bytes).map_err(|error| Failure::malformed(error.to_string()))?;
    // A file that an editor ended with a line feed still holds the document that was signed.
    let kept = app::store(settings).await?.document(&receipt_id(decision.trim_ascii())).await?;
    let Some(kept) = kept else {
        let hint = "decisions that selected nothing are logged with `check --log-misses` only";
        return Err(Failure::blocked("this data directory has no receipt for that document", hint).into());
    };
    Ok(Receipt::parse(&kept.bytes).map_err(|error| Failure::malformed(error.to_string()))?)
}

fn write(global: &Global, out: Option<&Path>, text: &str) -> anyhow::Result<Exit> {
    match out {
        None => show::raw(text.trim_end_matches('\n')),
        Some(path) => {
            std::fs::write(path, text)
                .map_err(|error| Failure::usage(format!("cannot write {}: {error}", path.display())))?;
            show::note(global, &format!("receipt in {}", path.display()));
        }
    }
    Ok(Exit::Yes)
}
