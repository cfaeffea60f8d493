//! A witness over HTTP. Its refusals have the statuses and bodies of C2SP tlog-witness, not the shape of other errors.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::response::{IntoResponse, Response};
use countersign_engine::witness::{NotCosigned, Witness};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE};
use hyper::{StatusCode, Uri};

use super::problem::{Again, Problem};

const TEXT: &str = "text/plain; charset=utf-8";

pub(super) async fn add_checkpoint(
    State(witness): State<Arc<Witness>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let body =
        body.map_err(|error| Problem::new(error.status(), "body_unreadable", error.body_text(), Again::Never))?;
    let done = tokio::task::spawn_blocking(move || witness.add_checkpoint(&body)).await;
    match done.map_err(|_| Problem::ours("internal"))? {
        Ok(lines) => Ok(answer(StatusCode::OK, TEXT, lines)),
        Err(NotCosigned::Refused(refusal)) => {
            let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST);
            let (kind, text) = refusal.body();
            Ok(answer(status, kind, text))
        }
        Err(NotCosigned::Ours(_)) => Err(Problem::ours("witness_state")),
    }
}

pub(super) async fn checkpoint(State(witness): State<Arc<Witness>>, uri: Uri) -> Result<Response, Problem> {
    let path = uri.path().trim_start_matches('/').to_owned();
    let found = tokio::task::spawn_blocking(move || witness.checkpoint(&path)).await;
    let found = found.map_err(|_| Problem::ours("internal"))?.ok_or_else(Problem::no_route)?;
    Ok(answer(StatusCode::OK, TEXT, found))
}

fn answer(status: StatusCode, kind: &'static str, body: impl IntoResponse) -> Response {
    (status, [(CONTENT_TYPE, kind), (CACHE_CONTROL, "no-store")], body).into_response()
}
