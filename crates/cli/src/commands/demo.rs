//! `countersign demo`: real checks against the lab, without network, wallet or account.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use anyhow::Context;
use countersign_core::endpoint::{ResourceUrl, UrlError};
use countersign_core::policy::CheckRequest;
use countersign_core::sign::Purpose;
use countersign_engine::check::{Checked, Checker};
use countersign_engine::env::Env;
use countersign_engine::receipt::{self, Demands, Receipt};
use countersign_engine::transparency::{Misses, Transparency};
use countersign_engine::verify::verify;
use countersign_tlog::policy::{Policy, PostQuantum};
use serde_json::{Value, json};

use super::lab::{NO_DECISION, expected};
use crate::Exit;
use crate::app::{self, Failure};
use crate::args::{DemoArgs, Global};
use crate::lab::{self, Expect, Lab, Seller};
use crate::private;
use crate::settings::Settings;
use crate::show;

/// A choice that shows the range: honest forms, then money, recipient, place, wire and framing.
const CHOSEN: [&str; 18] = [
    "honest-v2",
    "honest-v1",
    "honest-dual",
    "honest-post",
    "honest-networks",
    "fake-usdc",
    "amount-dollars",
    "honeypot-price",
    "timeout-text",
    "wrong-domain-name",
    "zero-payee",
    "other-resource",
    "two-payees",
    "swapped-payee",
    "price-walk",
    "redirect-away",
    "length-and-chunks",
    "expired-certificate",
];

/// One seller's turn.
struct Turn {
    seller: &'static Seller,
    said: String,
    as_expected: bool,
    /// The signed decision; none where the URL itself was refused.
    bytes: Option<Vec<u8>>,
    /// What the log said of it.
    transparency: Transparency,
}

impl Turn {
    fn receipt(&self) -> Option<&Receipt> {
        self.transparency.receipt()
    }

    /// Whether an offer was selected and the log gave no receipt for it.
    fn lacks_receipt(&self) -> bool {
        self.receipt().is_none() && self.bytes.as_deref().is_some_and(selects)
    }
}

pub(crate) async fn run(global: &Global, args: &DemoArgs) -> anyhow::Result<Exit> {
    let scratch = Scratch::new(args.keep.as_deref())?;
    let lab = lab::start(0, app::now())?;
    let settings = lab_settings(global, &scratch.folder, &lab)?;
    let env = Arc::new(Env::Moved(AtomicI64::new(0)));
    let checker = app::checker(&settings, global, Arc::clone(&env), Misses::Leafless).await?;
    show::note(global, &format!("{} sellers are up on loopback; nothing leaves this machine", lab::sellers().len()));
    show::note(
        global,
        "where it takes a history to see through a seller, earlier looks are made with the clock moved back",
    );
    let mut turns = Vec::new();
    for seller in chosen(args.all) {
        turns.push(turn(&checker, &env, &lab, seller).await?);
    }
    if args.keep.is_some() {
        keep(&scratch.folder, &turns)?;
    }
    let signatures = signatures(&settings, &turns)?;
    let receipts = receipts(&settings, &turns)?;
    report(global, &turns, &signatures, &receipts);
    if args.keep.is_some() && !global.json {
        say_kept(&settings, &turns)?;
    }
    let held = turns.iter().all(|turn| turn.as_expected) && signatures.held() && receipts.held();
    Ok(if held { Exit::Yes } else { Exit::No })
}

/// The choice, or everybody, in the order of the lab's table.
fn chosen(all: bool) -> impl Iterator<Item = &'static Seller> {
    lab::sellers().iter().filter(move |seller| all || CHOSEN.contains(&seller.name))
}

fn lab_settings(global: &Global, folder: &Path, lab: &Lab) -> anyhow::Result<Settings> {
    let ca = folder.join("lab-ca.pem");
    private::write(&ca, &lab.ca_pem).with_context(|| format!("cannot write {}", ca.display()))?;
    let flags = Global {
        data: Some(folder.to_owned()),
        ca: Some(ca),
        allow_loopback: true,
        json: global.json,
        quiet: global.quiet,
        ..Global::default()
    };
    // The demo touches nothing of its user's: no settings file, no database.
    Settings::of_flags(&flags)
}

/// A minute more than looks have to be apart to count as independent.
const MORE_MS: i64 = 60 * 1000;

