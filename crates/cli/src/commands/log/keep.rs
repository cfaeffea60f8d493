//! `countersign log init`, `status` and `adopt`: making a log, looking at it, and taking over a copy of it.

use std::sync::Arc;

use countersign_engine::env::Env;
use countersign_engine::log::{Held, Home, LogBook, LogError, Place, Standing, Status};
use countersign_tlog::checkpoint::Origin;
use countersign_tlog::key::KeyName;
use countersign_tlog::sequencer::{self, OpenError};
use serde_json::json;

use super::storage;
use crate::Exit;
use crate::app::{self, Failure};
use crate::args::Global;
use crate::commands::keys;
use crate::settings::Settings;
use crate::show;

pub(super) fn init(settings: &Settings, global: &Global, origin: Option<&str>) -> anyhow::Result<Exit> {
    let origin = origin.map(name).transpose()?;
    let place = Place::new(&settings.data.0);
    let book = LogBook::one_shot(&settings.data.0, Arc::new(Env::Real));
    let book = storage::stored_and_asked(settings, global, book)?;
    place.create(&Env::Real, origin).map_err(|error| Failure::from(&error))?;
    // Opened once: the empty log is signed and published, and its trust policy stands beside it. Keys may be older.
    book.take().map_err(|error| Failure::from(&error))?;
    keys::write_leaves(global, &app::keys(&settings.data.0)?, &book);
    drop(book);
    status(settings, global)
}

/// A log's keys are named like its origin, so it must be a key name too.
fn name(text: &str) -> anyhow::Result<Origin> {
    if let Some((_, rest)) = text.split_once("://") {
        let bad = Failure::usage(format!("--origin: `{text}` is a URL with its scheme; the name of a log has none"));
        return Err(bad.advised(format!("leave the scheme out: {rest}")).into());
    }
    let origin = KeyName::parse(text).and_then(|_| Origin::parse(text));
    let refuse = || Failure::usage(format!("--origin: `{text}` is empty, too long, or holds spaces or `+`"));
    Ok(origin.ok_or_else(refuse)?)
}

pub(super) fn status(settings: &Settings, global: &Global) -> anyhow::Result<Exit> {
    let book = LogBook::one_shot(&settings.data.0, Arc::new(Env::Real));
    let status = book.status().map_err(|error| Failure::from(&error))?;
    let Status { checkpoint: head, clock, trust, held, home } = status;
    let file = Place::new(&settings.data.0).trust();
    let held = matches!(held, Held::Taken);
    // A copy that is only looked at may come without its private keys.
    let signing = app::keys(&settings.data.0).ok();
    let rows = |keys| keys::rows(keys, book.place());
    let signing: Vec<keys::Row<'_>> = signing.as_ref().map(rows).unwrap_or_default();
    if global.json {
        let keys: Vec<&str> = trust.lines().filter_map(|line| line.strip_prefix("log ")).collect();
        show::json(&json!({
            "origin": head.origin.as_str(), "size": head.size, "root": head.root.to_string(), "keys": keys,
            "signed_at": clock.signed_at(), "clock_behind": matches!(clock, Standing::Ahead(_)),
            "held_by_another_process": held, "copied": matches!(home, Home::Copy), "trust_file": file.display().to_string(),
            "signing_keys": signing.iter().map(keys::Row::json).collect::<Vec<_>>(),
        }));
        return Ok(Exit::Yes);
    }
    show::line(&format!("{}: {} entries, root {}", head.origin, head.size, head.root));
    if let Some(at) = clock.signed_at() {
        show::line(&format!("  signed last at {at}"));
    }
    show::line(&format!("  trust policy for readers of its receipts: {}", file.display()));
    signing.iter().for_each(|row| show::line(&format!("  key {}: {}", row.id(), row.places())));
    if held {
        show::line("  another process holds it; this is what it signed last");
    }
    if matches!(home, Home::Copy) {
        show::line("  this directory is a copy of the log: it signs nothing until `countersign log adopt`");
        show::note(global, &format!("hint: {}", LogError::ADOPT));
    }
    if let Standing::Ahead(at) = clock {
        show::line(&format!("  that is ahead of this machine's clock ({}): nothing is signed until {at}", app::now()));
        show::note(global, &format!("hint: {}", LogError::CLOCK));
    }
    Ok(Exit::Yes)
}

pub(super) fn adopt(settings: &Settings, global: &Global) -> anyhow::Result<Exit> {
    let place = Place::new(&settings.data.0);
    let origin = sequencer::adopt(&place.log()).map_err(|error| match error {
        OpenError::Missing(_) => Failure::from(&place.absent()),
        error => Failure::from(&LogError::Open(error)),
    })?;
    show::note(global, "from now on the original must never run again: two processes would sign two histories");
    match global.json {
        true => show::json(&json!({"result": "adopted", "origin": origin.as_str()})),
        false => show::line(&format!("this data directory is now the log {origin}")),
    }
    Ok(Exit::Yes)
}
