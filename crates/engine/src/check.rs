//! Checks one live paid endpoint: look, read, remember, decide, sign, log, answer.

use std::sync::Arc;

use countersign_core::endpoint::ResourceUrl;
use countersign_core::finding::Finding;
use countersign_core::history::{self, History, Observed, Standing, Trail};
use countersign_core::json;
use countersign_core::leaf::LeafType;
use countersign_core::offer::signed::{self, KnownKey};
use countersign_core::offer::{Reading, Word};
use countersign_core::policy::{self, CheckRequest, Decision};
use countersign_core::sign::Purpose;
use countersign_core::time::Timestamp;
use countersign_probe::{Answer, Declared, Door, Method, Need, Refused, Request, Turn, challenge};
use countersign_store::{NewObservation, Store, StoreError};
use serde_json::{Value, json as value};
use sha2::{Digest, Sha256};

use crate::decision;
use crate::env::Env;
use crate::evidence;
use crate::keys::{Keys, leaves};
use crate::log::LogBook;
use crate::transparency::{Demand, Misses, Transparency};
use crate::transport;

mod entries;
mod error;
mod flights;
mod identity;
mod past;
mod reading;
mod sibling;
mod turns;

pub(crate) use entries::Entries;
pub use entries::Unkept;
use entries::{Entered, Entry, Row};
pub use error::CheckError;
use flights::Flights;
pub use identity::Identity;
#[cfg(test)]
pub(crate) use reading::read;
use reading::read_apart;
pub(crate) use sibling::Sibling;

/// Everything a check uses. Cheap to share behind an `Arc`.
pub struct Checker {
    env: Arc<Env>,
    door: Door,
    store: Store,
    keys: tokio::sync::Mutex<Keys>,
    switches: Vec<&'static str>,
    flights: Flights<(String, Declared), Arc<Sighting>>,
    siblings: Flights<String, Sibling>,
    log: Option<(Arc<LogBook>, Misses)>,
    logged: leaves::Read,
}

/// No run takes this long: a few requests of five seconds each, and waiting for the database. What has been open for
/// longer belongs to a process that died; what has not may belong to one that lives beside this one.
const LONGEST_RUN_MS: i64 = 60_000;
/// Turns of this long ago are removed; they have counted for nothing since their minute was over.
const FORGET_TURNS_MS: i64 = 86_400_000;

/// One probe as it was stored; requests for the same URL that arrive while it flies share it.
#[derive(Debug)]
pub struct Sighting {
    /// When it began.
    pub at: Timestamp,
    /// The method that was answered, `GET` or `POST`.
    pub method: &'static str,
    /// What came back, or why nothing did.
    pub result: Result<Answer, Refused>,
    /// SHA-256 of the evidence document, hex.
    pub evidence_sha256: String,
    /// SHA-256 of the evidence documents of the key look-ups that its signatures asked for, hex.
    pub key_evidence_sha256: Vec<String>,
    /// SHA-256 of the response body as received, hex.
    pub response_sha256: Option<String>,
    /// The observation's row id.
    pub observation_id: String,
    /// What is known of the other paths of its folder.
    pub(crate) sibling: Sibling,
    /// What the answer came to.
    pub reading: Reading,
    /// What history keeps of it.
    pub observed: Observed,
    /// What history said before this sighting.
    pub before: Standing,
    /// Every earlier look.
    pub trail: Trail,
    /// What became of the decisions made from it.
    pub(crate) entries: Entries,
}

/// What one buyer's rules make of a sighting.
pub(crate) struct Judged {
    /// The reading with what history and the transport have to say; the word is its word.
    pub(crate) told: Reading,
    /// History, this sighting included where it counted.
    pub(crate) after: Standing,
    /// The decision.
    pub(crate) decided: Decision,
}

/// A finished check.
#[derive(Debug)]
pub struct Checked {
    /// The signed decision, canonical bytes; what `verify` takes.
    pub bytes: Vec<u8>,
    /// The same as a value, for display.
    pub document: Value,
    /// The word for people.
    pub word: Word,
    /// Whether an offer was selected under the buyer's rules.
    pub selected: bool,
    /// What became of its leaf in the log.
    pub transparency: Transparency,
    /// Why the receipt is nowhere but in here, where that is so.
    pub unkept: Option<Unkept>,
    /// Whether the buyer's demand for a receipt was met.
    pub demand: Demand,
}

