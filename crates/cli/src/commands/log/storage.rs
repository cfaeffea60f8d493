//! Where a log that begins, or is kept open, has its full tiles, and what is told of that place.

use countersign_engine::log::{Asked, LogBook, Place};
use countersign_tlog::sequencer::tiles::TilesError;

use crate::app::{self, Failure};
use crate::args::Global;
use crate::settings::Settings;
use crate::show;

/// As [`app::stored`], for a command that begins a log or keeps one open: the bucket is asked once, so that a name that was
/// misspelt is told now and not 256 entries later. A log that is there goes on without its bucket. One that is to be
/// made is not begun for a bucket that says it does not exist: nothing is lost yet, and the name is easily corrected.
pub(super) fn stored_and_asked(settings: &Settings, global: &Global, book: LogBook) -> anyhow::Result<LogBook> {
    let Some(bucket) = app::bucket(settings)? else { return app::stored(settings, book) };
    match (bucket.ask(), Place::new(&settings.data.0).has_log()) {
        (Asked::There, _) => {}
        (Asked::NoBucket(error), Ok(false)) => {
            let hint = "nothing was begun yet; run this again once the bucket is there or its name is right";
            return Err(Failure::blocked(error.to_string(), hint).coded("tiles_no_bucket").into());
        }
        (Asked::NoBucket(error) | Asked::Away(error), _) => show::note(global, &turned(Some(&error))),
    }
    Ok(book.stored_in(bucket))
}

/// What is told of the place of the full tiles.
pub(super) fn turned(error: Option<&TilesError>) -> String {
    match error {
        Some(error) => {
            format!("{error}; the log goes on, and keeps what waits to be stored in its write-ahead segments")
        }
        None => "tile storage: works again".to_owned(),
    }
}
