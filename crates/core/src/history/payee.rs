//! The recipients of one network and asset: a small state machine over trusted looks.

use super::APART_MS;
use super::stored::millis;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How a recipient stands where it is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Seen at the first look at this URL, and not yet a second time at least ten minutes later.
    /// Nothing to differ from, so this is no change.
    First,
    /// Seen later than the URL, on a network or asset that was not offered before, beside recipients
    /// that were; not yet seen twice.
    Joined,
    /// Seen in two trusted looks at least ten minutes apart.
    Established,
    /// Seen in the place of a known recipient, which is kept until this one is seen a second time.
    Pending,
}

/// One recipient.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payee {
    /// Address: lower-cased on EVM networks, byte for byte elsewhere.
    pub pay_to: String,
    /// The first trusted look at it in this place.
    #[serde(with = "millis")]
    pub since: Timestamp,
    /// How it stands.
    pub role: Role,
}

impl Payee {
    /// Whether it counts as this place's recipient.
    pub fn stands(&self) -> bool {
        self.role != Role::Pending
    }

    fn look(&mut self, offered: &BTreeSet<String>, at: Timestamp) {
        if offered.contains(&self.pay_to) && at.since(self.since) >= APART_MS {
            self.role = Role::Established;
        }
    }
}

/// Moves the recipients of one place by a look at `at` that offered these, and says whether one of
/// them came in the place of a known one. `newcomer` is the role of whoever is first here.
pub(super) fn look(payees: &mut Vec<Payee>, offered: &BTreeSet<String>, at: Timestamp, newcomer: Role) -> bool {
    let role = if payees.is_empty() { newcomer } else { Role::Pending };
    payees.iter_mut().for_each(|payee| payee.look(offered, at));
    if payees.iter().any(|payee| payee.stands() && offered.contains(&payee.pay_to)) {
        payees.retain(|payee| offered.contains(&payee.pay_to));
    } else {
        payees.retain(|payee| payee.stands() || offered.contains(&payee.pay_to));
    }
    let new: Vec<_> = offered.iter().filter(|pay_to| payees.iter().all(|payee| payee.pay_to != **pay_to)).collect();
    let changed = role == Role::Pending && !new.is_empty();
    payees.extend(new.into_iter().map(|pay_to| Payee { pay_to: pay_to.clone(), since: at, role }));
    changed
}
