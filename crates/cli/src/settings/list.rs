//! A setting that is a list: every place adds to it.

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use anyhow::bail;
use serde_json::Value;

use super::Origin;

/// Where the entries of one list may stand, as text.
pub(super) struct Places<'a> {
    /// Its name in the settings file.
    pub(super) setting: &'static str,
    /// The flag, and what was given with it.
    pub(super) flag: (&'static str, &'a [String]),
    /// Entries in a variable, separated by commas.
    pub(super) variable: Option<(String, Origin)>,
    /// Entries in the settings file, and where that is.
    pub(super) file: (Option<Vec<String>>, &'a Path),
}

impl Places<'_> {
    /// Every entry with its origin: the file's first, then the variable's, then the flags'.
    pub(super) fn all<T: FromStr<Err: Display>>(self) -> anyhow::Result<Vec<(T, Origin)>> {
        let file = self.file.0.into_iter().flatten().map(|text| (text, Origin::File(self.file.1.to_owned())));
        let variable = self
            .variable
            .iter()
            .flat_map(|(list, origin)| list.split(',').map(|text| (text.trim().to_owned(), origin.clone())));
        let flags = self.flag.1.iter().map(|text| (text.clone(), Origin::Flag));
        let entry = |(text, origin): (String, Origin)| match text.parse() {
            Ok(value) => Ok((value, origin)),
            Err(error) => bail!("{}: `{text}`: {error}", origin.place(self.setting, self.flag.0)),
        };
        file.chain(variable).chain(flags).map(entry).collect()
    }
}

/// The entries of a list and the places they came from, for display.
pub(crate) fn shown<T: Display>(entries: &[(T, Origin)]) -> (Value, String) {
    let values: Value = entries.iter().map(|(value, _)| value.to_string()).collect();
    let mut origins: Vec<String> = entries.iter().map(|(_, origin)| origin.to_string()).collect();
    origins.dedup();
    match entries {
        [] => (values, Origin::Default.to_string()),
        _ => (values, origins.join(", ")),
    }
}
