//! The workloads, one file each.
//!
//! A workload adds series of samples to a session. It verifies every result that it times, removes
//! its files, and ends when the session is stopped.

pub mod cipher;
pub mod cpu;
pub mod hash;
pub mod pair;
pub mod queue;
pub mod read;
pub mod storage;
pub mod together;
pub mod write;

use std::path::Path;

use crate::runner::{End, Session};

/// A workload.
pub trait Workload {
    /// Announces the amount of work by [`Session::plan`], in expected seconds.
    fn plan(&self, session: &mut Session<'_>);

    /// Returns how many bytes it writes at most in which folder. None by default.
    fn writes(&self) -> Vec<(&Path, u64)> {
        Vec::new()
    }

    /// Returns what a person should know before it begins. Nothing by default.
    fn notice(&self) -> Option<String> {
        None
    }

    /// Measures, and adds the results to the session.
    ///
    /// # Errors
    ///
    /// If it was stopped or failed. The samples so far are kept.
    fn run(&self, session: &mut Session<'_>) -> Result<(), End>;
}
