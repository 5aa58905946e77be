//! How much work SQLite does for one question.
//!
//! A page of a hostile file can be a part of many others, so that reading it never ends. The work
//! is bounded by the length of the file, which holds for every file that this program made. SQLite
//! does `count(*)` of a table in one operation, which nothing bounds; `count(1)` takes one for each
//! row.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;

use super::error::DbError;
use super::home::Home;

/// Operations between two counts.
const STEP: i32 = 100_000;

/// Operations and counts for the tables themselves, which are a dozen.
const SCHEMA_STEP: i32 = 1000;
const SCHEMA_STEPS: u64 = 20;

/// Counts for any question, and the bytes for which there is one more: 50 operations for each byte.
/// A row has more than 40 bytes, and takes some hundred operations in the longest search.
const STEPS: u64 = 200;
const BYTES_PER_STEP: u64 = 2048;

thread_local! {
    /// Counts since the question began.
    static DONE: Cell<u64> = const { Cell::new(0) };
}

/// Begins a question of this thread.
pub(super) fn begin() {
    DONE.set(0);
}

/// Bounds the reading of the tables.
pub(super) fn bound_schema(db: &mut Connection) -> Result<(), DbError> {
    bound_by(db, SCHEMA_STEP, |done| done > SCHEMA_STEPS)
}

/// Bounds every question by the present length of the file and its log. Once the run is stopped, a
/// question gets no more than what any gets.
pub(super) fn bound(
    db: &mut Connection,
    home: &Home,
    stop: Option<Arc<AtomicBool>>,
) -> Result<(), DbError> {
    let home = home.clone();
    let is_stopped = move || stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed));
    let more = move || if is_stopped() { 0 } else { home.length() / BYTES_PER_STEP };
    bound_by(db, STEP, move |done| done > STEPS && done > STEPS + more())
}

fn bound_by(
    db: &mut Connection,
    step: i32,
    is_over: impl Fn(u64) -> bool + Send + 'static,
) -> Result<(), DbError> {
    begin();
    let mut was_over = false;
    let count = move || {
        DONE.set(DONE.get() + 1);
        // What was too much once would be so again for each file.
        was_over |= is_over(DONE.get());
        was_over
    };
    Ok(db.progress_handler(step, Some(count))?)
}
