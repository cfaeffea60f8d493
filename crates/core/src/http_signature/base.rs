//! The signature base (RFC 9421 section 2.5): one line a component, in the signer's order, then the
//! parameters. No line ends the last one.

use super::component::Form;
use super::field::{self, Bare, InnerList, Item};
use super::{Message, Outcome};
use crate::steps;

/// The bytes that are signed.
pub(super) fn of(message: &Message<'_>, list: &InnerList) -> Result<Vec<u8>, Outcome> {
    let mut base = String::new();
    let mut seen: Vec<String> = Vec::new();
    for item in &list.items {
        let identifier = field::identifier(item);
        steps::more(seen.len());
        if seen.contains(&identifier) {
            return Err(Outcome::Malformed("component_twice"));
        }
        let value = value(message, item)?;
        base.push_str(&format!("{identifier}: {value}\n"));
        seen.push(identifier);
    }
    base.push_str(&format!("\"@signature-params\": {}", field::inner_list(list)));
    Ok(base.into_bytes())
}

fn value(message: &Message<'_>, item: &Item) -> Result<String, Outcome> {
    let Bare::String(name) = &item.value else { return Err(Outcome::Malformed("component")) };
    let form = Form::of(&item.params)?;
    let of_request = item.params.iter().any(|(param, _)| param == "req");
    match (name.strip_prefix('@'), of_request) {
        (Some(_), _) if form != Form::Plain => Err(Outcome::Malformed("component")),
        (Some("status"), false) => Ok(message.status.to_string()),
        (Some(derived), true) => request(message, derived),
        (Some(_), false) => Err(Outcome::Malformed("component")),
        // The door sends the fewest headers it can; a signer that covers one of them is not read here.
        (None, true) => Err(Outcome::NotSupported("request_field")),
        (None, false) if name.bytes().any(|byte| byte.is_ascii_uppercase()) => Err(Outcome::Malformed("component")),
        (None, false) => form.value(message.headers, name),
    }
}

/// Derived components of the request (sections 2.2 and 2.4).
fn request(message: &Message<'_>, name: &str) -> Result<String, Outcome> {
    let url = message.url.as_str();
    let authority = message.url.origin().replacen("https://", "", 1);
    let target = url.strip_prefix(&message.url.origin()).unwrap_or("/");
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    match name {
        "method" => Ok(message.method.to_owned()),
        "authority" => Ok(authority),
        "scheme" => Ok("https".to_owned()),
        "target-uri" => Ok(url.to_owned()),
        "request-target" => Ok(target.to_owned()),
        "path" => Ok(path.to_owned()),
        "query" => Ok(format!("?{}", query.unwrap_or_default())),
        "query-param" => Err(Outcome::NotSupported("query_param")),
        _ => Err(Outcome::Malformed("component")),
    }
}

/// A value holds bytes that no signature base may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotAscii;

/// All values of a header, each without outer space, joined by a comma and a space (section 2.1).
pub(super) fn field(headers: &[(String, Vec<u8>)], name: &str) -> Result<Option<String>, NotAscii> {
    let lines = headers.iter().filter(|header| header.0.eq_ignore_ascii_case(name));
    let texts = lines.map(|header| {
        let printable = header.1.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
        let text = std::str::from_utf8(&header.1).ok().filter(|_| printable).ok_or(NotAscii)?;
        Ok(text.trim_matches([' ', '\t']))
    });
    let texts = texts.collect::<Result<Vec<&str>, NotAscii>>()?;
    steps::more(headers.len() + texts.iter().map(|text| text.len()).sum::<usize>());
    Ok(if texts.is_empty() { None } else { Some(texts.join(", ")) })
}
