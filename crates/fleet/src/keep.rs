//! Records a merged job in its catalogue, as one run.
//!
//! In: rows in order, each with the begin of its part. Out: a run in the catalogue, and the
//! findings of the catalogue. The run begins with the first part, since a merge reads no files
//! itself. Omits rows of files that were checked since, whose tag has changed since planning, or
//! that an earlier merge of the job has recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast::catalogue::{
    Catalogue, CatalogueReader, CatalogueSession, FileState, Finding, LockRequest, Observation,
    Recorder, RunStart,
};
use steadfast::tag::TagPlace;
use steadfast::{
    Event, FileEvent, FindingEvent, Monitor, Notice, Origin, Subject, Summary, Tag, Timestamp,
    VerbKind,
};

use crate::error::Error;
use crate::job::Job;
use crate::joined::JoinedRow;
use crate::plural::counted;
use crate::source::catalogue::{place, runs};

/// Rows between two readings of the clock.
const TICK_ROWS: u64 = 1_000;

/// Longest name of a backend in a catalogue, in characters of up to four bytes.
const MARK_LEN_MAX: usize = 64;

/// Returns the next row.
pub(crate) type Next<'a> = dyn FnMut() -> Result<Option<JoinedRow>, Error> + 'a;

/// The begin of the first part, in seconds since 1970, and the clock.
pub(crate) type MergeClock = (Option<i64>, fn() -> Timestamp);

/// Records the rows of a job in its catalogue.
pub(crate) fn keep(
    job: &Job,
    next: &mut Next<'_>,
    (begun_s, now): MergeClock,
    summary: &mut Summary,
    monitor: &mut dyn Monitor,
) -> Result<(), Error> {
    let Some(file) = job.document() else { return Ok(()) };
    let mut past = Past::open(job, &file, now())?;
    let root = past.root.clone();
    let media = summary.bytes > 0 && summary.bytes_from_media == summary.bytes;
    let mark = mark(job, &summary.means.backend);
    let begin = RunStart {
        verb: VerbKind::Check,
        read_from: Some(if media { Origin::Media } else { Origin::Cache }),
        backend: &mark,
        now: Timestamp { seconds: begun_s.unwrap_or(now().seconds), nanoseconds: 0 },
        accepts: false,
    };
    let mut recorder: Option<Recorder> = None;
    let (mut parent, mut rows) = (Arc::from(Path::new("")), 0_u64);
    let mut found = Vec::new();
    while let Some(JoinedRow { row, begun_s, .. }) = next()? {
        rows += 1;
        if rows.is_multiple_of(TICK_ROWS)
            && let Some(recorder) = &mut recorder
        {
            recorder.tick(now())?;
        }
        let Some(mut event) = row.to_event(&root) else { continue };
        if event.subject == Subject::Directory {
            continue;
        }
        let relative = row.relative().unwrap_or_default();
        event.path = place(&root, &relative, &mut parent);
        let judged_by = tag_of(&event);
        if !past.wants(&event, &relative, judged_by, begun_s)? {
            continue;
        }
        let observation = Observation {
            status: row.status(),
            stored: judged_by,
            ..Observation::of(&event, TagPlace::CatalogueAlone)
        };
        let recorder = match &mut recorder {
            Some(recorder) => recorder,
            none => none.insert(past.begin(&begin)?),
        };
        recorder.observe(&observation, &mut |finding| found.push(finding))?;
        report_findings(&root, &mut found, summary, monitor);
    }
    if let Some(recorder) = recorder {
        recorder.finish(true, now(), &mut |finding| found.push(finding))?;
    }
    report_findings(&root, &mut found, summary, monitor);
    for text in past.notices() {
        monitor.notice(Notice::new(text).at(&file));
    }
    Ok(())
}

/// Returns the name of the job and the backend, by which a later merge recognises the run.
fn mark(job: &Job, backend: &str) -> String {
    let whole = format!("{}{backend}", mark_of(job));
    whole.chars().take(MARK_LEN_MAX).collect()
}

fn mark_of(job: &Job) -> String {
    format!("fleet job {}: ", job.header().job)
}

