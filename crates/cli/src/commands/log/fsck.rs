//! `countersign log fsck`: reads all of the log and says whether its files agree.

use countersign_engine::fsck::{Fault, FaultKind, Whole, check};
use serde_json::json;

use crate::Exit;
use crate::app;
use crate::args::Global;
use crate::settings::Settings;
use crate::show;

pub(crate) fn run(settings: &Settings, global: &Global) -> anyhow::Result<Exit> {
    Ok(match check(&settings.data.0, &*app::tiles(settings)?) {
        Ok(whole) => {
            say(global, &whole);
            Exit::Yes
        }
        Err(fault) => {
            say_fault(global, &fault);
            match fault.kind() {
                FaultKind::Differs | FaultKind::Lacks => Exit::No,
                FaultKind::Unknown => Exit::NotEvaluated,
            }
        }
    })
}

fn say(global: &Global, whole: &Whole) {
    let Whole { checkpoint, report, published } = whole;
    if global.json {
        return show::json(&json!({
            "result": "whole", "log": checkpoint.origin.as_str(), "size": checkpoint.size,
            "root": checkpoint.root.to_string(), "entries": report.entries, "bundles": report.bundles,
            "tiles": report.tiles, "published": published,
        }));
    }
    show::line(&format!("whole: {} entries give the root {}", report.entries, checkpoint.root));
    let (bundles, tiles) = (counted(report.bundles, "bundle"), counted(report.tiles, "tile"));
    show::line(&format!("log {}, {bundles}, {tiles}", checkpoint.origin));
    let public = published.map_or_else(|| "none yet".to_owned(), |size| format!("signed at size {size}"));
    show::line(&format!("public checkpoint: {public}"));
}

fn counted(count: impl Into<u64>, what: &str) -> String {
    match count.into() {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

fn say_fault(global: &Global, fault: &Fault) {
    let hint = fault.hint();
    let result = match fault.kind() {
        FaultKind::Differs => "damaged",
        FaultKind::Lacks => "lacking",
        FaultKind::Unknown => "not_evaluated",
    };
    if global.json {
        let (code, reason) = (fault.code(), fault.to_string());
        return show::json(&json!({"result": result, "code": code, "reason": reason, "hint": hint}));
    }
    show::line(&format!("{}: {fault}", result.replace('_', " ")));
    show::note(global, &format!("hint: {hint}"));
}
