//! The read API of a log. Paths are taken raw, because a percent-encoded spelling is a second one.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use countersign_engine::published::{NotServed, NotServedKind, Published, Width};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE};
use hyper::{StatusCode, Uri};

use super::problem::{Again, Problem};

const TEXT: &str = "text/plain; charset=utf-8";
const BYTES: &str = "application/octet-stream";
const JSON: &str = "application/json";

/// The head moves with every batch, and a monitor wants to see it move.
const MOMENT: &str = "public, max-age=1";
const FIVE_MINUTES: &str = "public, max-age=300";
/// A partial tile's bytes never change either, but once the full one exists nobody asks for it again.
const A_DAY: &str = "public, max-age=86400, immutable";
const FOR_EVER: &str = "public, max-age=31536000, immutable";

pub(super) async fn checkpoint(State(public): State<Published>) -> Response {
    answer(TEXT, MOMENT, public.checkpoint())
}

pub(super) async fn cosigned(State(public): State<Published>) -> Result<Response, Problem> {
    Ok(answer(TEXT, MOMENT, public.cosigned_checkpoint().map_err(not_served)?))
}

pub(super) async fn trust(State(public): State<Published>) -> Response {
    answer(TEXT, FIVE_MINUTES, public.trust())
}

pub(super) async fn tile(State(public): State<Published>, uri: Uri) -> Result<Response, Problem> {
    let path = after("/log/", &uri);
    let tile = reading(move || public.tile(&path)).await?;
    let cache = match tile.width {
        Width::Full => FOR_EVER,
        Width::Partial => A_DAY,
    };
    Ok(answer(BYTES, cache, tile.bytes))
}

pub(super) async fn receipt(State(public): State<Published>, uri: Uri) -> Result<Response, Problem> {
    let index = after("/log/receipt/", &uri);
    let receipt = reading(move || public.receipt(&index)).await?;
    Ok(answer(JSON, MOMENT, receipt.to_string()))
}

fn answer(kind: &'static str, cache: &'static str, body: impl IntoResponse) -> Response {
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, cache)], body).into_response()
}

fn after(prefix: &str, uri: &Uri) -> String {
    uri.path().strip_prefix(prefix).unwrap_or_default().to_owned()
}

/// Off the runtime's own threads: a tile may come from a slow disk or bucket.
async fn reading<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, NotServed> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(read).await.map_err(|_| Problem::ours("internal"))?;
    done.map_err(not_served)
}

fn not_served(error: NotServed) -> Problem {
    match error.kind() {
        NotServedKind::Malformed => Problem::new(StatusCode::BAD_REQUEST, error.code(), &error, Again::Never),
        NotServedKind::Absent => Problem::new(StatusCode::NOT_FOUND, error.code(), &error, Again::Later),
        NotServedKind::Damaged => Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.code(), &error, Again::Later),
        NotServedKind::Unavailable => Problem::ours(error.code()),
    }
}
