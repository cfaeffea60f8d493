//! What is the machine's and not the data directory's: settings, disk, clock, names.

use std::path::Path;

use countersign_core::endpoint::ResourceUrl;
use countersign_core::offer::rules;
use countersign_core::time::Timestamp;
use countersign_probe::{Door, Refused};
use rustix::fs::{StatVfs, statvfs};

use super::row::Row;
use crate::app::{self, Failure};
use crate::commands::config;
use crate::settings::{Origin, Settings};

/// What was set, and where.
pub(super) fn settings(settings: &Settings) -> Row {
    const WHAT: &str = "settings";
    let default = Origin::Default.to_string();
    let set = config::rows(settings).into_iter().filter(|(_, (_, origin))| *origin != default);
    let set: Vec<String> = set.map(|(name, (_, origin))| format!("{name} from {origin}")).collect();
    let says = if set.is_empty() { "all at their defaults".to_owned() } else { set.join(", ") };
    let labs = settings.allow_loopback.0 || settings.ca.0.is_some();
    match app::extra_roots(settings) {
        Err(error) => Row::stopped(WHAT, &error),
        Ok(_) if labs => Row::warning(WHAT, says, "allow_loopback and ca are for labs; every result names them"),
        Ok(_) => Row::ok(WHAT, says),
    }
}

const MIB: u64 = 1 << 20;
/// Less than this does not hold what a few checks write: the database's write-ahead log alone grows to four.
const FULL: u64 = 16 * MIB;
/// Some thousand checks.
const LOW: u64 = 256 * MIB;

/// Room where the data directory is, or would be.
pub(super) fn room(settings: &Settings) -> Row {
    let place = there(&settings.data.0);
    match statvfs(place) {
        Ok(disk) => judged(place, &disk),
        Err(error) => Row::unseen(ROOM, format!("{}: {error}", place.display()), "make the folder readable"),
    }
}

const ROOM: &str = "disk room";

fn judged(place: &Path, disk: &StatVfs) -> Row {
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let says = format!("{} MiB free at {}", free / MIB, place.display());
    let hint = "make room on that disk";
    match free {
        // Some file systems do not count files, and say zero of zero.
        _ if disk.f_files > 0 && disk.f_favail == 0 => {
            Row::failed(ROOM, format!("no more files fit on the disk of {}", place.display()), hint)
        }
        ..FULL => Row::failed(ROOM, says, hint),
        FULL..LOW => Row::warning(ROOM, says, hint),
        LOW.. => Row::ok(ROOM, says),
    }
}

/// The path itself, or the nearest folder above it that is there.
pub(super) fn there(path: &Path) -> &Path {
    let above = path.ancestors().find(|folder| folder.exists());
    above.unwrap_or(Path::new("."))
}

/// Certificates are judged by this clock, and nobody ran this program before it was written.
pub(super) fn clock() -> Row {
    const WHAT: &str = "clock";
    let (written, now) = (Timestamp::from_seconds(1_764_547_200), app::now());
    if now < written {
        let says = format!("it says {now}, which is before this program was written");
        return Row::failed(WHAT, says, "set this machine's clock right; certificates are judged by it");
    }
    Row::ok(WHAT, format!("it says {now}"))
}

/// Whether sellers' names are found. Nobody is asked unless `name` is given.
pub(super) async fn names(settings: &Settings, name: Option<&str>) -> Row {
    let door = match app::door_config(settings) {
        Ok(config) => Door::new(config),
        Err(_) => return Row::unseen(NAMES, "the settings do not read", "see above"),
    };
    let servers: Vec<String> = door.name_servers().iter().map(ToString::to_string).collect();
    match name {
        _ if servers.is_empty() => {
            Row::failed(NAMES, "no name server is configured on this machine", "name one with --name-server")
        }
        None => {
            let says = format!("nobody was asked; sellers' names are asked of {}", servers.join(", "));
            Row::unseen(NAMES, says, "`countersign doctor --look-up NAME` tries one")
        }
        Some(name) => looked_up(&door, name).await,
    }
}

const NAMES: &str = "names";

async fn looked_up(door: &Door, name: &str) -> Row {
    let Ok(host) = ResourceUrl::parse(&format!("https://{name}/")).map(|url| url.host().to_owned()) else {
        return Row::stopped(NAMES, &Failure::usage(format!("--look-up: `{name}` is no host name")).into());
    };
    match door.look_up(&host).await {
        Ok(addresses) => {
            let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
            Row::ok(NAMES, format!("{host} is at {}", addresses.join(", ")))
        }
        Err(refused) => Row::stopped(NAMES, &explain(&refused).into()),
    }
}

fn explain(refused: &Refused) -> Failure {
    let hint = rules::rule(&format!("transport.{}", refused.code)).map_or("", |rule| rule.hint);
    Failure::blocked(&refused.detail, hint).coded(refused.code.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::row::State;

    /// 4 KiB blocks: 4,096 of them are 16 MiB, 65,536 are 256 MiB.
    #[test]
    fn little_room_is_a_warning_and_none_a_failure() {
        let here = statvfs(".").unwrap();
        let state = |blocks: u64, files: u64| {
            let disk = StatVfs { f_bavail: blocks, f_frsize: 4096, f_files: 10, f_favail: files, ..here };
            judged(Path::new("/data"), &disk).state
        };
        let rows = [
            (4_095, 5, State::Failed),
            (4_096, 5, State::Warning),
            (65_535, 5, State::Warning),
            (65_536, 5, State::Ok),
            (65_536, 0, State::Failed),
        ];
        for (blocks, files, wanted) in rows {
            assert_eq!(state(blocks, files), wanted, "{blocks} {files}");
        }
        let uncounted = StatVfs { f_bavail: 65_536, f_frsize: 4096, f_files: 0, f_favail: 0, ..here };
        assert_eq!(judged(Path::new("/data"), &uncounted).state, State::Ok);
    }
}
