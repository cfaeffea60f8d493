//! `countersign lab`: honest and hostile sellers on loopback, for anyone to try a checker against.

use serde_json::{Value, json};

use crate::Exit;
use crate::app;
use crate::args::{Global, LabArgs};
use crate::lab::{self, Kind, Seller};
use crate::show;

pub(crate) async fn run(global: &Global, args: &LabArgs) -> anyhow::Result<Exit> {
    if args.list {
        list(global);
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

fn list(global: &Global) {
    if global.json {
        return show::json(&Value::Array(lab::sellers().iter().map(describe).collect()));
    }
    for seller in lab::sellers() {
        show::line(&format!("{:<28} {:<8} {}", seller.name, kind(seller), seller.does));
        show::line(&format!("{:<37} -> {}", "", expected(seller)));
    }
}

fn describe(seller: &Seller) -> Value {
    json!({"name": seller.name, "kind": kind(seller), "does": seller.does, "expect": expected(seller), "twin": seller.twin})
}

fn kind(seller: &Seller) -> &'static str {
    match seller.kind {
        Kind::Honest => "honest",
        Kind::Hostile => "hostile",
    }
}

/// What a right check says of this seller, in one line. Nothing gives the word `payable`; a finding may stand beside it.
pub(crate) fn expected(seller: &Seller) -> String {
    let expect = &seller.expect;
    match (expect.word, expect.rule.or(expect.refused)) {
        (word, None) => word.to_owned(),
        ("payable", Some(beside)) => format!("payable, with {beside}"),
        (word, Some(why)) => format!("{word} ({why})"),
    }
}