impl Checked {
    /// Whether an offer was selected without the receipt that the buyer demanded.
    pub fn lacks_receipt(&self) -> bool {
        self.selected && self.demand == Demand::Unmet
    }

    /// The answer: the signed decision, and `pq_trust` beside it, which nobody signed: `transparency`, `not_kept` where
    /// the receipt could not be kept here, and `unmet_constraints` where what was selected lacks the demanded one.
    pub fn answer(&self) -> Value {
        let mut answer = self.document.clone();
        answer["pq_trust"] = value!({"transparency": self.transparency.to_value()});
        if let Some(unkept) = &self.unkept {
            answer["pq_trust"]["not_kept"] = unkept.to_value();
        }
        if self.lacks_receipt() {
            answer["pq_trust"]["unmet_constraints"] = value!(["require_transparency"]);
        }
        answer
    }
}

impl Checker {
    /// A checker over these parts; `switches` names every lab switch that is on.
    pub fn new(env: Arc<Env>, door: Door, store: Store, keys: Keys, switches: Vec<&'static str>) -> Self {
        let (flights, siblings) = (Flights::default(), Flights::default());
        let (keys, logged) = (tokio::sync::Mutex::new(keys), leaves::Read::default());
        Self { env, door, store, keys, switches, flights, siblings, log: None, logged }
    }

    /// The same checker, logging its decisions.
    pub fn with_log(self, book: Arc<LogBook>, misses: Misses) -> Self {
        Self { log: Some((book, misses)), ..self }
    }

    /// Looks at `request.url` and decides.
    ///
    /// # Errors
    /// [`CheckError`] when something of ours fails; a seller that cannot be reached is a decision.
    pub async fn check(&self, request: &CheckRequest) -> Result<Checked, CheckError> {
        self.check_as(request, Declared::Nothing).await
    }

    /// As [`Checker::check`], for an endpoint of which somebody said how it is called.
    ///
    /// # Errors
    /// As [`Checker::check`].
    pub async fn check_as(&self, request: &CheckRequest, declared: Declared) -> Result<Checked, CheckError> {
        // Prepare: look, decide, sign. If the process dies in here, there is at most a signed decision that nobody has,
        // and a leaf for none.
        let sighting = self.sight(request, declared).await?;
        let now = self.env.now();
        let judged = judge(request, &sighting, now);
        let parts = decision::Parts { request, sighting: &sighting, judged: &judged, switches: &self.switches, now };
        let bytes = self.sign(decision::document(&parts), now).await?;
        let document = serde_json::from_slice(&bytes).map_err(|error| CheckError::Seal(error.to_string()))?;

        // Intent: nothing is settled by a check, so there is nothing to announce. A settlement's intent leaf belongs
        // here, after the signature and before any money moves.

        // Keep and log. Whoever shares the sighting and asks the same in the same second has signed the same document:
        // it is one decision, with one leaf and one receipt for all of them.
        let selected = judged.decided.selected.is_some();
        let entered = sighting.entries.once(&bytes, |entry| self.enter(entry, &bytes, selected, now)).await?;
        let Entered { transparency, unkept } = entered;

        // Answer. If the process dies in here, decision and receipt are in the store.
        let demand = transparency.meets(request.require_transparency);
        Ok(Checked { bytes, document, word: judged.told.word, selected, transparency, unkept, demand })
    }

    /// Keeps a signed decision, logs it, and keeps its receipt. Whoever asked may be gone at any `await`: what was drawn
    /// stays in `entry`, so that going on from there changes nothing of what is done.
    async fn enter(
        &self,
        entry: Arc<Entry>,
        bytes: &[u8],
        selected: bool,
        now: Timestamp,
    ) -> Result<Entered, CheckError> {
        let row = async || Ok::<_, CheckError>(Row { id: self.env.row_id()?, at: now });
        let row = entry.row.get_or_try_init(row).await?;
        self.keep(bytes, row).await?;

        // Log: the leaf is durable and under a signed checkpoint before the answer leaves. If the process dies in
        // here, the log may hold a leaf whose decision nobody received: a commitment that no reveal opens.
        let transparency = entry.logged.get_or_try_init(|| self.log(&entry, bytes, selected)).await?;

        // The receipt is kept before the answer leaves, so that whoever lost the answer can still export it. The leaf is
        // in the log by now: where the copy cannot be kept, the answer leaves all the same, as the only one, and says so.
        let unkept = self.keep_receipt(bytes, transparency, row.at).await.err().map(Unkept::from);
        Ok(Entered { transparency: transparency.clone(), unkept })
    }

