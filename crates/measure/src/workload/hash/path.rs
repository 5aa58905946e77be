//! The path of a check, timed: whole, without its hashing, and without moving bytes.
//!
//! The measured code is that of the command, with the same threads, buffers and engine; one part is
//! switched off.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::read::Engine;
use steadfast::read::buffered::Buffered;
use steadfast::read::null::Null;
use steadfast::run::read_without_hashing;
use steadfast::store::xattr::Xattr;
use steadfast::unguarded::run_with;
use steadfast::{
    Algorithm, CatalogueUse, Digest, Event, HashOptions, Level, Monitor, Options, Progress,
    Selection, Summary, Verb,
};

use super::HashCell;
use super::files::{FileStore, Made};
use super::kernel::of_other;
use crate::error::Error;
use crate::record::{Factors, Series, Stage, Workload};
use crate::runner::{End, SeriesId, Session};
use crate::workload::storage::way::{Way, note_origin};

/// The files of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathScope {
    /// One file in each run, in several sizes.
    OneFile,
    /// Many files in each run, always the same ones.
    Folder,
}

/// What distinguishes a series of runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathSeries {
    pub(super) stage: Stage,
    /// How the bytes get into memory; `None` if an engine moves none.
    pub(super) source: Option<Way>,
    pub(super) scope: PathScope,
    pub(super) level: Option<Level>,
}

impl PathSeries {
    /// Returns reading, and reading and hashing, from each source; at a level, only from those that
    /// move bytes.
    pub(super) fn parts(scope: PathScope, level: Option<Level>) -> Vec<PathSeries> {
        let sources = [Some(Way::Warm), Some(Way::Cold), None].into_iter();
        let sources = sources.filter(|source| level.is_none() || source.is_some());
        let part = |source| {
            [Stage::Read, Stage::ReadHash].map(|stage| PathSeries { stage, source, scope, level })
        };
        sources.flat_map(part).collect()
    }

    fn engine(self) -> Arc<dyn Engine> {
        match self.source {
            Some(_) => Arc::new(Buffered),
            None => Arc::new(Null),
        }
    }

    fn label(self, algorithm: Algorithm) -> String {
        let what = match (self.stage, self.source) {
            (Stage::Read, None) => "the path alone",
            (_, None) => "the path with hashing",
            (Stage::Read, _) => "read",
            _ => "read and hash",
        };
        let by = if self.stage == Stage::Read { String::new() } else { of_other(algorithm) };
        let scope = match self.scope {
            PathScope::OneFile => "one file",
            PathScope::Folder => "a folder",
        };
        let at = self.level.map_or(String::new(), |level| format!(", {level}"));
        let source = self.source.map_or("no bytes moved", Way::name);
        format!("{what}{by}, {scope}, {source}{at}")
    }

    fn method(self) -> String {
        let what = match self.stage {
            Stage::Read => "a run that reads as a check does and hashes nothing",
            _ => {
                "a run that reads and hashes as a check does; every digest is compared with that \
                  of what was written"
            }
        };
        let source = match self.source {
            Some(Way::Warm) => "the page cache holds the files before each run",
            Some(_) => "the files are put out of the page cache before each run",
            None => "reads return at once and move no bytes, so digests are of nothing",
        };
        let scope = match self.scope {
            PathScope::OneFile => "one file in each run",
            PathScope::Folder => "all files in one run",
        };
        format!("{what}; {source}; {scope}; starting and ending the run's threads is included")
    }

    /// Adds the series. The first sample adds the facts that only a run knows.
    pub(super) fn series(
        self,
        session: &mut Session<'_>,
        store: &FileStore,
        seed: u64,
    ) -> SeriesId {
        let factors = Factors {
            stage: Some(self.stage),
            algorithm: (self.stage == Stage::ReadHash).then(|| store.algorithm.name().to_owned()),
            engine: Some(self.engine().name().to_owned()),
            qos: self.level.map(Level::number),
            cache: self.source.map(Way::cache),
            ..Factors::default()
        };
        let series =
            Series::new(Workload::Hash, self.label(store.algorithm), self.method(), factors);
        session.add_series_at(store.place(), series.seeded(seed))
    }
}

/// One run over some files.
pub(super) struct PathCell {
    way: PathSeries,
    files: Vec<Made>,
    store: Rc<FileStore>,
    id: SeriesId,
    label: String,
}

impl PathCell {
    pub(super) fn new(
        way: PathSeries,
        files: Vec<Made>,
        store: &Rc<FileStore>,
        id: SeriesId,
    ) -> PathCell {
        PathCell { way, files, store: Rc::clone(store), id, label: way.label(store.algorithm) }
    }

    fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.length).sum()
    }

    /// Brings the files to their source; returns how many of their bytes are in memory.
    fn prepare(&self) -> Result<Option<u64>, Error> {
        let Some(way) = self.way.source else { return Ok(None) };
        let mut cached = Some(0);
        for file in &self.files {
            let of_file = self.store.prepare(file, way)?;
            cached = cached.zip(of_file).map(|(sum, one)| sum + one);
        }
        Ok(cached)
    }

    fn check(&self, summary: &Summary, heard: &Heard<'_>) -> Result<(), Error> {
        let wrong = |why: String| Err(Error::wrong(format!("{}: {why}", self.label)));
        if let Some(trouble) = &heard.trouble {
            return wrong(trouble.clone());
        }
        if summary.bytes != self.bytes() {
            return wrong(format!("read {} of {} bytes", summary.bytes, self.bytes()));
        }
        if self.way.stage == Stage::Read || self.way.source.is_none() {
            return Ok(());
        }
        let expected = self.files.iter().map(|file| Some(file.digest));
        match expected.eq(heard.digests.iter().copied()) {
            true => Ok(()),
            false => wrong("a digest differs from that of what was written".to_owned()),
        }
    }

    /// Adds the facts of a run to the series.
    fn note(&self, session: &mut Session<'_>, summary: &Summary) {
        let hashes = self.way.stage == Stage::ReadHash;
        let factors = &mut session.series_mut(self.id).factors;
        factors.threads = Some(summary.means.workers as u32);
        if hashes {
            factors.backend = Some(summary.means.backend.clone());
        }
    }
}

impl HashCell for PathCell {
    fn id(&self) -> SeriesId {
        self.id
    }

    fn cost_s(&self) -> f64 {
        // Estimates for the time left only.
        let bytes_per_s = match self.way.source {
            Some(Way::Warm) => 2e9,
            Some(_) => 1e9,
            None => 4e9,
        };
        0.003 + self.bytes() as f64 / bytes_per_s
    }

    fn measure(&mut self, session: &mut Session<'_>, round: u32) -> Result<(), End> {
        let cached = self.prepare()?;
        let algorithm = Some(self.store.algorithm);
        let hash = Verb::Hash(HashOptions { algorithm, ..HashOptions::default() });
        let options = Options::default().with(|options| {
            options.catalogue.choice = CatalogueUse::Off;
            options.qos = self.way.level.unwrap_or(Level::Default);
        });
        let selection = Selection::default().with(|selection| {
            selection.listed = self.files.iter().map(|file| file.path.clone()).collect();
            selection.exact = true;
        });
        let engine = self.way.engine();
        let stop = (session.stop_flag(), Arc::clone(&options.controls.stop));
        let mut heard = Heard { digests: Vec::new(), trouble: None, refused: Vec::new(), stop };
        let (timed, summary) = session.time(|| match self.way.stage {
            Stage::Read => read_without_hashing(&selection, &options, engine, &mut heard),
            _ => run_with(hash, &selection, &options, engine, Arc::new(Xattr), &mut heard),
        });
        let summary = summary.map_err(Error::from)?;
        if summary.interrupted {
            return Err(End::Stopped);
        }
        self.check(&summary, &heard)?;
        heard.refused.iter().for_each(|refusal| session.warn(refusal.clone()));
        self.note(session, &summary);
        let mut sample = timed.sample(round, self.bytes());
        sample.cached_bytes = cached;
        sample.files = (self.way.scope == PathScope::Folder).then_some(self.files.len() as u64);
        if let Some(way) = self.way.source {
            note_origin(session, self.id, way, None, &sample);
        }
        session.add_sample(self.id, sample);
        Ok(())
    }
}

/// The events of a run.
struct Heard<'a> {
    /// The digest of each file, in order.
    digests: Vec<Option<Digest>>,
    /// The first error of a file.
    trouble: Option<String>,
    /// Parts of the level that the system refused.
    refused: Vec<String>,
    stop: (&'a AtomicBool, Arc<AtomicBool>),
}

impl Monitor for Heard<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::File(event) => {
                self.digests.push(event.digest().map(|(_, digest)| digest));
                if let (Some(trouble), None) = (&event.trouble, &self.trouble) {
                    self.trouble = Some(format!("`{}`: {trouble}", event.path.to_path().display()));
                }
            }
            Event::Notice(notice) if notice.text.contains("refused") => {
                self.refused.push(notice.text.clone());
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn progress(&mut self, _progress: &Progress) {
        if self.stop.0.load(Ordering::Relaxed) {
            self.stop.1.store(true, Ordering::Relaxed);
        }
    }
}
