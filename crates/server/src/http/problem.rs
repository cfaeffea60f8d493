//! A failure as HTTP tells it: `{"error":{"code","message","request_id","retryable"}}`.

use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use serde_json::{Value, json};

/// Whether the same question may be answered later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// It may.
    Later,
    /// It stays refused.
    Never,
}

/// Why there is no answer. The body is written by `shape`, which knows the request's id.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) again: Again,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl ToString, again: Again) -> Self {
        Self { status, code, message: message.to_string(), again }
    }

    pub(crate) fn no_route() -> Self {
        Self::new(StatusCode::NOT_FOUND, "no_such_path", "there is nothing here", Again::Never)
    }

    pub(crate) fn no_method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "this path takes another method", Again::Never)
    }

    pub(crate) fn slow() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "timeout", "the answer took too long", Again::Later)
    }

    /// Something of ours that no caller can help.
    pub(crate) fn ours(code: &'static str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, "the service cannot answer at the moment", Again::Later)
    }

    pub(crate) fn body(&self, request_id: &str) -> Value {
        json!({"error": {
            "code": self.code, "message": self.message, "request_id": request_id, "retryable": self.again == Again::Later,
        }})
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
