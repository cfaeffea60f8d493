//! Reading an answer, off the runtime's threads: however long one takes to read, the looks at other sellers go on.

use countersign_core::endpoint::ResourceUrl;
use countersign_core::offer::signed::KnownKey;
use countersign_core::offer::{self, Exchange, Reading};
use countersign_core::time::Timestamp;
use countersign_probe::{Answer, Refused};

use tokio::sync::Semaphore;

use super::CheckError;
use crate::transport;

/// How many answers are read at a time: one of a megabyte takes several times its own size in hand.
static PLACES: Semaphore = Semaphore::const_new(8);

/// What came back for `url`, with what it reads as under these keys. One who stops waiting leaves the work to end by itself.
///
/// # Errors
/// [`CheckError::Reading`] when the reading ends in a defect of ours.
pub(super) async fn read_apart(
    url: &ResourceUrl,
    method: &'static str,
    seen_at: Timestamp,
    result: Result<Answer, Refused>,
    keys: Vec<KnownKey>,
) -> Result<(Result<Answer, Refused>, Reading), CheckError> {
    let url = url.clone();
    apart(move || {
        let reading = read(&url, method, seen_at, &result, &keys);
        (result, reading)
    })
    .await
}

async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, CheckError> {
    // Kept until the work has ended, also when nobody waits for it any more.
    let place = PLACES.acquire().await;
    let placed = move || {
        let _place = place;
        work()
    };
    tokio::task::spawn_blocking(placed).await.map_err(|error| CheckError::Reading(error.to_string()))
}

pub(crate) fn read(
    url: &ResourceUrl,
    method: &str,
    seen_at: Timestamp,
    result: &Result<Answer, Refused>,
    keys: &[KnownKey],
) -> Reading {
    match result {
        Err(_) => Reading::not_seen(),
        Ok(answer) => offer::read(&Exchange {
            url: url.as_str(),
            method,
            status: answer.status,
            headers: &answer.headers,
            body: &answer.body,
            body_end: transport::body_end(answer),
            seen_at,
            keys,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On the runtime's only thread, work that waits for another task would wait for ever.
    #[tokio::test]
    async fn others_go_on_while_an_answer_is_read() {
        let (done, other) = std::sync::mpsc::channel();
        let read = apart(move || other.recv_timeout(std::time::Duration::from_secs(30)));
        let (read, ()) = tokio::join!(read, async { done.send(7).unwrap() });
        assert_eq!(read.unwrap(), Ok(7));
    }

    #[tokio::test]
    async fn a_reading_that_ends_in_a_defect_is_told() {
        let ended = apart(|| -> u8 { panic!("a defect") }).await;
        assert_eq!(ended.unwrap_err().code(), "reading_ended");
    }
}
