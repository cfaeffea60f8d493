//! Work that several ask for at once and that is done once: whoever comes while it is up shares it.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

/// The work that is up, by what it is about.
#[derive(Debug)]
pub(super) struct Flights<K, V>(Mutex<HashMap<K, Flight<V>>>);

type Flight<V> = Arc<OnceCell<V>>;

impl<K, V> Default for Flights<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash + Clone, V: Clone> Flights<K, V> {
    /// Does `work`, or waits for who does the same. When that one gives up, or fails, the next who waits does it.
    pub(super) async fn share<E>(&self, about: K, work: impl Future<Output = Result<V, E>>) -> Result<V, E> {
        let flight = Arc::clone(self.up().entry(about.clone()).or_default());
        let aboard = Aboard { flights: self, about, flight };
        aboard.flight.get_or_try_init(|| work).await.cloned()
    }
}

impl<K, V> Flights<K, V> {
    fn up(&self) -> MutexGuard<'_, HashMap<K, Flight<V>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who shares a flight. Leaving ends it when it is done or when nobody else is aboard; the last who leaves may do so
/// when a newer one about the same is already up, which must go on being shared.
struct Aboard<'a, K: Eq + Hash, V> {
    flights: &'a Flights<K, V>,
    about: K,
    flight: Flight<V>,
}

impl<K: Eq + Hash, V> Drop for Aboard<'_, K, V> {
    fn drop(&mut self) {
        let mut up = self.flights.up();
        let mine = up.get(&self.about).is_some_and(|up| Arc::ptr_eq(up, &self.flight));
        // The two are the map's and this one's.
        if mine && (self.flight.initialized() || Arc::strong_count(&self.flight) <= 2) {
            up.remove(&self.about);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;

    /// Gives way once, so that others can come aboard, and then answers how often work was done.
    async fn work(done: &AtomicU8) -> Result<u8, Infallible> {
        tokio::task::yield_now().await;
        Ok(done.fetch_add(1, Ordering::SeqCst) + 1)
    }

    #[tokio::test]
    async fn whoever_comes_while_it_is_up_shares_it_and_who_comes_later_does_not() {
        let (flights, done) = (Flights::default(), AtomicU8::new(0));
        let both = tokio::join!(flights.share("a", work(&done)), flights.share("a", work(&done)));
        assert_eq!(both, (Ok(1), Ok(1)));
        assert_eq!(flights.share("a", work(&done)).await, Ok(2));
        let two = tokio::join!(flights.share("a", work(&done)), flights.share("b", work(&done)));
        assert_eq!(two.0.unwrap() + two.1.unwrap(), 3 + 4, "each its own");
        assert!(flights.up().is_empty());
    }

    fn aboard<'a>(flights: &'a Flights<&'static str, u8>, flight: &Flight<u8>) -> Aboard<'a, &'static str, u8> {
        Aboard { flights, about: "a", flight: Arc::clone(flight) }
    }

    #[test]
    fn whoever_waited_last_for_one_flight_leaves_a_newer_one_up() {
        let flights = Flights::default();
        let (old, new) = (Flight::new(OnceCell::new_with(Some(1))), Flight::new(OnceCell::new_with(Some(2))));
        flights.up().insert("a", Arc::clone(&new));
        drop(aboard(&flights, &old));
        assert!(flights.up().contains_key("a"));
        drop(aboard(&flights, &new));
        assert!(flights.up().is_empty(), "positive control");
    }

    #[test]
    fn whoever_leaves_early_takes_nothing_from_the_others_and_the_last_leaves_nothing_behind() {
        let (flights, flight) = (Flights::default(), Flight::default());
        flights.up().insert("a", Arc::clone(&flight));
        let (one, two) = (aboard(&flights, &flight), aboard(&flights, &flight));
        drop(flight);
        drop(one);
        assert!(flights.up().contains_key("a"));
        drop(two);
        assert!(flights.up().is_empty());
    }
}
