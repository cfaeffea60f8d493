//! How many connections there is room for: by the files this process may open, and by who asks.
//!
//! A log ends when it cannot open a file, because it can no longer say what the disk holds. Strangers decide how many
//! connections there are, so a part of the files stays out of their reach.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// More connections than this are not held, whatever the system allows.
const CONNECTIONS: u64 = 1024;

/// Files kept for the log: its segments, tiles and database, 64 visitors of its socket, witnesses, the runtime.
const RESERVE: u64 = 160;

/// A connection is one file, and answering may open another.
const FILES_EACH: u64 = 2;

/// What is asked for where the hard limit says more or nothing: enough for all of the above.
const ENOUGH: u64 = 8192;

/// Raises this process's limit of open files as far as it may, and says how many connections fit under it beside the
/// log's own files: at most 1,024, at least one. To be called before the first file is opened that must not be missing.
pub fn connections() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.unwrap_or(ENOUGH).min(ENOUGH);
    if limit.current.is_some_and(|current| current < wanted) {
        // Some systems refuse what they say is allowed. Then what is in force counts.
        let _refused = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum });
    }
    fitting(getrlimit(Resource::Nofile).current.unwrap_or(ENOUGH))
}

fn fitting(files: u64) -> usize {
    let reserve = RESERVE.min(files / 2);
    let connections = ((files - reserve) / FILES_EACH).clamp(1, CONNECTIONS);
    usize::try_from(connections).unwrap_or(1)
}

/// The places for connections. One source gets half of them, so that nobody shuts the door on everybody by himself.
pub(super) struct Room {
    free: Arc<Semaphore>,
    taken: Arc<Mutex<HashMap<IpAddr, usize>>>,
    share: usize,
}

/// A place; dropping it frees it.
pub(super) struct Place {
    source: IpAddr,
    taken: Arc<Mutex<HashMap<IpAddr, usize>>>,
    _permit: OwnedSemaphorePermit,
}

impl Room {
    pub(super) fn new(connections: usize) -> Self {
        let free = Arc::new(Semaphore::new(connections));
        Self { free, taken: Arc::default(), share: connections.div_ceil(2) }
    }

    /// Waits until a place is free. Whoever comes then waits in the system's queue.
    pub(super) async fn free(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.free).acquire_owned().await.ok()
    }

    /// Gives the free place to this address; `None` when its source has its share.
    pub(super) fn take(&self, address: IpAddr, permit: OwnedSemaphorePermit) -> Option<Place> {
        let source = source(address);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = taken.entry(source).or_default();
        if *mine >= self.share {
            return None;
        }
        *mine += 1;
        Some(Place { source, taken: Arc::clone(&self.taken), _permit: permit })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mine) = taken.get_mut(&self.source) {
            *mine -= 1;
            if *mine == 0 {
                taken.remove(&self.source);
            }
        }
    }
}

/// Who an address belongs to: an IPv4 address is somebody, of IPv6 everybody has a /64.
fn source(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(v4) => IpAddr::V4(v4),
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_keeps_its_files_under_every_limit() {
        // Limit, and what is left for connections of two files each: the half of a small limit, 160 files of a larger.
        for (files, connections) in [(0, 1), (3, 1), (64, 16), (320, 80), (1024, 432), (2208, 1024), (1 << 40, 1024)] {
            assert_eq!(fitting(files), connections, "{files}");
        }
    }

    #[test]
    fn one_source_gets_half_and_leaves_the_rest_to_others() {
        let room = Room::new(4);
        let take = |address: &str| {
            let permit = Arc::clone(&room.free).try_acquire_owned().ok()?;
            room.take(address.parse().expect("an address"), permit)
        };
        let first = (take("192.0.2.1"), take("::ffff:192.0.2.1"));
        assert!(first.0.is_some() && first.1.is_some(), "two spellings of one source");
        assert!(take("192.0.2.1").is_none(), "which has its half");
        let second = (take("2001:db8::1"), take("2001:db8::2"));
        assert!(second.0.is_some() && second.1.is_some(), "the other half is free");
        assert!(take("2001:db8:0:1::1").is_none(), "and now all is taken");
        drop(first);
        assert!(take("2001:db8::3").is_none() && take("2001:db8:0:1::1").is_some(), "a /64 is one source");
    }
}
