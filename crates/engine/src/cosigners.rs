//! The log's side of witnessing: checkpoints are shown to every witness the operator named, and what they cosign is
//! kept beside the log.
//!
//! Nothing waits for a witness. Each has a task of its own that is told of new checkpoints, asks about one that all are
//! led to and then about the newest (`held`), and forgets those it missed; one that is away is asked again later, with
//! less and less haste. Their answers are believed only when the signature holds, also those that speak against the log.

mod evidence;
mod held;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use countersign_probe::configured::{Call, ConfiguredUrl, Services};
use countersign_tlog::checkpoint::{Checkpoint, Origin};
use countersign_tlog::key::VerifierKey;
use countersign_tlog::note::{Note, NoteSignature};
use countersign_tlog::policy::Policy;
use countersign_tlog::sequencer::tiles::Witnesses;
use countersign_tlog::sequencer::{Log, Seen};
use countersign_tlog::witness::{AddCheckpoint, Answer, Cosignature, monitoring_path, with_cosignatures};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

pub use self::evidence::Contradiction;
use self::held::{Held, Turn};
use crate::env::Env;
use crate::files::{Readers, replace};

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
const TEXT: &str = "text/plain; charset=utf-8";

/// How long a start waits for what witnesses know. One that is there answers within milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);

/// C2SP tlog-witness: the checkpoint does not continue the one that was cosigned.
const NOT_CONSISTENT: u16 = 422;

/// A witness that the operator named.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its submission address; `add-checkpoint` is below it.
    pub url: ConfiguredUrl,
    /// The keys its cosignatures are believed by.
    pub keys: Vec<VerifierKey>,
}

/// What a witness did with a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It cosigned.
    Cosigned,
    /// It gave no answer.
    Away,
    /// It refused, with this HTTP status: 403 and 404 when it does not know the log's keys or origin.
    Refused(u16),
    /// What it gave is no valid cosignature.
    Untrue,
    /// It cosigned, and dates that further ahead of this machine's clock than clocks may differ. It is asked again.
    InFuture,
    /// It says that it has cosigned what this log does not continue (409, 422), and shows nothing that is signed for it. It
    /// is asked again.
    Says(Contradiction),
    /// It shows a checkpoint under the log's keys and its own that this log does not continue: the log was rolled back, or
    /// somebody signs with its keys. The log must end.
    Shows(Contradiction),
    /// The log cannot be read at the moment, or has ended.
    NoRequest,
}

/// Told when what a witness does changes: its address, and the outcome.
pub type Tell = Box<dyn Fn(&str, Outcome) + Send + Sync>;

/// The witnesses of a log and what they have cosigned.
pub struct Cosigners {
    tell: Tell,
    named: Vec<Named>,
    services: Services,
    env: Arc<Env>,
    file: PathBuf,
    log: OnceLock<Weak<Log>>,
    news: watch::Sender<u64>,
    held: Mutex<Held>,
    /// What this run has written to `file`.
    written: Mutex<Option<Note>>,
}

impl Cosigners {
    /// Witnesses of the log whose folder is `log`; `cosigned` in it keeps what [`Self::cosigned`] gives. `policy` has
    /// their keys and the quorum that readers are meant to ask for.
    pub fn new(
        named: Vec<Named>,
        policy: Policy,
        services: Services,
        env: Arc<Env>,
        log: &Path,
        tell: Tell,
    ) -> Arc<Self> {
        let file = log.join("cosigned");
        let keys: Vec<VerifierKey> = named.iter().flat_map(|one| one.keys.iter().cloned()).collect();
        let held = Mutex::new(Held::load(policy, &file, &keys, env.seconds()));
        let (news, log) = (watch::Sender::new(0), OnceLock::new());
        Arc::new(Self { tell, named, services, env, file, log, news, held, written: Mutex::default() })
    }

    /// What the witnesses know of the log, asked before it opens: a directory restored from an older copy must be noticed
    /// before it signs, because a second history cannot be taken back.
    ///
    /// Nothing new is signed for it. Each is shown the checkpoint that was published last: one that is further answers
    /// with its size. Where that checkpoint is gone or damaged, each is asked for the newest that it cosigned. Those that have said nothing after one second are not waited for; what they say or show later comes as
    /// [`Outcome`]. The log is free meanwhile, so no check waits either.
    ///
    /// Here the bare word of a witness counts. The operator named it and where to reach it, a log that does not start has
    /// lost nothing, and a start is the moment in which a rolled-back log can still be kept from signing. Where the word is
    /// wrong, the operator takes the witness out of the list.
    pub async fn views(self: &Arc<Self>) -> Vec<Seen> {
        let public = published(&self.file);
        let until = Instant::now() + PATIENCE;
        let ask = |at| {
            let (this, public) = (Arc::clone(self), public.clone());
            let view = async move {
                match public {
                    Some(public) => this.view(at, public).await,
                    None => this.recall(at).await,
                }
            };
            tokio::spawn(timeout_at(until, view))
        };
        let asked: Vec<_> = (0..self.named.len()).map(ask).collect();
        let mut views = Vec::new();
        for one in asked {
            views.extend(one.await.ok().and_then(Result::ok).flatten());
        }
        views
    }

