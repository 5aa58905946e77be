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
    Algorithm, CatalogueUse, Digest, Error as RunError, Event, HashOptions, Level, Monitor,
    Options, Progress, Selection, Summary, Verb,
};
use strum::IntoStaticStr;

use super::HashCell;
use super::files::{FileStore, Made};
use super::kernel::of_other;
use crate::error::Error;
use crate::record::{Cache, Factors, Sample, Series, Stage, Workload};
use crate::runner::{End, SeriesId, Session, Timed};

/// The source of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(super) enum ByteSource {
    /// From the page cache, which holds all of them.
    Warm,
    /// From the storage: the files were dropped from the page cache.
    Cold,
    /// From an engine that moves no bytes.
    #[strum(serialize = "no bytes moved")]
    Null,
}

impl ByteSource {
    pub(super) const ALL: [ByteSource; 3] = [ByteSource::Warm, ByteSource::Cold, ByteSource::Null];

    pub(super) fn words(self) -> &'static str {
        self.into()
    }

    fn engine(self) -> Arc<dyn Engine> {
        match self {
            ByteSource::Warm | ByteSource::Cold => Arc::new(Buffered),
            ByteSource::Null => Arc::new(Null),
        }
    }
}

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
    pub(super) source: ByteSource,
    pub(super) scope: PathScope,
    pub(super) level: Option<Level>,
}

impl PathSeries {
    /// Returns reading, and reading and hashing, from each source; at a level, only from those that
    /// move bytes.
    pub(super) fn parts(scope: PathScope, level: Option<Level>) -> Vec<PathSeries> {
        let sources = ByteSource::ALL.into_iter();
        let sources = sources.filter(|&source| level.is_none() || source != ByteSource::Null);
        let part = |source| {
            [Stage::Read, Stage::ReadHash].map(|stage| PathSeries { stage, source, scope, level })
        };
        sources.flat_map(part).collect()
    }

