//! `countersign log serve`: holds the log of the data directory, answers the read API, and takes leaves from other
//! processes until it is told to stop.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use countersign_engine::cosigners::{Contradiction, Cosigners, Named, Outcome, Tell};
use countersign_engine::env::Env;
use countersign_engine::log::{LogBook, LogError, Place};
use countersign_engine::published::Published;
use countersign_probe::Limits;
use countersign_server::{Bounds, connections};
use countersign_tlog::key::VerifierKey;
use countersign_tlog::sequencer::{Fatal, Log, OpenError};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};

use super::monitor::service_url;
use super::storage;
use crate::Exit;
use crate::app::{self, Failure};
use crate::args::{Global, LogServeArgs};
use crate::commands::keys;
use crate::input;
use crate::settings::Settings;
use crate::show;

pub(crate) async fn run(settings: &Settings, global: &Global, args: &LogServeArgs) -> anyhow::Result<Exit> {
    let bounds = Bounds::new(connections());
    let listening = listen(&args.listen).await;
    // A log is made for good, and nobody wants one because an address was mistyped. A log that another process serves is
    // told as that, and not as its port, which is taken too.
    let listening = match Place::new(&settings.data.0).has_log().map_err(|error| Failure::from(&error))? {
        false => Ok(listening?),
        true => listening,
    };
    let env = Arc::new(Env::Real);
    let teller = global.clone();
    let book = LogBook::serving(&settings.data.0, Arc::clone(&env)).when_in_doubt(end);
    let book = book.when_storage_turns(move |error| show::note(&teller, &storage::turned(error)));
    let mut book = storage::stored_and_asked(settings, global, book)?;
    let cosigners = args.witnesses.as_deref().map(|file| cosigners(settings, global, file, &env)).transpose()?;
    if let Some(cosigners) = &cosigners {
        let told: Arc<Cosigners> = Arc::clone(cosigners);
        book = book.witnessed_by(told).not_behind(cosigners.views().await);
    }
    let log = book.take().map_err(|error| Failure::from(&error))?;
    keys::write_leaves(global, &app::keys(&settings.data.0)?, &book);
    let mut public = Published::new(Arc::clone(&log));
    if let Some((cosigners, file)) = cosigners.zip(args.witnesses.as_deref()) {
        can_be_met(&cosigners, &log, file, &book.place().trust())?;
        cosigners.start(&log, &Handle::current());
        public = public.with_cosigners(cosigners);
    }
    let (listener, address) = listening?;
    let told = told_to_stop()?;
    let head = log.head();
    say(global, &address, head.checkpoint.origin.as_str(), head.checkpoint.size);
    countersign_server::serve(listener, countersign_server::log(public), bounds, told).await;
    Ok(Exit::Yes)
}

/// A failed write or sync leaves the disk in doubt. The process ends at once, with whatever it was answering: a log
/// that goes on serving or waits for slow readers would keep everybody else from the directory.
fn end(fatal: &Fatal) {
    leave(&LogError::InDoubt(fatal.clone()))
}

#[expect(clippy::exit, reason = "nothing may be tidied up by a log that must not sign; the next start recovers")]
fn leave(error: &LogError) {
    show::complaint(&Failure::from(error).into());
    std::process::exit(Exit::NotEvaluated as i32)
}

/// The witnesses of a policy file that can be asked. Lines with one address are the keys of one witness.
fn cosigners(settings: &Settings, global: &Global, file: &Path, env: &Arc<Env>) -> anyhow::Result<Arc<Cosigners>> {
    let mut keys: BTreeMap<String, Vec<VerifierKey>> = BTreeMap::new();
    let policy = input::policy(file)?;
    for (key, url) in policy.witness_urls() {
        keys.entry(url.clone()).or_default().push(key.clone());
    }
    if keys.is_empty() {
        let why = Failure::usage(format!("no witness in {} has an address to ask", file.display()));
        return Err(why
            .coded("no_witness")
            .advised("`countersign log witness` prints the lines to put there, with its address")
            .into());
    }
    let named = keys.into_iter().map(|(url, keys)| Ok(Named { url: service_url(&url)?, keys }));
    let named = named.collect::<anyhow::Result<Vec<_>>>()?;
    let services = app::services(settings, Limits::default())?;
    let global = global.clone();
    let tell: Tell = Box::new(move |witness, outcome| match told(witness, outcome) {
        Ok(line) => show::note(&global, &format!("witness {witness} {line}")),
        // It is proved. Every further signature would be one more of a second history.
        Err(why) => leave(&LogError::Open(why)),
    });
    let log = Place::new(&settings.data.0).log();
    Ok(Cosigners::new(named, policy, services, Arc::clone(env), &log, tell))
}

