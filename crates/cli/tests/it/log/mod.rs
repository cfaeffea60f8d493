//! `countersign log` through the real binary: one process serves, others ask, append and watch.

mod bucket;
mod many;
mod read_only;
mod serve;
mod watch;
pub(crate) mod witness;
mod wrong;
