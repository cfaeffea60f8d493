//! Structured field values (RFC 9651): reading, and writing in canonical form. Stricter than the standard in one
//! point: a name given twice is refused instead of overwritten.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::steps;

/// Longest field value read, bytes.
const LONGEST: usize = 16 << 10;

/// A bare item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bare {
    Integer(i64),
    /// In thousandths: the standard has at most three digits behind the point.
    Decimal(i64),
    /// Seconds since the Unix epoch.
    Date(i64),
    /// Text beyond ASCII.
    Display(String),
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

/// What a field as a whole is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Dictionary,
    List,
    Item,
}

impl InnerList {
    pub(super) fn param(&self, name: &str) -> Option<&Bare> {
        self.params.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }
}

/// Reads a dictionary; none when the text is not one.
pub(super) fn dictionary(text: &str) -> Option<Dictionary> {
    let mut reader = Reader::of(text)?;
    let mut members = Vec::new();
    while !reader.rest.is_empty() {
        members.push((reader.key()?, reader.member()?));
        reader.comma()?;
    }
    distinct(members)
}

/// The canonical form of a field of this kind (RFC 9651 section 4.1); none when the text is not one. An empty list or
/// dictionary has no form.
pub(super) fn canonical(kind: Kind, text: &str) -> Option<String> {
    let written = match kind {
        Kind::Dictionary => dictionary(text)?.iter().map(|(name, member)| named(name, member)).collect(),
        Kind::List => list(text)?.iter().map(self::member).collect(),
        Kind::Item => vec![item(text)?],
    };
    if written.is_empty() { None } else { Some(written.join(", ")) }
}

/// Reads a list.
fn list(text: &str) -> Option<Vec<Member>> {
    let mut reader = Reader::of(text)?;
    let mut members = Vec::new();
    while !reader.rest.is_empty() {
        members.push(reader.value()?);
        reader.comma()?;
    }
    Some(members)
}

/// Reads and writes an item, which is no inner list.
fn item(text: &str) -> Option<String> {
    let mut reader = Reader::of(text)?;
    let item = Item { value: reader.bare()?, params: reader.params()? };
    reader.rest.is_empty().then(|| identifier(&item))
}

/// The same list, when no name stands in it twice. A text may hold thousands of names.
fn distinct<T>(list: Vec<(String, T)>) -> Option<Vec<(String, T)>> {
    steps::more(list.len());
    let names: HashSet<&str> = list.iter().map(|(name, _)| name.as_str()).collect();
    (names.len() == list.len()).then_some(list)
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    /// None where the text is longer than any honest field.
    fn of(text: &'a str) -> Option<Self> {
        (text.len() <= LONGEST).then(|| Self { rest: text.trim_matches(' ') })
    }

    fn take(&mut self, one: char) -> Option<()> {
        steps::more(1);
        self.rest = self.rest.strip_prefix(one)?;
        Some(())
    }

    fn blank(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// What stands between two members, or nothing at the end.
    fn comma(&mut self) -> Option<()> {
        self.blank();
        if self.rest.is_empty() {
            return Some(());
        }
        self.take(',')?;
        self.blank();
        (!self.rest.is_empty()).then_some(())
    }

    fn span(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|one| !wanted(one)).unwrap_or(self.rest.len());
        steps::more(end);
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
        self.value()
    }

    fn value(&mut self) -> Option<Member> {
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
            params.push((name, value));
        }
        distinct(params)
    }

    fn bare(&mut self) -> Option<Bare> {
        match self.rest.chars().next()? {
            '"' => self.string(),
            ':' => self.bytes(),
            '?' => self.boolean(),
            '-' | '0'..='9' => self.number(),
            '@' => self.date(),
            '%' => self.display(),
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

    /// At most 15 digits; of a decimal, at most 12 before the point and 3 behind it (RFC 9651 section 4.2.4).
    fn number(&mut self) -> Option<Bare> {
        let sign = if self.take('-').is_some() { -1 } else { 1 };
        let whole = self.span(|one| one.is_ascii_digit());
        if self.take('.').is_none() {
            let value: i64 = Some(whole).filter(|whole| (1..=15).contains(&whole.len()))?.parse().ok()?;
            return Some(Bare::Integer(sign * value));
        }
        let part = self.span(|one| one.is_ascii_digit());
        if !(1..=12).contains(&whole.len()) || !(1..=3).contains(&part.len()) {
            return None;
        }
        let thousandths: i64 = format!("{whole}{part:0<3}").parse().ok()?;
        Some(Bare::Decimal(sign * thousandths))
    }

    fn date(&mut self) -> Option<Bare> {
        self.take('@')?;
        match self.number()? {
            Bare::Integer(seconds) => Some(Bare::Date(seconds)),
            _ => None,
        }
    }

    /// Section 4.2.10: percent-encoded UTF-8 in quotes, hexadecimal digits in lower case.
    fn display(&mut self) -> Option<Bare> {
        self.take('%')?;
        self.take('"')?;
        let mut bytes = Vec::new();
        loop {
            match self.rest.chars().next()? {
                '"' => break,
                '%' => bytes.push(self.escape()?),
                one @ ' '..='~' => {
                    self.take(one)?;
                    bytes.push(u8::try_from(one).ok()?);
                }
                _ => return None,
            }
        }
        self.take('"')?;
        String::from_utf8(bytes).ok().map(Bare::Display)
    }

    fn escape(&mut self) -> Option<u8> {
        self.take('%')?;
        let digits = self.rest.get(..2)?;
        let lower = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        self.rest = self.rest.get(2..)?;
        u8::from_str_radix(digits, 16).ok().filter(|_| lower)
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

/// A member in canonical form, without its name.
pub(super) fn member(member: &Member) -> String {
    match member {
        Member::Item(value, with) => bare(value) + &params(with),
        Member::List(list) => inner_list(list),
    }
}

/// `true` is not written, only its parameters (section 4.1.2).
fn named(name: &str, value: &Member) -> String {
    match value {
        Member::Item(Bare::Bool(true), with) => format!("{name}{}", params(with)),
        value => format!("{name}={}", member(value)),
    }
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
        Bare::Decimal(thousandths) => decimal(*thousandths),
        Bare::Date(seconds) => format!("@{seconds}"),
        Bare::Display(text) => display(text),
        Bare::String(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
        Bare::Token(text) => text.clone(),
        Bare::Bytes(bytes) => format!(":{}:", STANDARD.encode(bytes)),
        Bare::Bool(yes) => format!("?{}", u8::from(*yes)),
    }
}

/// No needless zero behind the point, but one digit (section 4.1.5).
fn decimal(thousandths: i64) -> String {
    let (sign, size) = (if thousandths < 0 { "-" } else { "" }, thousandths.unsigned_abs());
    let part = format!("{:03}", size % 1000);
    let part = part.trim_end_matches('0');
    format!("{sign}{}.{}", size / 1000, if part.is_empty() { "0" } else { part })
}

fn display(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'%' | b'"' | 0..=0x1f | 0x7f.. => format!("%{byte:02x}"),
        plain => char::from(plain).to_string(),
    };
    format!("%\"{}\"", text.bytes().map(one).collect::<String>())
}
