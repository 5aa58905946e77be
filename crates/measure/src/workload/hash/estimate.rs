//! `measure hash --estimate`: estimates how long a check of a folder takes, from some of its files.
//!
//! Adds a series for each class of lengths, of runs over randomly drawn files, with the number of
//! files that they represent. Files that it brings into the page cache are dropped again. Writes
//! nothing.

use std::path::PathBuf;
use std::sync::Arc;

use steadfast::read::buffered::Buffered;
use steadfast::store::xattr::Xattr;
use steadfast::unguarded::run_with;
use steadfast::{Verb, Verdict};
use steadfast_sys::cache::{cached_bytes, drop_cached};
use steadfast_sys::file::File;

use super::path::{CompletedRun, options, run, selection};
use super::tree::{Class, FolderSample, SampledFile};
use crate::error::Error;
use crate::place::Site;
use crate::random::Random;
use crate::record::{self, Factors, Sample, Series, Stage};
use crate::runner::{End, PlaceId, SeriesId, Session};
use crate::workload::Workload;

/// A set has at least this many bytes and files, if its class has them.
const SET_LEN_BYTES: u64 = 96 << 20;
const SET_FILES: usize = 8;

/// The most files of one set.
const SET_FILES_MAX: usize = 4_096;

/// In the class of the longest files, a set takes the shorter ones and stops here.
const SET_LEN_BYTES_MAX: u64 = 2 << 30;

/// No further round begins after this many nanoseconds. A longer estimate would not be useful.
const ROUNDS_NS: u64 = 20_000_000_000;

/// Options of `measure hash --estimate`.
#[derive(Clone, Debug, PartialEq)]
pub struct FolderEstimate {
    /// The folder.
    pub root: PathBuf,
    /// The most sets that are drawn from each class. Fewer than five give no interval.
    pub rounds: u32,
    /// Draws the files.
    pub seed: u64,
}

/// The place of a file, and how much of it was in memory before.
struct LocatedFile {
    file: Option<File>,
    cached: Option<u64>,
    length: u64,
}

impl FolderEstimate {
    /// Runs over files as a check would, and returns the sample. Bytes that were not in memory
    /// before are dropped afterwards.
    fn measure(
        &self,
        session: &mut Session<'_>,
        verb: Verb,
        files: &[SampledFile],
        round: u32,
    ) -> Result<Sample, End> {
        let found: Vec<LocatedFile> = files.iter().map(locate).collect();
        let options = options(None);
        // Not `exact`: each file is then opened in its directory, as a walk does.
        let paths = files.iter().map(|file| file.path.clone()).collect();
        let selection = selection(paths).with(|selection| selection.exact = false);
        let ran = run(session, &options, |heard| {
            run_with(verb, &selection, &options, Arc::new(Buffered), Arc::new(Xattr), heard)
        });
        for LocatedFile { file, cached, .. } in &found {
            if let (Some(file), Some(0)) = (file, cached) {
                // If dropping fails, the file stays cached, as after any check.
                let _ = drop_cached(file);
            }
        }
        let CompletedRun { timed, summary, heard } = ran?;
        if let Some(trouble) = heard.trouble {
            session.warn(format!("files of the sample could not be read, as {trouble}"));
        }
        if summary.verdicts(Verdict::Corrupt) > 0 {
            session.warn("files of the sample are corrupt: `steadfast check` says which");
        }
        let cached = found.iter().map(|found| found.cached).sum::<Option<u64>>();
        let expected: u64 = found.iter().map(|found| found.length).sum();
        if summary.bytes != expected {
            session.warn("not all bytes of the sample were read: the estimate may be low");
        }
        let files = Some(files.len() as u64);
        Ok(Sample { files, cached_bytes: cached, ..timed.sample(round, summary.bytes) })
    }

    /// Determines whether a check would read these files: it reads files with a tag.
    fn verb(&self, session: &mut Session<'_>, tree: &FolderSample) -> Result<Verb, End> {
        let files = tree.classes.iter().flat_map(|class| class.sample.iter().take(SET_FILES));
        let files: Vec<PathBuf> = files.map(|file| file.path.clone()).collect();
        let (count, options, selection) = (files.len(), options(None), selection(files));
        let shown = run(session, &options, |heard| {
            run_with(Verb::Show, &selection, &options, Arc::new(Buffered), Arc::new(Xattr), heard)
        })?;
        let untagged = shown.heard.untagged;
        if untagged == 0 {
            return Ok(Verb::check());
        }
        session.warn(format!(
            "{untagged} of {count} files looked at have no tag: the estimate is as if all had one"
        ));
        Ok(Verb::hash())
    }

    fn begin(&self, session: &mut Session<'_>, place: PlaceId, class: &Class) -> SeriesId {
        let (shortest, longest) = bounds(class);
        let label = format!("read and hash, files of {shortest} to {longest} bytes");
        let method = "runs as of a check over sets of the folder's own files, drawn by chance, in \
                      whatever state the page cache has them";
        let factors = Factors {
            stage: Some(Stage::ReadHash),
            engine: Some("buffered".to_owned()),
            drawn_from: Some(class.files),
            ..Factors::default()
        };
        let series = Series::new(record::Workload::Hash, label, method, factors);
        session.add_series_at(place, series.seeded(self.seed))
    }