/// A policy without a key of this log looks met in no place that shows it, and is not. So it is told before anything runs.
fn can_be_met(cosigners: &Cosigners, log: &Log, file: &Path, trust: &Path) -> anyhow::Result<()> {
    if cosigners.can_accept(log) {
        return Ok(());
    }
    let why = format!("{} has no key of this log, so no cosigned checkpoint can ever satisfy it", file.display());
    let lines = log.trust();
    let (first, trust) = (lines.lines().next().unwrap_or_default(), trust.display());
    let hint = format!("put the `log` lines of {trust} into it; the first is `{first}`");
    Err(Failure::usage(why).coded("witnesses_without_log").advised(hint).into())
}

/// What is told beside a word against the log that nobody signed.
const UNPROVED: &str = "and shows nothing signed for it; it is asked again. If this data directory was restored from an \
     older copy, end the log and restore the newest one; if not, ask whoever runs the witness";

/// What is told of a witness, or why the log ends: what a start is refused for when the witness answers in time.
fn told(witness: &str, outcome: Outcome) -> Result<String, OpenError> {
    let by = format!("the witness {witness}");
    Ok(match outcome {
        Outcome::Cosigned => "cosigns".to_owned(),
        Outcome::Away => "does not answer; it is asked again".to_owned(),
        Outcome::Refused(status) => format!("refuses with status {status}; it is asked again"),
        Outcome::Untrue => "gives cosignatures that do not hold under the keys in --witnesses".to_owned(),
        Outcome::InFuture => {
            "dates its cosignatures more than 300 seconds ahead of this machine's clock, so they are not kept; one \
             of the two clocks is wrong; it is asked again"
                .to_owned()
        }
        Outcome::NoRequest => "is not asked: the log cannot be read at the moment".to_owned(),
        Outcome::Says(Contradiction::Ahead { ours, theirs }) => {
            format!("says it has cosigned {theirs} leaves of this log, which has {ours}, {UNPROVED}")
        }
        Outcome::Says(Contradiction::OtherHistory(size)) => {
            format!("says it has cosigned another history of this log at {size} leaves, {UNPROVED}")
        }
        Outcome::Shows(Contradiction::Ahead { ours, theirs }) => return Err(OpenError::Behind { by, ours, theirs }),
        Outcome::Shows(Contradiction::OtherHistory(size)) => return Err(OpenError::Forked { by, size }),
    })
}

/// Opens the port; `ADDR` may ask for port 0, so the address in use comes back.
pub(crate) async fn listen(wanted: &str) -> anyhow::Result<(TcpListener, String)> {
    let listener = TcpListener::bind(wanted).await;
    let listener = listener.map_err(|error| {
        Failure::usage(format!("cannot listen on {wanted}: {error}"))
            .coded("cannot_listen")
            .advised("--listen takes an address of this machine and a free port, such as 127.0.0.1:4410")
    })?;
    let address = listener.local_addr().context("the system does not say which port was opened")?.to_string();
    Ok((listener, address))
}

/// Done when a person or a supervisor asks the process to end. Whoever was told that it serves may ask at once, so the
/// signals are caught from the call on, not from the first wait on.
pub(crate) fn told_to_stop() -> anyhow::Result<impl Future<Output = ()>> {
    let caught = |kind| signal(kind).context("signals cannot be caught");
    let (mut terminated, mut interrupted) = (caught(SignalKind::terminate())?, caught(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! { _ = interrupted.recv() => {}, _ = terminated.recv() => {} }
    })
}

fn say(global: &Global, address: &str, origin: &str, size: u64) {
    if global.json {
        return show::json(&json!({"listening": address, "origin": origin, "size": size}));
    }
    show::line(&format!("serving {origin}, {size} leaves, on http://{address}/log/"));
}
