//! What every answer has: an id, a time limit, the one shape of errors, and the header that lets web pages read it.

use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use countersign_engine::env::Env;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE, CACHE_CONTROL, CONTENT_TYPE,
    HeaderName, HeaderValue,
};
use hyper::{Method, StatusCode};

use super::problem::Problem;

/// How long an answer may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Gives a router the answers for unknown paths and methods, and every answer its shape.
pub(super) fn shaped(routes: Router) -> Router {
    routes
        .fallback(|| async { Problem::no_route() })
        .method_not_allowed_fallback(|| async { Problem::no_method() })
        .layer(middleware::from_fn(shape))
}

async fn shape(request: Request, next: Next) -> Response {
    let id = Env::Real.row_id().unwrap_or_default();
    let mut response = match *request.method() {
        Method::OPTIONS => preflight(),
        _ => tokio::time::timeout(ANSWER_WITHIN, next.run(request))
            .await
            .unwrap_or_else(|_| Problem::slow().into_response()),
    };
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        *response.body_mut() = problem.body(&id).to_string().into();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

fn preflight() -> Response {
    let allowed = [(ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, OPTIONS"), (ACCESS_CONTROL_MAX_AGE, "86400")];
    (StatusCode::NO_CONTENT, allowed).into_response()
}
