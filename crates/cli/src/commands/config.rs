//! `countersign config`: the settings in force and where each came from.

use serde_json::{Map, Value, json};

use crate::Exit;
use crate::args::Global;
use crate::settings::{Origin, Settings, VARIABLES, shown};
use crate::show;

pub(crate) fn run(settings: &Settings, global: &Global) -> anyhow::Result<Exit> {
    let path = |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let one = |name, value: String, origin: &Origin| (name, (value, origin.to_string()));
    let rows = [
        one("data", settings.data.0.display().to_string(), &settings.data.1),
        one("database", settings.database_shown(), &settings.database.1),
        one("allow_loopback", settings.allow_loopback.0.to_string(), &settings.allow_loopback.1),
        one("ca", or_none(path(&settings.ca.0)), &settings.ca.1),
        one("log_misses", settings.log_misses.0.to_string(), &settings.log_misses.1),
        one("tiles", or_none(settings.tiles.0.as_ref().map(ToString::to_string)), &settings.tiles.1),
        ("deny_addresses", shown(&settings.deny_addresses)),
        ("nat64", shown(&settings.nat64)),
        one("name_server", or_none(settings.name_server.0.map(|server| server.to_string())), &settings.name_server.1),
    ];
    if global.json {
        let map: Map<String, Value> = rows
            .into_iter()
            .map(|(name, (value, origin))| (name.to_owned(), json!({"value": value, "from": origin})))
            .collect();
        show::json(&Value::Object(map));
        return Ok(Exit::Yes);
    }
    for (name, (value, origin)) in rows {
        let variable = VARIABLES.iter().find(|pair| pair.1 == name).map_or("", |pair| pair.0);
        show::line(&format!("{name:<15} {value:<40} from {origin}; variable {variable}"));
    }
    Ok(Exit::Yes)
}
