//! What the data directory keeps, looked at without a trace.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use countersign_core::sign::Purpose;
use countersign_engine::env::Env;
use countersign_engine::keys::{Keys, lost};
use countersign_engine::log::{Home, LogBook, LogError, Place, Standing, Status};
use countersign_store::{Examined, StoreError};
use countersign_tlog::sequencer::OpenError;
use countersign_tlog::tile::{Content, TilePath};
use rustix::fs::{Access, access};

use super::machine::there;
use super::row::Row;
use crate::app::{self, Failure};
use crate::settings::Settings;

/// Where everything is kept.
pub(super) fn directory(settings: &Settings) -> Row {
    const WHAT: &str = "data directory";
    const ELSEWHERE: &str = "make it yours, or name another with --data";
    let data = &settings.data.0;
    let shown = data.display();
    let ours =
        |path: &Path| path.is_dir() && access(path, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).is_ok();
    match std::fs::metadata(data) {
        Err(error) if error.kind() == ErrorKind::NotFound && ours(there(data)) => {
            Row::ok(WHAT, format!("{shown} is not there yet; the first command that keeps something makes it"))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Row::failed(WHAT, format!("{shown} is not there and cannot be made"), ELSEWHERE)
        }
        Err(error) => Row::failed(WHAT, format!("{shown}: {error}"), ELSEWHERE),
        Ok(found) if !found.is_dir() => Row::failed(WHAT, format!("{shown} is no directory"), ELSEWHERE),
        Ok(_) if !ours(data) => Row::failed(WHAT, format!("{shown} cannot be read and written"), ELSEWHERE),
        Ok(found) => owned(WHAT, data, found.permissions().mode(), format!("{shown}, mode")),
    }
}

/// Whoever writes into a folder may put another database or other keys into it.
fn owned(what: &'static str, folder: &Path, mode: u32, says: String) -> Row {
    let shown = folder.display();
    match mode & 0o022 {
        0 => Row::ok(what, format!("{says} {:04o}", mode & 0o7777)),
        _ => Row::warning(
            what,
            format!("others on this machine can write into {shown}"),
            format!("chmod go-w {shown} keeps them out"),
        ),
    }
}

const DATABASE: &str = "database";

/// Whether it opens, what it holds, and who else reads it.
pub(super) fn database(settings: &Settings, found: &Result<Examined, StoreError>) -> Row {
    let place = settings.database_shown();
    match found {
        Err(error) => Row::stopped(DATABASE, &Failure::from(error).into()),
        Ok(Examined::Empty) => {
            Row::ok(DATABASE, format!("{place} holds nothing yet; the first check makes its tables"))
        }
        Ok(Examined::Unindexed) => {
            let says = format!("{place}-wal holds what was written last, and reading it would make files beside it");
            Row::unseen(DATABASE, says, "the next check reads it and puts it in its place")
        }
        Ok(Examined::Busy) => {
            Row::unseen(DATABASE, format!("another process wrote to {place} meanwhile"), "run doctor again")
        }
        Ok(Examined::Tables { writable: false, .. }) => {
            let hint = "give this user the right to write to it, or name another with --data or --database";
            Row::failed(DATABASE, format!("{place} cannot be written to"), hint)
        }
        Ok(Examined::Tables { version, readers, .. }) => readable(settings, *version, readers),
    }
}

fn readable(settings: &Settings, version: i64, readers: &[String]) -> Row {
    let place = settings.database_shown();
    if let Some((says, hint)) = app::exposed(settings) {
        return Row::warning(DATABASE, says, hint);
    }
    if !readers.is_empty() {
        let roles = readers.join(", ");
        let hint = format!("REVOKE SELECT ON ALL TABLES IN SCHEMA of these tables FROM {roles}, unless they should");
        return Row::warning(DATABASE, format!("other roles can read {place}: {roles}"), hint);
    }
    let next = match version == Examined::LATEST {
        true => String::new(),
        false => format!("; the next check raises it to {}", Examined::LATEST),
    };
    Row::ok(DATABASE, format!("{place}, version {version}{next}"))
}

