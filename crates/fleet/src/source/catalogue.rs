//! A catalogue as a source: its tagged files, and the last check of each.
//!
//! In: a folder in a catalogued tree. Out: every tagged file beneath it, or only those that are
//! due. Copies the catalogue's tags, since not every machine of a fleet can read the catalogue.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use steadfast::catalogue::{
    Catalogue, CatalogueError, CatalogueReader, CatalogueSession, DueOptions, RunRecord,
};
use steadfast::manifest::Record;
use steadfast::{FilePath, Skipped, Timestamp};

use super::device::DeviceCache;
use super::{By, JobFile, JobSource, SourceFailure, SourceItem, SourceSink};
use crate::error::{Error, ErrorKind};

/// Runs of one query.
const RUNS_LEN: u32 = 1_000;

/// The files of a catalogue.
#[derive(Debug)]
pub struct CatalogueSource {
    file: PathBuf,
    root: PathBuf,
    beneath: PathBuf,
    older_than_s: Option<i64>,
    /// The last run.
    run: i64,
    now: Timestamp,
}

impl CatalogueSource {
    /// Finds the catalogue of the nearest tree at or above a folder. `older_than` omits files that
    /// were checked since.
    ///
    /// # Errors
    /// If there is no catalogue, it belongs to another tree, or it cannot be read.
    pub fn new(
        folder: &Path,
        older_than: Option<Duration>,
        now: Timestamp,
    ) -> Result<CatalogueSource, Error> {
        let shown = folder.display();
        let file = Catalogue::find(folder).ok_or_else(|| {
            let message = "there is no catalogue at or above";
            Error::usage(format!("{message} `{shown}`: `steadfast init DIR` makes one"))
        })?;
        let real =
            folder.canonicalize().map_err(|e| Error::system(folder, "find it", e).lasting())?;
        let session = CatalogueSession::read(&file)?;
        let catalogue = session.catalogue();
        let root = catalogue.root().to_owned();
        let beneath = real.strip_prefix(&root).unwrap_or(Path::new("")).to_owned();
        let older_than_s = older_than.map(|time| i64::try_from(time.as_secs()).unwrap_or(i64::MAX));
        let run = catalogue.runs(i64::MAX, 1)?.first().map_or(0, |run| run.id);
        Ok(CatalogueSource { file, root, beneath, older_than_s, run, now })
    }
}

impl JobSource for CatalogueSource {
    fn root(&self) -> &Path {
        &self.root
    }

    fn by(&self) -> By {
        By::Catalogue
    }

    fn document(&self) -> Option<&Path> {
        Some(&self.file)
    }

    fn catalogue_run(&self) -> Option<i64> {
        Some(self.run)
    }

    fn each(&mut self, stop: &AtomicBool, sink: &mut SourceSink<'_>) -> Result<Skipped, Error> {
        let catalogue = Catalogue::open_reader(&self.file)?;
        let begun = begun(&catalogue)?;
        let records = CatalogueReader::beside(&catalogue)?;
        let options = DueOptions::default().with(|options| {
            options.older_than_s = self.older_than_s;
            options.beneath = self.beneath.clone();
        });
        let mut due = catalogue.due(&options, self.now)?;
        if due.known() == 0 {
            let place = self.root.join(&self.beneath);
            let (file, place) = (self.file.display(), place.display());
            let message = format!("the catalogue `{file}` knows no file with a tag in `{place}`");
            return Err(Error::usage(message));
        }
        let (mut devices, mut parent) = (DeviceCache::default(), Arc::from(Path::new("")));
        while let Some(entry) = due.next()? {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Interrupted, "the planning was interrupted"));
            }
            let tag = records.tag(&place(&self.root, &entry.path, &mut parent))?;
            let device = devices.of(&self.root, &entry.path);
            sink(match tag {
                Some(tag) => SourceItem::File(JobFile {
                    record: Record::of_tag(entry.path, &tag),
                    device,
                    bytes: tag.length,
                    checked_s: begun.get(&entry.last_checked_run).copied(),
                }),
                // Another process removed its tag meanwhile.
                None => SourceItem::Failure(SourceFailure {
                    path: entry.path,
                    doing: "ask the catalogue",
                    reason: "it has no tag any more".to_owned(),
                }),
            })?;
        }
        Ok(Skipped::default())
    }
}

/// Returns a path as catalogues expect it: files of the same directory share it, which makes
/// look-ups faster.
pub(crate) fn place(root: &Path, path: &Path, parent: &mut Arc<Path>) -> FilePath {
    let whole = root.join(path);
    let directory = whole.parent().unwrap_or(root);
    if **parent != *directory {
        *parent = Arc::from(directory);
    }
    let name = whole.file_name().unwrap_or_default().to_owned();
    FilePath { parent: Arc::clone(parent), name }
}

/// Returns the begin of each run, in seconds since 1970.
fn begun(catalogue: &Catalogue) -> Result<BTreeMap<i64, i64>, CatalogueError> {
    let mut begun = BTreeMap::new();
    runs(catalogue, &mut |run| {
        begun.insert(run.id, run.started.seconds);
    })?;
    Ok(begun)
}

/// Visits all runs, the last one first.
pub(crate) fn runs(
    catalogue: &Catalogue,
    visit: &mut dyn FnMut(&RunRecord),
) -> Result<(), CatalogueError> {
    let mut before = i64::MAX;
    loop {
        let runs = catalogue.runs(before, RUNS_LEN)?;
        let Some(last) = runs.last() else { return Ok(()) };
        before = last.id;
        runs.iter().for_each(&mut *visit);
    }
}
