#![doc = include_str!("../README.md")]

mod app;
mod args;
mod codes;
mod commands;
mod input;
mod lab;
mod private;
#[cfg(test)]
mod refusals;
mod settings;
mod show;
mod usage;

use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};

use crate::args::{Cli, Command};

/// What a command came to; the number is the exit code (`countersign --help` lists them).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Yes = 0,
    No = 1,
    Usage = 2,
    Malformed = 3,
    NotEvaluated = 4,
    Trust = 5,
}

#[tokio::main]
async fn main() -> ExitCode {
    outlive_file_limits();
    let cli = match usage::parsed() {
        Ok(cli) => cli,
        Err(exit) => return ExitCode::from(show::written(exit) as u8),
    };
    let global = cli.global.clone();
    let exit = match run(cli).await {
        Ok(exit) => exit,
        Err(failure) => {
            show::failure(&global, &failure);
            app::exit_of(&failure)
        }
    };
    ExitCode::from(show::written(exit) as u8)
}

/// A file that may not grow further (`ulimit -f`) ends a process with SIGXFSZ, and nobody is told why. Where the signal
/// is caught, the write fails instead, as on a full disk. It stays caught after what waits for it is dropped.
fn outlive_file_limits() {
    /// The same number on Linux, the BSDs and macOS.
    const SIGXFSZ: i32 = 25;
    let _caught = signal(SignalKind::from_raw(SIGXFSZ));
}

async fn run(cli: Cli) -> anyhow::Result<Exit> {
    let garbled =
        settings::VARIABLES.iter().find(|pair| std::env::var_os(pair.0).is_some_and(|value| value.to_str().is_none()));
    if let Some((name, _)) = garbled {
        return Err(app::Failure::usage(format!("{name} is not UTF-8")).coded("variable_not_text").into());
    }
    // Not for the lab and the demo, which are the same on every machine.
    let settings = || {
        let settings = settings::Settings::load(&cli.global, |name| std::env::var(name).ok());
        settings.map_err(|error| app::Failure::usage(format!("{error:#}")).coded("settings_wrong"))
    };
    match cli.command {
        Command::Check(check) => commands::check::run(&settings()?, &cli.global, &check).await,
        Command::Verify(verify) => commands::verify::run(&settings()?, &cli.global, &verify),
        Command::Keys(keys) => commands::keys::run(&settings()?, &cli.global, &keys),
        Command::Receipt(receipt) => commands::receipt::run(&settings()?, &cli.global, &receipt).await,
        Command::Log(log) => commands::log::run(&settings()?, &cli.global, &log).await,
        Command::Lab(lab) => commands::lab::run(&cli.global, &lab).await,
        Command::Demo(demo) => commands::demo::run(&cli.global, &demo).await,
        Command::Config => commands::config::run(&settings()?, &cli.global),
        Command::Doctor(doctor) => commands::doctor::run(&settings()?, &cli.global, &doctor).await,
    }
}
