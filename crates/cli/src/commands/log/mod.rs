//! `countersign log`: run a log, and let others watch it.

mod fsck;
mod keep;
mod monitor;
mod serve;
mod storage;
mod witness;

use crate::Exit;
use crate::args::{Global, LogCommand};
use crate::settings::Settings;

pub(crate) async fn run(settings: &Settings, global: &Global, command: &LogCommand) -> anyhow::Result<Exit> {
    match command {
        LogCommand::Init { origin } => keep::init(settings, global, origin.as_deref()),
        LogCommand::Status => keep::status(settings, global),
        LogCommand::Adopt => keep::adopt(settings, global),
        LogCommand::Fsck => fsck::run(settings, global),
        LogCommand::Monitor(args) => monitor::run(settings, global, args).await,
        LogCommand::Witness(args) => witness::run(global, args).await,
        LogCommand::Serve(args) => serve::run(settings, global, args).await,
    }
}
