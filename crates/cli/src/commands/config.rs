//! `countersign config`: the settings in force and where each came from.

use serde_json::{Map, Value, json};

use crate::Exit;
use crate::args::Global;
use crate::settings::{Origin, Settings, VARIABLES, shown};
use crate::show;

pub(crate) fn run(settings: &Settings, global: &Global) -> anyhow::Result<Exit> {
    let rows = rows(settings);
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
        show::line(&format!("{name:<15} {:<40} from {origin}; variable {variable}", text(&value)));
    }
    Ok(Exit::Yes)
}

/// Every setting with its value, of the type that the settings file has for it, and where that came from. What is not
/// set is null, and a list without entries is an empty one.
pub(super) fn rows(settings: &Settings) -> [(&'static str, (Value, String)); 9] {
    let one = |name, value: Value, origin: &Origin| (name, (value, origin.to_string()));
    let ca = settings.ca.0.as_ref().map(|path| path.display().to_string());
    let name_server = settings.name_server.0.map(|server| server.to_string());
    [
        one("data", json!(settings.data.0.display().to_string()), &settings.data.1),
        one("database", json!(settings.database_shown()), &settings.database.1),
        one("allow_loopback", json!(settings.allow_loopback.0), &settings.allow_loopback.1),
        one("ca", json!(ca), &settings.ca.1),
        one("log_misses", json!(settings.log_misses.0), &settings.log_misses.1),
        one("tiles", json!(settings.tiles.0.as_ref().map(ToString::to_string)), &settings.tiles.1),
        ("deny_addresses", shown(&settings.deny_addresses)),
        ("nat64", shown(&settings.nat64)),
        one("name_server", json!(name_server), &settings.name_server.1),
    ]
}

/// A value as people read it; what is not set, and a list without entries, is a dash.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(entries) if entries.is_empty() => "-".to_owned(),
        Value::Array(entries) => entries.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
