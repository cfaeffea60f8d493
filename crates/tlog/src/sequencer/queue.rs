//! What waits for the sequencer, and the one answer each waiter gets.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use super::{AppendError, Appended};
use crate::merkle::Hash;

type Outcome = Result<Appended, AppendError>;

/// A callback that is called exactly once: dropped unused, it says that the outcome is not known.
pub(super) struct Reply(Option<Box<dyn FnOnce(Outcome) + Send>>);

impl Reply {
    pub(super) fn new(call: Box<dyn FnOnce(Outcome) + Send>) -> Self {
        Self(Some(call))
    }

    pub(super) fn send(mut self, outcome: Outcome) {
        if let Some(call) = self.0.take() {
            call(outcome);
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if let Some(call) = self.0.take() {
            call(Err(AppendError::Unknown));
        }
    }
}

/// A leaf in the queue.
pub(super) struct Waiting {
    pub(super) key: [u8; 32],
    pub(super) leaf: Arc<[u8]>,
    pub(super) hash: Hash,
    pub(super) reply: Reply,
}

pub(super) enum Message {
    Append(Waiting),
    Flush(SyncSender<()>),
}

impl Message {
    pub(super) fn refuse(self, error: AppendError) {
        if let Self::Append(waiting) = self {
            waiting.reply.send(Err(error));
        }
    }
}
