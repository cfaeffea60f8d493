//! The sink of RFC 8785 bytes.
//!
//! Text that is canonical as it stands is not touched piece by piece: it is copied in one run when the
//! next edit comes. An object whose members are out of order is put in order once, when it ends. So a
//! document that we wrote ourselves costs one scan and one copy. The price is that text inside `n` objects
//! that are all out of order moves `n` times.

use std::ops::Range;

use super::names::Member;
use super::read::{Order, Sink, offset};

/// The canonical bytes of what was read so far.
pub(super) struct Writer<'a, 'w> {
    source: &'a [u8],
    out: Vec<u8>,
    /// Everything before this offset of the source is in `out`.
    copied: usize,
    /// Where the members of an object are laid out anew.
    room: Vec<u8>,
    wanted: Option<&'w str>,
    found: Option<Range<usize>>,
}

impl<'a, 'w> Writer<'a, 'w> {
    /// `wanted` names a member of the outermost object whose place is to be told.
    pub(super) fn new(source: &'a [u8], wanted: Option<&'w str>) -> Self {
        let out = Vec::with_capacity(source.len());
        Self { source, out, copied: 0, room: Vec::new(), wanted, found: None }
    }

    /// The bytes, and where in them the wanted member stands, together with the comma that goes when it does.
    pub(super) fn finish(mut self) -> (Vec<u8>, Option<Range<usize>>) {
        self.copy(self.source.len());
        (self.out, self.found)
    }

    fn copy(&mut self, until: usize) {
        self.out.extend_from_slice(&self.source[self.copied..until]);
        self.copied = until;
    }

    fn reorder(&mut self, members: &[Member<'_>], at: usize) {
        self.copy(at);
        self.room.clear();
        for (position, member) in members.iter().enumerate() {
            if position > 0 {
                self.room.push(b',');
            }
            self.room.extend_from_slice(&self.out[member.begin as usize..member.end as usize]);
        }
        self.out.truncate(self.out.len() - self.room.len());
        self.out.extend_from_slice(&self.room);
    }

    fn find(&self, members: &[Member<'_>]) -> Option<Range<usize>> {
        let wanted = self.wanted?;
        let mut start = members.iter().map(|member| member.begin as usize).min()?;
        for (position, member) in members.iter().enumerate() {
            let end = start + (member.end - member.begin) as usize;
            if member.name() == wanted {
                let last = position + 1 == members.len();
                return Some(if position > 0 { start - 1..end } else { start..end + usize::from(!last) });
            }
            start = end + 1;
        }
        None
    }
}

impl Sink for Writer<'_, '_> {
    const WRITES: bool = true;

    #[inline]
    fn mark(&self, at: usize) -> u32 {
        offset(self.out.len() + (at - self.copied))
    }

    fn edit(&mut self, start: usize, end: usize, canonical: &[u8]) {
        self.copy(start);
        self.out.extend_from_slice(canonical);
        self.copied = end;
    }

    fn members(&mut self, members: &[Member<'_>], order: Order, depth: usize, at: usize) {
        if order == Order::Other {
            self.reorder(members, at);
        }
        if depth == 0 {
            self.found = self.find(members);
        }
    }
}
