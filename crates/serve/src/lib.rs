//! The web server: the command's runs and reports as pages on loopback.
//!
//! In: folders, an address, and who may sign in. Out: a [`Server`], which answers until it is told
//! to stop. It adds no facts: numbers, units, order and verdict names come from `steadfast_report`.
//! It never prints, and reads nothing outside the named folders.
//!
//! A request goes through `server`, which limits its connection, through `guard`, which checks it,
//! to the one file in `pages` that answers it. Runs, measurements and drops outlive requests:
//! `jobs` and `drops` keep them, and `live` streams their state to every open page.

#![forbid(unsafe_code)]

mod fields;
mod automation;
mod config;
mod error;
mod lock;
mod looks;
mod assets;
mod icons;
mod kinds;
mod dates;
mod recent;
mod names;
mod tls;
mod wire;
mod base_path;
mod roots;
mod session;
mod refusal;
mod live;
mod jobs;
mod audits;
mod measuring;
mod runs;
mod estimates;
mod drops;
mod shelf;
mod words;
mod folders;
mod repairs;
mod repair_data;
mod copying;
mod visitor;
mod layout;
mod app;
mod guard;
mod pages;
mod server;

pub use crate::automation::Automation;
pub use crate::config::{Config, Limits, MakeWorkload, PublicAddress, Tls};
pub use crate::error::{Error, ErrorKind};
pub use crate::server::Server;
pub use crate::session::hash_password;