/// Whether they read, which of them signs, and whether one that signed is gone.
pub(super) fn keys(settings: &Settings, database: &Result<Examined, StoreError>) -> Row {
    const WHAT: &str = "signing keys";
    let keys: Keys = match app::keys(&settings.data.0) {
        Ok(keys) => keys,
        Err(error) => return Row::stopped(WHAT, &error),
    };
    let signs = keys.signer(Purpose::Decision).map(|file| format!("{} signs decisions", file.key.id()));
    let signs = signs.unwrap_or_else(|| "the next decision makes the one that signs it".to_owned());
    let folder = settings.data.0.join("keys");
    let decisions = match database {
        Ok(Examined::Tables { newest, .. }) => newest.as_slice(),
        _ => &[],
    };
    let lost = lost(&keys, &Place::new(&settings.data.0), decisions.iter().map(Vec::as_slice));
    if !lost.is_empty() {
        let ids = lost.into_iter().collect::<Vec<_>>().join(", ");
        let says = format!("lost: {ids} signed here, and {} has no file of it; {signs}", folder.display());
        return Row::warning(WHAT, says, LOST_KEY);
    }
    let count = match keys.all().len() {
        1 => "1 key".to_owned(),
        count => format!("{count} keys"),
    };
    let says = format!("{count} in {}; {signs}", folder.display());
    match std::fs::metadata(&folder) {
        Ok(found) => owned(WHAT, &folder, found.permissions().mode(), says + "; mode"),
        Err(_) => Row::ok(WHAT, says),
    }
}

/// What a lost key costs, and what is left of it.
const LOST_KEY: &str = "restore its file from a copy; if there is none, what it signed still verifies by its public half, \
    which the log's receipt of it shows, and whoever trusts it has to be told which key signs now";

/// Whether the log can be signed for.
pub(super) fn log_keys(settings: &Settings) -> Row {
    const WHAT: &str = "log keys";
    match Place::new(&settings.data.0).signer() {
        Ok(Some(origin)) => Row::ok(WHAT, format!("keys/log.seeds signs as {origin}")),
        Ok(None) => Row::ok(WHAT, "none yet; they are made with the log"),
        Err(error) => Row::stopped(WHAT, &Failure::from(&error).into()),
    }
}

/// Whether the log reads and may sign on. That none was begun yet is no trouble: the first check begins it.
pub(super) fn log(settings: &Settings) -> Row {
    const WHAT: &str = "log";
    let data = &settings.data.0;
    match LogBook::one_shot(data, Arc::new(Env::Real)).status() {
        Ok(Status { home: Home::Copy, .. }) => {
            let copied = LogError::Open(OpenError::Copied(Place::new(data).log()));
            Row::stopped(WHAT, &Failure::from(&copied).into())
        }
        Ok(Status { clock: Standing::Ahead(at), .. }) => {
            Row::failed(WHAT, format!("its last signature is dated {at}, ahead of the clock"), LogError::CLOCK)
        }
        Ok(Status { checkpoint, clock, .. }) => {
            let signed = clock.signed_at().map_or_else(|| "unsigned".to_owned(), |at| format!("signed last at {at}"));
            Row::ok(WHAT, format!("{} entries, {signed}", checkpoint.size))
        }
        Err(LogError::NoLog) => Row::ok(WHAT, "none yet; the first check begins it"),
        Err(error) => Row::stopped(WHAT, &Failure::from(&error).into()),
    }
}

/// Whether the log's full tiles can be reached. A bucket is asked for the first one, which may not be there yet.
pub(super) fn tiles(settings: &Settings) -> Row {
    const WHAT: &str = "tile storage";
    let Some(bucket) = &settings.tiles.0 else { return Row::ok(WHAT, "with the log, in the data directory") };
    let tiles = match app::tiles(settings) {
        Ok(tiles) => tiles,
        Err(error) => return Row::stopped(WHAT, &error),
    };
    match tiles.get(&TilePath::full_at(Content::Hashes(0), 0)) {
        Ok(_) => Row::ok(WHAT, format!("{bucket} answers; writing to it was not tried")),
        Err(error) => {
            let hint = "receipts are given all the same, and tiles wait on this disk; make it reachable";
            let failure = Failure::blocked(format!("{bucket}: {error}"), hint).coded(error.code());
            Row::stopped(WHAT, &failure.into())
        }
    }
}
