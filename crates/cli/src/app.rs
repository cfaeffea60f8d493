//! What commands share: opening the data directory, and failures with a hint and an exit code.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_core::time::Timestamp;
use countersign_engine::check::{CheckError, Checker};
use countersign_engine::env::Env;
use countersign_engine::keys::{Keys, KeysError};
use countersign_engine::log::{BucketTiles, DirTiles, LogBook, LogError, Place};
use countersign_engine::transparency::Misses;
use countersign_probe::configured::Services;
use countersign_probe::{Door, DoorConfig, Limits};
use countersign_store::{Before, Location, Store, StoreError};
use countersign_tlog::sequencer::tiles::Tiles;
use countersign_tlog::tile::bundle::MAX_BUNDLE;
use serde_json::{Value, json};
use tokio_rustls::rustls::pki_types::CertificateDer;

use crate::Exit;
use crate::args::Global;
use crate::codes;
use crate::settings::Settings;
use crate::show;

/// A failure with the code a program reads, the exit code, and the hint a person gets.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    code: Cow<'static, str>,
    message: String,
    hint: Option<String>,
    exit: Exit,
}

impl Failure {
    /// The command line or the settings are wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { code: "usage".into(), message: message.into(), hint: None, exit: Exit::Usage }
    }

    /// A file or an argument is not what it should be.
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self { code: "malformed_input".into(), message: message.into(), hint: None, exit: Exit::Malformed }
    }

    /// Something of ours stands in the way.
    pub(crate) fn blocked(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let hint = Some(hint.into());
        Self { code: "not_evaluated".into(), message: message.into(), hint, exit: Exit::NotEvaluated }
    }

    /// The same failure under the code of the error it tells of.
    pub(crate) fn coded(self, code: impl Into<Cow<'static, str>>) -> Self {
        Self { code: code.into(), ..self }
    }

    /// The same failure under a code of [`codes`], with what to do about it from there.
    pub(crate) fn listed(self, code: &'static str) -> Self {
        Self { code: code.into(), hint: codes::hint(code).map(str::to_owned), ..self }
    }

    /// The same failure with something to do about it.
    pub(crate) fn advised(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// What to do about it.
    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

macro_rules! stands_in_the_way {
    ($($error:ty),+) => {
        $(impl From<&$error> for Failure {
            fn from(error: &$error) -> Self {
                Self::blocked(error.to_string(), error.hint()).coded(error.code().to_owned())
            }
        })+
    };
}
stands_in_the_way!(CheckError, KeysError, LogError, StoreError);

/// The exit code of any error: our own says it, anything else means that nothing was evaluated.
pub(crate) fn exit_of(error: &anyhow::Error) -> Exit {
    error.downcast_ref::<Failure>().map_or(Exit::NotEvaluated, |failure| failure.exit)
}

/// What a program is told of a failure: `{code, error, hint}`.
pub(crate) fn told(error: &anyhow::Error) -> Value {
    let failure = error.downcast_ref::<Failure>();
    let code = failure.map_or("not_evaluated", |failure| &failure.code);
    json!({"code": code, "error": format!("{error:#}"), "hint": failure.and_then(Failure::hint)})
}

/// Reads the keys of a data directory.
pub(crate) fn keys(data: &Path) -> anyhow::Result<Keys> {
    Keys::load(data).map_err(|error| Failure::from(&error).into())
}

/// A file that was named to be written to, and cannot be.
pub(crate) fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot write {}: {error}", path.display())).coded("cannot_write")
}

/// The present instant.
pub(crate) fn now() -> Timestamp {
    Env::Real.now()
}

/// Opens everything a check needs.
pub(crate) async fn checker(
    settings: &Settings,
    global: &Global,
    env: Arc<Env>,
    misses: Misses,
) -> anyhow::Result<Checker> {
    let keys = keys(&settings.data.0)?;
    let store = store(settings, global).await?;
    let door = Door::new(door_config(settings)?);
    let switches = lab_switches(settings, &env);
    let book = stored(settings, LogBook::one_shot(&settings.data.0, Arc::clone(&env)))?;
    let checker = Checker::new(env, door, store, keys, switches).with_log(Arc::new(book), misses);
    checker.recover().await.map_err(|error| Failure::from(&error))?;
    Ok(checker)
}

/// The same log, with its full tiles where the settings keep them.
pub(crate) fn stored(settings: &Settings, book: LogBook) -> anyhow::Result<LogBook> {
    Ok(book.stored_in(tiles(settings)?))
}

/// Where the log's full tiles are.
pub(crate) fn tiles(settings: &Settings) -> anyhow::Result<Arc<dyn Tiles>> {
    Ok(match bucket(settings)? {
        Some(bucket) => bucket,
        None => Arc::new(DirTiles::new(&Place::new(&settings.data.0).log())),
    })
}

