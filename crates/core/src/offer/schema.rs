//! What an endpoint takes, what it returns and how it is called, in its seller's own words.

use serde::Serialize;

use super::Written;

/// What an endpoint takes and returns, as its seller describes it.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Where it was found.
    pub source: SchemaSource,
    /// What its digest is taken over.
    pub whole: Written,
    /// Its input.
    pub input: Written,
    /// Its output, where that is described beside it.
    pub output: Option<Written>,
    /// How it is called, where that is said.
    pub called: Option<Called>,
}

/// The method that a seller says its endpoint is called by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    /// The one that was asked with: its terms were seen.
    AsAsked(&'static str),
    /// Another one, whose terms were not seen.
    Otherwise(&'static str),
    /// Something that is no method which an input can be declared for.
    Unreadable,
}

impl Called {
    /// The method, where it can be read.
    pub const fn by(self) -> Option<&'static str> {
        match self {
            Self::AsAsked(method) | Self::Otherwise(method) => Some(method),
            Self::Unreadable => None,
        }
    }
}

/// Where an input schema was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaSource {
    /// In the challenge itself.
    Envelope,
    /// In its bazaar extension.
    Bazaar,
    /// In a version 1 offer's own `outputSchema.input`.
    OutputSchema,
}
