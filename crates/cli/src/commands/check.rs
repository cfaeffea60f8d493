//! `countersign check`: one URL, or a file of them.

mod many;
mod sink;

use std::sync::Arc;

use countersign_core::address::{self, Checksum};
use countersign_core::amount::{Amount, AmountError, Usd};
use countersign_core::endpoint::{ResourceUrl, UrlError};
use countersign_core::network::{self, Family};
use countersign_core::offer::Word;
use countersign_core::policy::{CheckRequest, Objective, Share};
use countersign_engine::check::{CheckError, Checked, Checker, Identity};
use countersign_engine::env::Env;
use countersign_engine::transparency::{Misses, Transparency};
use countersign_probe::Declared;

use crate::Exit;
use crate::app::{self, Failure};
use crate::args::{Bounds, CalledBy, CheckArgs, Global};
use crate::settings::Settings;
use crate::show;

pub(crate) async fn run(settings: &Settings, global: &Global, args: &CheckArgs) -> anyhow::Result<Exit> {
    if let Some(list) = &args.from {
        return many::run(settings, global, args, list).await;
    }
    let request = request(args, args.url.as_deref().unwrap_or_default())?;
    let [out, receipt] = sink::both(settings, args)?;
    let checker = open(settings, global, args).await?;
    let checked = checker.check_as(&request, declared(args)).await.map_err(|error| explain(&error))?;
    if global.json {
        show::json(&checked.answer());
    } else {
        show::decision(&checked);
        show::transparency(&checked.transparency, checked.unkept.as_ref());
    }
    if let Some(out) = out {
        out.fill(global, "signed decision", &checked.bytes)?;
    }
    match (receipt, checked.transparency.receipt()) {
        (Some(file), Some(receipt)) => {
            file.fill(global, "receipt", format!("{}\n", receipt.to_value()).as_bytes())?;
        }
        (Some(file), None) => file.leave(global, "receipt", why_none(&checked.transparency)),
        (None, _) => {}
    }
    Ok(exit(&checked))
}

fn why_none(transparency: &Transparency) -> &'static str {
    match transparency {
        Transparency::NotLogged => "nothing was selected",
        _ => "the log gave none",
    }
}

/// The checker; that others can read its database, and that its key is new, is said in one line each.
async fn open(settings: &Settings, global: &Global, args: &CheckArgs) -> anyhow::Result<Checker> {
    let checker = app::checker(settings, global, Arc::new(Env::Real), misses(settings, args)).await?;
    if let Some((exposed, hint)) = app::exposed(settings) {
        show::note(global, &format!("{exposed}; {hint}"));
    }
    identified(settings, global, checker.identity().await.map_err(|error| explain(&error))?);
    Ok(checker)
}

/// Whoever trusts the key of before does not know the new one.
fn identified(settings: &Settings, global: &Global, identity: Identity) {
    let (Identity::First(id) | Identity::Replaced(id)) = identity else { return };
    show::note(global, &format!("signing key {id} was made now; `countersign keys list` shows its public half"));
    if matches!(identity, Identity::Replaced(_)) {
        let keys = settings.data.0.join("keys");
        let why = "warning: decisions were signed here before, by a key that is not in";
        let todo =
            "restore it from a copy, unless it signs elsewhere, or tell the new key to whoever trusts the old one";
        show::note(global, &format!("{why} {}; {todo}", keys.display()));
    }
}

fn misses(settings: &Settings, args: &CheckArgs) -> Misses {
    if args.log_misses || settings.log_misses.0 { Misses::Logged } else { Misses::Leafless }
}

/// 0 when an offer was selected under the rules, 5 when it lacks the receipt that was demanded, 4 when nothing could be
/// judged, else 1.
pub(crate) fn exit(checked: &Checked) -> Exit {
    match checked.word {
        Word::NotEvaluated => Exit::NotEvaluated,
        _ if checked.lacks_receipt() => Exit::Trust,
        _ if checked.selected => Exit::Yes,
        _ => Exit::No,
    }
}

fn declared(args: &CheckArgs) -> Declared {
    match args.method {
        None => Declared::Nothing,
        Some(CalledBy::Get) => Declared::Get,
        Some(CalledBy::Post) => Declared::Post,
    }
}

fn explain(error: &CheckError) -> anyhow::Error {
    Failure::from(error).into()
}

/// The flags as a request; every value is parsed here, once.
pub(crate) fn request(args: &CheckArgs, url: &str) -> anyhow::Result<CheckRequest> {
    bounded(&args.bounds, ResourceUrl::parse(url).map_err(|error| refused(url, error))?)
}

