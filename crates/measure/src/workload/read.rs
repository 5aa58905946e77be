//! Workload `read`: files are read in several ways, from the storage and from memory.
//!
//! Reads files of its own: written first, compared, and removed afterwards. Each file is read in
//! every way, in an order drawn from the seed, so drift affects all ways alike.

use std::path::{Path, PathBuf};

use super::Workload;
use super::storage::bench::{Bench, expected_s};
use super::storage::plan::Plan;
use crate::error::Error;
use crate::random::Random;
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
    fn plan(&self, session: &mut Session<'_>) {
        // Each file is written, compared, and read in each way.
        session.plan((2 + self.ways.len()) as f64 * expected_s(self.files.bytes()));
    }

    fn writes(&self) -> Vec<(&Path, u64)> {
        vec![(&self.folder, self.files.bytes())]
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), End> {
        if self.ways.is_empty() {
            return Err(Error::usage("no way of reading, nothing to measure").into());
        }
        let plan = &self.files;
        let mut bench = Bench::open(session, record::Workload::Read, &self.folder, plan)?;
        bench.write(session, None)?;
        let series: Vec<_> =
            self.ways.iter().map(|&way| bench.read_series(session, way, self.order)).collect();
        let mut turns: Vec<usize> = (0..self.ways.len()).collect();
        let mut random = Random::new(plan.seed ^ TURNS);
        for file in bench.files(self.order)? {
            random.shuffle(&mut turns);
            for &turn in &turns {
                let way = self.ways[turn];
                let set = file.set + 1;
                session.doing(&format!("reading {}, set {set} of {}", way.name(), plan.sets))?;
                bench.read(session, file, way, series[turn])?;
            }
            bench.compare(session, file)?;
        }
        bench.close()
    }
}

/// Makes the seed of the order of ways different from that of the files.
const TURNS: u64 = 0x7475_726e_7321_7475;