    /// A decision that selected nothing leaves no leaf unless misses are logged too, and neither do changes of keys while
    /// nothing that they signed is logged.
    async fn log(&self, entry: &Entry, bytes: &[u8], selected: bool) -> Result<Transparency, CheckError> {
        match &self.log {
            Some((book, misses)) if selected || *misses == Misses::Logged => {
                let keys = self.logged.missing(&*self.keys.lock().await, book.place())?;
                let reveal = async || book.prepare(LeafType::decision(), bytes);
                match entry.reveal.get_or_try_init(reveal).await {
                    Ok(reveal) => Ok(Transparency::log_in_background(book, keys, reveal.clone()).await),
                    Err(error) => Ok(Transparency::unavailable(&error)),
                }
            }
            Some(_) | None => Ok(Transparency::NotLogged),
        }
    }

    /// Closes the runs that processes left open when they died, and forgets turns of long ago; to be called once at the
    /// start.
    ///
    /// # Errors
    /// [`CheckError::Store`] when they cannot be closed.
    pub async fn recover(&self) -> Result<u64, CheckError> {
        let now = self.env.now();
        self.store.forget_turns(now.plus_millis(-FORGET_TURNS_MS)).await?;
        Ok(self.store.abandon_runs(now.plus_millis(-LONGEST_RUN_MS), now).await?)
    }

    /// One probe for all who ask for the same URL in the same way at the same time.
    async fn sight(&self, request: &CheckRequest, declared: Declared) -> Result<Arc<Sighting>, CheckError> {
        let key = (request.url.as_str().to_owned(), declared);
        self.flights.share(key, async { self.look(request, declared).await.map(Arc::new) }).await
    }

    /// Probes and remembers. History is read before, so that a sighting never confirms itself.
    async fn look(&self, request: &CheckRequest, declared: Declared) -> Result<Sighting, CheckError> {
        let at = self.env.now();
        let History { standing: before, trail, .. } = past::read(&self.store, request.url.as_str(), at).await?;
        // From here a process that dies leaves an open run, which the next one closes as abandoned.
        let run = self.env.row_id()?;
        let turn = self.turn(&request.url, at, Need::Must, Some(&run)).await??;
        let probe = Box::pin(challenge::probe(&self.door, turn, declared, at));
        let (probed, sibling) = self.with_sibling(&request.url, at, &run, probe).await;
        let method = probed.method.as_str();
        let (result, first) = read_apart(&request.url, method, at, probed.result, Vec::new()).await?;
        let (keys, key_evidence_sha256) = self.published_keys(&first, &request.url, at).await?;
        let spelt = || evidence::document(request.url.as_str(), method, at, &result);
        let evidence_sha256 = self.store.put_evidence_from(spelt).await?;
        let response_sha256 = result.as_ref().ok().map(|answer| hex::encode(Sha256::digest(&answer.body)));
        let observation_id = self.env.row_id()?;
        let (result, reading) = match keys.is_empty() {
            true => (result, first),
            false => read_apart(&request.url, method, at, result, keys).await?,
        };
        let told = sibling.findings(reading.kind, at).into_iter().chain(transport::findings(&result));
        let reading = reading.and(told);
        let observed = decision::observed(at, &result, &reading);
        let sighting = Sighting {
            at,
            method,
            result,
            evidence_sha256,
            key_evidence_sha256,
            response_sha256,
            observation_id,
            sibling,
            reading,
            observed,
            before,
            trail,
            entries: Entries::default(),
        };
        self.remember(request, &sighting, &run).await?;
        Ok(sighting)
    }

