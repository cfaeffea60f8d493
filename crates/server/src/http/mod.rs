//! The routers. Each says what is asked where; `shape` gives every one the same errors, headers and limits.

mod problem;
mod read;
mod serve;
mod shape;

use axum::Router;
use axum::routing::get;
use countersign_engine::published::Published;

pub use serve::serve;
pub use shape::Open;

/// The read API of a log.
pub fn log(public: Published) -> Router {
    let routes = Router::new()
        .route("/log/checkpoint", get(read::checkpoint))
        .route("/log/tile/{*path}", get(read::tile))
        .route("/log/receipt/{index}", get(read::receipt))
        .route("/log/trust", get(read::trust))
        .with_state(public);
    shape::shaped(routes, Open::ToPages)
}
