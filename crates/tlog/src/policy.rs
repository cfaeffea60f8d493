//! Trust policies: which logs a reader accepts and which witnesses must have cosigned (C2SP tlog-policy).
//!
//! The file is read as octets; names are compared octet by octet. A name is defined once, before it is used, and is a
//! member of at most one group, so evaluation is one pass over the definitions in order, without recursion.

use std::collections::HashMap;

use crate::checkpoint::{Checkpoint, CheckpointError, Origin};
use crate::key::{Algorithm, KeyError, VerifierKey};
use crate::note::{Note, NoteError, Verified};
use crate::text::decimal;

mod age;

pub use age::{Freshness, MAX_AHEAD, StaleError, is_ahead};

/// The largest policy file in bytes.
pub const MAX_POLICY: usize = 256 * 1024;

/// The most `log` lines, `witness` lines and `group` lines, each. The specification asks for 32 at least.
pub const MAX_DEFINITIONS: usize = 64;

/// Why a file is not a policy. Lines count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// Larger than [`MAX_POLICY`].
    #[error("the policy is too large")]
    TooLarge,
    /// There is no `quorum` line.
    #[error("the policy has no quorum line")]
    NoQuorum,
    /// A line is wrong.
    #[error("line {line}: {fault}")]
    Line {
        /// The line.
        line: usize,
        /// What is wrong with it.
        fault: Fault,
    },
}

/// What is wrong with one line of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A control character other than tab and line feed.
    #[error("a control character")]
    ControlCharacter,
    /// The last line does not end in a line feed.
    #[error("the line does not end")]
    Unterminated,
    /// The first word is none of `log`, `witness`, `group` and `quorum`.
    #[error("the line is no log, witness, group or quorum")]
    Keyword,
    /// Too few or too many words.
    #[error("the line has the wrong number of words")]
    Words,
    /// The vkey does not read.
    #[error("{0}")]
    Key(KeyError),
    /// A log key of type 0x04, or a witness key of type 0x01.
    #[error("a key of this type cannot have this role")]
    KeyRole,
    /// The same public key in the same role twice.
    #[error("the public key is listed twice")]
    DuplicateKey,
    /// The name is taken, or is `none`.
    #[error("the name is already taken")]
    NameTaken,
    /// The name is not defined above.
    #[error("the name is not defined above this line")]
    NameUnknown,
    /// The name is already a member of a group.
    #[error("the name is already a member of a group")]
    MemberTwice,
    /// The threshold is not `any`, `all`, or 1 to the number of members.
    #[error("the threshold is not any, all, or from 1 to the number of members")]
    Threshold,
    /// A second quorum.
    #[error("a second quorum line")]
    SecondQuorum,
    /// More than [`MAX_DEFINITIONS`] of a kind.
    #[error("too many lines of this kind")]
    TooMany,
}

/// A policy. Keys of the log may be several, also for one origin: an Ed25519 and an ML-DSA-44 key sign side by side.
#[derive(Clone, Debug)]
pub struct Policy {
    keys: Vec<VerifierKey>,
    logs: Vec<VerifierKey>,
    /// Witnesses and groups in the order of their lines.
    nodes: Vec<Node>,
    quorum: Option<usize>,
    demand: Demand,
    urls: Vec<(VerifierKey, String)>,
}

/// Whether the quorum must have cosigned. Ages are judged by it either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Demand {
    Quorum,
    LogAlone,
}

/// A name that can witness a checkpoint.
#[derive(Clone, Debug)]
enum Node {
    Witness(VerifierKey),
    /// At least `threshold` of the members, which all stand earlier in the list.
    Group {
        threshold: usize,
        members: Vec<usize>,
    },
}

/// Whether the log's post-quantum line must be there. Without the demand an attacker may strip it unnoticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostQuantum {
    /// The log's Ed25519 signature is enough.
    Optional,
    /// One of the log's ML-DSA-44 keys must have signed.
    Required,
}

/// A checkpoint that satisfies a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted<'p> {
    /// The checkpoint. Its extension lines, if any, are covered by a signature of its log.
    pub checkpoint: Checkpoint,
    /// Valid signatures by keys of this checkpoint's log.
    pub log: Vec<Verified<'p>>,
    /// Valid cosignatures by witnesses of the policy.
    pub witnesses: Vec<Verified<'p>>,
    /// When it was signed, in seconds since the Unix epoch, as far as that decides its age: by the log, or else by a
    /// quorum of witnesses of two names.
    pub time: Option<u64>,
}

/// Why a checkpoint is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RejectError {
    /// The note does not verify.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The text is not a checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// No key of the policy is this origin's.
    #[error("the policy has no log {0}")]
    UnknownLog(Origin),
    /// None of the log's own keys has signed.
    #[error("the log {0} has not signed")]
    NotSignedByLog(Origin),
    /// The checkpoint has extension lines, and no signature of the log that holds covers them.
    #[error("no signature of the log {0} covers the extension lines of the checkpoint")]
    ExtensionsNotSigned(Origin),
    /// A post-quantum signature of the log is demanded and missing.
    #[error("the log's post-quantum signature is missing")]
    PostQuantumMissing,
    /// The witnesses that cosigned do not make the quorum.
    #[error("the witnesses that cosigned do not make the quorum")]
    QuorumMissing,
}

