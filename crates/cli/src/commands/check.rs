//! `countersign check`: one URL, or a file of them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::amount::{Amount, Usd};
use countersign_core::endpoint::ResourceUrl;
use countersign_core::network;
use countersign_core::offer::Word;
use countersign_core::policy::CheckRequest;
use countersign_engine::check::{CheckError, Checked, Checker};
use countersign_engine::env::Env;
use countersign_engine::transparency::{Demand, Misses};
use countersign_probe::Declared;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use tokio::task::JoinSet;

use crate::Exit;
use crate::app::{self, Failure};
use crate::args::{CalledBy, CheckArgs, Global};
use crate::settings::Settings;
use crate::show;

pub(crate) async fn run(settings: &Settings, global: &Global, args: &CheckArgs) -> anyhow::Result<Exit> {
    if let Some(list) = &args.from {
        return many(settings, global, args, list).await;
    }
    let request = request(args, args.url.as_deref().unwrap_or_default())?;
    let checker = app::checker(settings, Arc::new(Env::Real), misses(args)).await?;
    let checked = checker.check_as(&request, declared(args)).await.map_err(explain)?;
    if let Some(path) = &args.out {
        write(path, &checked.bytes)?;
    }
    if let (Some(path), Some(receipt)) = (&args.receipt, checked.transparency.receipt()) {
        write(path, format!("{}\n", receipt.to_value()).as_bytes())?;
    }
    if global.json {
        show::json(&checked.answer());
    } else {
        show::decision(&checked.document);
        show::transparency(&checked.transparency);
        written(global, "signed decision", args.out.as_deref());
        let receipt = args.receipt.as_deref().filter(|_| checked.transparency.receipt().is_some());
        written(global, "receipt", receipt);
    }
    Ok(exit(&checked))
}

fn written(global: &Global, what: &str, path: Option<&Path>) {
    if let Some(path) = path {
        show::note(global, &format!("{what} in {}", path.display()));
    }
}

fn misses(args: &CheckArgs) -> Misses {
    if args.log_misses { Misses::Logged } else { Misses::Leafless }
}

/// 0 when an offer was selected under the rules, 5 when it lacks the receipt that was demanded, 4 when nothing could be
/// judged, else 1.
pub(crate) fn exit(checked: &Checked) -> Exit {
    match checked.word {
        Word::NotEvaluated => Exit::NotEvaluated,
        _ if checked.selected && checked.demand == Demand::Unmet => Exit::Trust,
        _ if checked.selected => Exit::Yes,
        _ => Exit::No,
    }
}

/// How many URLs of a file are looked at together. The answers come as they are ready; each names its URL.
const AT_ONCE: usize = 16;

