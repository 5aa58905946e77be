//! How much work SQLite does for a catalogue.
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

/// Operations between two looks at the bound and the stop flag: well below a millisecond.
const STEP: i32 = 1000;

/// Steps for the tables themselves, which are a dozen.
const SCHEMA_STEPS: u64 = 20;

/// Steps for a file of any length, about 40 ms, and the bytes for which there is one more: five
/// operations for each byte. Our runs need at most half an operation for each, with what missing
/// and moved files cost.
const STEPS: u64 = 1000;
const BYTES_PER_STEP: u64 = 200;

/// Steps that a question gives back when it ends: it may read the longest slice.
const STEPS_OF_QUESTION: u64 = 250;

thread_local! {
    /// Questions of this thread.
    static QUESTIONS: Cell<u64> = const { Cell::new(0) };

    /// Whether the stop flag ends what is done.
    static IS_STOPPABLE: Cell<bool> = const { Cell::new(false) };
}

/// Begins a question of this thread. Many short ones are honest, and many long ones are not.
pub(super) fn begin() {
    QUESTIONS.set(QUESTIONS.get() + 1);
}

/// Does work that the stop flag interrupts.
pub(super) fn stoppable<T>(work: impl FnOnce() -> T) -> T {
    IS_STOPPABLE.set(true);
    let done = work();
    IS_STOPPABLE.set(false);
    done
}

/// Bounds the reading of the tables.
pub(super) fn bound_schema(db: &mut Connection) -> Result<(), DbError> {
    bound_by(db, || SCHEMA_STEPS, || false)
}

/// Bounds all work of a connection by the present length of the file and its log. Once the run is
/// stopped, there is no more than what a file of any length gets.
pub(super) fn bound(
    db: &mut Connection,
    home: &Home,
    stop: Option<Arc<AtomicBool>>,
) -> Result<(), DbError> {
    let (home, stop) = (home.clone(), stop.unwrap_or_default());
    let is_stopped = move || stop.load(Ordering::Relaxed);
    let is_ended = is_stopped.clone();
    let most = move || STEPS + if is_stopped() { 0 } else { home.length() / BYTES_PER_STEP };
    bound_by(db, most, move || IS_STOPPABLE.get() && is_ended())
}

fn bound_by(
    db: &mut Connection,
    most: impl Fn() -> u64 + Send + 'static,
    is_ended: impl Fn() -> bool + Send + 'static,
) -> Result<(), DbError> {
    let (mut done, mut asked, mut known, mut was_over) = (0_u64, QUESTIONS.get(), 0, false);
    let count = move || {
        let questions = QUESTIONS.get().saturating_sub(asked);
        asked = QUESTIONS.get();
        done = done.saturating_sub(questions * STEPS_OF_QUESTION) + 1;
        if done > known {
            known = most();
            // What was too much once would be so again for each file.
            was_over |= done > known;
        }
        was_over || is_ended()
    };
    Ok(db.progress_handler(STEP, Some(count))?)
}
