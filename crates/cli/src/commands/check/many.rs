//! `check --from`: a file of URLs, each answered by one JSON line, whatever becomes of it. A URL that stands there several
//! times is looked at once, and its decision answers all of its lines.
//!
//! The run ends at the end of the file and nowhere else: a line that is no URL, a damaged history, a database that
//! refuses once are answers with a code. Only what stands in the way of every URL (the flags, the file, the data
//! directory) ends it before it begins.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::endpoint::{ResourceUrl, UrlError};
use countersign_core::policy::CheckRequest;
use countersign_engine::check::{CheckError, Checked, Checker};
use countersign_probe::Declared;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::{bounded, declared, exit};
use crate::Exit;
use crate::app::Failure;
use crate::args::{CheckArgs, Global};
use crate::input;
use crate::settings::Settings;
use crate::show;

/// How many URLs of a file are looked at together. The answers come as they are ready; each names its URL.
const AT_ONCE: usize = 16;

/// A million URLs fit, which take days.
const LARGEST: u64 = 64 << 20;

/// What all looks of one file share.
struct Run {
    checker: Checker,
    declared: Declared,
    slots: Semaphore,
    progress: ProgressBar,
}

/// What is asked for, and the lines that ask for it, as they are written.
struct Question {
    lines: Vec<String>,
    request: Result<CheckRequest, UrlError>,
}

pub(super) async fn run(settings: &Settings, global: &Global, args: &CheckArgs, list: &Path) -> anyhow::Result<Exit> {
    let questions = read(args, list)?;
    let checker = super::open(settings, global, args).await?;
    let progress = bar(global, questions.iter().map(|question| question.lines.len()).sum());
    let run = Arc::new(Run { checker, declared: declared(args), slots: Semaphore::new(AT_ONCE), progress });
    let mut looks = JoinSet::new();
    for question in questions {
        let run = Arc::clone(&run);
        looks.spawn(async move { run.answer(&question).await });
    }
    let mut exit = Exit::Yes;
    while let Some(done) = looks.join_next().await {
        exit = worse(exit, done.unwrap_or_else(|error| broken(&error)));
    }
    run.progress.finish_and_clear();
    Ok(exit)
}

/// What the lines ask for, each thing once. The flags are read before anything is sent.
fn read(args: &CheckArgs, list: &Path) -> anyhow::Result<Vec<Question>> {
    let text = text(list)?;
    // Some editors put a byte order mark in front, which is no part of the first URL.
    let lines = text
        .trim_start_matches('\u{feff}')
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (mut questions, mut places) = (Vec::<Question>::new(), HashMap::<String, usize>::new());
    for line in lines.map(str::to_owned) {
        let url = ResourceUrl::parse(&line);
        let key = url.as_ref().map_or_else(|_| line.clone(), |url| url.as_str().to_owned());
        if let Some(place) = places.get(&key) {
            questions[*place].lines.push(line);
            continue;
        }
        places.insert(key, questions.len());
        let request = match url {
            Ok(url) => Ok(bounded(&args.bounds, url)?),
            Err(error) => Err(error),
        };
        questions.push(Question { lines: vec![line], request });
    }
    if questions.is_empty() {
        let none = Failure::usage(format!("{} names no URL; write one a line", input::named(list)));
        return Err(none.coded("no_url").into());
    }
    Ok(questions)
}

/// The list, which is text or nothing: a line that is not UTF-8 tells of a file in another encoding.
fn text(list: &Path) -> anyhow::Result<String> {
    let bytes = input::read(list, LARGEST).map_err(|why| Failure::malformed(why).listed("cannot_read"))?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Failure::malformed(format!("{}: line {line} is not UTF-8", input::named(list))).listed("list_not_text").into()
    })
}

impl Run {
    async fn answer(&self, question: &Question) -> Exit {
        let request = match &question.request {
            Ok(request) => request,
            Err(error) => {
                self.refuse(question, error.code(), &error.to_string(), error.hint());
                return Exit::Malformed;
            }
        };
        match self.in_turn(request).await {
            Ok(checked) => {
                let answer = checked.answer();
                question.lines.iter().for_each(|_| self.say(&answer));
                exit(&checked)
            }
            Err(error) => {
                self.refuse(question, error.code(), &error.to_string(), &error.hint());
                Exit::NotEvaluated
            }
        }
    }

    /// What may be a password is not repeated.
    fn refuse(&self, question: &Question, code: &str, error: &str, hint: &str) {
        let secret = matches!(question.request, Err(UrlError::Userinfo));
        for line in &question.lines {
            let url = (!secret).then_some(line);
            self.say(&json!({"url": url, "code": code, "error": error, "hint": hint}));
        }
    }

    /// One answer, on a line that the progress bar has left.
    fn say(&self, answer: &Value) {
        self.progress.suspend(|| show::json(answer));
        self.progress.inc(1);
    }

    /// A file may name one domain often. Then its next URL waits until the domain's minute has room again, so that
    /// every URL is looked at and nobody is flooded; while it waits, another domain's takes its slot.
    async fn in_turn(&self, request: &CheckRequest) -> Result<Checked, CheckError> {
        loop {
            let slot = self.slots.acquire().await;
            // Boxed, because a look is large and only those that hold a slot need one.
            match Box::pin(self.checker.check_as(request, self.declared)).await {
                Err(CheckError::RateLimited(limited)) => {
                    drop(slot);
                    self.progress.set_message(limited.to_string());
                    tokio::time::sleep(Duration::from_millis(limited.retry_after_ms)).await;
                    self.progress.set_message("");
                }
                done => return done,
            }
        }
    }
}

/// A look that ended in a defect of ours.
fn broken(error: &tokio::task::JoinError) -> Exit {
    let hint = "report this as a defect of this program";
    show::json(&json!({"url": null, "code": "look_ended", "error": error.to_string(), "hint": hint}));
    Exit::NotEvaluated
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
