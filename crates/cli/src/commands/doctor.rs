//! `countersign doctor`: what would stop a check on this machine, found before it does.
//!
//! It makes and changes nothing, whatever there is: a run leaves the data directory as it was. It asks the services that
//! the settings name, and nobody about a seller unless a name is given to try.

mod data;
mod machine;
mod row;

use countersign_store::Store;
use serde_json::Value;

use crate::Exit;
use crate::app;
use crate::args::{DoctorArgs, Global};
use crate::settings::Settings;
use crate::show;
use row::{Row, State};

pub(crate) async fn run(settings: &Settings, global: &Global, args: &DoctorArgs) -> anyhow::Result<Exit> {
    let database = Store::examine(app::location(settings)).await;
    let rows = [
        machine::settings(settings),
        data::directory(settings),
        machine::room(settings),
        data::database(settings, &database),
        data::keys(settings, &database),
        data::log_keys(settings),
        data::log(settings),
        data::tiles(settings),
        machine::clock(),
        machine::names(settings, args.look_up.as_deref()).await,
    ];
    match global.json {
        true => show::json(&Value::Array(rows.iter().map(Row::json).collect())),
        false => rows.iter().for_each(Row::print),
    }
    Ok(if rows.iter().any(|row| row.state == State::Failed) { Exit::No } else { Exit::Yes })
}