async fn turn(checker: &Checker, env: &Env, lab: &Lab, seller: &'static Seller) -> anyhow::Result<Turn> {
    let apart_ms = match seller.looks.apart_ms() {
        0 => 0,
        apart_ms => apart_ms + MORE_MS,
    };
    let checked = last_look(checker, env, &lab.url(seller), (seller.looks.number(), apart_ms)).await?;
    Ok(match checked {
        Ok(checked) => Turn {
            seller,
            said: said(&checked.document),
            as_expected: holds(&seller.expect, &checked.document),
            bytes: Some(checked.bytes),
            transparency: checked.transparency,
        },
        Err(error) => Turn {
            seller,
            said: format!("{NO_DECISION} ({})", error.code()),
            as_expected: seller.expect.word.is_none() && seller.expect.refused == Some(error.code()),
            bytes: None,
            transparency: Transparency::NotLogged,
        },
    })
}

/// All looks that a seller's expectation takes, so many and so many milliseconds apart; what the last one gives. Instead
/// of waiting between them, the earlier ones are made with the clock moved back, so that the last one is made now.
async fn last_look(
    checker: &Checker,
    env: &Env,
    url: &str,
    (looks, apart_ms): (u8, i64),
) -> anyhow::Result<Result<Checked, UrlError>> {
    let request = match ResourceUrl::parse(url) {
        Ok(url) => CheckRequest::new(url),
        Err(error) => return Ok(Err(error)),
    };
    for earlier in (1..looks).rev() {
        env.move_to(-apart_ms * i64::from(earlier));
        checker.check(&request).await.map_err(|error| Failure::from(&error))?;
    }
    env.move_to(0);
    Ok(Ok(checker.check(&request).await.map_err(|error| Failure::from(&error))?))
}

/// Whether the check said what the lab's table expects, and for the reason that the table gives. Nothing gives the word
/// `payable`, so beside it the rule has to be among the findings.
fn holds(expect: &Expect, document: &Value) -> bool {
    let found = |wanted: &str| {
        document["findings"].as_array().is_some_and(|all| all.iter().any(|finding| finding["rule"] == wanted))
    };
    let word = expect.word.is_some_and(|wanted| document["word"] == wanted);
    let rule = match expect.rule {
        None => true,
        Some(wanted) if expect.word == Some("payable") => found(wanted),
        Some(wanted) => document["word_rule"] == wanted,
    };
    let refused = expect.refused.is_none_or(|wanted| document["transport"]["refused"] == wanted);
    word && rule && refused
}

/// The word, and in brackets what gave it.
fn said(document: &Value) -> String {
    let word = document["word"].as_str().unwrap_or("-");
    let why = document["transport"]["refused"].as_str().or(document["word_rule"].as_str());
    why.map_or_else(|| word.to_owned(), |why| format!("{word} ({why})"))
}

struct Signatures {
    genuine: usize,
    forged: usize,
    tampered_refused: bool,
}

impl Signatures {
    fn held(&self) -> bool {
        self.forged == 0 && self.tampered_refused
    }
}

struct Receipts {
    valid: usize,
    wrong: usize,
    /// Selected, and still without a receipt.
    missing: usize,
}

impl Receipts {
    fn held(&self) -> bool {
        self.valid > 0 && self.wrong == 0 && self.missing == 0
    }
}

/// Verifies every receipt against the log's trust file alone, post-quantum signature included. Where the log gave none,
/// there may be no trust file either.
fn receipts(settings: &Settings, turns: &[Turn]) -> anyhow::Result<Receipts> {
    let given: Vec<&Receipt> = turns.iter().filter_map(Turn::receipt).collect();
    let missing = turns.iter().filter(|turn| turn.lacks_receipt()).count();
    if given.is_empty() {
        return Ok(Receipts { valid: 0, wrong: 0, missing });
    }
    let path = settings.data.0.join("log").join("trust");
    let trust = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let policy = Policy::parse(&trust).with_context(|| format!("in {}", path.display()))?;
    let demands = Demands { policy: &policy, pq: PostQuantum::Required, max_age_ms: None, now: app::now() };
    let holds = |receipt: &Receipt| receipt::verify(receipt.to_value().to_string().as_bytes(), &demands).is_ok();
    let valid = given.iter().filter(|receipt| holds(receipt)).count();
    Ok(Receipts { valid, wrong: given.len() - valid, missing })
}

/// Whether a decision selected an offer: a test network's is payable and selected only by name.
fn selects(decision: &[u8]) -> bool {
    let document = serde_json::from_slice::<Value>(decision).unwrap_or_default();
    !document["selected_payment"].is_null()
}

/// Verifies every decision, then one with a changed byte.
fn signatures(settings: &Settings, turns: &[Turn]) -> anyhow::Result<Signatures> {
    let keys = app::keys(&settings.data.0)?.verifying(Purpose::Decision);
    let signed = || turns.iter().filter_map(|turn| turn.bytes.as_deref());
    let forged = signed().filter(|bytes| verify(bytes, &keys, app::now()).is_err()).count();
    let tampered =
        signed().next().map(|bytes| String::from_utf8_lossy(bytes).replacen("\"word\":\"", "\"word\":\"x", 1));
    let tampered_refused = tampered.is_some_and(|text| verify(text.as_bytes(), &keys, app::now()).is_err());
    Ok(Signatures { genuine: signed().count() - forged, forged, tampered_refused })
}

