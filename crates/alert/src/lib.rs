//! Tells people and monitors about trouble.
//!
//! ```text
//! open failures ──▶ news ──▶ message ──▶ channels
//! of a catalogue    (memory)  (words)     command, webhook, ping, mail, desktop
//! ```
//!
//! [`Memory`] remembers what was told, so that new trouble is told once, open trouble once a week,
//! and settled trouble once. A channel that fails is a warning and never changes a verdict.
//! Configuration is one file in the user's folder; it is never read from inside a tree.

#![forbid(unsafe_code)]

mod error;
mod config;
mod memory;
mod message;
mod channel;

pub use channel::{Delivery, Sender};
pub use config::{Alert, AlertList, Channel, Details, Occasion, WebhookForm};
pub use error::{Error, ErrorKind};
pub use memory::{Memory, News, Trouble};
pub use message::{AlertFacts, AlertMessage};
