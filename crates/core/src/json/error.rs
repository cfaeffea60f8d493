//! What can be wrong with a text.

/// Why a text was refused, and at which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} at byte {at}", kind.reason())]
pub struct Error {
    /// Byte offset in the text.
    pub at: usize,
    /// What is wrong there.
    pub kind: Kind,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not JSON.
    Syntax,
    /// Bytes after the value.
    Trailing,
    /// Not UTF-8.
    Utf8,
    /// Starts with a byte order mark.
    Bom,
    /// The text is longer than allowed.
    Size,
    /// Nested deeper than allowed.
    Depth,
    /// An object has more members than allowed.
    Members,
    /// A string is longer than allowed.
    String,
    /// An object has two members of one name.
    Duplicate,
    /// Half of a surrogate pair.
    Surrogate,
    /// An integer beyond ±(2^53−1).
    UnsafeInteger,
    /// A number no double can hold.
    Overflow,
}

impl Kind {
    /// One line for a person.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Syntax => "not JSON",
            Self::Trailing => "more text after the JSON value",
            Self::Utf8 => "not UTF-8",
            Self::Bom => "starts with a byte order mark",
            Self::Size => "longer than allowed",
            Self::Depth => "nested deeper than allowed",
            Self::Members => "an object with more members than allowed",
            Self::String => "a string longer than allowed",
            Self::Duplicate => "two members of one name",
            Self::Surrogate => "half of a surrogate pair",
            Self::UnsafeInteger => "an integer beyond 2^53-1",
            Self::Overflow => "a number no double can hold",
        }
    }
}

impl Error {
    /// Stable code for callers.
    pub fn code(&self) -> &'static str {
        match self.kind {
            Kind::Syntax => "json_syntax",
            Kind::Trailing => "json_trailing",
            Kind::Utf8 => "json_utf8",
            Kind::Bom => "json_bom",
            Kind::Size => "json_size",
            Kind::Depth => "json_depth",
            Kind::Members => "json_members",
            Kind::String => "json_string",
            Kind::Duplicate => "json_duplicate",
            Kind::Surrogate => "json_surrogate",
            Kind::UnsafeInteger => "json_unsafe_integer",
            Kind::Overflow => "json_overflow",
        }
    }
}

/// Something a strict reader refuses and a patient one notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defect {
    /// Byte offset in the text.
    pub at: usize,
    /// What it is.
    pub kind: DefectKind,
}

/// The defects that leave a text readable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefectKind {
    /// Two members of one name; the first counts.
    Duplicate,
    /// A byte order mark before the value.
    Bom,
    /// Half of a surrogate pair.
    Surrogate,
    /// An integer beyond ±(2^53−1), or a fraction that prints as one.
    UnsafeInteger,
    /// A number no double can hold.
    Overflow,
}

impl From<DefectKind> for Kind {
    fn from(kind: DefectKind) -> Self {
        match kind {
            DefectKind::Duplicate => Self::Duplicate,
            DefectKind::Bom => Self::Bom,
            DefectKind::Surrogate => Self::Surrogate,
            DefectKind::UnsafeInteger => Self::UnsafeInteger,
            DefectKind::Overflow => Self::Overflow,
        }
    }
}
