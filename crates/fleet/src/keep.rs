//! A merged job goes to the catalogue that it is of: one run, as if one machine had made it.
//!
//! In: rows in order. Out: a run in the catalogue, and what only the catalogue knows. A file whose
//! tag was changed since the planning was judged by what counts no more: it is left out.

use std::path::Path;
use std::sync::Arc;

use steadfast::catalogue::{Begin, Catalogue, Finding, Records, Scope, Sighting, TagPlace, Writer};
use steadfast::{
    Event, FileEvent, Monitor, Noted, Notice, Subject, Summary, Tag, Timestamp, Verdict,
};

use crate::error::Error;
use crate::job::Job;
use crate::row::Row;
use crate::source::catalogue::place;

/// Rows between two looks at the clock.
const TICK_ROWS: u64 = 1_000;

/// Hands on the next row.
pub(crate) type Next<'a> = dyn FnMut() -> Result<Option<Row>, Error> + 'a;

/// Enters the rows of a job in its catalogue.
pub(crate) fn keep(
    job: &Job,
    next: &mut Next<'_>,
    now: fn() -> Timestamp,
    summary: &mut Summary,
    monitor: &mut dyn Monitor,
) -> Result<(), Error> {
    let Some(file) = job.document() else { return Ok(()) };
    let writer = Writer { verb: "fleet merge", now: now(), wait: None };
    let catalogue = Catalogue::open_writer(&file, &writer)?;
    catalogue.guard()?;
    let root = catalogue.root().to_owned();
    let records = Records::open(&file, Scope::files_beneath(&root))?;
    let read_from = if summary.bytes_from_media > 0 { "media" } else { "cache" };
    let begin =
        Begin { verb: "check", read_from, backend: &summary.backend, now: now(), accepts: false };
    let mut keeper = catalogue.keeper(Scope::files_beneath(&root), &begin)?;
    let (mut parent, mut rows, mut outdated) = (Arc::from(Path::new("")), 0_u64, 0_u64);
    let mut found = Vec::new();
    while let Some(row) = next()? {
        rows += 1;
        if rows.is_multiple_of(TICK_ROWS) {
            keeper.tick(now())?;
        }
        let Some(mut event) = row.to_event(&root) else { continue };
        // What is gone was not seen: a walk of the whole tree says that it is missing.
        if event.subject == Subject::Directory || event.verdict == Some(Verdict::Missing) {
            continue;
        }
        let relative = row.relative().unwrap_or_default();
        event.path = place(&root, &relative, &mut parent);
        let judged_by = tag_of(&event);
        if records.tag(&event.path)? != judged_by {
            outdated += 1;
            continue;
        }
        let sighting = Sighting {
            status: row.status(),
            stored: judged_by,
            ..Sighting::of(&event, TagPlace::CatalogueAlone)
        };
        keeper.see(&sighting, &mut |finding| found.push(finding))?;
        tell(&root, &mut found, summary, monitor);
    }
    keeper.finish(true, now(), &mut |finding| found.push(finding))?;
    tell(&root, &mut found, summary, monitor);
    if outdated > 0 {
        let text = format!(
            "{outdated} files have another tag in the catalogue than when the job was planned: \
             what was found is not entered for them"
        );
        monitor.event(&Event::Notice(Notice { path: Some(file), text }));
    }
    Ok(())
}

/// The catalogue's tag as it was when the job was planned.
fn tag_of(event: &FileEvent) -> Option<Tag> {
    let reference = event.reference.as_deref()?;
    let &(algorithm, digest) = reference.digests.first()?;
    let (length, mtime) = (reference.length?, reference.mtime?.time);
    Some(Tag { algorithm, digest, length, mtime, tagged: reference.recorded? })
}

fn tell(root: &Path, found: &mut Vec<Finding>, summary: &mut Summary, monitor: &mut dyn Monitor) {
    for finding in found.drain(..) {
        summary.note(&finding);
        let path = root.join(finding.path());
        monitor.event(&Event::Finding(Box::new(Noted { path, finding })));
    }
}
