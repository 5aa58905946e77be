//! The server in the browser: the runs and documents of the command, as pages on loopback.
//!
//! In: folders, an address, and who may come in. Out: a [`Server`], which answers until it is told
//! to stop. It adds no facts: numbers, units, order and the words of verdicts are the report's. It
//! never prints; nothing outside the named folders is read.
//!
//! A request's way: `server` bounds its connection, `guard` admits it, one file in `pages` answers.
//! What goes on longer than a request, a run, is kept in `runs` and told to every page by `live`.

#![forbid(unsafe_code)]

mod address;
mod app;
mod config;
mod drops;
mod error;
mod fields;
mod guard;
mod live;
mod measuring;
mod pages;
mod roots;
mod runs;
mod server;
mod session;
mod shelf;
mod texts;
mod tls;
mod wire;

pub use crate::config::{Config, Language, Limits, Tls};
pub use crate::error::{Error, ErrorKind};
pub use crate::server::Server;
pub use crate::session::hash_password;
pub use steadfast_measure::workload::cipher::WorkerCommand;
