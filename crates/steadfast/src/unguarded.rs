//! Runs of verbs with an engine and a store of one's own, and without any guard.
//!
//! For measurements and tests. Nothing here refuses a tree in which a repair was cut off, asks
//! before many changes are accepted, or brings parity up to date. Programs that work on somebody's
//! files use [`crate::Run`].

use std::sync::Arc;

use crate::error::Error;
use crate::monitor::{Monitor, Summary};
use crate::read::Engine;
use crate::run::{Options, Verb, engine_of, run_as};
use crate::selection::Selection;
use crate::store::Store;
use crate::store::xattr::Xattr;

/// Executes a verb.
///
/// Errors of single files are in the events and in the summary's exit status.
///
/// # Errors
/// If an option is invalid, or the system refuses something that the whole run needs.
pub fn run(
    verb: Verb,
    selection: &Selection,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    run_with(verb, selection, options, engine_of(options), Arc::new(Xattr), monitor)
}

/// Executes a verb with a given engine and store.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    verb: Verb,
    selection: &Selection,
    options: &Options,
    engine: Arc<dyn Engine>,
    store: Arc<dyn Store>,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    run_as(verb, None, selection, options, engine, store, monitor)
}
