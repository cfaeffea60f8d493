//! Beside the probe of a URL: does its host ask money for a path that cannot exist too? (`core::sibling`)
//!
//! It is asked while the URL itself is asked, so that a first check takes no longer, and once a day for each folder. The
//! answer to the URL comes first in everything: its probe takes its turn before, turns for its keys are kept, it waits
//! for a sibling at most [`GRACE`] for the answer and as long again for its storage, and nothing that goes wrong here
//! ends a check. What was not learned is said.

use std::time::Duration;

use countersign_core::endpoint::ResourceUrl;
use countersign_core::finding::Finding;
use countersign_core::offer::{Reading, ReadingKind};
use countersign_core::sibling::{self, Look, Seen};
use countersign_core::time::Timestamp;
use countersign_probe::{Answer, Need, Refused};
use countersign_store::{NewObservation, Observation};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{CheckError, Checker, read_apart};
use crate::evidence;

/// How much longer than the URL itself a sibling may take. Both are asked of one host at the same time, so that an
/// ordinary one is there already.
const GRACE: Duration = Duration::from_millis(500);

const NO_TURN: &str = "its domain was looked at too often in the last minute to ask for a path that cannot exist";
const NO_ROOM: &str = "the URL is so long that no path beside it could be made up";
const NOT_KEPT: &str = "what a path that cannot exist answered could not be kept in time";

/// What is known of the other paths in the URL's folder.
#[derive(Clone, Debug)]
pub(crate) enum Sibling {
    /// There was a look at one, now or within the time for which that stands.
    Looked(Looked),
    /// None was, and why.
    NoLook(&'static str),
}

/// A look at a sibling as it was stored.
#[derive(Clone, Debug)]
pub(crate) struct Looked {
    /// When it was made.
    pub(crate) at: Timestamp,
    /// The observation's row id.
    pub(crate) observation_id: String,
    /// SHA-256 of the evidence document, hex.
    pub(crate) evidence_sha256: Option<String>,
    /// What was asked, and what came of it.
    pub(crate) look: Look,
}

impl Sibling {
    /// The look, if there was one.
    pub(crate) fn looked(&self) -> Option<&Looked> {
        match self {
            Self::Looked(looked) => Some(looked),
            Self::NoLook(_) => None,
        }
    }

    /// Why the other paths of the host are unknown; none when they are not.
    pub(crate) fn unknown(&self) -> Option<String> {
        match self {
            Self::Looked(looked) => looked.look.unknown(),
            Self::NoLook(why) => Some((*why).to_owned()),
        }
    }

    /// What it says of a URL whose answer is of this kind, seen at `at`.
    pub(super) fn findings(&self, kind: ReadingKind, at: Timestamp) -> Option<Finding> {
        self.looked().and_then(|looked| sibling::examine(kind, &looked.look, at.since(looked.at)))
    }

    /// The decision's member `other_paths`: null when none was asked.
    pub(crate) fn to_value(&self, now: Timestamp) -> Value {
        let asked = self.looked().filter(|looked| looked.look.seen != Seen::NotAsked);
        asked.map_or(Value::Null, |Looked { at, look, .. }| {
            let age_s = now.since(*at).max(0) / 1000;
            json!({"asked": look.asked, "answer": look.seen, "observed_at": at, "age_s": age_s})
        })
    }
}

impl Looked {
    /// From its row; none when the row does not read or no longer stands.
    fn standing(row: Observation, at: Timestamp) -> Option<Self> {
        let look: Look = serde_json::from_str(&row.facts).ok()?;
        let (observation_id, evidence_sha256) = (row.id, row.evidence_sha256);
        let standing = look.seen.stands(at.since(row.observed_at));
        standing.then_some(Self { at: row.observed_at, observation_id, evidence_sha256, look })
    }
}

impl Checker {
    /// Does `main`, which probes `url`, and beside it asks a sibling of it.
    pub(super) async fn with_sibling<T>(
        &self,
        url: &ResourceUrl,
        at: Timestamp,
        run: &str,
        main: impl Future<Output = T>,
    ) -> (T, Sibling) {
        let (up, over) = watch::channel(());
        let main = async move {
            let done = main.await;
            drop(up);
            done
        };
        // Boxed, because two fetches side by side are large.
        let work = Box::pin(self.sibling(url, at, run, over.clone()));
        let shared = self.siblings.share(url.folder().to_owned(), work);
        let beside = async {
            tokio::select! {
                known = shared => known.unwrap_or(Sibling::NoLook(NOT_KEPT)),
                () = after(over, 2 * GRACE) => Sibling::NoLook(NOT_KEPT),
            }
        };
        tokio::join!(main, beside)
    }

