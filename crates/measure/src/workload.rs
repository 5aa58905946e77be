//! The workloads, one file each.
//!
//! A workload adds series of samples to a session. It verifies every result that it times, removes
//! its files, and ends when it is told to.

pub mod cipher;
pub mod cpu;
pub mod hash;
pub mod pair;
pub mod queue;
pub mod read;
pub mod storage;
pub mod together;
pub mod write;

use crate::runner::{End, Session};

/// Something that can be measured.
pub trait Workload {
    /// Announces how much work there is, by [`Session::plan`], in expected seconds.
    fn plan(&self, session: &mut Session<'_>);

    /// Measures and puts what it finds into the session.
    ///
    /// # Errors
    /// If it was stopped or could not go on. What was measured by then stands.
    fn run(&self, session: &mut Session<'_>) -> Result<(), End>;
}
