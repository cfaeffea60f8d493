//! `countersign config`: the settings in force and where each came from.

use serde_json::{Map, Value, json};

use crate::Exit;
use crate::args::Global;
use crate::settings::{Settings, VARIABLES};
use crate::show;

pub(crate) fn run(settings: &Settings, global: &Global) -> anyhow::Result<Exit> {
    let rows = [
        ("data", settings.data.0.display().to_string(), &settings.data.1),
        ("database", settings.database_shown(), &settings.database.1),
        ("allow_loopback", settings.allow_loopback.0.to_string(), &settings.allow_loopback.1),
        ("log_misses", settings.log_misses.0.to_string(), &settings.log_misses.1),
        ("ca", settings.ca.0.as_ref().map_or("-".to_owned(), |path| path.display().to_string()), &settings.ca.1),
    ];
    if global.json {
        let map: Map<String, Value> = rows
            .into_iter()
            .map(|(name, value, origin)| (name.to_owned(), json!({"value": value, "from": origin.to_string()})))
            .collect();
        show::json(&Value::Object(map));
        return Ok(Exit::Yes);
    }
    for (name, value, origin) in rows {
        let variable = VARIABLES.iter().find(|pair| pair.1 == name).map_or("", |pair| pair.0);
        show::line(&format!("{name:<15} {value:<40} from {origin}; also {variable}"));
    }
    Ok(Exit::Yes)
}
