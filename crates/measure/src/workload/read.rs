//! Workload `read`: files are read in several ways, from the storage and from memory.
//!
//! Reads files of its own: written first, compared, and removed afterwards. Each file is read in
//! every way, in an order drawn from the seed, so drift affects all ways alike.

use std::path::{Path, PathBuf};

use super::storage::bench::{FileBench, expected_s};
use super::storage::plan::Plan;
use super::{Bench, Outline, Phase, Workload};
use crate::error::Error;
use crate::record::{self, Order};
use crate::runner::{End, Session};

pub use super::storage::way::Way;

/// Options of `measure read`.
#[derive(Clone, Debug)]
pub struct Read {
    /// The folder.
    pub folder: PathBuf,
    /// The files to write and read.
    pub files: Plan,
    /// The ways of reading. Each is used once for each file and round.
    pub ways: Vec<Way>,
    /// The order: [`Order::Written`] is the order of writing, [`Order::Sequential`] that of the
    /// folder.
    pub order: Order,
}

impl Workload for Read {
    fn outline(&self) -> Outline {
        let whole_s = expected_s(self.files.bytes());
        // Each file is read in each way, and compared.
        let read_s = (1 + self.ways.len()) as f64 * whole_s / f64::from(self.files.sets.max(1));
        let phase = Phase { pause: self.files.pause, ..Phase::of(self.files.sets, read_s) };
        let workload = record::Workload::Read;
        let (seed, departs) = (self.files.seed, self.files.departs());
        Outline { workload, seed, departs, making_s: whole_s, phases: vec![phase] }
    }

    fn check(&self) -> Result<(), Error> {
        if self.ways.is_empty() {
            return Err(Error::usage("no way of reading, nothing to measure"));
        }
        self.files.check()
    }

    fn writes(&self) -> Vec<(&Path, u64)> {
        vec![(&self.folder, self.files.bytes())]
    }

    fn prepare<'w>(&'w self, session: &mut Session<'_>) -> Result<Box<dyn Bench + 'w>, End> {
        let mut bench =
            FileBench::open(session, record::Workload::Read, &self.folder, &self.files)?;
        for set in 0..self.files.sets {
            bench.write(session, set, None)?;
        }
        bench.read_in(session, &self.ways, self.order);
        Ok(Box::new(bench))
    }
}
