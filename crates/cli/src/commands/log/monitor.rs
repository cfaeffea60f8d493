//! `countersign log monitor`: looks at a log once and says what that proved. Run it from a timer.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::time::Timestamp;
use countersign_engine::env::Env;
use countersign_engine::monitor::{Cosigned, Finding, Memory, MemoryError, Source, Unreachable, Watched, watch};
use countersign_engine::receipt::{Demands, Refusal, RefusalKind};
use countersign_probe::Limits;
use countersign_probe::configured::ConfiguredUrl;
use countersign_tlog::policy::PostQuantum;
use countersign_tlog::tile::bundle::MAX_BUNDLE;
use serde_json::{Value, json};
use tokio::runtime::Handle;

use crate::Exit;
use crate::app::{self, Failure};
use crate::args::{Global, LogMonitorArgs};
use crate::input;
use crate::settings::Settings;
use crate::show;

pub(crate) async fn run(settings: &Settings, global: &Global, args: &LogMonitorArgs) -> anyhow::Result<Exit> {
    let policy = input::policy(&args.trust)?;
    let source = source(settings, &args.log)?;
    let memory = args.state.as_deref().map_or_else(Memory::default, Memory::in_file);
    let (pq, now) = (if args.require_pq { PostQuantum::Required } else { PostQuantum::Optional }, app::now());
    let max_age_ms = Some(app::age_ms(&args.max_age)?);
    let kept = memory.clone();
    let looked =
        tokio::task::spawn_blocking(move || watch(&source, &Demands { policy: &policy, pq, max_age_ms, now }, &memory));
    Ok(match looked.await? {
        Ok(watched) => {
            say(global, args, &watched, now);
            Exit::Yes
        }
        Err(finding) => {
            say_finding(global, &finding, &kept);
            exit(finding.kind())
        }
    })
}

fn exit(kind: RefusalKind) -> Exit {
    match kind {
        RefusalKind::Invalid => Exit::No,
        RefusalKind::Malformed => Exit::Malformed,
        RefusalKind::Stale => Exit::NotEvaluated,
        RefusalKind::Trust => Exit::Trust,
    }
}

/// A URL is a read API, anything else a folder.
fn source(settings: &Settings, log: &str) -> anyhow::Result<Source> {
    if !log.contains("://") {
        return Ok(Source::folder(log.into()));
    }
    let limits = Limits { body: MAX_BUNDLE, total: Duration::from_secs(60), ..Limits::default() };
    Ok(Source::Api {
        services: Arc::new(app::services(settings, limits)?),
        base: service_url(log)?,
        runtime: Handle::current(),
        env: Arc::new(Env::Real),
    })
}

#[expect(clippy::disallowed_methods, reason = "the person at the terminal names a service of theirs")]
pub(crate) fn service_url(text: &str) -> anyhow::Result<ConfiguredUrl> {
    ConfiguredUrl::from_configuration(text).map_err(|error| Failure::usage(format!("{text}: {error}")).into())
}

fn say(global: &Global, args: &LogMonitorArgs, watched: &Watched, now: Timestamp) {
    let signed = &watched.signed;
    let (origin, size) = (signed.checkpoint.origin.as_str(), signed.checkpoint.size);
    let (proved, open) = (proved(watched), not_proved(args, watched));
    if global.json {
        return show::json(&json!({
            "result": "consistent", "log": origin, "size": size, "before": watched.before,
            "root": signed.checkpoint.root.to_string(), "signed_at": signed.signed_at(), "pq": signed.pq.as_str(),
            "age_seconds": signed.signed_at().map(|at| now.seconds().saturating_sub(at.seconds()).max(0)),
            "cosigned": watched.cosigned.as_ref().map(cosigned_json),
            "new": watched.kinds, "unknown_kinds": watched.unknown, "proved": proved, "not_proved": open,
        }));
    }
    match watched.before {
        Some(before) if before == size => {
            show::line(&format!("consistent: {origin} still has the {size} entries verified before"));
        }
        Some(before) => show::line(&format!("consistent: {origin} grew from {before} to {size} entries")),
        None => show::line(&format!("consistent: {origin} has {size} entries, seen for the first time")),
    }
    for (kind, count) in &watched.kinds {
        show::line(&format!("  {count} new  {kind}"));
    }
    proved.iter().for_each(|line| show::line(&format!("proved: {line}")));
    open.iter().for_each(|line| show::line(&format!("not proved: {line}")));
}

fn cosigned_json(cosigned: &Cosigned) -> Value {
    let witnesses: Vec<&str> = cosigned.signed.witnesses.iter().map(|one| one.key.as_str()).collect();
    let (size, at) = (cosigned.signed.checkpoint.size, cosigned.signed_at());
    json!({"size": size, "lag": cosigned.lag, "signed_at": at, "witnesses": witnesses})
}