    /// Whether the policy has a key of `log`. One that has none accepts no checkpoint of it, whoever cosigns.
    pub fn can_accept(&self, log: &Log) -> bool {
        let ours = Policy::parse(log.trust().as_bytes());
        ours.is_ok_and(|ours| ours.logs().iter().any(|key| self.held().knows(key)))
    }

    /// Begins to ask about `log`, from tasks on this runtime that end when the log is gone.
    pub fn start(self: &Arc<Self>, log: &Arc<Log>, runtime: &Handle) {
        if self.log.set(Arc::downgrade(log)).is_ok() {
            for at in 0..self.named.len() {
                runtime.spawn(Arc::clone(self).follow(at));
            }
            self.news.send_modify(|turn| *turn += 1);
        }
    }

    /// The newest checkpoint that the policy accepts, with all cosignatures it has; while there is none yet, the newest that
    /// any witness has cosigned. One that satisfies the quorum is never replaced by one that does not.
    pub fn cosigned(&self) -> Option<Note> {
        self.held().shown()
    }

    /// A checkpoint of the log with the cosignatures that it has so far.
    pub fn with_cosignatures(&self, note: &Note) -> Note {
        self.held().with_cosignatures(note)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One witness, until the log is gone.
    async fn follow(self: Arc<Self>, at: usize) {
        let Some(named) = self.named.get(at) else { return };
        let mut news = self.news.subscribe();
        news.mark_changed();
        let (mut old, mut pause, mut last) = (0, FIRST_PAUSE, None);
        while news.changed().await.is_ok() && self.log.get().is_some_and(|log| log.strong_count() > 0) {
            loop {
                let asked = self.ask(named, &mut old).await;
                let outcome = match asked {
                    Ok(_) => Outcome::Cosigned,
                    Err(Outcome::Says(what)) => self.shown(named).await.map_or(Outcome::Says(what), Outcome::Shows),
                    Err(why) => why,
                };
                if last.replace(outcome) != Some(outcome) {
                    (self.tell)(&named.url.origin(), outcome);
                }
                match outcome {
                    Outcome::Cosigned => {
                        if asked == Ok(Turn::Goal) {
                            news.mark_changed();
                        }
                        break;
                    }
                    // It is only what the witness said; next time it is asked from the beginning.
                    Outcome::Says(_) | Outcome::Shows(_) => old = 0,
                    _ => {}
                }
                tokio::time::sleep(pause).await;
                pause = LONGEST_PAUSE.min(pause * 2);
                if self.log.get().is_none_or(|log| log.strong_count() == 0) {
                    return;
                }
            }
            pause = FIRST_PAUSE;
        }
    }

    /// Asks about the goal or the newest checkpoint; a witness that is at another size is asked once more from there.
    async fn ask(&self, named: &Named, old: &mut u64) -> Result<Turn, Outcome> {
        for _ in 0..2 {
            let (request, turn) = self.request(*old, &named.keys).await?;
            match self.send(named, &request).await? {
                Answer::Cosigned(lines) => {
                    *old = self.collect(&request.checkpoint, &lines, &named.keys)?;
                    return Ok(turn);
                }
                Answer::OtherOld(size) => *old = size,
                // We asked from the size it named and showed how the log grew from there.
                Answer::Refused(NOT_CONSISTENT) => return Err(Outcome::Says(Contradiction::OtherHistory(request.old))),
                Answer::Refused(status) => return Err(Outcome::Refused(status)),
            }
        }
        Err(Outcome::Away)
    }

    async fn send(&self, named: &Named, request: &AddCheckpoint) -> Result<Answer, Outcome> {
        let url = named.url.below("add-checkpoint").map_err(|_| Outcome::Away)?;
        let call = Call::post("*/*", TEXT, request.to_string().into_bytes());
        let reply = self.services.call(&url, &call, self.env.now()).await.map_err(|_| Outcome::Away)?;
        Ok(Answer::read(reply.status, &reply.body))
    }

    /// What a witness shows against the log where it shows what it cosigned: below the address at which it is asked, as
    /// ours does. The protocol leaves it free to show it elsewhere, or nowhere.
    async fn shown(&self, named: &Named) -> Option<Contradiction> {
        // The log is let go while the witness is asked.
        let log = || self.log.get().and_then(Weak::upgrade);
        let origin = log()?.head().checkpoint.origin.clone();
        let note = self.newest(named, &origin).await?;
        let (log, keys) = (log()?, named.keys.clone());
        tokio::task::spawn_blocking(move || evidence::proved(&log, &note, &keys)).await.ok().flatten()
    }

    /// The newest checkpoint of a log that a witness shows; nothing of it is verified.
    async fn newest(&self, named: &Named, origin: &Origin) -> Option<Note> {
        let url = named.url.below(&monitoring_path(origin)).ok()?;
        let reply = self.services.call(&url, &Call::get("text/plain"), self.env.now()).await.ok()?;
        Note::parse(&reply.body).ok().filter(|_| reply.status == 200)
    }

    /// What one witness shows of the log whose keys stand in the trust policy beside the file of cosignatures.
    async fn recall(self: Arc<Self>, at: usize) -> Option<Seen> {
        let named = self.named.get(at)?;
        let trust = Policy::parse(&std::fs::read(self.file.with_file_name("trust")).ok()?).ok()?;
        let origin = Origin::parse(trust.logs().first()?.name().as_str())?;
        let note = self.newest(named, &origin).await?;
        let _signed = evidence::signed(&note, trust.logs(), &named.keys)?;
        Some(Seen::Checkpoint { by: by(named), note: note.to_string().into_bytes() })
    }

    /// What one witness knows, by showing it once more a checkpoint that the log has published.
    async fn view(self: Arc<Self>, at: usize, public: AddCheckpoint) -> Option<Seen> {
        let (named, size) = (self.named.get(at)?, public.old);
        let by = by(named);
        match self.send(named, &public).await.ok()? {
            Answer::OtherOld(size) => Some(Seen::Size { by, size }),
            Answer::Refused(NOT_CONSISTENT) => Some(Seen::OtherHistory { by, size }),
            Answer::Refused(_) => None,
            Answer::Cosigned(lines) => {
                let _size = self.collect(&public.checkpoint, &lines, &named.keys);
                None
            }
        }
    }

    async fn request(&self, old: u64, keys: &[VerifierKey]) -> Result<(AddCheckpoint, Turn), Outcome> {
        let log = self.log.get().and_then(Weak::upgrade).ok_or(Outcome::NoRequest)?;
        if old > log.head().checkpoint.size {
            return Err(Outcome::Says(Contradiction::Ahead { ours: log.head().checkpoint.size, theirs: old }));
        }
        // Tiles may have to be read. The log is let go before the witness is asked, so that it can close meanwhile.
        let (note, turn) = self.held().next(&log.head().note, old, keys);
        let made = tokio::task::spawn_blocking(move || log.witness_request(old, &note)).await;
        Ok((made.ok().and_then(Result::ok).ok_or(Outcome::NoRequest)?, turn))
    }

    /// Takes cosignatures in; the size they are for, when one of them holds, or why none does.
    fn collect(&self, asked: &Note, lines: &[NoteSignature], keys: &[VerifierKey]) -> Result<u64, Outcome> {
        let checkpoint = Checkpoint::parse(asked.text()).map_err(|_| Outcome::Untrue)?;
        let now = self.env.seconds();
        let valid = with_cosignatures(asked, lines, keys, now);
        let new = valid.signatures().get(asked.signatures().len()..).filter(|new| !new.is_empty());
        let dated = |line| Cosignature::of(line, asked.text(), keys, now) == Cosignature::InFuture;
        let why = if lines.iter().any(dated) { Outcome::InFuture } else { Outcome::Untrue };
        self.held().take(asked, new.ok_or(why)?);
        self.write();
        Ok(checkpoint.size)
    }

    /// One at a time, so that no older one comes last.
    fn write(&self) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = self.cosigned().filter(|note| written.as_ref() != Some(note));
        // Lost in a crash, it is asked for again.
        if let Some(note) = shown.filter(|note| replace(&self.file, note.to_string().as_bytes(), Readers::All).is_ok())
        {
            *written = Some(note);
        }
    }
}

fn by(named: &Named) -> String {
    format!("the witness {}", named.url.origin())
}

/// The public checkpoint beside the file of cosignatures, as a request to a witness that is just there.
fn published(cosigned: &Path) -> Option<AddCheckpoint> {
    let checkpoint = Note::parse(&std::fs::read(cosigned.with_file_name("checkpoint")).ok()?).ok()?;
    let old = Checkpoint::parse(checkpoint.text()).ok()?.size;
    Some(AddCheckpoint { old, proof: Vec::new(), checkpoint })
}

impl Witnesses for Cosigners {
    fn offer(&self, _note: &[u8]) {
        // The note itself is not kept: when its turn comes, a witness is asked about the newest one.
        self.news.send_modify(|turn| *turn += 1);
    }
}
