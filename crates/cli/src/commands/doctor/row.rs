//! One thing that was looked at, and what became of it.

use serde_json::{Value, json};

use crate::app;
use crate::show;

/// What a look came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ok,
    /// Checks work; somebody should know all the same.
    Warning,
    /// Checks do not work.
    Failed,
    /// Nothing is said about it.
    NotLookedAt,
}

impl State {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
            Self::NotLookedAt => "not_looked_at",
        }
    }
}

pub(super) struct Row {
    what: &'static str,
    pub(super) state: State,
    says: String,
    hint: Option<String>,
    code: Option<String>,
}

impl Row {
    pub(super) fn ok(what: &'static str, says: impl Into<String>) -> Self {
        Self { what, state: State::Ok, says: says.into(), hint: None, code: None }
    }

    pub(super) fn warning(what: &'static str, says: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { state: State::Warning, hint: Some(hint.into()), ..Self::ok(what, says) }
    }

    pub(super) fn failed(what: &'static str, says: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { state: State::Failed, ..Self::warning(what, says, hint) }
    }

    pub(super) fn unseen(what: &'static str, says: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { state: State::NotLookedAt, ..Self::warning(what, says, hint) }
    }

    /// What a check would end with.
    pub(super) fn stopped(what: &'static str, error: &anyhow::Error) -> Self {
        let told = app::told(error);
        let text = |name: &str| told[name].as_str().map(str::to_owned);
        Self {
            state: State::Failed,
            hint: text("hint"),
            code: text("code"),
            ..Self::ok(what, text("error").unwrap_or_default())
        }
    }

    pub(super) fn json(&self) -> Value {
        let Self { what, state, says, hint, code } = self;
        json!({"what": what, "state": state.as_str(), "says": says, "hint": hint, "code": code})
    }

    pub(super) fn print(&self) {
        let Self { what, state, says, hint, .. } = self;
        let hint = hint.as_ref().map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        show::line(&format!("{:<13}  {what}: {says}{hint}", state.as_str().replace('_', " ")));
    }
}
