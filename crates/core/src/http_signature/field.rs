//! Structured field values (RFC 9651), as much as signatures need: dictionaries of items and inner lists,
//! and the canonical writing of an inner list. Stricter than the standard in two points: a name given
//! twice is refused instead of overwritten, and decimals, dates and display strings do not occur.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Longest field value read, bytes.
const LONGEST: usize = 16 << 10;

/// A bare item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bare {
    Integer(i64),
    String(String),
    Token(String),
    Bytes(Vec<u8>),
    Bool(bool),
}

pub(super) type Params = Vec<(String, Bare)>;

/// An item with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) value: Bare,
    pub(super) params: Params,
}

/// Items in brackets, with parameters of the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InnerList {
    pub(super) items: Vec<Item>,
    pub(super) params: Params,
}

/// A member of a dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Member {
    Item(Bare, Params),
    List(InnerList),
}

pub(super) type Dictionary = Vec<(String, Member)>;

impl InnerList {
    pub(super) fn param(&self, name: &str) -> Option<&Bare> {
        self.params.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }
}

/// Reads a dictionary; none when the text is not one.
pub(super) fn dictionary(text: &str) -> Option<Dictionary> {
    if text.len() > LONGEST {
        return None;
    }
    let mut reader = Reader { rest: text.trim_matches(' ') };
    let mut members = Vec::new();
    while !reader.rest.is_empty() {
        let name = reader.key()?;
        let member = reader.member()?;
        push_new(&mut members, name, member)?;
        reader.blank();
        if reader.rest.is_empty() {
            break;
        }
        reader.take(',')?;
        reader.blank();
        if reader.rest.is_empty() {
            return None;
        }
    }
    Some(members)
}

fn push_new<T>(list: &mut Vec<(String, T)>, name: String, value: T) -> Option<()> {
    if list.iter().any(|(other, _)| *other == name) {
        return None;
    }
    list.push((name, value));
    Some(())
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn take(&mut self, one: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(one)?;
        Some(())
    }

    fn blank(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn span(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|one| !wanted(one)).unwrap_or(self.rest.len());
        let (span, rest) = self.rest.split_at(end);
        self.rest = rest;
        span
    }

    fn key(&mut self) -> Option<String> {
        let lead = |one: char| one.is_ascii_lowercase() || one == '*';
        self.rest.chars().next().filter(|one| lead(*one))?;
        let span = self.span(|one| lead(one) || one.is_ascii_digit() || matches!(one, '_' | '-' | '.'));
        Some(span.to_owned())
    }

    fn member(&mut self) -> Option<Member> {
        if self.take('=').is_none() {
            return Some(Member::Item(Bare::Bool(true), self.params()?));
        }
        if !self.rest.starts_with('(') {
            return Some(Member::Item(self.bare()?, self.params()?));
        }
        let items = self.items()?;
        Some(Member::List(InnerList { items, params: self.params()? }))
    }

    fn items(&mut self) -> Option<Vec<Item>> {
        self.take('(')?;
        let mut items = Vec::new();
        loop {
            self.rest = self.rest.trim_start_matches(' ');
            if self.take(')').is_some() {
                return Some(items);
            }
            items.push(Item { value: self.bare()?, params: self.params()? });
            if !self.rest.starts_with([' ', ')']) {
                return None;
            }
        }
    }

    fn params(&mut self) -> Option<Params> {
        let mut params = Vec::new();
        while self.take(';').is_some() {
            self.rest = self.rest.trim_start_matches(' ');
            let name = self.key()?;
            let value = if self.take('=').is_some() { self.bare()? } else { Bare::Bool(true) };
            push_new(&mut params, name, value)?;
        }
        Some(params)
    }

    fn bare(&mut self) -> Option<Bare> {
        match self.rest.chars().next()? {
            '"' => self.string(),
            ':' => self.bytes(),
            '?' => self.boolean(),
            '-' | '0'..='9' => self.integer(),
            first if first.is_ascii_alphabetic() || first == '*' => Some(self.token()),
            _ => None,
        }
    }

    fn string(&mut self) -> Option<Bare> {
        self.take('"')?;
        let mut text = String::new();
        let mut chars = self.rest.chars();
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => text.push(chars.next().filter(|one| matches!(one, '"' | '\\'))?),
                one @ ' '..='~' => text.push(one),
                _ => return None,
            }
        }
        self.rest = chars.as_str();
        Some(Bare::String(text))
    }

    fn bytes(&mut self) -> Option<Bare> {
        self.take(':')?;
        let span = self.span(|one| one.is_ascii_alphanumeric() || matches!(one, '+' | '/' | '='));
        self.take(':')?;
        STANDARD.decode(span).ok().map(Bare::Bytes)
    }

    fn boolean(&mut self) -> Option<Bare> {
        self.take('?')?;
        match self.rest.chars().next()? {
            '0' => self.take('0').map(|()| Bare::Bool(false)),
            '1' => self.take('1').map(|()| Bare::Bool(true)),
            _ => None,
        }
    }

    /// At most 15 digits (RFC 9651 section 3.3.1).
    fn integer(&mut self) -> Option<Bare> {
        let minus = self.take('-').is_some();
        let digits = self.span(|one| one.is_ascii_digit());
        if !(1..=15).contains(&digits.len()) || self.rest.starts_with('.') {
            return None;
        }
        let value: i64 = digits.parse().ok()?;
        Some(Bare::Integer(if minus { -value } else { value }))
    }

    fn token(&mut self) -> Bare {
        let allowed = |one: char| one.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~:/".contains(one);
        Bare::Token(self.span(allowed).to_owned())
    }
}

/// An inner list in canonical form (RFC 9651 section 4.1.1.1).
pub(super) fn inner_list(list: &InnerList) -> String {
    let items: Vec<String> = list.items.iter().map(identifier).collect();
    format!("({}){}", items.join(" "), params(&list.params))
}

/// An item in canonical form; of a component, its identifier.
pub(super) fn identifier(item: &Item) -> String {
    bare(&item.value) + &params(&item.params)
}

fn params(params: &Params) -> String {
    let one = |(name, value): &(String, Bare)| match value {
        Bare::Bool(true) => format!(";{name}"),
        value => format!(";{name}={}", bare(value)),
    };
    params.iter().map(one).collect()
}

fn bare(value: &Bare) -> String {
    match value {
        Bare::Integer(number) => number.to_string(),
        Bare::String(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
        Bare::Token(text) => text.clone(),
        Bare::Bytes(bytes) => format!(":{}:", STANDARD.encode(bytes)),
        Bare::Bool(yes) => format!("?{}", u8::from(*yes)),
    }
}
