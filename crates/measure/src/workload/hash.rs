//! `measure hash`: hashing alone, reading alone, and both as in a check.
//!
//! Takes a folder for files, sizes, rounds and levels. Adds series of kernels in memory, of the
//! path of a check as a whole and in parts, and of QoS levels. Every round measures
//! everything once, in an order drawn from the seed, so that a disturbance affects all series.
//!
//! ```text
//! memory ── hash ──▶                       the upper bound of hashing
//! files ─── read ──▶                       the path without hashing
//! files ─── read ─── hash ──▶              the path of a check
//!           (nothing) ─── hash ──▶         the path without moving bytes
//! ```

mod answers;
mod files;
mod kernel;
mod memory;
mod path;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use steadfast::{Algorithm, Level};
use steadfast_sys::machine;
use strum::{EnumMessage, IntoStaticStr, VariantArray};

pub(super) use answers::ANSWERS;
use files::FileStore;
use kernel::HashKernel;
use memory::{Data, KernelCell, StreamCell};
use path::{PathCell, PathScope, PathSeries};

use super::storage::way::Way;
use super::{Bench, Outline, Phase, ROUNDS_MAX, SweepStep, Workload, departs};
use crate::contents::TestBytes;
use crate::error::Error;
use crate::record::{self, Stage};
use crate::runner::{End, SeriesId, Session};

/// Length of the pieces in which a message is hashed, in bytes: that of a chunk of a run.
const PIECE_LEN_BYTES: usize = 256 << 10;

/// Files longer than memory divided by this may not stay in the page cache.
const WARM_PART_OF_MEMORY: u64 = 2;

/// A part of `measure hash`.
#[derive(EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Every algorithm and backend, in memory.
    Kernels,
    /// Files of several sizes, one in each run; hashing alone of messages of those sizes.
    Sizes,
    /// Many files in one run.
    Folder,
    /// QoS levels.
    Levels,
}

impl Part {
    /// Every part.
    pub const ALL: [Part; 4] = [Part::Kernels, Part::Sizes, Part::Folder, Part::Levels];
}

/// Options of `measure hash`.
#[derive(Clone, Debug, PartialEq)]
pub struct Hash {
    /// The folder. The files are made in a new folder within it.
    pub folder: PathBuf,
    /// The parts to measure.
    pub parts: Vec<Part>,
    /// Rounds. Fewer than five give no interval.
    pub rounds: u32,
    /// The most rounds of what is measured by processor time, until the fastest agree.
    pub rounds_max: u32,
    /// Draws the order of each round and the contents of the files.
    pub seed: u64,
    /// Lengths of the single files, in bytes.
    pub sizes_bytes: Vec<u64>,
    /// How many files a folder has, and how many bytes each.
    pub folder_files: (u32, u64),
    /// QoS levels to compare.
    pub levels: Vec<Level>,
    /// QoS levels at which single files are read and hashed; empty for the level of the session.
    pub size_levels: Vec<Level>,
    /// The only algorithm; `None` for all of them in memory, and SHA-256 of files.
    pub algorithm: Option<Algorithm>,
    /// Approximate time of one sample in memory, in nanoseconds.
    pub kernel_ns: u64,
}