    /// Fetches the keys that the asked site publishes, where a signature names one that is needed: at most two
    /// documents, through the same door and for a turn each, kept as evidence like the answer itself. Without a turn
    /// the key stays unknown, which the decision says.
    async fn published_keys(
        &self,
        reading: &Reading,
        url: &ResourceUrl,
        at: Timestamp,
    ) -> Result<(Vec<KnownKey>, Vec<String>), CheckError> {
        let (mut keys, mut kept) = (Vec::new(), Vec::new());
        for look_up in signed::look_ups(reading, url) {
            let Ok(turn) = self.turn(&look_up.url, at, Need::Must, None).await? else { continue };
            let result = self.get(&turn, at).await;
            let spelt = || evidence::document(look_up.url.as_str(), "GET", at, &result);
            kept.push(self.store.put_evidence_from(spelt).await?);
            if let Some(answer) = result.ok().filter(|answer| answer.status == 200 && answer.body_complete) {
                keys.extend(signed::read_keys(&look_up, &answer.body));
            }
        }
        Ok((keys, kept))
    }

    async fn get(&self, turn: &Turn, at: Timestamp) -> Result<Answer, Refused> {
        self.get_until(turn, at, std::future::pending()).await
    }

    /// As [`Checker::get`], for an answer that is not waited for once `over` has come.
    async fn get_until(&self, turn: &Turn, at: Timestamp, over: impl Future<Output = ()>) -> Result<Answer, Refused> {
        let request = Request { url: turn.url().clone(), method: Method::Get, body: None };
        self.door.fetch_until(&request, at, over).await
    }

    async fn remember(&self, request: &CheckRequest, sighting: &Sighting, run: &str) -> Result<(), CheckError> {
        let observed = &sighting.observed;
        let facts = facts(observed)?;
        self.store
            .append_observation(&NewObservation {
                id: &sighting.observation_id,
                subject_kind: "endpoint",
                subject_key: request.url.as_str(),
                source: "challenge",
                observed_at: sighting.at,
                trust_class: observed.trust.as_str(),
                run_id: Some(run),
                outcome: observed.outcome.as_str(),
                latency_ms: sighting.latency_ms(),
                evidence_sha256: Some(&sighting.evidence_sha256),
                facts: &facts,
            })
            .await?;
        self.store.finish_run(run, self.env.now()).await?;
        Ok(())
    }

    async fn sign(&self, document: serde_json::Map<String, Value>, now: Timestamp) -> Result<Vec<u8>, CheckError> {
        Ok(self.keys.lock().await.seal(Purpose::Decision, document, now, &self.env)?)
    }

    async fn keep(&self, bytes: &[u8], row: &Row) -> Result<(), CheckError> {
        let sha256 = hex::encode(Sha256::digest(bytes));
        self.store.put_document(&row.id, "decision", &sha256, bytes, row.at).await?;
        Ok(())
    }

    async fn keep_receipt(&self, decision: &[u8], of: &Transparency, now: Timestamp) -> Result<(), StoreError> {
        let Some(receipt) = of.receipt() else { return Ok(()) };
        let bytes = receipt.to_value().to_string().into_bytes();
        let sha256 = hex::encode(Sha256::digest(&bytes));
        self.store.put_document(&receipt_id(decision), "receipt", &sha256, &bytes, now).await
    }
}

/// Under which id the store keeps the receipt of a signed document.
pub fn receipt_id(document: &[u8]) -> String {
    format!("receipt-{}", hex::encode(Sha256::digest(document)))
}

impl Sighting {
    /// The probe's round trip in milliseconds, when it was answered.
    pub fn latency_ms(&self) -> Option<i64> {
        self.result.as_ref().ok().map(|answer| i64::try_from(answer.latency_ms).unwrap_or(i64::MAX))
    }
}

/// Canonical text, for an observation's row.
fn facts(seen: &impl serde::Serialize) -> Result<String, CheckError> {
    let bytes = json::to_canonical(seen).map_err(|error| CheckError::Seal(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| CheckError::Seal(error.to_string()))
}

/// The policy gets the reading as it was, and what history holds against it apart: a changed recipient
/// is the buyer's to accept.
pub(crate) fn judge(request: &CheckRequest, sighting: &Sighting, now: Timestamp) -> Judged {
    let Sighting { reading, observed, trail, .. } = sighting;
    let after = sighting.before.with(observed, now);
    let found: Vec<Finding> = history::examine(reading, observed, trail, &after, request.accept_payto_change);
    let facts = policy::Facts { latency_ms: observed.latency_ms, history: &found };
    let decided = policy::decide(request, reading, &after, &facts, now);
    let told = reading.clone().and(found.into_iter().chain(decided.findings.iter().cloned()));
    Judged { told, after, decided }
}

#[cfg(test)]
mod tests;