/// A URL that is none of ours to ask. What may be a password is not repeated.
fn refused(url: &str, error: UrlError) -> anyhow::Error {
    let named = if error == UrlError::Userinfo { String::new() } else { format!("{url}: ") };
    Failure::malformed(format!("{named}{error}")).coded(error.code()).advised(error.hint()).into()
}

/// A request for `url` under the bounds of the flags.
fn bounded(bounds: &Bounds, url: ResourceUrl) -> anyhow::Result<CheckRequest> {
    let mut request = CheckRequest::new(url);
    request.networks = networks("--networks", &bounds.networks)?;
    request.deny_networks = networks("--deny-networks", &bounds.deny_networks)?;
    request.allow_pay_to = recipients(&bounds.allow_pay_to)?;
    request.prefer_network = networks("--prefer-network", bounds.prefer_network.as_slice())?.pop();
    request.objective = bounds.objective.map_or_else(Objective::default, Into::into);
    request.max_price_usd = usd("--max-price-usd", bounds.max_price_usd.as_deref())?;
    request.max_total_cost_usd = usd("--max-total-cost-usd", bounds.max_total_cost_usd.as_deref())?;
    request.max_amount_atomic = amount(bounds.max_amount_atomic.as_deref())?;
    request.max_probe_latency_ms = bounds.max_probe_latency_ms;
    request.max_latency_ms = bounds.max_latency_ms;
    request.max_service_latency_ms = bounds.max_service_latency_ms;
    request.max_settlement_latency_ms = bounds.max_settlement_latency_ms;
    request.min_observations = bounds.min_observations;
    request.min_observed_success = share("--min-observed-success", bounds.min_observed_success.as_deref())?;
    request.min_reputation_score = share("--min-reputation-score", bounds.min_reputation_score.as_deref())?;
    request.min_reputation_confidence =
        share("--min-reputation-confidence", bounds.min_reputation_confidence.as_deref())?;
    request.require_invocable = bounds.require_invocable;
    request.accept_payto_change = bounds.accept_payto_change;
    request.require_transparency = bounds.require_transparency;
    Ok(request)
}

fn networks(flag: &str, names: &[String]) -> anyhow::Result<Vec<countersign_core::network::Network>> {
    let read = |name: &String| {
        let found = network::read(name).map(|read| read.network);
        found.ok_or_else(|| no_network(flag, name).into())
    };
    names.iter().map(read).collect()
}

fn no_network(flag: &str, name: &str) -> Failure {
    let bad = Failure::usage(format!("{flag}: `{name}` is no network name or CAIP-2 id"));
    match network::meant(name) {
        Some(row) => bad.advised(format!("did you mean {}, which is {}?", row.caip2, row.name)),
        None => bad.advised("write a short name such as base or a CAIP-2 id such as eip155:8453"),
    }
}

fn usd(flag: &str, text: Option<&str>) -> anyhow::Result<Option<Usd>> {
    text.map(|text| {
        let bad = |error: AmountError| Failure::usage(format!("{flag}: {error}")).coded(error.code());
        let hint = "write dollars in digits, with a point and without a sign, such as 0.05";
        Usd::parse(text).map_err(|error| bad(error).advised(hint).into())
    })
    .transpose()
}

fn amount(text: Option<&str>) -> anyhow::Result<Option<Amount>> {
    let bad = |error: AmountError| Failure::usage(format!("--max-amount-atomic: {error}")).coded(error.code());
    let hint = "write whole atomic units in digits, at most 2^256-1, such as 50000 for 0.05 USDC";
    text.map(|text| Amount::parse(text).map_err(|error| bad(error).advised(hint).into())).transpose()
}

fn share(flag: &str, text: Option<&str>) -> anyhow::Result<Option<Share>> {
    let bad = |error| Failure::usage(format!("{flag}: {error}")).advised("write a decimal with a point, such as 0.95");
    text.map(|text| Share::parse(text).map_err(|error| bad(error).into())).transpose()
}

/// A recipient that is an address nowhere, or a mistyped one, would exclude every offer, and look like a bound that was
/// thought through.
fn recipients(named: &[String]) -> anyhow::Result<Vec<String>> {
    named.iter().try_for_each(|text| recipient(text))?;
    Ok(named.to_vec())
}

fn recipient(text: &str) -> anyhow::Result<()> {
    let read = [Family::Evm, Family::Svm, Family::Avm].into_iter().find_map(|family| address::check(family, text).ok());
    let read = read.map(|checked| checked.checksum);
    let bad = match read {
        None => Failure::usage(format!("--allow-pay-to: `{text}` is no EVM, Solana or Algorand address")),
        Some(Checksum::Wrong) => {
            Failure::usage(format!("--allow-pay-to: `{text}` fails its own checksum: a letter is wrong"))
                .advised("copy it again from where it was published")
        }
        Some(_) => return Ok(()),
    };
    Err(bad.into())
}
