//! The table of sellers. A row says who the seller is, what it does in one line, and what a right check says of it.

mod change;
mod framing;
mod honest;
mod money;
mod payee;
mod place;
mod signed;
mod wire;

use super::authority::Shown;
use super::challenge::Asked;
use countersign_core::history::APART_MS;
use std::sync::LazyLock;

/// Whether a seller means what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing wrong with it; a check that refuses it is wrong.
    Honest,
    /// Deceives, breaks or attacks. Where one look cannot show it (a cloaked price, a name close to another's), the
    /// expected word is `payable`: of these terms, which is all that a check can vouch for.
    Hostile,
}

/// What a right check says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expect {
    /// The word for people: `payable`, `payable_with_warnings`, `not_payable`, `mismatch` or `not_evaluated`. None where
    /// the URL is refused: then nothing is asked, and there is no decision.
    pub(crate) word: Option<&'static str>,
    /// The rule that has to give the word, or to be among the findings beside `payable` (`docs/rules.md`).
    pub(crate) rule: Option<&'static str>,
    /// The code with which the URL is refused, or with which the probe itself refuses to go on.
    pub(crate) refused: Option<&'static str>,
}

/// One seller of the lab.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seller {
    /// Its host is `NAME.localhost`.
    pub(crate) name: &'static str,
    /// Honest or hostile.
    pub(crate) kind: Kind,
    /// What it does, one line.
    pub(crate) does: &'static str,
    /// What a right check says.
    pub(crate) expect: Expect,
    /// The honest seller that looks most like it; an honest seller is its own twin.
    pub(crate) twin: &'static str,
    /// How many looks it takes, and how far apart: the expectation is for the last one.
    pub(crate) looks: Looks,
    pub(super) at: At,
    pub(super) tls: Tls,
    pub(super) reply: Reply,
}

/// The looks after which a seller shows what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looks {
    /// This many, one right after the other.
    AtOnce(u8),
    /// This many, each ten minutes after the one before or later, so that they count as independent.
    Apart(u8),
}

impl Looks {
    /// How many.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::AtOnce(looks) | Self::Apart(looks) => looks,
        }
    }

    /// How long to wait between two of them at least, in milliseconds.
    pub(crate) fn apart_ms(self) -> i64 {
        match self {
            Self::AtOnce(_) => 0,
            Self::Apart(_) => APART_MS,
        }
    }
}

/// The URL a buyer is given.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    /// `https://NAME.localhost:PORT/paid`.
    Paid,
    /// Something made from the port, because the URL is the trick.
    Text(fn(u16) -> String),
}

/// How the seller opens a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tls {
    /// With this certificate.
    Shows(Shown),
    /// Not at all: it answers in clear text.
    Clear,
}

/// How the seller answers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reply {
    /// These bytes at once, on `/paid`.
    Whole(fn(&Asked) -> Vec<u8>),
    /// These bytes at once, on any path.
    Anywhere(fn(&Asked) -> Vec<u8>),
    /// These bytes, one at a time.
    Drip(fn(&Asked) -> Vec<u8>),
    /// These bytes, then the second ones for ever.
    Endless(fn(&Asked) -> Vec<u8>, &'static [u8]),
    /// Nothing, and the connection stays open.
    Silent,
}

/// Every seller: the honest ones first, then the hostile ones by what they abuse, then both kinds that sign.
pub(crate) fn sellers() -> &'static [Seller] {
    static ALL: LazyLock<Vec<Seller>> = LazyLock::new(|| {
        [honest::ALL, money::ALL, payee::ALL, place::ALL, change::ALL, wire::ALL, framing::ALL, signed::ALL].concat()
    });
    &ALL
}

impl Seller {
    /// Where a buyer finds this seller when the lab listens on `port`.
    pub(crate) fn url(&self, port: u16) -> String {
        match self.at {
            At::Paid => format!("https://{}.localhost:{port}/paid", self.name),
            At::Text(make) => make(port),
        }
    }

    /// Whether it answers on every path as if it sold something there.
    pub(super) fn answers_anything(&self) -> bool {
        matches!(self.reply, Reply::Anywhere(_))
    }

    const fn found_at(mut self, make: fn(u16) -> String) -> Self {
        self.at = At::Text(make);
        self
    }

    const fn opening(mut self, tls: Tls) -> Self {
        self.tls = tls;
        self
    }

    const fn after(mut self, looks: Looks) -> Self {
        self.looks = looks;
        self
    }
}

/// An honest seller that a right check calls payable.
const fn honest(name: &'static str, does: &'static str, reply: Reply) -> Seller {
    let expect = says("payable", None);
    Seller { kind: Kind::Honest, ..hostile(name, does, expect, name, reply) }
}

/// A hostile seller at the usual URL, with a good certificate, seen through at the first look.
const fn hostile(name: &'static str, does: &'static str, expect: Expect, twin: &'static str, reply: Reply) -> Seller {
    let (at, tls) = (At::Paid, Tls::Shows(Shown::Good));
    Seller { name, kind: Kind::Hostile, does, expect, twin, looks: Looks::AtOnce(1), at, tls, reply }
}

const fn says(word: &'static str, rule: Option<&'static str>) -> Expect {
    Expect { word: Some(word), rule, refused: None }
}

const fn finds(word: &'static str, rule: &'static str) -> Expect {
    says(word, Some(rule))
}

const fn refuses(code: &'static str) -> Expect {
    Expect { word: Some("not_evaluated"), rule: None, refused: Some(code) }
}

/// The URL itself is refused.
const fn declined(code: &'static str) -> Expect {
    Expect { word: None, rule: None, refused: Some(code) }
}