impl Hash {
    /// Returns the documented standard: sizes of 1 MB to 10 GB.
    pub fn standard(folder: PathBuf, seed: u64) -> Hash {
        let sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];
        Hash {
            folder,
            parts: Part::ALL.to_vec(),
            rounds: 10,
            rounds_max: ROUNDS_MAX,
            seed,
            sizes_bytes: sizes.map(|size| size * 1_000_000).to_vec(),
            folder_files: (32, 64_000_000),
            levels: Level::ALL.to_vec(),
            size_levels: Vec::new(),
            algorithm: None,
            kernel_ns: 20_000_000,
        }
    }

    /// Returns a short form: sizes of 1 to 256 MB. Its figures are not comparable with standard
    /// ones, and its record says so.
    pub fn quick(folder: PathBuf, seed: u64) -> Hash {
        let sizes = [1, 4, 16, 64, 256];
        Hash {
            rounds: 5,
            sizes_bytes: sizes.map(|size| size * 1_000_000).to_vec(),
            folder_files: (16, 4_000_000),
            kernel_ns: 3_000_000,
            ..Hash::standard(folder, seed)
        }
    }

    /// Leaves out files longer than this. If none remains, there is one of this length.
    pub fn limit_sizes(&mut self, size_bytes_max: u64) {
        self.sizes_bytes.retain(|&size| size <= size_bytes_max);
        if self.sizes_bytes.is_empty() {
            self.sizes_bytes.push(size_bytes_max);
        }
    }

    fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    /// Returns how many files there are of each kind: single ones, and those of the folder.
    fn counts(&self) -> [usize; 2] {
        let folder = self.has(Part::Folder) || self.has(Part::Levels);
        [
            if self.has(Part::Sizes) { self.sizes_bytes.len() } else { 0 },
            if folder { self.folder_files.0 as usize } else { 0 },
        ]
    }

    /// Returns the lengths of all files, in the order of the kinds.
    fn lengths(&self) -> Vec<u64> {
        let [single, folder] = self.counts();
        let folder = std::iter::repeat_n(self.folder_files.1, folder);
        self.sizes_bytes[..single].iter().copied().chain(folder).collect()
    }

    /// Makes everything that is measured in a round.
    fn cells(
        &self,
        session: &mut Session<'_>,
        store: &Rc<FileStore>,
        data: &Rc<Data>,
    ) -> Result<Vec<Box<dyn HashCell>>, End> {
        let mut cells: Vec<Box<dyn HashCell>> = Vec::new();
        if self.has(Part::Kernels) {
            // Every kernel, in one thread and in one per processor.
            let mut threads = vec![1, machine::logical_cpus()];
            threads.dedup();
            let kernels = HashKernel::all().into_iter();
            let is_wanted =
                |of: &HashKernel| self.algorithm.is_none_or(|one| of.algorithm() == one);
            for kernel in kernels.filter(is_wanted) {
                cells.extend(
                    threads
                        .iter()
                        .map(|&threads| self.kernel_cell(session, (kernel, threads, None), data)),
                );
            }
        }
        if self.has(Part::Sizes) && self.size_levels.is_empty() {
            let sizes = (store.algorithm, self.sizes_bytes.as_slice());
            let streams = StreamCell::all(session, sizes, data, self.seed)?;
            cells.extend(streams.into_iter().map(|cell| Box::new(cell) as Box<dyn HashCell>));
        }
        if self.has(Part::Sizes) {
            self.size_cells(session, store, &mut cells);
        }
        let [single, folder] = self.counts();
        let folder = &store.files[single..single + folder];
        let path_cell = |session: &mut Session<'_>, way: PathSeries| -> Box<dyn HashCell> {
            let id = way.series(session, store, self.seed);
            Box::new(PathCell::new(way, folder.to_vec(), store, id))
        };
        if self.has(Part::Folder) {
            let ways = PathSeries::parts(PathScope::Folder, None).into_iter();
            cells.extend(ways.map(|way| path_cell(session, way)));
        }
        // The kernel that runs use, and a run over the folder, at every level.
        for &level in self.levels.iter().filter(|_| self.has(Part::Levels)) {
            let kernel = HashKernel::of_runs(store.algorithm);
            let what = (kernel, steadfast::qos::workers(level), Some(level));
            cells.push(self.kernel_cell(session, what, data));
            let (source, scope) = (Some(Way::Warm), PathScope::Folder);
            let way = PathSeries { stage: Stage::ReadHash, source, scope, level: Some(level) };
            cells.push(path_cell(session, way));
        }
        Ok(cells)
    }

    fn kernel_cell(
        &self,
        session: &mut Session<'_>,
        what: (HashKernel, usize, Option<Level>),
        data: &Rc<Data>,
    ) -> Box<dyn HashCell> {
        Box::new(KernelCell::new(session, what, data, self.kernel_ns, self.seed))
    }

    /// The parts of the path for every single file, at each level if there are any.
    fn size_cells(
        &self,
        session: &mut Session<'_>,
        store: &Rc<FileStore>,
        cells: &mut Vec<Box<dyn HashCell>>,
    ) {
        let single = &store.files[..self.counts()[0]];
        let warm_max = machine::memory_bytes() / WARM_PART_OF_MEMORY;
        let levels: Vec<Option<Level>> = match self.size_levels.as_slice() {
            [] => vec![None],
            levels => levels.iter().copied().map(Some).collect(),
        };
        let scope = PathScope::OneFile;
        for way in levels.into_iter().flat_map(|level| PathSeries::parts(scope, level)) {
            let id = way.series(session, store, self.seed);
            for file in single {
                if way.source == Some(Way::Warm) && file.length > warm_max {
                    let length = file.length;
                    session.warn(format!("{length} bytes do not stay in memory: never warm"));
                    continue;
                }
                cells.push(Box::new(PathCell::new(way, vec![file.clone()], store, id)));
            }
        }
    }

    /// Estimates the seconds for making the files.
    fn making_s(&self) -> f64 {
        self.lengths().iter().sum::<u64>() as f64 / 250e6
    }

    /// Estimates the seconds of a round.
    fn round_s(&self) -> f64 {
        let files: u64 = self.lengths().iter().sum();
        let kernels = HashKernel::all().len() as f64 * 2.0 * self.kernel_ns as f64 / 1e9;
        1.5 * kernels + files as f64 / 300e6
    }
}

