//! What can be measured: one file for each workload.
//!
//! In: options, and a session. Out: series of samples in the session. A workload checks every
//! answer it times, leaves nothing behind, and ends when it is told to.

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
