//! Defaults < `countersign.toml` < `COUNTERSIGN_*` < flags. Unknown keys are errors.
//!
//! Every environment variable of the program is named in [`VARIABLES`].

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Deserialize;

use crate::args::Global;

/// Every environment variable, with the setting it sets.
pub(crate) const VARIABLES: [(&str, &str); 5] = [
    ("COUNTERSIGN_DATA", "data"),
    ("COUNTERSIGN_DATABASE", "database"),
    ("COUNTERSIGN_ALLOW_LOOPBACK", "allow_loopback"),
    ("COUNTERSIGN_CA", "ca"),
    ("COUNTERSIGN_LOG_MISSES", "log_misses"),
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
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FromFile {
    data: Option<PathBuf>,
    database: Option<String>,
    allow_loopback: Option<bool>,
    ca: Option<PathBuf>,
    log_misses: Option<bool>,
}

impl Settings {
    /// Reads the file and the environment, then lays the flags over them.
    pub(crate) fn load(flags: &Global, variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Self> {
        let (file, path) = read_file(flags.config.as_deref())?;
        let from = |name| Origin::Variable(name);
        let text =
            |name: &'static str| variable(name).filter(|value| !value.is_empty()).map(|value| (value, from(name)));
        let switch =
            |name| text(name).map(|(value, origin)| anyhow::Ok((flag_word(name, &value)?, origin))).transpose();
        let loopback = switch("COUNTERSIGN_ALLOW_LOOPBACK")?;
        let log_misses = switch("COUNTERSIGN_LOG_MISSES")?;
        let path_of = |(value, origin): (String, Origin)| (PathBuf::from(value), origin);
        let home = variable("HOME")
            .map_or_else(|| PathBuf::from(".countersign"), |home| Path::new(&home).join(".countersign"));
        Ok(Self {
            data: pick(flags.data.clone(), text("COUNTERSIGN_DATA").map(path_of), file.data, &path)
                .unwrap_or((home, Origin::Default)),
            database: optional(pick(flags.database.clone(), text("COUNTERSIGN_DATABASE"), file.database, &path)),
            allow_loopback: pick(flags.allow_loopback.then_some(true), loopback, file.allow_loopback, &path)
                .unwrap_or((false, Origin::Default)),
            ca: optional(pick(flags.ca.clone(), text("COUNTERSIGN_CA").map(path_of), file.ca, &path)),
            log_misses: pick(None, log_misses, file.log_misses, &path).unwrap_or((false, Origin::Default)),
        })
    }

    /// The database address without its password, for display.
    pub(crate) fn database_shown(&self) -> String {
        match &self.database.0 {
            None => self.data.0.join("countersign.db").display().to_string(),
            Some(address) => match url::Url::parse(address) {
                Ok(mut url) => {
                    let hidden = url.password().is_some() && url.set_password(Some("hidden")).is_ok();
                    if hidden || url.password().is_none() { url.to_string() } else { "(hidden)".to_owned() }
                }
                Err(_) => "(not a URL)".to_owned(),
            },
        }
    }
}

fn pick<T>(flag: Option<T>, variable: Option<(T, Origin)>, file: Option<T>, path: &Path) -> Option<(T, Origin)> {
    flag.map(|value| (value, Origin::Flag))
        .or(variable)
        .or_else(|| file.map(|value| (value, Origin::File(path.to_owned()))))
}

fn optional<T>(picked: Option<(T, Origin)>) -> (Option<T>, Origin) {
    picked.map_or((None, Origin::Default), |(value, origin)| (Some(value), origin))
}

fn flag_word(name: &str, value: &str) -> anyhow::Result<bool> {
    match value {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        other => bail!("{name} takes 1 or 0, not `{other}`"),
    }
}

fn read_file(named: Option<&Path>) -> anyhow::Result<(FromFile, PathBuf)> {
    let path = named.unwrap_or(Path::new("countersign.toml"));
    if named.is_none() && !path.exists() {
        return Ok((FromFile::default(), path.to_owned()));
    }
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read the settings file {}", path.display()))?;
    let file = toml::from_str(&text).with_context(|| format!("in the settings file {}", path.display()))?;
    Ok((file, path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &'static [(&str, &str)], flags: &Global) -> anyhow::Result<Settings> {
        Settings::load(flags, |name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned()))
    }

    #[test]
    fn flags_beat_variables_beat_the_file_beat_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.toml");
        std::fs::write(&path, "data = \"from-file\"\nallow_loopback = true\n").unwrap();
        let file = Global { config: Some(path.clone()), ..Global::default() };
        assert_eq!(with(&[], &file).unwrap().data, (PathBuf::from("from-file"), Origin::File(path)));
        let variable = with(&[("COUNTERSIGN_DATA", "from-env")], &file).unwrap();
        assert_eq!(variable.data.1, Origin::Variable("COUNTERSIGN_DATA"));
        let flag = Global { data: Some("from-flag".into()), ..file };
        assert_eq!(with(&[("COUNTERSIGN_DATA", "from-env")], &flag).unwrap().data.1, Origin::Flag);
        assert!(!with(&[], &Global::default()).unwrap().allow_loopback.0, "off unless somebody says so");
    }

    #[test]
    fn logging_of_misses_is_switched_in_the_file_or_by_its_variable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.toml");
        std::fs::write(&path, "log_misses = true\n").unwrap();
        let file = Global { config: Some(path.clone()), ..Global::default() };
        assert_eq!(with(&[], &Global::default()).unwrap().log_misses, (false, Origin::Default));
        assert_eq!(with(&[], &file).unwrap().log_misses, (true, Origin::File(path)));
        let variable = Origin::Variable("COUNTERSIGN_LOG_MISSES");
        assert_eq!(with(&[("COUNTERSIGN_LOG_MISSES", "0")], &file).unwrap().log_misses, (false, variable));
        let refused = with(&[("COUNTERSIGN_LOG_MISSES", "yes please")], &file).unwrap_err();
        assert!(refused.to_string().contains("COUNTERSIGN_LOG_MISSES"), "{refused}");
    }

    #[test]
    fn unknown_keys_and_words_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.toml");
        std::fs::write(&path, "dta = \"x\"\n").unwrap();
        assert!(with(&[], &Global { config: Some(path), ..Global::default() }).is_err());
        assert!(with(&[("COUNTERSIGN_ALLOW_LOOPBACK", "yes please")], &Global::default()).is_err());
    }

    #[test]
    fn a_password_is_never_shown() {
        let flags = Global { database: Some("postgres://me:secret@db.example/x".into()), ..Global::default() };
        assert!(!with(&[], &flags).unwrap().database_shown().contains("secret"));
    }
}
