//! How much work SQLite does for one question.
//!
//! A page of a hostile file can be a part of many others, so that reading it never ends. The work
//! is bounded by the length of the file, which holds for every file that this program made.

use std::cell::Cell;

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
    bound_by(db, SCHEMA_STEP, || SCHEMA_STEPS)
}

/// Bounds every question by the present length of the file and its log.
pub(super) fn bound(db: &mut Connection, home: &Home) -> Result<(), DbError> {
    let home = home.clone();
    bound_by(db, STEP, move || STEPS + home.length() / BYTES_PER_STEP)
}

fn bound_by(
    db: &mut Connection,
    step: i32,
    most: impl Fn() -> u64 + Send + 'static,
) -> Result<(), DbError> {
    begin();
    let mut known = 0;
    let is_over = move || {
        DONE.set(DONE.get() + 1);
        if DONE.get() > known {
            known = most();
        }
        DONE.get() > known
    };
    Ok(db.progress_handler(step, Some(is_over))?)
}