impl RejectError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Note(error) => error.code(),
            Self::Checkpoint(error) => error.code(),
            Self::UnknownLog(_) => "log_unknown",
            Self::NotSignedByLog(_) => "log_not_signed",
            Self::ExtensionsNotSigned(_) => "extensions_not_signed",
            Self::PostQuantumMissing => "pq_missing",
            Self::QuorumMissing => "quorum_missing",
        }
    }
}

impl Policy {
    /// Reads a policy file.
    pub fn parse(bytes: &[u8]) -> Result<Self, PolicyError> {
        if bytes.len() > MAX_POLICY {
            return Err(PolicyError::TooLarge);
        }
        let mut reader = Reader::default();
        for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            reader.line(line).map_err(|fault| PolicyError::Line { line: number + 1, fault })?;
        }
        reader.finish()
    }

    /// The same logs and witnesses, and the quorum need not have cosigned: what a log's own signatures are judged by.
    /// Where they state no time, the quorum's still decides.
    #[must_use]
    pub fn without_quorum(&self) -> Self {
        Self { demand: Demand::LogAlone, ..self.clone() }
    }

    /// The keys of all logs, in the order of their lines.
    pub fn logs(&self) -> &[VerifierKey] {
        &self.logs
    }

    /// The keys of all witnesses, in the order of their lines.
    pub fn witnesses(&self) -> impl Iterator<Item = &VerifierKey> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Witness(key) => Some(key),
            Node::Group { .. } => None,
        })
    }

    /// The witnesses whose lines name an address, and that address as it stands there.
    pub fn witness_urls(&self) -> &[(VerifierKey, String)] {
        &self.urls
    }

    /// Verifies a note against the policy: the origin's own log has signed all of it, no known signature is wrong, and
    /// the quorum has cosigned.
    pub fn accept(&self, note: &Note, pq: PostQuantum) -> Result<Accepted<'_>, RejectError> {
        let checkpoint = Checkpoint::parse(note.text())?;
        let ours = |key: &VerifierKey| key.name().as_str() == checkpoint.origin.as_str() && self.logs.contains(key);
        if !self.logs.iter().any(ours) {
            return Err(RejectError::UnknownLog(checkpoint.origin));
        }
        let verified = note.verify(&self.keys)?;
        let (log, others): (Vec<_>, Vec<_>) = verified.into_iter().partition(|verified| ours(verified.key));
        if log.is_empty() {
            return Err(RejectError::NotSignedByLog(checkpoint.origin));
        }
        if !checkpoint.is_covered_by(&log) {
            return Err(RejectError::ExtensionsNotSigned(checkpoint.origin));
        }
        if pq == PostQuantum::Required && !log.iter().any(|verified| verified.key.algorithm().is_post_quantum()) {
            return Err(RejectError::PostQuantumMissing);
        }
        let by_witness = |verified: &Verified<'_>| self.witnesses().any(|witness| witness == verified.key);
        let witnesses: Vec<_> = others.into_iter().filter(by_witness).collect();
        let unmet = self.quorum.is_some_and(|quorum| !self.witnessed(quorum, &witnesses));
        if unmet && self.demand == Demand::Quorum {
            return Err(RejectError::QuorumMissing);
        }
        let time = self.signed_time(&log, &witnesses);
        Ok(Accepted { checkpoint, log, witnesses, time })
    }

    /// Members stand before their group, so one pass in order decides every node.
    fn witnessed(&self, quorum: usize, witnesses: &[Verified<'_>]) -> bool {
        let mut decided: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            decided.push(match node {
                Node::Witness(key) => witnesses.iter().any(|verified| verified.key == key),
                Node::Group { threshold, members } => {
                    let yes = members.iter().filter(|member| decided.get(**member) == Some(&true));
                    yes.count() >= *threshold
                }
            });
        }
        decided.get(quorum) == Some(&true)
    }
}

/// A policy half read.
#[derive(Default)]
struct Reader {
    logs: Vec<VerifierKey>,
    nodes: Vec<Node>,
    names: HashMap<Vec<u8>, usize>,
    /// Whether the node is a member of a group already.
    taken: Vec<bool>,
    quorum: Option<Option<usize>>,
    urls: Vec<(VerifierKey, String)>,
}

