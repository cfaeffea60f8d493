//! Files that a person names: read up to a size, and what to say of one that does not read.
//!
//! A pipe or a device has no size before it is read, so the limit holds while reading.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _};
use std::path::Path;

use countersign_tlog::policy::{MAX_POLICY, Policy};

use crate::app::Failure;

/// The bytes of `path`, at most `most` of them; or a sentence that names the file.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
    match opened {
        Err(error) => Err(format!("cannot read {}: {}", path.display(), why(&error))),
        Ok(_) if bytes.len() as u64 > most => Err(format!("{} has more than {most} bytes", path.display())),
        Ok(_) => Ok(bytes),
    }
}

/// A trust policy that is named on the command line.
pub(crate) fn policy(path: &Path) -> anyhow::Result<Policy> {
    let bytes = read(path, MAX_POLICY as u64);
    let bytes = bytes.map_err(|why| Failure::usage(format!("the trust policy: {why}")).listed("trust_unreadable"))?;
    Policy::parse(&bytes).map_err(|error| {
        let reason = format!("{} is no trust policy (C2SP tlog-policy): {error}", path.display());
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
