//! Defaults < `countersign.toml` < `COUNTERSIGN_*` < flags. Lists add up instead, so that no place takes back what
//! another closed. Unknown keys are errors.
//!
//! Every environment variable of the program is named in [`VARIABLES`].

mod list;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use countersign_engine::log::Bucket;
use countersign_probe::{Cidr, Nat64};
use serde::Deserialize;

use crate::args::Global;

pub(crate) use list::shown;

/// Every environment variable, with the setting it sets.
pub(crate) const VARIABLES: [(&str, &str); 9] = [
    ("COUNTERSIGN_DATA", "data"),
    ("COUNTERSIGN_DATABASE", "database"),
    ("COUNTERSIGN_ALLOW_LOOPBACK", "allow_loopback"),
    ("COUNTERSIGN_CA", "ca"),
    ("COUNTERSIGN_LOG_MISSES", "log_misses"),
    ("COUNTERSIGN_TILES", "tiles"),
    ("COUNTERSIGN_DENY_ADDRESSES", "deny_addresses"),
    ("COUNTERSIGN_NAT64", "nat64"),
    ("COUNTERSIGN_NAME_SERVER", "name_server"),
];

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody said anything.
    Default,
    /// The settings file.
    File(PathBuf),
    /// An environment variable.
    Variable(&'static str),
    /// The command line.
    Flag,
}

impl Origin {
    /// What a person has to correct: the flag, the variable, or the setting in its file.
    fn place(&self, setting: &str, flag: &str) -> String {
        match self {
            Self::Flag => flag.to_owned(),
            Self::Variable(name) => (*name).to_owned(),
            Self::File(path) => format!("{setting} in {}", path.display()),
            Self::Default => setting.to_owned(),
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => write!(out, "default"),
            Self::File(path) => write!(out, "{}", path.display()),
            Self::Variable(name) => write!(out, "{name}"),
            Self::Flag => write!(out, "flag"),
        }
    }
}

/// The settings in force.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Data directory.
    pub(crate) data: (PathBuf, Origin),
    /// PostgreSQL address, or none for the file in the data directory. May hold a password.
    pub(crate) database: (Option<String>, Origin),
    /// Labs only.
    pub(crate) allow_loopback: (bool, Origin),
    /// Labs only.
    pub(crate) ca: (Option<PathBuf>, Origin),
    /// Whether decisions that selected nothing are logged as well; `check --log-misses` says so for one command.
    pub(crate) log_misses: (bool, Origin),
    /// The bucket that holds the log's full tiles, or none for the data directory.
    pub(crate) tiles: (Option<Bucket>, Origin),
    /// Blocks that the guarded door does not dial although they are public.
    pub(crate) deny_addresses: Vec<(Cidr, Origin)>,
    /// Prefixes behind which this machine's network translates to IPv4.
    pub(crate) nat64: Vec<(Nat64, Origin)>,
    /// Who is asked for the addresses of strangers, in place of the system's name servers.
    pub(crate) name_server: (Option<SocketAddr>, Origin),
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FromFile {
    data: Option<PathBuf>,
    database: Option<String>,
    allow_loopback: Option<bool>,
    ca: Option<PathBuf>,
    log_misses: Option<bool>,
    tiles: Option<String>,
    deny_addresses: Option<Vec<String>>,
    nat64: Option<Vec<String>>,
    name_server: Option<String>,
}

impl FromFile {
    /// A setting of this file that only its user may make. A new one is bold until somebody says otherwise here.
    fn bold(&self) -> Option<&'static str> {
        let Self { data, database, allow_loopback, ca, log_misses: _, tiles, deny_addresses: _, nat64, name_server } =
            self;
        let bold = [
            ("data", data.is_some()),
            ("database", database.is_some()),
            ("allow_loopback", allow_loopback.is_some()),
            ("ca", ca.is_some()),
            ("tiles", tiles.is_some()),
            ("nat64", nat64.is_some()),
            ("name_server", name_server.is_some()),
        ];
        bold.into_iter().find_map(|(name, set)| set.then_some(name))
    }
}

