//! Files that a person names, `-` for standard input: read up to a size, and what to say of one that does not read.
//!
//! A pipe or a device has no size before it is read, so the limit holds while reading.

use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use countersign_tlog::policy::{MAX_POLICY, Policy};

use crate::app::Failure;

/// What stands for standard input.
const STANDARD_INPUT: &str = "-";

/// The bytes of `path`, at most `most` of them; or a sentence that names the file.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let opened = open(path).and_then(|input| input.take(most + 1).read_to_end(&mut bytes));
    match opened {
        Err(error) => Err(format!("cannot read {}: {}", named(path), why(&error))),
        Ok(_) if bytes.len() as u64 > most => Err(format!("{} has more than {most} bytes", named(path))),
        Ok(_) => Ok(bytes),
    }
}

/// What a person calls it.
pub(crate) fn named(path: &Path) -> String {
    if path == Path::new(STANDARD_INPUT) { "standard input".to_owned() } else { path.display().to_string() }
}

/// Standard input ends once, and who named it twice would have nothing in the second place.
fn open(path: &Path) -> std::io::Result<Box<dyn Read>> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if path != Path::new(STANDARD_INPUT) {
        return Ok(Box::new(File::open(path)?));
    }
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(Error::other("it was read already, for another argument"));
    }
    Ok(Box::new(std::io::stdin()))
}

/// A trust policy that is named on the command line.
pub(crate) fn policy(path: &Path) -> anyhow::Result<Policy> {
    let bytes = read(path, MAX_POLICY as u64);
    let bytes = bytes.map_err(|why| Failure::usage(format!("the trust policy: {why}")).listed("trust_unreadable"))?;
    Policy::parse(&bytes).map_err(|error| {
        let reason = format!("{} is no trust policy (C2SP tlog-policy): {error}", named(path));
        Failure::usage(reason).listed("trust_malformed").into()
    })
}

/// The system's reasons in plain words, as far as a person can do something about them.
fn why(error: &Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::PermissionDenied => "this user may not read it".to_owned(),
        _ => error.to_string(),
    }
}
