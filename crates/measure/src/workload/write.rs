//! Workload `write`: planned files are written to a folder and read back.
//!
//! They are read in the order of writing or of the folder. Every byte is compared before a time is
//! used.

use std::path::{Path, PathBuf};

use super::Workload;
use super::storage::bench::{Bench, expected_s};
use super::storage::plan::Plan;
use super::storage::way::Way;
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
    fn plan(&self, session: &mut Session<'_>) {
        session.plan(3.0 * expected_s(self.plan.bytes()));
    }

    fn writes(&self) -> Vec<(&Path, u64)> {
        vec![(&self.folder, self.plan.bytes())]
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), End> {
        let mut bench = Bench::open(session, record::Workload::Write, &self.folder, &self.plan)?;
        let written = bench.write_series(session);
        bench.write(session, Some(written))?;
        let read = bench.read_series(session, Way::Cold, self.order);
        for file in bench.files(self.order)? {
            session.doing(&format!("reading back, set {} of {}", file.set + 1, self.plan.sets))?;
            bench.read(session, file, Way::Cold, read)?;
            bench.compare(session, file)?;
        }
        bench.close()
    }
}
