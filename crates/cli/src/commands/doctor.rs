//! `countersign doctor`: what would stop a check on this machine, found before it does.

use std::sync::Arc;

use countersign_engine::env::Env;
use countersign_engine::log::{LogBook, LogError, Standing, Status};
use countersign_engine::transparency::Misses;
use serde_json::{Value, json};

use crate::Exit;
use crate::app;
use crate::args::Global;
use crate::settings::Settings;
use crate::show;

/// One thing looked at.
struct Examined {
    what: &'static str,
    trouble: Option<String>,
}

pub(crate) async fn run(settings: &Settings, global: &Global) -> anyhow::Result<Exit> {
    let examined = [
        Examined { what: "keys", trouble: app::keys(&settings.data.0).err().map(|error| trouble(&error)) },
        Examined {
            what: "database and data directory",
            trouble: app::checker(settings, Arc::new(Env::Real), Misses::default())
                .await
                .err()
                .map(|error| trouble(&error)),
        },
        Examined { what: "who can read the database", trouble: app::exposed(settings) },
        Examined {
            what: "guard",
            trouble: settings.allow_loopback.0.then(|| "allow_loopback is on: for labs only".to_owned()),
        },
        Examined { what: "clock", trouble: clock() },
        Examined { what: "log", trouble: log(settings) },
    ];
    let exit = if examined.iter().all(|one| one.trouble.is_none()) { Exit::Yes } else { Exit::No };
    if global.json {
        show::json(&Value::Array(
            examined.iter().map(|one| json!({"what": one.what, "trouble": one.trouble})).collect(),
        ));
        return Ok(exit);
    }
    for Examined { what, trouble } in examined {
        show::line(&format!(
            "{:<8} {what}{}",
            if trouble.is_none() { "ok" } else { "trouble" },
            trouble.map_or(String::new(), |why| format!(": {why}"))
        ));
    }
    Ok(exit)
}

/// What is wrong, and what to do about it.
fn trouble(error: &anyhow::Error) -> String {
    let hint = error.downcast_ref::<app::Failure>().and_then(app::Failure::hint);
    hint.map_or_else(|| format!("{error:#}"), |hint| format!("{error:#}; {hint}"))
}

/// Certificates are judged by this clock, and nobody ran this program before it was written.
fn clock() -> Option<String> {
    let written = countersign_core::time::Timestamp::from_seconds(1_764_547_200);
    (app::now() < written).then(|| format!("the clock says {}, which is before this program was written", app::now()))
}

/// That no log was begun yet is no trouble: the first check begins it.
fn log(settings: &Settings) -> Option<String> {
    match LogBook::one_shot(&settings.data.0, Arc::new(Env::Real)).status() {
        Ok(Status { clock: Standing::Ahead(at), .. }) => {
            Some(format!("its last signature is dated {at}, ahead of the clock; {}", LogError::CLOCK))
        }
        Ok(_) | Err(LogError::NoLog) => None,
        Err(error) => Some(format!("{error}; {}", error.hint())),
    }
}
