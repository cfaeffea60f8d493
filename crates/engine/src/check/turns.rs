//! Turns at a domain, shared by every process on the database: the rule is `probe`'s, the memory is the store's.

use countersign_core::endpoint::ResourceUrl;
use countersign_core::time::Timestamp;
use countersign_probe::{Need, RateLimited, Turn, politeness};
use countersign_store::NewRun;

use super::{CheckError, Checker};

impl Checker {
    /// Leave to look at `url`, together with the start of `run`: one transaction, so that a turn costs a check no write of
    /// its own.
    pub(super) async fn turn(
        &self,
        url: &ResourceUrl,
        at: Timestamp,
        need: Need,
        run: Option<&str>,
    ) -> Result<Result<Turn, RateLimited>, CheckError> {
        let run = run.map(|id| NewRun { id, subject: url.as_str(), trigger: "owner", started: at });
        let judge = |looks| politeness::judge(looks, url, at, need);
        Ok(self.store.take_turn(&politeness::domain(url.host()), at, run, judge).await?)
    }
}