    fn rounds(
        &self,
        session: &mut Session<'_>,
        verb: Verb,
        classes: &mut [(SeriesId, Sets<'_>)],
    ) -> Result<(), End> {
        let begun_ns = session.now_ns();
        for round in 0..self.rounds {
            for (id, sets) in &mut *classes {
                session.doing("reading files of the folder")?;
                let sample = self.measure(session, verb, &sets.next(), round)?;
                session.add_sample(*id, sample);
            }
            session.did(WEIGHT / f64::from(self.rounds));
            if session.now_ns() - begun_ns > ROUNDS_NS {
                let (done, all) = (round + 1, self.rounds);
                session.warn(format!("{done} of {all} rounds, so as to end in time"));
                break;
            }
        }
        Ok(())
    }

    /// Times the part of a run that does not depend on files.
    fn start(
        &self,
        session: &mut Session<'_>,
        place: PlaceId,
        verb: Verb,
        shortest: &SampledFile,
    ) -> Result<(), End> {
        let method = "a run as of a check over the shortest file of the sample";
        let factors = Factors { stage: Some(Stage::Start), ..Factors::default() };
        let label = "beginning and ending a run";
        let series = Series::new(record::Workload::Hash, label, method, factors);
        let id = session.add_series_at(place, series);
        for round in 0..self.rounds {
            session.doing("beginning and ending a run")?;
            let mut sample = self.measure(session, verb, std::slice::from_ref(shortest), round)?;
            sample.warm_up = round == 0;
            session.add_sample(id, sample);
        }
        Ok(())
    }
}

/// Expected seconds of the estimate.
const WEIGHT: f64 = 10.0;

impl Workload for FolderEstimate {
    fn plan(&self, session: &mut Session<'_>) {
        session.plan(WEIGHT);
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), End> {
        if self.rounds == 0 {
            return Err(Error::no_rounds().into());
        }
        let site = Site::examine(&self.root)?;
        site.warnings().iter().for_each(|warning| session.warn(warning.clone()));
        let mut random = Random::new(self.seed);
        let mut tree = FolderSample::walk(session, &self.root, &mut random)?;
        if tree.unseen > 0 {
            session.warn(format!("{} entries could not be looked at", tree.unseen));
        }
        let shortest = tree.classes.iter().flat_map(|class| &class.sample);
        let Some(shortest) = shortest.min_by_key(|file| file.length).cloned() else {
            return Err(Error::usage("there are no files in it").at(&self.root).into());
        };
        if let Some(last) = tree.classes.last_mut() {
            // The rate of long files does not depend on their length, but the time of the estimate
            // does.
            last.sample.sort_by_key(|file| file.length);
        }
        let place = session.add_place(site.place.clone());
        let verb = self.verb(session, &tree)?;
        self.start(session, place, verb, &shortest)?;
        let classes = tree.classes.iter().filter(|class| class.files.files > 0);
        let mut classes: Vec<(SeriesId, Sets<'_>)> =
            classes.map(|class| (self.begin(session, place, class), Sets::of(class))).collect();
        self.rounds(session, verb, &mut classes)
    }
}

/// Takes sets of files from the sample of a class, one after the other, and starts again at its
/// end.
struct Sets<'a> {
    sample: &'a [SampledFile],
    next: usize,
}

impl Sets<'_> {
    fn of(class: &Class) -> Sets<'_> {
        Sets { sample: &class.sample, next: 0 }
    }

    fn next(&mut self) -> Vec<SampledFile> {
        let (mut set, mut bytes) = (Vec::new(), 0);
        for _ in 0..self.sample.len().min(SET_FILES_MAX) {
            let file = &self.sample[self.next % self.sample.len()];
            let enough = bytes >= SET_LEN_BYTES && set.len() >= SET_FILES;
            if enough || (!set.is_empty() && bytes + file.length > SET_LEN_BYTES_MAX) {
                break;
            }
            bytes += file.length;
            set.push(file.clone());
            self.next += 1;
        }
        // Files of one directory together, as a walk finds them.
        set.sort_by(|one, other| one.path.cmp(&other.path));
        set
    }
}

fn locate(drawn: &SampledFile) -> LocatedFile {
    let file = File::open(&drawn.path).ok();
    let cached = file.as_ref().and_then(|file| cached_bytes(file, drawn.length).ok());
    LocatedFile { file, cached, length: drawn.length }
}

/// Returns the shortest and the longest file of a class, among the drawn ones.
fn bounds(class: &Class) -> (u64, u64) {
    let lengths = class.sample.iter().map(|file| file.length);
    (lengths.clone().min().unwrap_or(0), lengths.max().unwrap_or(0))
}
