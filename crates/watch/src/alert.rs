//! Messages about trouble.
//!
//! ```text
//! open failures ──▶ news ──▶ message ──▶ channels
//! of a catalogue    (memory)  (words)     command, webhook, ping, mail, desktop
//! ```
//!
//! [`Memory`] remembers what was told, so that each trouble is told once, then once a week,
//! and settled trouble once. A channel that fails is a warning and never changes a verdict.
//! Configuration is one file in the user's folder; it is never read from inside a tree.

pub(crate) mod config;
pub(crate) mod reach;
pub(crate) mod memory;
pub(crate) mod message;
pub(crate) mod channel;
