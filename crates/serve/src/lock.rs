//! A mutex that survives a panic: what it guards here is whole between any two statements.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also after a thread that held it has panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