impl Reader {
    fn line(&mut self, line: &[u8]) -> Result<(), Fault> {
        let line = line.strip_suffix(b"\n").ok_or(Fault::Unterminated)?;
        if line.iter().any(|byte| (*byte < 0x20 && *byte != b'\t') || *byte == 0x7f) {
            return Err(Fault::ControlCharacter);
        }
        let blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
        let words: Vec<&[u8]> = line.split(blank).filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            [] => Ok(()),
            [first, ..] if first.starts_with(b"#") => Ok(()),
            [b"log", vkey] | [b"log", vkey, _] => self.log(vkey),
            [b"witness", name, vkey] => self.witness(name, vkey, None),
            [b"witness", name, vkey, url] => self.witness(name, vkey, Some(url)),
            [b"group", name, threshold, members @ ..] if !members.is_empty() => self.group(name, threshold, members),
            [b"quorum", name] => self.quorum(name),
            [b"log" | b"witness" | b"group" | b"quorum", ..] => Err(Fault::Words),
            _ => Err(Fault::Keyword),
        }
    }

    fn log(&mut self, vkey: &[u8]) -> Result<(), Fault> {
        let key = parse_key(vkey)?;
        if key.algorithm() == Algorithm::Ed25519Cosignature {
            return Err(Fault::KeyRole);
        }
        if self.logs.iter().any(|other| other.public_key() == key.public_key()) {
            return Err(Fault::DuplicateKey);
        }
        self.logs.push(key);
        room(self.logs.len())
    }

    fn witness(&mut self, name: &[u8], vkey: &[u8], url: Option<&[u8]>) -> Result<(), Fault> {
        let key = parse_key(vkey)?;
        if key.algorithm() == Algorithm::Ed25519 {
            return Err(Fault::KeyRole);
        }
        let same = |node: &Node| matches!(node, Node::Witness(other) if other.public_key() == key.public_key());
        if self.nodes.iter().any(same) {
            return Err(Fault::DuplicateKey);
        }
        // An address that is not UTF-8 is none that anybody could ask.
        self.urls.extend(url.and_then(|url| std::str::from_utf8(url).ok()).map(|url| (key.clone(), url.to_owned())));
        self.define(name, Node::Witness(key))?;
        room(self.nodes.iter().filter(|node| matches!(node, Node::Witness(_))).count())
    }

    fn group(&mut self, name: &[u8], threshold: &[u8], members: &[&[u8]]) -> Result<(), Fault> {
        let threshold = parse_threshold(threshold, members.len()).ok_or(Fault::Threshold)?;
        let members = members.iter().map(|member| self.take(member)).collect::<Result<Vec<_>, _>>()?;
        self.define(name, Node::Group { threshold, members })?;
        room(self.nodes.iter().filter(|node| matches!(node, Node::Group { .. })).count())
    }

    fn quorum(&mut self, name: &[u8]) -> Result<(), Fault> {
        if self.quorum.is_some() {
            return Err(Fault::SecondQuorum);
        }
        let node = match name {
            b"none" => None,
            _ => Some(*self.names.get(name).ok_or(Fault::NameUnknown)?),
        };
        self.quorum = Some(node);
        Ok(())
    }

    fn define(&mut self, name: &[u8], node: Node) -> Result<(), Fault> {
        if name == b"none" || self.names.contains_key(name) {
            return Err(Fault::NameTaken);
        }
        self.names.insert(name.to_vec(), self.nodes.len());
        self.nodes.push(node);
        self.taken.push(false);
        Ok(())
    }

    /// Marks a name as a member of a group.
    fn take(&mut self, name: &[u8]) -> Result<usize, Fault> {
        let node = *self.names.get(name).ok_or(Fault::NameUnknown)?;
        match self.taken.get_mut(node) {
            Some(taken) if !*taken => *taken = true,
            _ => return Err(Fault::MemberTwice),
        }
        Ok(node)
    }

    fn finish(self) -> Result<Policy, PolicyError> {
        let quorum = self.quorum.ok_or(PolicyError::NoQuorum)?;
        let mut keys = self.logs.clone();
        keys.extend(self.nodes.iter().filter_map(|node| match node {
            Node::Witness(key) => Some(key.clone()),
            Node::Group { .. } => None,
        }));
        Ok(Policy { keys, logs: self.logs, nodes: self.nodes, quorum, demand: Demand::Quorum, urls: self.urls })
    }
}

fn room(count: usize) -> Result<(), Fault> {
    if count <= MAX_DEFINITIONS { Ok(()) } else { Err(Fault::TooMany) }
}

fn parse_key(vkey: &[u8]) -> Result<VerifierKey, Fault> {
    let text = std::str::from_utf8(vkey).map_err(|_| Fault::Key(KeyError::Malformed))?;
    VerifierKey::parse(text).map_err(Fault::Key)
}

fn parse_threshold(word: &[u8], members: usize) -> Option<usize> {
    match word {
        b"any" => Some(1),
        b"all" => Some(members),
        _ => {
            let number = usize::try_from(decimal(std::str::from_utf8(word).ok()?)?).ok()?;
            (1..=members).contains(&number).then_some(number)
        }
    }
}

#[cfg(test)]
mod tests;
