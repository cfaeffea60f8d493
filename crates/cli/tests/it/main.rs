//! Everything that is tested through the real binary, linked once.

mod answers;
mod bad_input;
mod commands;
mod common;
mod demands;
mod disk;
mod doctor;
mod door;
mod keys;
mod log;
mod manual;
mod receipts;
mod selection;
mod shapes;
mod verifiers;
mod walls;
