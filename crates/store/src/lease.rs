//! Leases: one holder at a time, by compare-and-swap on the row.
//!
//! Each new holder gets a higher fence. Whatever the lease guards keeps the highest fence it has seen and refuses
//! a lower one, so a holder that slept past its lease cannot do harm.

use countersign_core::time::Timestamp;

use crate::{Store, StoreError};

/// A lease that was granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// What it is for.
    pub name: String,
    /// Who holds it.
    pub holder: String,
    /// Higher than that of every earlier holder; the first is 1.
    pub fence: i64,
    /// The first instant at which another may take it.
    pub expires_at: Timestamp,
}

const CLAIM: &str = "INSERT INTO lease (name, holder, fence, expires_at) VALUES ($1, $2, 1, $4) \
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, fence = lease.fence + 1, \
     expires_at = excluded.expires_at WHERE lease.expires_at <= $3 RETURNING fence";

const RENEW: &str = "UPDATE lease SET expires_at = $5 \
     WHERE name = $1 AND holder = $2 AND fence = $3 AND expires_at > $4";

/// The row stays, so that fences never start again from 1.
const RELEASE: &str = "UPDATE lease SET expires_at = $4 WHERE name = $1 AND holder = $2 AND fence = $3";

impl Store {
    /// Takes the lease if nobody holds it at `now`; `None` when somebody does, be it the same holder (who renews).
    ///
    /// # Errors
    /// [`StoreError::Engine`] when it cannot be written.
    pub async fn claim_lease(
        &self,
        name: &str,
        holder: &str,
        now: Timestamp,
        ttl_ms: i64,
    ) -> Result<Option<Lease>, StoreError> {
        let expires_at = now.plus_millis(ttl_ms);
        let args = [name.into(), holder.into(), now.millis().into(), expires_at.millis().into()];
        let fence = self.db.one(CLAIM, &args, |row| row.int("fence")).await?;
        Ok(fence.map(|fence| Lease { name: name.into(), holder: holder.into(), fence, expires_at }))
    }

    /// Prolongs a lease that is still held at `now`; `None` when it ran out or another has it.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when it cannot be written.
    pub async fn renew_lease(&self, lease: &Lease, now: Timestamp, ttl_ms: i64) -> Result<Option<Lease>, StoreError> {
        let expires_at = now.plus_millis(ttl_ms);
        let (name, holder) = (lease.name.as_str().into(), lease.holder.as_str().into());
        let args = [name, holder, lease.fence.into(), now.millis().into(), expires_at.millis().into()];
        let renewed = self.db.run(RENEW, &args).await? == 1;
        Ok(renewed.then(|| Lease { expires_at, ..lease.clone() }))
    }

    /// Gives a lease back as of `now`; `false` when it was no longer this holder's.
    ///
    /// # Errors
    /// [`StoreError::Engine`] when it cannot be written.
    pub async fn release_lease(&self, lease: &Lease, now: Timestamp) -> Result<bool, StoreError> {
        let (name, holder) = (lease.name.as_str().into(), lease.holder.as_str().into());
        let args = [name, holder, lease.fence.into(), now.millis().into()];
        Ok(self.db.run(RELEASE, &args).await? == 1)
    }
}
