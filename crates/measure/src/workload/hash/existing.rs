//! `measure hash --existing`: reads and hashes the files that are in a folder, or one file.
//!
//! One stream is one thread that reads a file, hashes it and opens the next, as simple programs do.
//! Many streams are a run like that of a check. Both take turns, from the storage and from memory.
//! Follows no symlink and writes nothing.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use steadfast::read::buffered::Buffered;
use steadfast::run::read_without_hashing;
use steadfast::store::xattr::Xattr;
use steadfast::unguarded::run_with;
use steadfast::{Algorithm, Digest, HashOptions, Selection, Verb};
use steadfast_digest::AlgorithmHasher;
use steadfast_sys::file::{AlignedBuffer, Dir, FileKind, Status};
use steadfast_sys::machine;

use super::kernel::{backend_of_one, of_other};
use super::path::{ByteSource, CompletedRun, note_cache, options, run};
use super::{WARM_PART_OF_MEMORY, files};
use crate::contents::CHUNK_LEN_BYTES;
use crate::error::Error;
use crate::place::Site;
use crate::random::Random;
use crate::record::{self, Cache, Factors, Order, Sample, Series, Stage};
use crate::runner::{End, PlaceId, SeriesId, Session, Timed};
use crate::workload::Workload;
use crate::workload::found::{FILES_MAX, FoundFiles};
use crate::workload::storage::bench::{Way, through};
use crate::workload::storage::timed::{self, Went};

/// Expected seconds, before the files are known.
const WEIGHT: f64 = 10.0;

/// Options of `measure hash --existing`.
#[derive(Clone, Debug, PartialEq)]
pub struct ExistingHash {
    /// A folder, or one file.
    pub path: PathBuf,
    /// How often all files are read in each way. Fewer than five give no interval.
    pub rounds: u32,
    /// Draws the order of each round.
    pub seed: u64,
    /// The algorithm.
    pub algorithm: Algorithm,
}

/// One way to read all files.
#[derive(Clone, Copy, Debug)]
struct ExistingPass {
    stage: Stage,
    source: ByteSource,
    one_stream: bool,
}

impl ExistingPass {
    /// Returns every way. Files are never warm if they do not stay in memory.
    fn all(warm: bool) -> Vec<ExistingPass> {
        let sources =
            if warm { vec![ByteSource::Cold, ByteSource::Warm] } else { vec![ByteSource::Cold] };
        let mut passes = Vec::new();
        for source in sources {
            for stage in [Stage::Read, Stage::ReadHash] {
                for one_stream in [true, false] {
                    passes.push(ExistingPass { stage, source, one_stream });
                }
            }
        }
        passes
    }

    fn hashes(self) -> bool {
        self.stage == Stage::ReadHash
    }

    fn label(self, algorithm: Algorithm) -> String {
        let what = match self.hashes() {
            true => format!("read and hash{}", of_other(algorithm)),
            false => "read".to_owned(),
        };
        let streams = if self.one_stream { "one stream" } else { "many streams" };
        format!("{what}, files found there, {streams}, {}", self.source.words())
    }

    fn method(self) -> String {
        let what = match (self.one_stream, self.hashes()) {
            (true, true) => "one thread opens a file, reads it 1 MiB at a time and hashes it",
            (true, false) => "one thread opens a file and reads it 1 MiB at a time",
            (false, true) => "a run that reads and hashes as a check does",
            (false, false) => "a run that reads as a check does and hashes nothing",
        };
        let source = match self.source {
            ByteSource::Warm => "brought into the page cache",
            _ => "put out of the page cache",
        };
        format!(
            "{what}; all files of one sample, one after the other, each {source} before. What \
             their bytes should be is not known: every digest was the same in all passes, and no \
             file changed meanwhile."
        )
    }
}

impl Workload for ExistingHash {
    fn plan(&self, session: &mut Session<'_>) {
        session.plan(WEIGHT);
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), End> {
        if self.rounds == 0 {
            return Err(Error::no_rounds().into());
        }
        let mut running = ExistingRun::begin(self, session)?;
        let warm = running.found.bytes() <= machine::memory_bytes() / WARM_PART_OF_MEMORY;
        if !warm {
            session.warn("hash: the files do not stay in memory: never warm");
        }
        let series = |pass: ExistingPass| (pass, running.series(session, pass));
        let mut passes: Vec<(ExistingPass, SeriesId)> =
            ExistingPass::all(warm).into_iter().map(series).collect();
        let mut random = Random::new(self.seed);
        let share = WEIGHT / f64::from(self.rounds) / passes.len() as f64;
        let outcome: Result<(), End> = (0..self.rounds).try_for_each(|round| {
            random.shuffle(&mut passes);
            passes.iter().try_for_each(|&(pass, id)| -> Result<(), End> {
                session.doing(&pass.label(self.algorithm))?;
                running.measure(session, pass, id, round)?;
                session.did(share);
                Ok(())
            })
        });
        for (pass, id) in passes {
            note_cache(session, id, pass.source);
        }
        outcome
    }
}

