//! The log in the hands of this process, and how it lets go.
//!
//! A log that ended in doubt signs nothing more here, so nobody is kept from the directory by a process that happens to
//! live on: the lock goes, and the reason stays. The next process decides from what is on disk, as every start does.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use countersign_tlog::sequencer::{Fatal, Log};

use super::{LogError, socket};

/// A log, and the door through which other processes reach it.
pub(super) struct Holding {
    // Dropped in this order: nobody is let in any more, then the log closes and its directory is free.
    _door: Option<socket::Door>,
    log: Arc<Log>,
}

impl Holding {
    pub(super) fn new(log: Arc<Log>, door: Option<socket::Door>) -> Self {
        Self { _door: door, log }
    }
}

enum State {
    Empty,
    Live(Holding),
    Ended(Fatal),
}

/// What this process has of a log: nothing yet, the log itself, or only the reason why it is over.
pub(super) struct Hands(Arc<Mutex<State>>);

/// As [`countersign_tlog::sequencer::Config::fatal`].
type Told = Arc<dyn Fn(&Fatal) + Send + Sync>;

impl Hands {
    pub(super) fn empty() -> Self {
        Self(Arc::new(Mutex::new(State::Empty)))
    }

    /// The log in them, or the one that `open` puts there.
    ///
    /// # Errors
    /// Those of `open`; `InDoubt` for good once the log ended.
    pub(super) fn log_or(&self, open: impl FnOnce() -> Result<Holding, LogError>) -> Result<Arc<Log>, LogError> {
        let mut state = locked(&self.0);
        match &*state {
            State::Empty => {}
            State::Live(Holding { log, .. }) => {
                return log.fatal().map_or(Ok(Arc::clone(log)), |fatal| in_doubt(&fatal));
            }
            State::Ended(fatal) => return in_doubt(fatal),
        }
        let holding = open()?;
        let log = Arc::clone(&holding.log);
        *state = State::Live(holding);
        Ok(log)
    }

    /// Lets go of a log that says it has ended, and tells of it.
    pub(super) fn letting_go(&self, tell: Told) -> Told {
        // Not held by the log that is held in them, or neither would ever be dropped.
        let hands = Arc::downgrade(&self.0);
        Arc::new(move |fatal| {
            let (hands, reason) = (Weak::clone(&hands), fatal.clone());
            // The log's own thread is here, and a log that closes waits for it. A system without another thread frees
            // the directory when the process ends.
            let _kept = thread::Builder::new().name("log-end".into()).spawn(move || let_go(&hands, reason));
            tell(fatal);
        })
    }

    #[cfg(test)]
    pub(super) fn are_empty(&self) -> bool {
        matches!(&*locked(&self.0), State::Empty)
    }
}

fn let_go(hands: &Weak<Mutex<State>>, reason: Fatal) {
    // Whoever dropped them has let go.
    let Some(hands) = hands.upgrade() else { return };
    let ended = mem::replace(&mut *locked(&hands), State::Ended(reason));
    // Closing waits for those inside the door. Whoever asks meanwhile is told the reason and need not wait.
    drop(ended);
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_doubt<T>(fatal: &Fatal) -> Result<T, LogError> {
    Err(LogError::InDoubt(fatal.clone()))
}