impl Workload for Hash {
    fn outline(&self) -> Outline {
        let phase = Phase { rounds_max: self.rounds_max, ..Phase::of(self.rounds, self.round_s()) };
        let standard = Hash::standard(self.folder.clone(), self.seed);
        let standard = Hash { parts: self.parts.clone(), ..standard };
        let alike = (self.lengths(), self.kernel_ns) == (standard.lengths(), standard.kernel_ns);
        let workload = record::Workload::Hash;
        let (seed, departs) = (self.seed, departs(alike && self.rounds >= standard.rounds));
        Outline { workload, seed, departs, making_s: self.making_s(), phases: vec![phase] }
    }

    fn check(&self) -> Result<(), Error> {
        if self.parts.is_empty() || self.lengths().contains(&0) {
            return Err(Error::usage("there is nothing to measure in no parts, or of no bytes"));
        }
        Ok(())
    }

    fn writes(&self) -> Vec<(&Path, u64)> {
        vec![(&self.folder, self.lengths().iter().sum())]
    }

    fn prepare<'w>(&'w self, session: &mut Session<'_>) -> Result<Box<dyn Bench + 'w>, End> {
        for kernel in HashKernel::all() {
            session.doing("checking published digests")?;
            answers::check(kernel)?;
        }
        let mut contents = TestBytes::new(self.seed);
        let algorithm = self.algorithm.unwrap_or(Algorithm::Sha256);
        let store =
            FileStore::make(session, &self.folder, (&self.lengths(), algorithm), &mut contents)?;
        let (store, data) = (Rc::new(store), Rc::new(Data::new(contents)));
        let cells = self.cells(session, &store, &data)?;
        Ok(Box::new(HashBench { cells, store }))
    }
}

/// Everything that `measure hash` measures, and the files.
struct HashBench {
    cells: Vec<Box<dyn HashCell>>,
    store: Rc<FileStore>,
}

impl Bench for HashBench {
    fn steps(&self) -> Vec<SweepStep> {
        let ids = self.cells.iter().map(|cell| (vec![cell.id()], cell.cost_s()));
        ids.map(|(series, cost)| SweepStep { phase: 0, series, cost }).collect()
    }

    fn sample(&mut self, session: &mut Session<'_>, step: usize, round: u32) -> Result<(), End> {
        self.cells[step].measure(session, round)
    }

    fn close(self: Box<Self>, _session: &mut Session<'_>) -> Result<(), End> {
        drop(self.cells);
        let store = Rc::into_inner(self.store).expect("no cell is left that holds it");
        Ok(store.close()?)
    }
}

/// Something that is measured once in each round.
trait HashCell {
    /// Returns its series.
    fn id(&self) -> SeriesId;

    /// Estimates the seconds of one measurement.
    fn cost_s(&self) -> f64;

    /// Measures it once.
    fn measure(&mut self, session: &mut Session<'_>, round: u32) -> Result<(), End>;
}