/// A measurement in progress.
struct ExistingRun<'a> {
    options: &'a ExistingHash,
    folder: PathBuf,
    site: Site,
    place: PlaceId,
    found: FoundFiles,
    /// The digests of the files that are left, once they are known.
    digests: Option<Vec<Digest>>,
    buffer: AlignedBuffer,
}

impl<'a> ExistingRun<'a> {
    fn begin(options: &'a ExistingHash, session: &mut Session<'_>) -> Result<ExistingRun<'a>, End> {
        let failed = |error| Error::system("list it", error).at(&options.path);
        // Without this, the symlinks `link/` and `link/.` would be followed.
        let path = options.path.components().as_path();
        let (folder, name) = match (Status::of_link(path).map_err(failed)?.kind, path.parent()) {
            (FileKind::Regular, Some(parent)) if parent == Path::new("") => {
                (Path::new("."), path.file_name())
            }
            (FileKind::Regular, Some(parent)) => (parent, path.file_name()),
            _ => (path, None),
        };
        let site = Site::examine(folder)?;
        site.warnings().iter().for_each(|warning| session.warn(warning.clone()));
        let root = Dir::open(folder).map_err(failed)?;
        let found = match name {
            Some(name) => FoundFiles::one(root, name),
            None => FoundFiles::of(root),
        };
        let mut found = found.map_err(failed)?;
        if found.files.len() == FILES_MAX {
            session.warn(format!("hash: only the first {FILES_MAX} files were hashed"));
        }
        let before = found.files.len();
        found.retain(|found, file| found.open(file).is_ok());
        if found.files.len() < before {
            let closed = before - found.files.len();
            session.warn(format!("hash: {closed} files cannot be opened; they were left out"));
        }
        if found.files.is_empty() {
            return Err(Error::usage("has no files to hash").at(&options.path).into());
        }
        let place = session.add_place(site.place.clone());
        Ok(ExistingRun {
            options,
            folder: folder.to_owned(),
            site,
            place,
            found,
            digests: None,
            buffer: AlignedBuffer::new(CHUNK_LEN_BYTES),
        })
    }

    fn series(&self, session: &mut Session<'_>, pass: ExistingPass) -> SeriesId {
        let algorithm = self.options.algorithm;
        let hashed_alone = pass.one_stream && pass.hashes();
        let factors = Factors {
            stage: Some(pass.stage),
            algorithm: pass.hashes().then(|| algorithm.name().to_owned()),
            backend: hashed_alone.then(|| backend_of_one(algorithm).to_owned()),
            engine: Some("buffered".to_owned()),
            lanes: hashed_alone.then_some(1),
            threads: pass.one_stream.then_some(1),
            buffer_len_bytes: pass.one_stream.then_some(CHUNK_LEN_BYTES as u64),
            // Distinguishes the series from those of files made for it.
            order: Some(Order::Sequential),
            // Until all samples prove it.
            cache: Some(Cache::Unknown),
            ..Factors::default()
        };
        let (label, method) = (pass.label(algorithm), pass.method());
        let series = Series::new(record::Workload::Hash, label, method, factors);
        session.add_series_at(self.place, series.seeded(self.options.seed))
    }

    /// Reads all files once. Leaves the sample out if a file changed.
    fn measure(
        &mut self,
        session: &mut Session<'_>,
        pass: ExistingPass,
        id: SeriesId,
        round: u32,
    ) -> Result<(), End> {
        let outcome = self.pass(session, pass, id);
        let changed = self.leave_out_changed();
        if changed > 0 {
            session.warn("hash: files changed meanwhile, or went; they were left out");
            return match outcome {
                Err(End::Stopped) => Err(End::Stopped),
                _ if self.found.files.is_empty() => {
                    Err(Error::usage("all its files changed").at(&self.options.path).into())
                }
                _ => Ok(()),
            };
        }
        let (timed, cached_bytes, digests) = outcome?;
        if pass.hashes() && *self.digests.get_or_insert_with(|| digests.clone()) != digests {
            let message = "a file that did not change has another digest than before";
            return Err(Error::wrong(message).at(&self.options.path).into());
        }
        let files = Some(self.found.files.len() as u64);
        let sample = timed.sample(round, self.found.bytes());
        session.add_sample(id, Sample { files, cached_bytes, ..sample });
        Ok(())
    }

    /// Leaves out files that are not those that were found. Returns how many.
    fn leave_out_changed(&mut self) -> usize {
        let before = self.found.files.len();
        self.found.retain(|found, file| {
            found.open(file).and_then(|open| open.status()).is_ok_and(|status| file.is(&status))
        });
        let changed = before - self.found.files.len();
        if changed > 0 {
            self.digests = None;
        }
        changed
    }

    fn pass(
        &mut self,
        session: &mut Session<'_>,
        pass: ExistingPass,
        id: SeriesId,
    ) -> Result<(Timed, Option<u64>, Vec<Digest>), End> {
        let cached = self.prepare(session, pass.source)?;
        if !pass.one_stream {
            let (timed, digests) = self.in_many(session, pass, id)?;
            return Ok((timed, cached, digests));
        }
        let stop = session.stop_flag();
        let (timed, outcome) = session.time(|| self.in_one_stream(pass.hashes(), stop));
        let failed = |error| Error::system("read a file", error).at(&self.folder);
        Ok((timed, cached, through(outcome.map_err(failed)?)?))
    }

    /// Brings the files to their source; returns how many of their bytes are in memory.
    fn prepare(&self, session: &mut Session<'_>, source: ByteSource) -> Result<Option<u64>, End> {
        let mut cached = Some(0);
        for file in &self.found.files {
            session.doing("preparing the files")?;
            let failed = |error| Error::system("read a file", error).at(&self.folder);
            let (open, length) = (self.found.open(file).map_err(failed)?, file.status.length);
            let of_file = match source {
                ByteSource::Warm => files::warm(&open, length).map_err(failed)?,
                _ => self.site.empty_caches(&open, length),
            };
            cached = cached.zip(of_file).map(|(sum, one)| sum + one);
        }
        Ok(cached)
    }

    fn in_one_stream(&mut self, hashes: bool, stop: &AtomicBool) -> io::Result<Went<Vec<Digest>>> {
        let mut digests = Vec::new();
        for file in &self.found.files {
            let mut hasher = hashes.then(|| AlgorithmHasher::new(self.options.algorithm));
            let open = self.found.open(file)?;
            let engine = Way::Cold.engine();
            let read = timed::read_into(engine, &open, &mut self.buffer, stop, |bytes| {
                if let Some(hasher) = &mut hasher {
                    hasher.update(bytes);
                }
            })?;
            if matches!(read, Went::Stopped) {
                return Ok(Went::Stopped);
            }
            digests.extend(hasher.map(|hasher| hasher.finalize()));
        }
        Ok(Went::Through(digests))
    }

    /// Reads the files as a check does, by names beneath the folder.
    fn in_many(
        &self,
        session: &mut Session<'_>,
        pass: ExistingPass,
        id: SeriesId,
    ) -> Result<(Timed, Vec<Digest>), End> {
        let algorithm = Some(self.options.algorithm);
        let hash = Verb::Hash(HashOptions { algorithm, ..HashOptions::default() });
        let options = options(None);
        let selection = Selection::default().with(|selection| {
            let paths = self.found.files.iter().map(|file| self.folder.join(file.path()));
            selection.listed = paths.collect();
            selection.within = Some(self.folder.clone());
            selection.with_sidecars = true;
        });
        let engine = Arc::new(Buffered);
        let CompletedRun { timed, summary, heard } = match pass.hashes() {
            true => run(session, &options, |heard| {
                run_with(hash, &selection, &options, engine, Arc::new(Xattr), heard)
            })?,
            false => run(session, &options, |heard| {
                read_without_hashing(&selection, &options, engine, heard)
            })?,
        };
        if let Some(trouble) = heard.trouble {
            return Err(Error::wrong(trouble).into());
        }
        if summary.bytes != self.found.bytes() {
            let message = format!("read {} of {} bytes", summary.bytes, self.found.bytes());
            return Err(Error::wrong(message).at(&self.folder).into());
        }
        let factors = &mut session.series_mut(id).factors;
        factors.threads = Some(summary.means.workers as u32);
        if pass.hashes() {
            factors.backend = Some(summary.means.backend.clone());
        }
        Ok((timed, heard.digests.into_iter().flatten().collect()))
    }
}