impl Settings {
    /// Reads the file and the environment, then lays the flags over them.
    pub(crate) fn load(flags: &Global, variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Self> {
        let (file, path) = read_file(flags.config.as_deref())?;
        Self::laid(flags, variable, file, &path)
    }

    /// The flags alone: no file and no variable of the user's.
    pub(crate) fn of_flags(flags: &Global) -> anyhow::Result<Self> {
        Self::laid(flags, |_| None, FromFile::default(), Path::new(""))
    }

    fn laid(
        flags: &Global,
        variable: impl Fn(&str) -> Option<String>,
        file: FromFile,
        path: &Path,
    ) -> anyhow::Result<Self> {
        let from = |name| Origin::Variable(name);
        let text =
            |name: &'static str| variable(name).filter(|value| !value.is_empty()).map(|value| (value, from(name)));
        let switch =
            |name| text(name).map(|(value, origin)| anyhow::Ok((flag_word(name, &value)?, origin))).transpose();
        let loopback = switch("COUNTERSIGN_ALLOW_LOOPBACK")?;
        let log_misses = switch("COUNTERSIGN_LOG_MISSES")?;
        let path_of = |(value, origin): (String, Origin)| (PathBuf::from(value), origin);
        let data = pick(flags.data.clone(), text("COUNTERSIGN_DATA").map(path_of), file.data, path);
        Ok(Self {
            data: data.map_or_else(|| below_home(variable("HOME")), Ok)?,
            database: database(pick(flags.database.clone(), text("COUNTERSIGN_DATABASE"), file.database, path))?,
            allow_loopback: pick(flags.allow_loopback.then_some(true), loopback, file.allow_loopback, path)
                .unwrap_or((false, Origin::Default)),
            ca: optional(pick(flags.ca.clone(), text("COUNTERSIGN_CA").map(path_of), file.ca, path)),
            log_misses: pick(None, log_misses, file.log_misses, path).unwrap_or((false, Origin::Default)),
            tiles: tiles(pick(flags.tiles.clone(), text("COUNTERSIGN_TILES"), file.tiles, path))?,
            deny_addresses: list::Places {
                setting: "deny_addresses",
                flag: ("--deny-address", &flags.deny_addresses),
                variable: text("COUNTERSIGN_DENY_ADDRESSES"),
                file: (file.deny_addresses, path),
            }
            .all()?,
            nat64: list::Places {
                setting: "nat64",
                flag: ("--nat64", &flags.nat64),
                variable: text("COUNTERSIGN_NAT64"),
                file: (file.nat64, path),
            }
            .all()?,
            name_server: name_server(
                flags.name_server.as_deref(),
                text("COUNTERSIGN_NAME_SERVER"),
                file.name_server,
                path,
            )?,
        })
    }

    /// Where the database is, for display: no user, no password, no parameter that could hold one.
    pub(crate) fn database_shown(&self) -> String {
        let shown = |address: &String| {
            let url = url::Url::parse(address).ok()?;
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            Some(format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path()))
        };
        match &self.database.0 {
            None => self.data.0.join("countersign.db").display().to_string(),
            Some(address) => shown(address).unwrap_or_else(|| "(hidden)".to_owned()),
        }
    }
}

/// Keys and history must not end up wherever the program happens to be started.
fn below_home(home: Option<String>) -> anyhow::Result<(PathBuf, Origin)> {
    match home.filter(|home| !home.is_empty()) {
        Some(home) => Ok((Path::new(&home).join(".countersign"), Origin::Default)),
        None => bail!("there is no HOME to keep the data directory in; name a directory with --data"),
    }
}

/// A PostgreSQL address. Whatever else it is, it may hold a password and is not repeated.
fn database(picked: Option<(String, Origin)>) -> anyhow::Result<(Option<String>, Origin)> {
    let (address, origin) = optional(picked);
    let postgres = |text: &String| ["postgres://", "postgresql://"].iter().any(|start| text.starts_with(start));
    match address {
        Some(text) if !postgres(&text) || url::Url::parse(&text).is_err() => {
            bail!("{}: a database address starts with postgres://", origin.place("database", "--database"))
        }
        address => Ok((address, origin)),
    }
}

fn tiles(picked: Option<(String, Origin)>) -> anyhow::Result<(Option<Bucket>, Origin)> {
    let (text, origin) = optional(picked);
    let bucket = text.map(|text| {
        let place = origin.place("tiles", "--tiles");
        text.parse().map_err(|error| anyhow::anyhow!("{place}: `{text}`: {error}"))
    });
    Ok((bucket.transpose()?, origin))
}

fn pick<T>(flag: Option<T>, variable: Option<(T, Origin)>, file: Option<T>, path: &Path) -> Option<(T, Origin)> {
    flag.map(|value| (value, Origin::Flag))
        .or(variable)
        .or_else(|| file.map(|value| (value, Origin::File(path.to_owned()))))
}

fn optional<T>(picked: Option<(T, Origin)>) -> (Option<T>, Origin) {
    picked.map_or((None, Origin::Default), |(value, origin)| (Some(value), origin))
}

/// An IP address, with a port when it is not 53.
fn name_server(
    flag: Option<&str>,
    variable: Option<(String, Origin)>,
    file: Option<String>,
    path: &Path,
) -> anyhow::Result<(Option<SocketAddr>, Origin)> {
    let (text, origin) = optional(pick(flag.map(str::to_owned), variable, file, path));
    let Some(text) = text else { return Ok((None, origin)) };
    let place = origin.place("name_server", "--name-server");
    let server = text.parse().or_else(|_| text.parse().map(|address| SocketAddr::new(address, 53)));
    match server {
        Ok(server) if server.port() != 0 && !server.ip().is_unspecified() => Ok((Some(server), origin)),
        _ => bail!("{place}: `{text}` is no IP address, with or without a port"),
    }
}

fn flag_word(name: &str, value: &str) -> anyhow::Result<bool> {
    match value {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        other => bail!("{name} takes 1 or 0, not `{other}`"),
    }
}

fn read_file(named: Option<&Path>) -> anyhow::Result<(FromFile, PathBuf)> {
    let path = named.unwrap_or(Path::new(HERE));
    if named.is_none() && !path.exists() {
        return Ok((FromFile::default(), path.to_owned()));
    }
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read the settings file {}", path.display()))?;
    let file: FromFile = toml::from_str(&text).with_context(|| format!("in the settings file {}", path.display()))?;
    if let (None, Some(name)) = (named, file.bold()) {
        bail!("{HERE}: {name} counts in a file that is named with --config, in a variable or as a flag");
    }
    Ok((file, path.to_owned()))
}

/// The file that is read without being named. It may be anybody's: the folder is whatever an agent works on. So it can
/// close addresses and keep more, and nothing else: not open the guard, nor choose the keys that are trusted, the
/// history that is believed, the server that names are asked of, or where the user's credentials are shown.
const HERE: &str = "countersign.toml";

#[cfg(test)]
mod tests;