    /// What is remembered, or else what is asked now.
    async fn sibling(
        &self,
        url: &ResourceUrl,
        at: Timestamp,
        run: &str,
        over: watch::Receiver<()>,
    ) -> Result<Sibling, CheckError> {
        if let Some(looked) = self.remembered(url.folder(), at).await? {
            return Ok(Sibling::Looked(looked));
        }
        let Ok(made_up) = sibling::url(url, &self.env.random()?) else { return Ok(Sibling::NoLook(NO_ROOM)) };
        let Ok(turn) = self.turn(&made_up, at, Need::Spare, None).await? else { return Ok(Sibling::NoLook(NO_TURN)) };
        let result = Box::pin(self.get_until(&turn, at, after(over, GRACE))).await;
        let kept = self.keep_sibling(&made_up, at, run, result).await?;
        Ok(Sibling::Looked(kept))
    }

    async fn remembered(&self, folder: &str, at: Timestamp) -> Result<Option<Looked>, CheckError> {
        let last = self.store.last_observation("siblings", folder).await?;
        Ok(last.and_then(|row| Looked::standing(row, at)))
    }

    async fn keep_sibling(
        &self,
        url: &ResourceUrl,
        at: Timestamp,
        run: &str,
        result: Result<Answer, Refused>,
    ) -> Result<Looked, CheckError> {
        let (result, reading) = read_apart(url, "GET", at, result, Vec::new()).await?;
        let spelt = || evidence::document(url.as_str(), "GET", at, &result);
        let evidence_sha256 = self.store.put_evidence_from(spelt).await?;
        let look = look(url, &result, &reading);
        let latency_ms = result.as_ref().ok().map(|answer| i64::try_from(answer.latency_ms).unwrap_or(i64::MAX));
        let row = NewObservation {
            id: &self.env.row_id()?,
            subject_kind: "siblings",
            subject_key: url.folder(),
            source: "sibling",
            observed_at: at,
            trust_class: "independent",
            run_id: Some(run),
            outcome: look.seen.as_str(),
            latency_ms,
            evidence_sha256: Some(&evidence_sha256),
            facts: &super::facts(&look)?,
        };
        let observation_id = self.store.append_observation(&row).await?;
        Ok(Looked { at, observation_id, evidence_sha256: Some(evidence_sha256), look })
    }
}

/// What is remembered. A refusal may have come before anything was sent.
fn look(url: &ResourceUrl, result: &Result<Answer, Refused>, reading: &Reading) -> Look {
    let refused = result.as_ref().err();
    let seen = match refused {
        Some(refused) if refused.wire.sent.is_empty() => Seen::NotAsked,
        Some(_) | None => Seen::of(reading.kind),
    };
    Look { asked: url.as_str().to_owned(), seen, refused: refused.map(|refused| refused.code.to_string()) }
}

/// Until the probe of the URL is over, and `grace` longer.
async fn after(mut over: watch::Receiver<()>, grace: Duration) {
    // Nothing is ever sent: the sender going away is the sign.
    let _closed = over.changed().await;
    tokio::time::sleep(grace).await;
}
