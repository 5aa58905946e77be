//! Workload `write`: planned files are written to a folder and read back.
//!
//! They are read in the order of writing or of the folder. Every byte is compared before a time is
//! used.

use std::path::{Path, PathBuf};

use super::storage::bench::{FileBench, expected_s};
use super::storage::plan::Plan;
use super::storage::way::Way;
use super::{Bench, Outline, Phase, Workload};
use crate::error::Error;
use crate::record::{self, Order};
use crate::runner::{End, Session};

/// Options of `measure write`.
#[derive(Clone, Debug)]
pub struct Write {
    /// The folder. The files are made in a new folder within it.
    pub folder: PathBuf,
    /// The files to write.
    pub plan: Plan,
    /// The order of reading: [`Order::Written`], or [`Order::Sequential`] for the order of the
    /// folder.
    pub order: Order,
}

impl Workload for Write {
    fn outline(&self) -> Outline {
        let set_s = expected_s(self.plan.bytes()) / f64::from(self.plan.sets.max(1));
        // Each file is read back, and compared.
        let [written, read] = [set_s, 2.0 * set_s].map(|set_s| Phase::of(self.plan.sets, set_s));
        let written = Phase { pause: self.plan.pause, ..written };
        let workload = record::Workload::Write;
        let (seed, departs) = (self.plan.seed, self.plan.departs());
        Outline { workload, seed, departs, making_s: 0.0, phases: vec![written, read] }
    }

    fn check(&self) -> Result<(), Error> {
        self.plan.check()
    }

    fn writes(&self) -> Vec<(&Path, u64)> {
        vec![(&self.folder, self.plan.bytes())]
    }

    fn prepare<'w>(&'w self, session: &mut Session<'_>) -> Result<Box<dyn Bench + 'w>, End> {
        let mut bench =
            FileBench::open(session, record::Workload::Write, &self.folder, &self.plan)?;
        bench.written = Some(bench.write_series(session));
        bench.read_in(session, &[Way::Cold], self.order);
        Ok(Box::new(bench))
    }
}