/// Every URL of the file; a line that is no URL is an answer too, never the end of the run.
async fn many(settings: &Settings, global: &Global, args: &CheckArgs, list: &Path) -> anyhow::Result<Exit> {
    let text = std::fs::read_to_string(list)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", list.display())))?;
    let urls: Vec<&str> =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let checker = Arc::new(app::checker(settings, Arc::new(Env::Real), misses(args)).await?);
    let progress = bar(global, urls.len());
    let (mut exit, mut looks, mut urls) = (Exit::Yes, JoinSet::new(), urls.into_iter());
    loop {
        while looks.len() < AT_ONCE {
            let Some(url) = urls.next() else { break };
            let (checker, args, url, progress) = (Arc::clone(&checker), args.clone(), url.to_owned(), progress.clone());
            looks.spawn(async move { one_of_many(&checker, &args, &url, &progress).await });
        }
        let Some(done) = looks.join_next().await else { break };
        exit = worse(exit, done??);
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(exit)
}

async fn one_of_many(checker: &Checker, args: &CheckArgs, url: &str, progress: &ProgressBar) -> anyhow::Result<Exit> {
    match request(args, url) {
        Ok(request) => {
            let checked = in_turn(checker, &request, declared(args), progress).await?;
            show::json(&checked.answer());
            Ok(exit(&checked))
        }
        Err(failure) => {
            show::json(&json!({"url": url, "error": failure.to_string()}));
            Ok(Exit::Malformed)
        }
    }
}

/// A file may name one domain often. Then its next URL waits until the domain's minute has room again, so that every
/// URL is looked at and nobody is flooded.
async fn in_turn(
    checker: &Checker,
    request: &CheckRequest,
    declared: Declared,
    progress: &ProgressBar,
) -> anyhow::Result<Checked> {
    loop {
        match checker.check_as(request, declared).await {
            Err(CheckError::RateLimited(limited)) => {
                progress.set_message(limited.to_string());
                tokio::time::sleep(Duration::from_millis(limited.retry_after_ms)).await;
                progress.set_message("");
            }
            done => return done.map_err(explain),
        }
    }
}

fn declared(args: &CheckArgs) -> Declared {
    match args.method {
        None => Declared::Nothing,
        Some(CalledBy::Get) => Declared::Get,
        Some(CalledBy::Post) => Declared::Post,
    }
}

fn explain(error: CheckError) -> anyhow::Error {
    match error {
        CheckError::RateLimited(limited) => {
            let seconds = limited.retry_after_ms.div_ceil(1000);
            Failure::blocked(limited.to_string(), format!("nothing was sent; ask again in {seconds} s")).into()
        }
        error => error.into(),
    }
}

fn worse(left: Exit, right: Exit) -> Exit {
    if right as u8 > left as u8 { right } else { left }
}

fn bar(global: &Global, length: usize) -> ProgressBar {
    use std::io::IsTerminal;
    if global.quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{pos}/{len} {wide_bar} {eta} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length as u64).with_style(style)
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    std::fs::write(path, bytes)
        .map_err(|error| Failure::usage(format!("cannot write {}: {error}", path.display())).into())
}

/// The flags as a request; every value is parsed here, once.
pub(crate) fn request(args: &CheckArgs, url: &str) -> anyhow::Result<CheckRequest> {
    let url = ResourceUrl::parse(url).map_err(|error| Failure::malformed(format!("{url}: {error}")))?;
    let mut request = CheckRequest::new(url);
    request.networks = networks("--networks", &args.networks)?;
    request.deny_networks = networks("--deny-networks", &args.deny_networks)?;
    request.allow_pay_to = args.allow_pay_to.clone();
    request.max_price_usd = usd("--max-price-usd", args.max_price_usd.as_deref())?;
    request.max_total_cost_usd = usd("--max-total-cost-usd", args.max_total_cost_usd.as_deref())?;
    request.max_amount_atomic = amount(args.max_amount_atomic.as_deref())?;
    request.max_probe_latency_ms = args.max_probe_latency_ms;
    request.max_latency_ms = args.max_latency_ms;
    request.max_service_latency_ms = args.max_service_latency_ms;
    request.max_settlement_latency_ms = args.max_settlement_latency_ms;
    request.min_observations = args.min_observations;
    request.min_observed_success = share(args.min_observed_success.as_deref())?;
    request.require_invocable = args.require_invocable;
    request.accept_payto_change = args.accept_payto_change;
    request.require_transparency = args.require_transparency;
    Ok(request)
}

fn networks(flag: &str, names: &[String]) -> anyhow::Result<Vec<countersign_core::network::Network>> {
    let read = |name: &String| {
        let found = network::read(name).map(|read| read.network);
        found.ok_or_else(|| Failure::usage(format!("{flag}: `{name}` is no network name or CAIP-2 id")).into())
    };
    names.iter().map(read).collect()
}

fn usd(flag: &str, text: Option<&str>) -> anyhow::Result<Option<Usd>> {
    text.map(|text| Usd::parse(text).map_err(|error| Failure::usage(format!("{flag}: {error}")).into())).transpose()
}

fn amount(text: Option<&str>) -> anyhow::Result<Option<Amount>> {
    let parse =
        |text| Amount::parse(text).map_err(|error| Failure::usage(format!("--max-amount-atomic: {error}")).into());
    text.map(parse).transpose()
}

fn share(text: Option<&str>) -> anyhow::Result<Option<countersign_core::policy::Share>> {
    let parse = |text| {
        countersign_core::policy::Share::parse(text)
            .map_err(|error| Failure::usage(format!("--min-observed-success: {error}")).into())
    };
    text.map(parse).transpose()
}
