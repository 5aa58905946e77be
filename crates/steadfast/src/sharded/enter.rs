//! Records a merged check in its catalogue, as one run.
//!
//! In: the events of a merge, in order. Out: a run in the catalogue, and its findings. The run
//! begins with the first shard, since a merge reads no files itself. Leaves out files that were
//! judged since, and those whose tag in the catalogue is no longer the one they were judged by.

use std::path::{Path, PathBuf};

use steadfast_manifest::tag::TagPlace;
use steadfast_sys::file::Timestamp;

use crate::advice::counted;
use crate::catalogue::{
    Catalogue, CatalogueReader, CatalogueSession, LockRequest, Recorder, RunStart,
};
use crate::error::Error;
use crate::event::{FileEvent, Notice, Subject};
use crate::file_state::FileState;
use crate::finding::Finding;
use crate::monitor::{Event, FindingEvent, Monitor, Summary};
use crate::read::Origin;
use crate::verb_kind::VerbKind;

/// Rows between two readings of the clock.
const TICK_ROWS: u64 = 1_000;

/// The recording of a merge.
pub(super) struct Entering {
    recorder: Recorder,
    reader: Catalogue,
    records: CatalogueReader,
    file: PathBuf,
    now: fn() -> Timestamp,
    rows: u64,
    left_out: u64,
    found: Vec<Finding>,
}

impl Entering {
    /// Begins to record a merge in a catalogue, with when its first shard began.
    pub(super) fn begin(
        file: PathBuf,
        (begun_s, from_media): (i64, bool),
        backend: &str,
        now: fn() -> Timestamp,
    ) -> Result<Entering, Error> {
        let lock = LockRequest { verb: VerbKind::Merge, now: now(), wait: None };
        let session = CatalogueSession::write(&file, &lock)?;
        let (reader, records) = (Catalogue::open_reader(&file)?, session.reader()?);
        let recorder = session.record(&RunStart {
            verb: VerbKind::Check,
            read_from: Some(if from_media { Origin::Media } else { Origin::Cache }),
            backend,
            now: Timestamp { seconds: begun_s, nanoseconds: 0 },
            accepts: false,
        })?;
        let (rows, left_out, found) = (0, 0, Vec::new());
        Ok(Entering { recorder, reader, records, file, now, rows, left_out, found })
    }

    /// Records an event, or counts it if it is to be left out. `catalogue_run` is the last run that
    /// the shard knew.
    pub(super) fn enter(
        &mut self,
        event: &FileEvent,
        catalogue_run: i64,
        summary: &mut Summary,
        monitor: &mut dyn Monitor,
    ) -> Result<(), Error> {
        if event.subject == Subject::Directory {
            return Ok(());
        }
        if !self.wants(event, catalogue_run)? {
            self.left_out += 1;
            return Ok(());
        }
        let (place, found) = (event.tag_place, &mut self.found);
        self.recorder.record_event(event, place, &mut |finding| found.push(finding))?;
        self.rows += 1;
        if self.rows.is_multiple_of(TICK_ROWS) {
            self.recorder.tick((self.now)())?;
        }
        report(&mut self.found, self.recorder.root(), summary, monitor);
        Ok(())
    }

    /// Returns whether to record the event of a file.
    fn wants(&self, event: &FileEvent, catalogue_run: i64) -> Result<bool, Error> {
        let known = self.records.known_file(&event.path)?;
        let by_catalogue = event.tag_place == TagPlace::CatalogueAlone && event.stored.is_some();
        let Some(known) = known.filter(|known| by_catalogue && known.tag == event.stored) else {
            return Ok(false);
        };
        let mut last = known.last_checked_run;
        if known.standing == FileState::Missing {
            // A missing file has no check, but an event.
            let path = event.path.to_path();
            let path = path.strip_prefix(self.recorder.root()).unwrap_or(&path);
            let history = self.reader.history(path)?;
            last = history.runs.last().map_or(last, |run| run.run.id.max(last));
        }
        Ok(last <= catalogue_run)
    }

    /// Ends the run, and returns a notice if files were left out.
    pub(super) fn finish(
        mut self,
        summary: &mut Summary,
        monitor: &mut dyn Monitor,
    ) -> Result<Option<Notice>, Error> {
        let (root, found) = (self.recorder.root().to_owned(), &mut self.found);
        self.recorder.finish(true, (self.now)(), &mut |finding| found.push(finding))?;
        report(found, &root, summary, monitor);
        let files = counted(self.left_out, "file is", "files are");
        let why = "not entered: another run judged them since, or the catalogue has another tag";
        Ok((self.left_out > 0).then(|| Notice::new(format!("{files} {why}")).at(&self.file)))
    }
}

/// Reports findings of the catalogue. The row of a missing file has reported it.
fn report(found: &mut Vec<Finding>, root: &Path, summary: &mut Summary, monitor: &mut dyn Monitor) {
    for finding in found.drain(..).filter(|it| !matches!(it, Finding::Missing { .. })) {
        summary.note(&finding);
        let path = root.join(finding.path());
        let _ = monitor.event(&Event::Finding(Box::new(FindingEvent::new(path, finding))));
    }
}