    fn label(self, algorithm: Algorithm) -> String {
        let what = match (self.stage, self.source) {
            (Stage::Read, ByteSource::Null) => "the path alone",
            (_, ByteSource::Null) => "the path with hashing",
            (Stage::Read, _) => "read",
            _ => "read and hash",
        };
        let by = if self.stage == Stage::Read { String::new() } else { of_other(algorithm) };
        let scope = match self.scope {
            PathScope::OneFile => "one file",
            PathScope::Folder => "a folder",
        };
        let at = self.level.map_or(String::new(), |level| format!(", {level}"));
        format!("{what}{by}, {scope}, {}{at}", self.source.words())
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
            ByteSource::Warm => "the page cache holds the files before each run",
            ByteSource::Cold => "the files are put out of the page cache before each run",
            ByteSource::Null => "reads return at once and move no bytes, so digests are of nothing",
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
            engine: Some(self.source.engine().name().to_owned()),
            qos: self.level.map(Level::number),
            cache: match self.source {
                ByteSource::Null => None,
                // Until all samples prove it.
                ByteSource::Warm | ByteSource::Cold => Some(Cache::Unknown),
            },
            ..Factors::default()
        };
        let series =
            Series::new(Workload::Hash, self.label(store.algorithm), self.method(), factors);
        session.add_series_at(store.place, series.seeded(seed))
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
        let mut cached = Some(0);
        for file in &self.files {
            let of_file = match self.way.source {
                ByteSource::Warm => self.store.warm(file)?,
                ByteSource::Cold => self.store.cool(file)?,
                ByteSource::Null => None,
            };
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
        if self.way.stage == Stage::Read || self.way.source == ByteSource::Null {
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
    fn label(&self) -> &str {
        &self.label
    }

    fn cost_s(&self) -> f64 {
        // Estimates for the time left only.
        let bytes_per_s = match self.way.source {
            ByteSource::Warm => 2e9,
            ByteSource::Cold => 1e9,
            ByteSource::Null => 4e9,
        };
        0.003 + self.bytes() as f64 / bytes_per_s
    }

    fn measure(&mut self, session: &mut Session<'_>, round: u32) -> Result<(), End> {
        let cached = self.prepare()?;
        let algorithm = Some(self.store.algorithm);
        let hash = Verb::Hash(HashOptions { algorithm, ..HashOptions::default() });
        let options = options(self.way.level);
        let selection = selection(self.files.iter().map(|file| file.path.clone()).collect());
        let engine = self.way.source.engine();
        let ran = match self.way.stage {
            Stage::Read => run(session, &options, |heard| {
                read_without_hashing(&selection, &options, engine, heard)
            }),
            _ => run(session, &options, |heard| {
                run_with(hash, &selection, &options, engine, Arc::new(Xattr), heard)
            }),
        };
        let CompletedRun { timed, summary, heard } = ran?;
        self.check(&summary, &heard)?;
        heard.refused.iter().for_each(|refusal| session.warn(refusal.clone()));
        self.note(session, &summary);
        let mut sample = timed.sample(round, self.bytes());
        sample.cached_bytes = cached;
        sample.files = (self.way.scope == PathScope::Folder).then_some(self.files.len() as u64);
        session.add_sample(self.id, sample);
        Ok(())
    }

    fn finish(&self, session: &mut Session<'_>) {
        if self.way.source == ByteSource::Null {
            return;
        }
        note_cache(session, self.id, self.way.source);
    }
}

/// Notes the source of the bytes of a series, as far as all its samples prove it.
pub(super) fn note_cache(session: &mut Session<'_>, id: SeriesId, source: ByteSource) {
    let Series { samples, label, .. } = session.series(id);
    let all = |proved: fn(u64, u64) -> bool| {
        let is = |of: &Sample| of.cached_bytes.is_some_and(|held| proved(held, of.amount));
        !samples.is_empty() && samples.iter().all(is)
    };
    let (cache, why) = match source {
        ByteSource::Cold if all(|held, _| held == 0) => (Cache::Cold, ""),
        ByteSource::Warm if all(|held, of| held == of) => (Cache::Warm, ""),
        ByteSource::Cold => {
            (Cache::Unknown, "not proved to be cold: pages of the files stayed in memory")
        }
        _ => (Cache::Unknown, "not proved to be warm: not all pages of the files were in memory"),
    };
    if cache == Cache::Unknown && !samples.is_empty() {
        let warning = format!("{label}: {why}");
        session.warn(warning);
    }
    session.series_mut(id).factors.cache = Some(cache);
}

/// A completed run.
pub(super) struct CompletedRun<'a> {
    pub(super) timed: Timed,
    pub(super) summary: Summary,
    pub(super) heard: Heard<'a>,
}

/// Executes a run and times it. Ends it early if the session is stopped.
///
/// # Errors
///
/// If it could not run, or was stopped.
pub(super) fn run<'a>(
    session: &mut Session<'a>,
    options: &Options,
    work: impl FnOnce(&mut dyn Monitor) -> Result<Summary, RunError>,
) -> Result<CompletedRun<'a>, End> {
    let stop = (session.stop_flag(), Arc::clone(&options.controls.stop));
    let mut heard =
        Heard { digests: Vec::new(), untagged: 0, trouble: None, refused: Vec::new(), stop };
    let (timed, summary) = session.time(|| work(&mut heard));
    let summary = summary.map_err(Error::from)?;
    if summary.interrupted {
        return Err(End::Stopped);
    }
    Ok(CompletedRun { timed, summary, heard })
}

/// Returns options for a run that writes nothing.
pub(super) fn options(level: Option<Level>) -> Options {
    let catalogue = CatalogueUse::Off;
    Options::default().with(|options| {
        options.catalogue.choice = catalogue;
        options.qos = level.unwrap_or(Level::Default);
    })
}

/// Selects files one by one, in this order.
pub(super) fn selection(listed: Vec<std::path::PathBuf>) -> Selection {
    Selection::default().with(|selection| {
        selection.listed = listed;
        selection.exact = true;
    })
}

/// The events of a run.
pub(super) struct Heard<'a> {
    /// The digest of each file, in order.
    pub(super) digests: Vec<Option<Digest>>,
    /// Files without a tag, if the run looked for tags.
    pub(super) untagged: usize,
    /// The first error of a file.
    pub(super) trouble: Option<String>,
    /// Parts of the level that the system refused.
    pub(super) refused: Vec<String>,
    stop: (&'a AtomicBool, Arc<AtomicBool>),
}

impl Monitor for Heard<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::File(event) => {
                self.untagged += usize::from(event.stored.is_none());
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