fn report(global: &Global, turns: &[Turn], signatures: &Signatures, receipts: &Receipts) {
    if global.json {
        let rows = turns.iter().map(|turn| json!({"seller": turn.seller.name, "said": turn.said, "expected": expected(turn.seller), "held": turn.as_expected}));
        return show::json(&json!({
            "checks": rows.collect::<Vec<_>>(), "signatures_valid": signatures.genuine, "tampered_refused": signatures.tampered_refused,
            "receipts_valid": receipts.valid, "receipts_wrong": receipts.wrong, "receipts_missing": receipts.missing,
            "log": turns.iter().find(|turn| turn.lacks_receipt()).map(|turn| turn.transparency.to_value()),
        }));
    }
    let says = turns.iter().map(|turn| turn.said.len()).max().unwrap_or(0);
    show::line(&format!("{:<21} {:<says$}  what the seller does", "seller", "countersign says"));
    for turn in turns {
        let mark = if turn.as_expected { "" } else { "   NOT as expected" };
        show::line(&format!("{:<21} {:<says$}  {}{mark}", turn.seller.name, turn.said, turn.seller.does));
    }
    let held = turns.iter().filter(|turn| turn.as_expected).count();
    show::line(&format!(
        "{held} of {} answers as expected; {} signatures verified offline",
        turns.len(),
        signatures.genuine
    ));
    show::line(&logged(receipts));
    if let Some(turn) = turns.iter().find(|turn| turn.lacks_receipt()) {
        show::transparency(&turn.transparency, None);
    }
    show::line(if signatures.tampered_refused {
        "one decision with a changed word: refused"
    } else {
        "a changed decision was ACCEPTED"
    });
}

/// A decision without a receipt may be in the log and may not, so only what there is a receipt for is said to be.
fn logged(receipts: &Receipts) -> String {
    let Receipts { valid, wrong, missing } = receipts;
    let given = valid + wrong;
    let verified = format!("{valid} receipts verified offline, ML-DSA-44 included");
    match missing {
        0 => format!("{given} decisions with a selected offer are in the log; {verified}"),
        _ => format!(
            "the log gave a receipt for {given} of {} decisions with a selected offer; {verified}",
            given + missing
        ),
    }
}

fn keep(folder: &Path, turns: &[Turn]) -> anyhow::Result<()> {
    for turn in turns {
        let path = folder.join(format!("{}.decision.json", turn.seller.name));
        let Some(bytes) = &turn.bytes else { continue };
        private::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        let Some(receipt) = turn.receipt() else { continue };
        let path = folder.join(format!("{}.receipt.json", turn.seller.name));
        let text = format!("{}\n", receipt.to_value());
        private::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let (from, to) = (folder.join("log").join("trust"), folder.join("trust"));
    if turns.iter().any(|turn| turn.receipt().is_some()) {
        std::fs::copy(&from, &to).with_context(|| format!("cannot write {}", to.display()))?;
    }
    Ok(())
}

/// Where the files are, and how to verify one as somebody else would.
fn say_kept(settings: &Settings, turns: &[Turn]) -> anyhow::Result<()> {
    let folder = settings.data.0.display();
    let Some(logged) = turns.iter().find(|turn| turn.receipt().is_some()) else {
        show::line(&format!("kept in {folder}: SELLER.decision.json, and no receipt of this run"));
        return Ok(());
    };
    show::line(&format!(
        "kept in {folder}: SELLER.decision.json, SELLER.receipt.json where the log gave one, and the log's trust policy"
    ));
    let keys = app::keys(&settings.data.0)?.verifying(Purpose::Decision);
    if let Some(key) = keys.first() {
        let (seller, key) = (logged.seller.name, key.to_base64());
        show::line("anybody with that policy and the signer's public key can verify one, without a network:");
        show::line(&format!(
            "  countersign verify {folder}/{seller}.receipt.json --trust {folder}/trust --require-pq --key {key}"
        ));
    }
    Ok(())
}

/// The demo's data directory: kept when asked for, else removed at the end.
struct Scratch {
    folder: std::path::PathBuf,
    temporary: bool,
}

impl Scratch {
    fn new(keep: Option<&Path>) -> anyhow::Result<Self> {
        let temporary = keep.is_none();
        let named = format!("countersign-demo-{}", std::process::id());
        let folder = keep.map_or_else(|| std::env::temp_dir().join(named), Path::to_owned);
        private::folder(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self { folder, temporary })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.temporary {
            let _gone = std::fs::remove_dir_all(&self.folder);
        }
    }
}
