//! `countersign keys`: public halves are printed, private ones never. Every change is written to the log.

use std::sync::Arc;

use countersign_core::sign::{KeyFile, KeyId, Purpose};
use countersign_engine::env::Env;
use countersign_engine::keys::leaves::{self, Edge};
use countersign_engine::keys::{Keys, KeysError};
use countersign_engine::log::{LogBook, LogError, Place};
use serde_json::{Value, json};

use crate::Exit;
use crate::app::{self, Failure};
use crate::args::{Global, KeysCommand};
use crate::settings::Settings;
use crate::show;

pub(crate) fn run(settings: &Settings, global: &Global, command: &KeysCommand) -> anyhow::Result<Exit> {
    let mut keys = app::keys(&settings.data.0)?;
    let failed = |error: KeysError| Failure::from(&error);
    match command {
        KeysCommand::New => drop(keys.current(Purpose::Decision, &Env::Real).map_err(failed)?.id()),
        KeysCommand::Rotate => drop(keys.rotate(Purpose::Decision, &Env::Real).map_err(failed)?.id()),
        KeysCommand::List => return Ok(list(settings, global, &keys, keys.all().iter())),
        KeysCommand::Show { id } => return show_one(settings, global, &keys, id),
    }
    let book = app::stored(settings, LogBook::one_shot(&settings.data.0, Arc::new(Env::Real)))?;
    write_leaves(global, &keys, &book);
    Ok(list(settings, global, &keys, keys.all().iter()))
}

/// Logs what the log lacks of these keys. A key is made and replaced without the log too; the next command that reaches
/// it writes the leaf. Only a check and `log init` make a log, because its name is for good.
pub(crate) fn write_leaves(global: &Global, keys: &Keys, book: &LogBook) {
    let write = || match book.place().has_log()? {
        true => Ok(leaves::missing(keys, book.place()).map(|missing| leaves::log(missing, book, book.deadline()))),
        false => Err(LogError::NoLog),
    };
    let told = |why: &str, hint: &str| {
        show::note(global, &format!("log: unavailable: {why}; the change is logged later"));
        show::note(global, &format!("hint: {hint}"));
    };
    match write() {
        Ok(Ok(Ok(()))) => {}
        Ok(Err(error)) => told(&error.to_string(), error.hint()),
        Err(error) | Ok(Ok(Err(error))) => told(&error.to_string(), error.hint()),
    }
}

fn show_one(settings: &Settings, global: &Global, keys: &Keys, id: &str) -> anyhow::Result<Exit> {
    match find(keys, id) {
        Some(file) => Ok(list(settings, global, keys, std::iter::once(file))),
        None => Err(unknown(id).into()),
    }
}

/// There is no such key.
pub(super) fn unknown(id: &str) -> Failure {
    Failure::usage(format!("no key `{id}` in the data directory")).coded("no_such_key")
}

pub(super) fn find<'k>(keys: &'k Keys, id: &str) -> Option<&'k KeyFile> {
    keys.all().iter().find(|file| file.key.id().to_string() == id)
}

fn list<'k>(settings: &Settings, global: &Global, keys: &Keys, files: impl Iterator<Item = &'k KeyFile>) -> Exit {
    let place = Place::new(&settings.data.0);
    let rows: Vec<Row<'_>> = files.map(|file| Row::of(keys, &place, file)).collect();
    if global.json {
        show::json(&rows.iter().map(Row::json).collect());
    } else if rows.is_empty() {
        show::line("no keys yet; `countersign keys new` makes one");
    } else {
        rows.iter().for_each(Row::print);
    }
    Exit::Yes
}

/// Every key of the data directory.
pub(super) fn rows<'k>(keys: &'k Keys, place: &Place) -> Vec<Row<'k>> {
    keys.all().iter().map(|file| Row::of(keys, place, file)).collect()
}

/// A key, its time, and where the log says so.
pub(super) struct Row<'k> {
    file: &'k KeyFile,
    until: Option<String>,
    logged: [Option<u64>; 2],
}

impl<'k> Row<'k> {
    fn of(keys: &Keys, place: &Place, file: &'k KeyFile) -> Self {
        let index = |edge| leaves::kept(keys, place, file, edge).map(|receipt| receipt.index);
        let until = keys.validity(file).until.map(|until| until.to_string());
        Self { file, until, logged: [index(Edge::From), index(Edge::Until)] }
    }

    pub(super) fn id(&self) -> KeyId {
        self.file.key.id()
    }

    /// Where its changes are in the log, in words.
    pub(super) fn places(&self) -> String {
        let place = |index: Option<u64>| index.map_or_else(|| "not logged yet".to_owned(), |at| format!("entry {at}"));
        let ended = self.until.as_ref().map(|_| format!(", its end {}", place(self.logged[1])));
        place(self.logged[0]) + &ended.unwrap_or_default()
    }

    fn print(&self) {
        let Self { file, until, .. } = self;
        let public = file.key.verifying_key().to_base64();
        let (id, purpose, state) = (file.key.id(), file.purpose.as_str(), file.state.as_str());
        show::line(&format!("{id}  {purpose:<9} {state:<9} {}  {public}", file.created));
        let until = until.as_ref().map_or_else(|| "on".to_owned(), |until| format!("to {until}"));
        show::line(&format!("  signs from {} {until}; log: {}", file.created, self.places()));
    }

    pub(super) fn json(&self) -> Value {
        let Self { file, until, logged } = self;
        json!({
            "keyId": file.key.id().to_string(), "purpose": file.purpose.as_str(), "state": file.state.as_str(),
            "created": file.created, "publicKey": file.key.verifying_key().to_base64(),
            "from": file.created, "until": until, "logged": {"from": logged[0], "until": logged[1]},
        })
    }
}
