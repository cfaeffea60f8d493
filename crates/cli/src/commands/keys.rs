//! `countersign keys`: public halves are printed, private ones never.

use countersign_core::sign::{KeyFile, Purpose};
use countersign_engine::env::Env;
use countersign_engine::keys::{Keys, KeysError};
use serde_json::{Value, json};

use crate::Exit;
use crate::app::{self, Failure};
use crate::args::{Global, KeysCommand};
use crate::settings::Settings;
use crate::show;

pub(crate) fn run(settings: &Settings, global: &Global, command: &KeysCommand) -> anyhow::Result<Exit> {
    let mut keys = app::keys(&settings.data.0)?;
    let failed = |error: KeysError| Failure::blocked(error.to_string(), error.hint());
    match command {
        KeysCommand::New => drop(keys.current(Purpose::Decision, &Env::Real).map_err(failed)?.id()),
        KeysCommand::Rotate => drop(keys.rotate(Purpose::Decision, &Env::Real).map_err(failed)?.id()),
        KeysCommand::List => {}
        KeysCommand::Show { id } => return show_one(&keys, global, id),
    }
    list(global, keys.all());
    Ok(Exit::Yes)
}

fn show_one(keys: &Keys, global: &Global, id: &str) -> anyhow::Result<Exit> {
    match keys.all().iter().find(|file| file.key.id().to_string() == id) {
        Some(file) => list(global, std::slice::from_ref(file)),
        None => return Err(Failure::usage(format!("no key `{id}` in the data directory")).into()),
    }
    Ok(Exit::Yes)
}

fn list(global: &Global, files: &[KeyFile]) {
    if global.json {
        return show::json(&Value::Array(files.iter().map(describe).collect()));
    }
    if files.is_empty() {
        return show::line("no keys yet; `countersign keys new` makes one");
    }
    for file in files {
        let public = file.key.verifying_key().to_base64();
        show::line(&format!(
            "{}  {:<9} {:<9} {}  {public}",
            file.key.id(),
            file.purpose.as_str(),
            file.state.as_str(),
            file.created
        ));
    }
}

fn describe(file: &KeyFile) -> Value {
    json!({
        "keyId": file.key.id().to_string(), "purpose": file.purpose.as_str(), "state": file.state.as_str(),
        "created": file.created, "publicKey": file.key.verifying_key().to_base64(),
    })
}
