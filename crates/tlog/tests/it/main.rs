//! The log through its public face, and beside implementations we did not write. Linked once.

mod oracle;
mod sequencer;
mod strangers;
