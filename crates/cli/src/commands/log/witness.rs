//! `countersign log witness`: cosigns the checkpoints of logs it knows, as long as they only grow.

use std::sync::Arc;

use countersign_engine::env::Env;
use countersign_engine::witness::{Witness, WitnessError};
use countersign_server::{Bounds, connections};
use countersign_tlog::key::KeyName;
use serde_json::json;

use super::serve::{listen, told_to_stop};
use crate::Exit;
use crate::app::Failure;
use crate::args::{Global, LogWitnessArgs};
use crate::input;
use crate::show;

pub(crate) async fn run(global: &Global, args: &LogWitnessArgs) -> anyhow::Result<Exit> {
    let bounds = Bounds::new(connections());
    let policy = input::policy(&args.trust)?;
    let name = args.name.as_deref().map(name).transpose()?;
    let witness = Witness::open(&args.state, &policy, name, Arc::new(Env::Real)).map_err(|error| refused(&error))?;
    let witness = Arc::new(witness);
    let (listener, address) = listen(&args.listen).await?;
    let told = told_to_stop()?;
    say(global, &address, &witness);
    countersign_server::serve(listener, countersign_server::witness(witness), bounds, told).await;
    Ok(Exit::Yes)
}

fn name(text: &str) -> anyhow::Result<KeyName> {
    let refuse = || Failure::usage(format!("--name: `{text}` has white space or a plus sign, or is too long")).into();
    KeyName::parse(text).ok_or_else(refuse)
}

fn refused(error: &WitnessError) -> Failure {
    let failure = match error {
        WitnessError::Unnamed => Failure::usage(format!("{error}; {}", error.hint())),
        WitnessError::OtherName(_) => Failure::usage(error.to_string()).advised(error.hint()),
        WitnessError::Seeds(error) => Failure::from(error),
        WitnessError::Held(_) | WitnessError::Io { .. } | WitnessError::Keys(_) | WitnessError::Forgot(_) => {
            Failure::blocked(error.to_string(), error.hint())
        }
    };
    failure.coded(error.code().to_owned())
}

/// The lines are those of a trust policy, to be copied into one.
fn say(global: &Global, address: &str, witness: &Witness) {
    let (name, vkeys, logs) = (witness.name(), witness.vkeys(), witness.logs());
    if global.json {
        return show::json(&json!({"listening": address, "name": name, "vkeys": vkeys, "logs": logs}));
    }
    show::line(&format!("witness {name} on http://{address}/, for {}", logs.join(", ")));
    for (vkey, turn) in vkeys.iter().zip(1..) {
        show::line(&format!("witness w{turn} {vkey} http://{address}"));
    }
}