/// The bucket that the settings name, which is not asked yet.
pub(crate) fn bucket(settings: &Settings) -> anyhow::Result<Option<Arc<BucketTiles>>> {
    let log = Place::new(&settings.data.0).log();
    let Some(bucket) = &settings.tiles.0 else { return Ok(None) };
    let services = services(settings, Limits { body: MAX_BUNDLE, ..Limits::default() })?;
    let opened = BucketTiles::open(bucket, &log, services, Arc::new(Env::Real));
    Ok(Some(Arc::new(opened.map_err(|error| Failure::blocked(error.to_string(), error.hint()).coded(error.code()))?)))
}

/// The door to services that the operator names, with the certificates the settings add.
pub(crate) fn services(settings: &Settings, limits: Limits) -> anyhow::Result<Services> {
    let roots = extra_roots(settings)?;
    Services::new(&roots, limits).map_err(|error| Failure::usage(format!("--ca: {error}")).coded("ca_malformed").into())
}

/// Opens the database. One that is made new beside older keys or an older log may stand in the place of one that was
/// lost, so that is said.
pub(crate) async fn store(settings: &Settings, global: &Global) -> anyhow::Result<Store> {
    let older: Vec<_> = ["keys", "log"].into_iter().filter(|name| settings.data.0.join(name).exists()).collect();
    let opened = Store::open(location(settings)).await;
    let store = opened.map_err(|error| Failure::from(&error))?;
    if store.before() == Before::Nothing && !older.is_empty() {
        let older = older.join("/ and ");
        show::note(
            global,
            &format!(
                "the database is new, and {older}/ in the data directory older: no recipient is known from before; if \
                 there was a database, restore it from a backup"
            ),
        );
    }
    Ok(store)
}

/// Where the database is.
pub(crate) fn location(settings: &Settings) -> Location {
    let file = || Location::Sqlite(settings.data.0.join("countersign.db"));
    settings.database.0.clone().map_or_else(file, Location::Postgres)
}

/// What to say where others on the machine can read the database, which holds every URL that was checked and the salts
/// of receipts; then what to do. It is said and not mended or refused: an owner may want a group to read it, and keys are
/// apart.
pub(crate) fn exposed(settings: &Settings) -> Option<(String, String)> {
    use std::os::unix::fs::PermissionsExt as _;
    let open = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0);
    let files = ["", "-wal", "-shm"].map(|end| settings.data.0.join(format!("countersign.db{end}")));
    let exposed = settings.database.0.is_none() && files.iter().any(open);
    let path = files[0].display();
    let says = || "others on this machine can read the database".to_owned();
    exposed.then(|| (says(), format!("chmod 600 {path}* makes it yours alone")))
}

/// What the settings say of the door to sellers.
pub(crate) fn door_config(settings: &Settings) -> anyhow::Result<DoorConfig> {
    let extra_roots = extra_roots(settings)?;
    Ok(DoorConfig {
        allow_loopback: settings.allow_loopback.0,
        extra_roots,
        deny: settings.deny_addresses.iter().map(|(cidr, _)| *cidr).collect(),
        nat64: settings.nat64.iter().map(|(prefix, _)| *prefix).collect(),
        name_server: settings.name_server.0,
        limits: Limits::default(),
    })
}

/// The certificates of `--ca`, which are trusted as well.
pub(crate) fn extra_roots(settings: &Settings) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let Some(path) = &settings.ca.0 else { return Ok(Vec::new()) };
    let shown = path.display();
    let unread = |error| Failure::usage(format!("cannot read --ca {shown}: {error}")).coded("ca_unreadable");
    let roots = countersign_probe::roots_from_pem(&std::fs::read(path).map_err(unread)?);
    roots.map_err(|error| Failure::usage(format!("--ca {shown}: {error}")).coded("ca_malformed").into())
}

/// `90s`, `10m`, `24h` or `7d`, in milliseconds.
pub(crate) fn age_ms(text: &str) -> anyhow::Result<i64> {
    let refuse = || Failure::usage(format!("--max-age: `{text}` is no age such as 90s, 10m, 24h or 7d"));
    let unit = match text.chars().next_back() {
        Some('s') => 1000,
        Some('m') => 60_000,
        Some('h') => 3_600_000,
        Some('d') => 86_400_000,
        _ => return Err(refuse().into()),
    };
    let number: u32 = text[..text.len() - 1].parse().map_err(|_| refuse())?;
    Ok(i64::from(number) * unit)
}

/// Switches that weaken the guard, as they are named in every result they touched.
fn lab_switches(settings: &Settings, env: &Env) -> Vec<&'static str> {
    let mut switches = Vec::new();
    if settings.allow_loopback.0 {
        switches.push("allow_loopback");
    }
    if settings.ca.0.is_some() {
        switches.push("extra_ca");
    }
    if matches!(env, Env::Moved(_)) {
        switches.push(Env::MOVED);
    }
    switches
}
