//! `countersign lab`: honest and hostile sellers on loopback, for anyone to try a checker against.

use serde_json::{Value, json};

use crate::Exit;
use crate::app::{self, Failure};
use crate::args::{Global, LabArgs};
use crate::lab::{self, Expect, Kind, Looks, Seller};
use crate::show;

pub(crate) async fn run(global: &Global, args: &LabArgs) -> anyhow::Result<Exit> {
    if args.list {
        list(global, listed_port(args)?);
        return Ok(Exit::Yes);
    }
    let lab = lab::start(args.port, app::now())?;
    std::fs::write(&args.ca_out, &lab.ca_pem).map_err(|error| app::unwritten(&args.ca_out, &error))?;
    let ca = args.ca_out.display();
    show::note(global, &format!("{} sellers on port {}, CA in {ca}; stop with Ctrl-C", lab::sellers().len(), lab.port));
    if let Some(seller) = lab::sellers().first() {
        show::note(global, &format!("try: countersign check --allow-loopback --ca {ca} {}", lab.url(seller)));
    }
    tokio::signal::ctrl_c().await?;
    Ok(Exit::Yes)
}

/// The port in the URLs of the list.
fn listed_port(args: &LabArgs) -> anyhow::Result<u16> {
    match args.port {
        0 => Err(Failure::usage("--list writes URLs, and port 0 is no port yet: name the one that the lab has").into()),
        port => Ok(port),
    }
}

fn list(global: &Global, port: u16) {
    if global.json {
        return show::json(&Value::Array(lab::sellers().iter().map(|seller| describe(seller, port)).collect()));
    }
    for seller in lab::sellers() {
        show::line(&format!("{:<28} {:<8} {}", seller.name, kind(seller), seller.does));
        show::line(&format!("{:<37} {} -> {}{}", "", seller.url(port), expected(seller), when(seller)));
    }
    show::note(
        global,
        "looks count from the start of the lab, and in a data directory that has seen none of its sellers",
    );
}

/// What to check, how often, and what the last check answers: `word` and the rule that gives it (beside `payable`, a
/// finding), or the code with which the URL or the answer is refused.
pub(super) fn describe(seller: &Seller, port: u16) -> Value {
    let Expect { word, rule, refused } = seller.expect;
    json!({
        "name": seller.name, "kind": kind(seller), "does": seller.does, "twin": seller.twin, "url": seller.url(port),
        "looks": seller.looks.number(), "seconds_apart": seller.looks.apart_ms() / 1000,
        "expect": {"word": word, "rule": rule, "refused": refused},
    })
}

/// At which look it is said, where that is not the first.
fn when(seller: &Seller) -> String {
    match seller.looks {
        Looks::AtOnce(1) => String::new(),
        Looks::AtOnce(looks) => format!(", at look {looks}"),
        Looks::Apart(looks) => format!(", at look {looks}, with ten minutes between two"),
    }
}

fn kind(seller: &Seller) -> &'static str {
    match seller.kind {
        Kind::Honest => "honest",
        Kind::Hostile => "hostile",
    }
}

/// What a URL that is refused comes to.
pub(super) const NO_DECISION: &str = "no decision";

/// What a right check says of this seller, in one line. Nothing gives the word `payable`; a finding may stand beside it.
pub(crate) fn expected(seller: &Seller) -> String {
    let expect = &seller.expect;
    match (expect.word, expect.rule.or(expect.refused)) {
        (Some("payable"), Some(beside)) => format!("payable, with {beside}"),
        (word, Some(why)) => format!("{} ({why})", word.unwrap_or(NO_DECISION)),
        (word, None) => word.unwrap_or(NO_DECISION).to_owned(),
    }
}