fn proved(watched: &Watched) -> Vec<String> {
    let signed = &watched.signed;
    let mut rows = vec![format!("{} keys of the log signed size {}", signed.log.len(), signed.checkpoint.size)];
    rows.extend(signed.signed_at().map(|at| format!("it was signed at {at}")));
    rows.extend(watched.cosigned.as_ref().map(cosigned_row));
    rows.extend(watched.before.map(|before| format!("the first {before} entries are those verified before")));
    let new = watched.kinds.values().sum::<u64>();
    rows.push(format!("{new} new entries were read, hash to the signed root, and keep the rules of leaves"));
    rows
}

fn cosigned_row(cosigned: &Cosigned) -> String {
    let (count, size) = (cosigned.signed.witnesses.len(), cosigned.signed.checkpoint.size);
    match cosigned.lag {
        0 => format!("{count} keys of witnesses cosigned size {size}, the newest"),
        lag => format!("{count} keys of witnesses cosigned size {size}, {lag} entries before the newest"),
    }
}

fn not_proved(args: &LogMonitorArgs, watched: &Watched) -> Vec<String> {
    // What witnesses have cosigned answers for everything up to there.
    let witnesses = watched.cosigned.as_ref().map(|cosigned| cosigned.signed.witnesses.clone()).unwrap_or_default();
    let mut signed = watched.signed.clone();
    signed.witnesses = witnesses;
    let mut rows: Vec<String> = signed.not_proved().iter().map(|row| format!("{}: {}", row.what, row.why)).collect();
    if let Some(lag) = watched.cosigned.as_ref().map(|cosigned| cosigned.lag).filter(|lag| *lag > 0) {
        rows.push(format!("that everybody is shown the last {lag} entries: no witness has cosigned them yet"));
    }
    if args.state.is_none() {
        rows.push("that the log did not change before today: without --state nothing is remembered".to_owned());
    }
    rows.push("what stands behind the entries: a leaf is a commitment, and only its customer can open it".to_owned());
    rows
}

/// What was not read is not stale: nothing is said of it.
fn word(finding: &Finding) -> &'static str {
    match finding {
        Finding::Unreachable(_)
        | Finding::NoCheckpoint
        | Finding::Missing(_)
        | Finding::Memory(MemoryError::Io { .. } | MemoryError::Held(_)) => "not_evaluated",
        _ => finding.kind().as_str(),
    }
}

fn hint(finding: &Finding, evidence: Option<&Path>, memory: &Memory) -> String {
    let told = match (finding, finding.kind()) {
        (Finding::Memory(_), RefusalKind::Malformed) => return anew(memory),
        (Finding::Unreachable(Unreachable::Packed(_)), _) => {
            "ask the log's operator to serve its files without Content-Encoding, or watch a folder that they are copied to"
        }
        (Finding::Memory(MemoryError::Io { .. }), _) => {
            "--state names a file, in a folder that exists, that this user may read and write"
        }
        (Finding::Memory(MemoryError::Held(_)), _) => {
            "wait until that look is over, or give each monitor a --state of its own"
        }
        (Finding::NoCheckpoint, _) => "is it the right address? The read API of `log serve` ends in /log",
        (Finding::Refused(Refusal::InFuture(_)), _) => {
            "look at this machine's clock; if it is right, the log's is wrong"
        }
        (_, RefusalKind::Stale) => "try again; if it stays so, ask the log's operator",
        (_, RefusalKind::Trust) => "compare --trust with what the log's operator publishes elsewhere",
        (_, RefusalKind::Malformed) => "this is no checkpoint of a log; is it the right address?",
        (_, RefusalKind::Invalid) => "keep what the log shows now, and tell others who watch it",
    };
    let convicted = |path: &Path| {
        let path = path.display();
        format!(
            "keep {path}, what is named like it, and the state file: two checkpoints that one log signed and that contradict each other"
        )
    };
    evidence.map_or_else(|| told.to_owned(), convicted)
}

/// Begins again without losing what may convict a log.
fn anew(memory: &Memory) -> String {
    let files: Vec<String> = memory.files().iter().map(|path| path.display().to_string()).collect();
    format!(
        "to begin again, move {} away and keep them: what was seen before is a proof against the log",
        files.join(" and ")
    )
}

fn say_finding(global: &Global, finding: &Finding, memory: &Memory) {
    let evidence = memory.evidence().filter(|_| finding.convicts());
    let hint = hint(finding, evidence.as_deref(), memory);
    let result = word(finding);
    if global.json {
        let (code, reason) = (finding.code(), finding.to_string());
        let evidence = evidence.map_or(Value::Null, |path| path.display().to_string().into());
        return show::json(
            &json!({"result": result, "code": code, "reason": reason, "hint": hint, "evidence": evidence}),
        );
    }
    show::line(&format!("{}: {finding}", result.replace('_', " ")));
    show::note(global, &format!("hint: {hint}"));
}
