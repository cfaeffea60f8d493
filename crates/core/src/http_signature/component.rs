//! In which form the value of a header enters the signature base (RFC 9421 sections 2.1 to 2.1.3).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Outcome;
use super::base::{self, NotAscii};
use super::field::{self, Bare, Kind, Params};

/// The form that a component's parameters ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As it was sent.
    Plain,
    /// `sf`: read as a structured field and written canonically.
    Structured,
    /// `key`: one member of a dictionary, written canonically.
    Member(String),
    /// `bs`: every line as bytes of its own.
    Bytes,
}

impl Form {
    /// Reads the parameters of one component; `req` says nothing of the form.
    ///
    /// # Errors
    /// [`Outcome::Malformed`] for values of the wrong type and for `bs` beside a structured form, which section 2.1.3
    /// forbids; [`Outcome::NotSupported`] for parameters of which nothing is known here, such as `tr`.
    pub(super) fn of(params: &Params) -> Result<Self, Outcome> {
        let mut form = Self::Plain;
        for (name, value) in params {
            form = match (name.as_str(), value, form) {
                ("req", Bare::Bool(true), form) => form,
                ("sf", Bare::Bool(true), Self::Plain) => Self::Structured,
                // A member is canonical already, so `sf` beside it changes nothing.
                ("sf", Bare::Bool(true), Self::Member(key)) => Self::Member(key),
                ("key", Bare::String(key), Self::Plain | Self::Structured) => Self::Member(key.clone()),
                ("bs", Bare::Bool(true), Self::Plain) => Self::Bytes,
                ("req" | "sf" | "key" | "bs", ..) => return Err(Outcome::Malformed("component")),
                _ => return Err(Outcome::NotSupported("component_parameter")),
            };
        }
        Ok(form)
    }

    /// The value of the header `name` in this form.
    pub(super) fn value(&self, headers: &[(String, Vec<u8>)], name: &str) -> Result<String, Outcome> {
        if *self == Self::Bytes {
            return wrapped(headers, name).ok_or(Outcome::Invalid("component_missing"));
        }
        let text = match base::field(headers, name) {
            Ok(Some(text)) => text,
            Ok(None) => return Err(Outcome::Invalid("component_missing")),
            Err(NotAscii) => return Err(Outcome::Invalid("component_not_ascii")),
        };
        match self {
            Self::Plain | Self::Bytes => Ok(text),
            Self::Structured => {
                let kind = kind(name).ok_or(Outcome::NotSupported("structured_field"))?;
                field::canonical(kind, &text).ok_or(Outcome::Invalid("component_not_structured"))
            }
            Self::Member(key) => {
                let members = field::dictionary(&text).ok_or(Outcome::Invalid("component_not_structured"))?;
                let member = members.iter().find(|(other, _)| other == key);
                member.map(|(_, member)| field::member(member)).ok_or(Outcome::Invalid("component_missing"))
            }
        }
    }
}

/// Section 2.1.3: each line without outer space, as a byte sequence.
fn wrapped(headers: &[(String, Vec<u8>)], name: &str) -> Option<String> {
    let lines = headers.iter().filter(|header| header.0.eq_ignore_ascii_case(name));
    let one = |line: &[u8]| {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let start = line.iter().position(|byte| !blank(byte)).unwrap_or(line.len());
        let end = line.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
        format!(":{}:", STANDARD.encode(&line[start..end]))
    };
    let lines: Vec<String> = lines.map(|header| one(&header.1)).collect();
    if lines.is_empty() { None } else { Some(lines.join(", ")) }
}

/// The structured fields that a response may carry, by the standards that define them. `sf` names no kind, so a field
/// of another name cannot be written canonically.
fn kind(name: &str) -> Option<Kind> {
    match name {
        // RFC 9530, RFC 9421, RFC 9218, RFC 9213.
        "content-digest"
        | "repr-digest"
        | "want-content-digest"
        | "want-repr-digest"
        | "signature"
        | "signature-input"
        | "accept-signature"
        | "priority"
        | "cdn-cache-control" => Some(Kind::Dictionary),
        // RFC 9211, RFC 9209, RFC 8942.
        "cache-status" | "proxy-status" | "accept-ch" => Some(Kind::List),
        // RFC 9745.
        "deprecation" => Some(Kind::Item),
        _ => None,
    }
}