/// The present state of the catalogue.
struct Past {
    /// The session that records. `None` once the run has begun.
    session: Option<CatalogueSession>,
    reader: Catalogue,
    records: CatalogueReader,
    root: PathBuf,
    /// The last run when the job was planned.
    planned_run: i64,
    /// The begin of each run, in seconds since 1970.
    begun: BTreeMap<i64, i64>,
    /// Runs that are earlier merges of the job.
    own: BTreeSet<i64>,
    /// The number of omitted files, by reason.
    retagged: u64,
    judged: u64,
    entered: u64,
}

impl Past {
    fn open(job: &Job, file: &Path, now: Timestamp) -> Result<Past, Error> {
        let lock = LockRequest { verb: VerbKind::FleetMerge, now, wait: None };
        let session = CatalogueSession::write(file, &lock)?;
        let root = session.catalogue().root().to_owned();
        let reader = Catalogue::open_reader(file)?;
        let (mut begun, mut own) = (BTreeMap::new(), BTreeSet::new());
        let mark = mark_of(job);
        runs(&reader, &mut |run| {
            begun.insert(run.id, run.started.seconds);
            if run.backend.starts_with(&mark) {
                own.insert(run.id);
            }
        })?;
        Ok(Past {
            records: session.reader()?,
            session: Some(session),
            reader,
            root,
            planned_run: job.header().catalogue_run.unwrap_or(0),
            begun,
            own,
            retagged: 0,
            judged: 0,
            entered: 0,
        })
    }

    fn begin(&mut self, begin: &RunStart<'_>) -> Result<Recorder, Error> {
        let session = self.session.take().expect("a run is begun once");
        Ok(session.record(begin)?)
    }

    /// Returns whether to record a row; counts it if not.
    fn wants(
        &mut self,
        event: &FileEvent,
        relative: &Path,
        judged_by: Option<Tag>,
        begun_s: i64,
    ) -> Result<bool, Error> {
        let look = self.records.known_file(&event.path)?;
        if look.as_ref().and_then(|look| look.tag) != judged_by {
            self.retagged += 1;
            return Ok(false);
        }
        let Some(look) = look else { return Ok(true) };
        let mut last = look.last_checked_run;
        if look.standing == FileState::Missing {
            // A missing file has no check, but an event.
            let history = self.reader.history(relative)?;
            last = history.runs.last().map_or(last, |run| run.run.id.max(last));
        }
        if self.own.contains(&last) {
            self.entered += 1;
            return Ok(false);
        }
        let since = self.begun.get(&last).is_some_and(|run_s| *run_s >= begun_s);
        if last > self.planned_run && since {
            self.judged += 1;
            return Ok(false);
        }
        Ok(true)
    }

    /// Returns notices about the omitted rows.
    fn notices(&self) -> Vec<String> {
        let files = |number| counted(number, "file", "files");
        let mut notices = Vec::new();
        if self.retagged > 0 {
            notices.push(format!(
                "{} with another tag in the catalogue than when the job was planned: what was \
                 found is not entered",
                files(self.retagged)
            ));
        }
        if self.judged > 0 {
            notices.push(format!(
                "{} judged by another run since: what the job found is not entered",
                files(self.judged)
            ));
        }
        if self.entered > 0 {
            notices.push(format!("{} entered by an earlier merge", files(self.entered)));
        }
        notices
    }
}

/// Returns the catalogue's tag when the job was planned.
fn tag_of(event: &FileEvent) -> Option<Tag> {
    let reference = event.reference.as_deref()?;
    let &(algorithm, digest) = reference.digests.first()?;
    let (length, mtime) = (reference.length?, reference.mtime?.time);
    Some(Tag { algorithm, digest, length, mtime, tagged: reference.recorded? })
}

fn report_findings(
    root: &Path,
    found: &mut Vec<Finding>,
    summary: &mut Summary,
    monitor: &mut dyn Monitor,
) {
    for finding in found.drain(..) {
        // The row has reported the missing file.
        if matches!(finding, Finding::Missing { .. }) {
            continue;
        }
        summary.note(&finding);
        let path = root.join(finding.path());
        let _ = monitor.event(&Event::Finding(Box::new(FindingEvent::new(path, finding))));
    }
}
