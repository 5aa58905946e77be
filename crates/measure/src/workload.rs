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

use crate::record::Series;
use crate::runner::{End, Session};
use crate::stats;

/// Of what is measured by processor time there are rounds until the fastest agree to this share, at
/// least so many, and at most [`ROUNDS_MAX`].
const SETTLED_SHARE: f64 = 0.01;
const SETTLED_ROUNDS_MIN: usize = 10;

/// The most rounds by processor time, if no number of rounds was asked for. Where five busy
/// processes ran beside two processors, 20 rounds were needed on average.
pub const ROUNDS_MAX: u32 = 80;

/// Warns of figures that are not comparable with those of other machines.
fn warn_unless_standard(session: &mut Session<'_>, name: &str, is_standard: bool) {
    if !is_standard {
        session.warn(format!("{name}: not standard: fewer rounds, or other sizes"));
    }
}

/// Returns whether more rounds would not tell more of a series by processor time. Others have their
/// rounds, and no more.
fn is_settled(series: &Series) -> bool {
    let rates: Vec<f64> = series.counting().map(|sample| series.per_second(sample)).collect();
    !series.is_by_processor_time()
        || rates.len() >= SETTLED_ROUNDS_MIN && stats::fastest(&rates, SETTLED_SHARE).is_some()
}

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
