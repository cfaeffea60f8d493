//! The routers. Each says what is asked where; `shape` gives every one the same errors, headers and limits.

mod problem;
mod read;
mod room;
mod serve;
mod shape;
mod witness;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use countersign_engine::published::Published;
use countersign_engine::witness::{LARGEST_REQUEST, Witness};

pub use room::connections;
pub use serve::{Bounds, serve};

/// The read API of a log.
pub fn log(public: Published) -> Router {
    let routes = Router::new()
        .route("/log/checkpoint", get(read::checkpoint))
        .route("/log/cosigned", get(read::cosigned))
        .route("/log/tile/{*path}", get(read::tile))
        .route("/log/receipt/{index}", get(read::receipt))
        .route("/log/trust", get(read::trust))
        .with_state(public);
    shape::shaped(routes)
}

/// A witness: submissions, and its newest checkpoint of each log under the hex SHA-256 of the log's origin.
pub fn witness(witness: Arc<Witness>) -> Router {
    let routes = Router::new()
        .route("/add-checkpoint", post(witness::add_checkpoint))
        .route("/{origin}/checkpoint", get(witness::checkpoint))
        .layer(DefaultBodyLimit::max(LARGEST_REQUEST))
        .with_state(witness);
    shape::shaped(routes)
}
