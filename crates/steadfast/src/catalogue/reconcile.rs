//! Reconciles the observed files with the stored slice.
//!
//! Compares a batch with the slice in its place, and writes rows, events and coverage. If nothing
//! changed, the seals are equal and no row is written.

use std::path::{Path, PathBuf};

use super::belongings::BatchFolder;
use super::entry::{FileFacts, FileRecord, FileRow};
use super::error::DbError;
use super::file_history_event::FileHistoryEvent;
use super::observation::{FileBatch, ObservedFile};
use super::open_dir::OpenDir;
use super::recorder::Recorder;
use super::repaired;
use super::slice::{Came, NameSlice, SLICE_LEN, SLICE_LEN_MAX, UpdatedRow, rows_of};
use super::writes::{self, NewEvent};
use super::written::{is_written, trace};
use crate::beneath;
use crate::event::Action;
use crate::file_state::FileState;
use crate::finding::{FactChange, Finding, Say};
use crate::store::xattr::Xattr;
use crate::store::{Store, StoredTag};
use crate::verdict::Verdict;
use steadfast_manifest::tag::Tag;
use steadfast_manifest::tag::TagPlace;
use steadfast_sys::file::age_s;
use steadfast_sys::names::NameBytes as _;

/// What an event is about: a directory, a name in it, and the number of the file.
pub(super) type EventPlace<'a> = (i64, &'a [u8], i64);

/// The outcome for the tag of a known file.
struct TagOutcome {
    tag: Option<Tag>,
    /// The event, if the tag changed.
    what: Option<FileHistoryEvent>,
    /// Whether the attribute is a different tag that is not accepted.
    replaced: bool,
    /// Whether the attribute is gone, so that the file was not judged.
    lost: bool,
}

impl Recorder {
    pub(super) fn apply_batch(
        &mut self,
        level: &mut OpenDir,
        batch: &FileBatch,
        say: &mut Say<'_>,
    ) -> Result<(), DbError> {
        if batch.is_empty() && (!level.walked || level.slices.is_empty()) {
            return Ok(());
        }
        if level.fresh {
            return self.add(level, batch, say);
        }
        let (slice, next) = (&level.slices[level.at], level.slices.get(level.at + 1));
        let next = next.map(|next| next.first.as_slice());
        let rows = rows_of(&self.catalogue.db, level.id, slice, next, &mut self.buffer)?;
        match batch.all_checked() {
            Some(checked) if !self.mode.quick && batch.is_as(&rows) => {
                self.confirm(level, batch, checked)
            }
            _ => self.reconcile_slice(level, batch, rows, say),
        }
    }

    /// Settles a slice in which nothing changed.
    fn confirm(
        &mut self,
        level: &mut OpenDir,
        batch: &FileBatch,
        checked: bool,
    ) -> Result<(), DbError> {
        let run = self.record.id;
        if !self.mode.writes {
            return Ok(());
        }
        if !checked {
            if !batch.is_empty() {
                level.cover.gap(&self.catalogue.db, run, level.id)?;
            }
            return Ok(());
        }
        let slice = &mut level.slices[level.at];
        slice.checked_run = run;
        let fine = |seen: &ObservedFile| seen.record.standing == FileState::Fine;
        slice.apart = batch.iter().filter(|(_, seen)| !fine(seen)).count() as u64;
        slice.put(&self.catalogue.db, level.id)?;
        if let (Some((first, _)), Some(last)) = (batch.iter().next(), batch.last()) {
            level.cover.extend(first, last);
        }
        Ok(())
    }

    /// Adds files to a directory without known files.
    fn add(
        &mut self,
        level: &mut OpenDir,
        batch: &FileBatch,
        say: &mut Say<'_>,
    ) -> Result<(), DbError> {
        let mut rows = Vec::with_capacity(batch.len());
        let mut folder = BatchFolder::default();
        for (name, seen) in batch.iter() {
            if let Some(mut row) = self.add_new(level, name, seen, say)? {
                self.keep_belongings(level, (batch, seen), &mut row, &mut folder);
                rows.push(row);
            }
        }
        let Some(head) = rows.first() else { return Ok(()) };
        if !self.mode.writes {
            return Ok(());
        }
        let first = if level.slices.is_empty() { Vec::new() } else { head.known.name.clone() };
        level.at = level.slices.len();
        self.store(level, None, first, rows)
    }

    fn reconcile_slice(
        &mut self,
        level: &mut OpenDir,
        batch: &FileBatch,
        rows: Vec<FileRow>,
        say: &mut Say<'_>,
    ) -> Result<(), DbError> {
        let slice = level.slices[level.at].clone();
        let mut folder = BatchFolder::default();
        let mut settled = Vec::with_capacity(rows.len().max(batch.len()));
        let mut known = rows.into_iter().peekable();
        for (name, seen) in batch.iter() {
            while let Some(row) = known.next_if(|row| row.name.as_slice() < name) {
                settled.push(self.resolve_not_visited(level, row, slice.checked_run, say)?);
            }
            let row = match known.next_if(|row| row.name.as_slice() == name) {
                Some(row) => Some(self.reconcile_row(level, row, slice.checked_run, seen, say)?),
                None => self.add_new(level, name, seen, say)?,
            };
            if let Some(mut row) = row {
                self.keep_belongings(level, (batch, seen), &mut row, &mut folder);
                settled.push(row);
            }
        }
        for row in known {
            settled.push(self.resolve_not_visited(level, row, slice.checked_run, say)?);
        }
        if self.mode.writes {
            self.store(level, Some(slice), Vec::new(), settled)?;
        }
        Ok(())
    }

    /// Settles a file that the catalogue does not know. `None` if it was not examined.
    fn add_new(
        &mut self,
        level: &mut OpenDir,
        name: &[u8],
        seen: &ObservedFile,
        say: &mut Say<'_>,
    ) -> Result<Option<UpdatedRow>, DbError> {
        let run = self.record.id;
        if !seen.has_facts {
            return Ok(None);
        }
        let tag = seen.record.tag;
        if !self.before.nothing_whole {
            let path = level.relative.join(Path::from_bytes(name));
            self.report(say, Finding::New { path, tag });
        }
        if let Some(tag) = tag.filter(|_| run > 1) {
            self.arrive(level.id, name, &seen.record, &tag, run)?;
        }
        if !self.mode.writes {
            return Ok(None);
        }
        self.cover(level, name, seen.is_checked())?;
        self.insert_file(level.id, name, seen).map(Some)
    }

    /// Makes the row of a file that came to a name, and writes its events.
    pub(super) fn insert_file(
        &mut self,
        directory: i64,
        name: &[u8],
        seen: &ObservedFile,
    ) -> Result<UpdatedRow, DbError> {
        let (run, standing) = (self.record.id, seen.record.standing);
        let place = (directory, name, self.next_file);
        self.next_file += 1;
        // The first run writes no event: its files were there before.
        if run > 1 {
            self.write_event(place, FileHistoryEvent::New, standing, None, None)?;
        }
        if standing != FileState::Fine {
            let what = FileHistoryEvent::of_state(standing, seen.record.tag.is_some());
            self.write_event(place, what, standing, None, None)?;
        }
        let action = seen.action.and_then(FileHistoryEvent::of_action);
        if let (Some(what), Some(before)) = (action, seen.before) {
            // A missing file of that tag may be this one, edited since.
            self.write_event(place, what, standing, Some(before), None)?;
        }
        self.note_refused(place, seen)?;
        self.medium.require_if(true);
        let known = FileRow {
            file: place.2,
            name: name.to_vec(),
            record: seen.record,
            first_run: run,
            checked_run: 0,
            proved_run: 0,
            own: None,
        };
        let last_checked = if seen.is_checked() { run } else { 0 };
        Ok(UpdatedRow { known, last_checked, dirty: true, came: Came::Now })
    }

    /// Settles a known file that was observed.
    fn reconcile_row(
        &mut self,
        level: &mut OpenDir,
        row: FileRow,
        slice_run: i64,
        seen: &ObservedFile,
        say: &mut Say<'_>,
    ) -> Result<UpdatedRow, DbError> {
        if !self.mode.quick && may_be_another(&row.record, seen) {
            self.note_displaced(level.id, &row, slice_run, seen)?;
            self.cover(level, &row.name, seen.is_checked())?;
            return Ok(UpdatedRow::as_was(row, slice_run));
        }
        let path = level.relative.join(Path::from_bytes(&row.name));
        if self.mode.quick {
            if row.record.standing == FileState::Missing {
                self.report(say, Finding::Returned { path: path.clone() });
            }
            self.compare(path, &row.record, &seen.record.facts, say);
            return Ok(UpdatedRow::as_was(row, slice_run));
        }
        self.record_inode_change(level.id, &row, seen)?;
        let (settled, checked) =
            self.apply_observation(level.id, path, row, slice_run, seen, say)?;
        self.cover(level, &settled.known.name, checked)?;
        Ok(settled)
    }

    /// Settles a file at its known name. Also returns whether it was checked.
    pub(super) fn apply_observation(
        &mut self,
        directory: i64,
        path: PathBuf,
        row: FileRow,
        slice_run: i64,
        seen: &ObservedFile,
        say: &mut Say<'_>,
    ) -> Result<(UpdatedRow, bool), DbError> {
        let was = row.record;
        let proved = row.last_proved(slice_run);
        let path = || path.clone();
        if was.standing == FileState::Missing {
            self.report(say, Finding::Returned { path: path() });
        }
        let mut outcome = tag_after(&was, seen, self.mode.accepts);
        if outcome.replaced && self.is_own_successor(&path(), &was, seen) {
            outcome = TagOutcome {
                tag: seen.record.tag,
                what: Some(FileHistoryEvent::Adopted),
                ..outcome
            };
            outcome.replaced = false;
        }
        let standing = state_after(&was, seen, &outcome);
        self.report_tag(path(), &was, seen, &outcome, say);
        let checked = seen.is_checked() && !outcome.lost;
        let facts = facts_after(&was, seen, &outcome, standing, proved != 0);
        let record = FileRecord { facts, tag: outcome.tag, standing };
        let same_contents = match (&was.tag, &outcome.tag) {
            (Some(was), Some(now)) => was.same_contents(now),
            _ => false,
        };
        let is_repair = !self.before.repairs.is_empty();
        let repaired = is_repair.then(|| self.before.repairs.remove(&path())).flatten();
        let mut settled = UpdatedRow::as_was(row, slice_run);
        if checked {
            settled.last_checked = self.record.id;
        } else if was.standing == FileState::Missing || !same_contents {
            settled.last_checked = 0;
            settled.dirty |= std::mem::take(&mut settled.known.checked_run) != 0;
        }
        if was.standing.proves() && !standing.proves() && settled.known.proved_run != proved {
            settled.known.proved_run = proved;
            settled.dirty = true;
        }
        settled.dirty |= record != was;
        self.medium.require_if(record.facts != was.facts || record.tag != was.tag);
        settled.known.record = record;
        if outcome.what.is_some() || standing != was.standing {
            let what = outcome.what.unwrap_or_else(|| match was.standing {
                FileState::Missing if !checked => FileHistoryEvent::Returned,
                _ => FileHistoryEvent::of_state(standing, record.tag.is_some()),
            });
            let before = outcome.what.and(was.tag);
            let place = (directory, settled.known.name.as_slice(), settled.known.file);
            self.write_event(place, what, standing, before, None)?;
        }
        let place = (directory, settled.known.name.as_slice(), settled.known.file);
        if seen.changed_tag() {
            self.note_refused(place, seen)?;
        }
        self.note_written(place, &record, seen)?;
        if let Some(sources) = repaired.filter(|_| standing.proves()) {
            let sources = repaired::to_bytes(&sources);
            let what = FileHistoryEvent::Repaired;
            self.write_event(place, what, standing, None, Some(&sources))?;
        }
        if let (None, Some(tag)) = (was.tag, &record.tag) {
            // A missing file may have moved here and been seen before it had a tag.
            let first_run = settled.known.first_run;
            self.arrive(directory, &settled.known.name, &record, tag, first_run)?;
        }
        Ok((settled, checked))
    }

    /// Notes a file that could not take its tag, so that it has not lost it.
    fn note_refused(&mut self, place: EventPlace<'_>, seen: &ObservedFile) -> Result<(), DbError> {
        if seen.place != TagPlace::Refused || seen.record.tag.is_none() {
            return Ok(());
        }
        let (what, standing) = (FileHistoryEvent::CatalogueOnly, seen.record.standing);
        self.write_event(place, what, standing, None, None)
    }

    /// Notes a file whose row keeps another length or time than it has.
    fn note_written(
        &mut self,
        place: EventPlace<'_>,
        row: &FileRecord,
        seen: &ObservedFile,
    ) -> Result<(), DbError> {
        let met = seen.record.facts;
        let is_as_kept = (row.facts.length, row.facts.mtime) == (met.length, met.mtime);
        if is_as_kept || !seen.has_facts || seen.is_checked() || !seen.place.is_loss() {
            return Ok(());
        }
        let Some(trace) = trace(&met) else { return Ok(()) };
        if is_written(&self.catalogue.db, place.0, place.1, &met)? {
            return Ok(());
        }
        let (what, trace) = (FileHistoryEvent::Written, Some(trace.as_bytes()));
        self.write_event(place, what, row.standing, None, trace)
    }

    /// Returns whether a run of ours replaced the tag and was killed before it recorded that. The
    /// file then still has the catalogue's tag as its previous tag.
    fn is_own_successor(&self, path: &Path, was: &FileRecord, seen: &ObservedFile) -> bool {
        let (Some(known), Some(attribute)) = (was.tag, seen.record.tag) else { return false };
        let file = beneath::file(&self.catalogue.root, path);
        let previous = file.and_then(|file| Xattr.previous(&file));
        let is_later = attribute.tagged.seconds >= known.tagged.seconds
            || age_s(known.tagged.seconds, self.now.seconds).is_none();
        is_later && matches!(previous, Ok(StoredTag::Whole(previous)) if previous == known)
    }

    /// Compares the facts of a file that was not read.
    fn compare(
        &mut self,
        path: std::path::PathBuf,
        was: &FileRecord,
        facts: &FileFacts,
        say: &mut Say<'_>,
    ) {
        let change = FactChange {
            length: facts.length != was.facts.length,
            mtime: facts.mtime != was.facts.mtime,
            // That of other states is the one of the last proof.
            ctime: was.standing.proves() && facts.ctime != was.facts.ctime,
            inode: facts.inode != was.facts.inode,
        };
        if change.any() {
            self.report(say, Finding::Changed { path, change });
        } else if !matches!(was.standing, FileState::Fine | FileState::Missing) {
            self.report(say, Finding::FileState { path, standing: was.standing });
        }
    }

    fn report_tag(
        &mut self,
        path: std::path::PathBuf,
        was: &FileRecord,
        seen: &ObservedFile,
        outcome: &TagOutcome,
        say: &mut Say<'_>,
    ) {
        let Some(catalogued) = was.tag else { return };
        let from_here = seen.place.is_loss() && !seen.changed_tag();
        if outcome.lost || from_here {
            // A program that saved an edited file anew took its tag away: its verdict says enough.
            if seen.record.standing == FileState::Modified && seen.place != TagPlace::Damaged {
                return;
            }
            let damaged = seen.place == TagPlace::Damaged;
            let fits = seen.record.standing.proves();
            self.report(say, Finding::TagLost { path, tag: catalogued, damaged, fits });
        } else if let Some(attribute) = seen.record.tag
            && (outcome.replaced || outcome.what == Some(FileHistoryEvent::Accepted))
        {
            let accepted = !outcome.replaced;
            self.report(say, Finding::TagReplaced { path, catalogued, attribute, accepted });
        }
    }

    /// Writes the changed rows of a slice, and the slice. Cuts it if it is too long. Without an
    /// `old` slice, a new one begins at `first`.
    fn store(
        &mut self,
        level: &mut OpenDir,
        old: Option<NameSlice>,
        first: Vec<u8>,
        mut rows: Vec<UpdatedRow>,
    ) -> Result<(), DbError> {
        let mut first = old.as_ref().map_or(first, |slice| slice.first.clone());
        let len = if rows.len() > SLICE_LEN_MAX { SLICE_LEN } else { SLICE_LEN_MAX };
        let mut slices = Vec::new();
        for chunk in rows.chunks_mut(len) {
            if !slices.is_empty() {
                first = chunk[0].known.name.clone();
            }
            let begin = std::mem::take(&mut first);
            slices.push(NameSlice::of(level.id, begin, chunk, &mut self.buffer));
        }
        let db = &self.catalogue.db;
        for row in rows.iter().filter(|row| row.dirty) {
            writes::put_file(db, level.id, row)?;
        }
        for slice in slices.iter().filter(|slice| Some(*slice) != old.as_ref()) {
            slice.put(db, level.id)?;
        }
        let replaced = level.at..level.at + usize::from(old.is_some());
        self.account(old.as_slice(), &slices);
        let count = slices.len();
        if count > 0 {
            level.slices.splice(replaced, slices);
            level.at += count - 1;
        }
        Ok(())
    }

    /// Cuts the slice of the batch before a name, so that the first part can be settled.
    pub(super) fn split(&mut self, level: &mut OpenDir, name: &[u8]) -> Result<(), DbError> {
        if !self.mode.writes {
            return Ok(());
        }
        let slice = level.slices[level.at].clone();
        let next = level.slices.get(level.at + 1).map(|next| next.first.clone());
        let db = &self.catalogue.db;
        let rows = rows_of(db, level.id, &slice, next.as_deref(), &mut self.buffer)?;
        let rows = rows.into_iter().map(|row| UpdatedRow::as_was(row, slice.checked_run));
        let (mut head, mut tail): (Vec<_>, Vec<_>) =
            rows.partition(|row| row.known.name.as_slice() < name);
        let head_slice = NameSlice::of(level.id, slice.first, &mut head, &mut self.buffer);
        let tail_slice = NameSlice::of(level.id, name.to_vec(), &mut tail, &mut self.buffer);
        for row in head.iter().chain(&tail).filter(|row| row.dirty) {
            writes::put_file(db, level.id, row)?;
        }
        head_slice.put(db, level.id)?;
        tail_slice.put(db, level.id)?;
        self.record.totals.slices += 1;
        level.slices.splice(level.at..=level.at, [head_slice, tail_slice]);
        Ok(())
    }

    /// Counts slices that replace others.
    fn account(&mut self, old: &[NameSlice], new: &[NameSlice]) {
        let entries = |slices: &[NameSlice]| -> i64 {
            slices.iter().map(|slice| slice.entries.cast_signed()).sum()
        };
        let totals = &mut self.record.totals;
        totals.slices += new.len() as i64 - old.len() as i64;
        totals.entries += entries(new) - entries(old);
    }

    /// Notes whether a file was covered.
    pub(super) fn cover(
        &mut self,
        level: &mut OpenDir,
        name: &[u8],
        covered: bool,
    ) -> Result<(), DbError> {
        if !self.mode.writes {
            return Ok(());
        }
        if covered {
            level.cover.extend(name, name);
            return Ok(());
        }
        level.cover.gap(&self.catalogue.db, self.record.id, level.id)
    }

    /// Writes an event.
    pub(super) fn write_event(
        &mut self,
        (directory, name, file): EventPlace<'_>,
        what: FileHistoryEvent,
        standing: FileState,
        before: Option<Tag>,
        other: Option<&[u8]>,
    ) -> Result<(), DbError> {
        if !self.mode.writes {
            return Ok(());
        }
        self.counts.events += 1;
        self.record.totals.events += 1;
        let (run, number, at_s) = (self.record.id, self.counts.events, self.now.seconds);
        let event =
            NewEvent { file, directory, name, run, number, at_s, what, standing, before, other };
        event.put(&self.catalogue.db)
    }

    /// Writes the rows of a slice that changed after its directory was left.
    pub(super) fn amend(
        &mut self,
        directory: i64,
        slice: &NameSlice,
        mut rows: Vec<UpdatedRow>,
    ) -> Result<(), DbError> {
        let amended = NameSlice::of(directory, slice.first.clone(), &mut rows, &mut self.buffer);
        let db = &self.catalogue.db;
        for row in rows.iter().filter(|row| row.dirty) {
            writes::put_file(db, directory, row)?;
        }
        amended.put(db, directory)?;
        self.account(std::slice::from_ref(slice), &[amended]);
        Ok(())
    }
}

/// Decides the tag of a file after the run.
fn tag_after(was: &FileRecord, seen: &ObservedFile, accepts: bool) -> TagOutcome {
    let kept = TagOutcome { tag: was.tag, what: None, replaced: false, lost: false };
    if seen.changed_tag() {
        let what = seen.action.and_then(FileHistoryEvent::of_action);
        return TagOutcome { tag: seen.record.tag, what, ..kept };
    }
    match (was.tag, seen.record.tag) {
        (None, None) => kept,
        (None, Some(_)) => {
            TagOutcome { tag: seen.record.tag, what: Some(FileHistoryEvent::Adopted), ..kept }
        }
        // From here on, a tag that is not there is lost.
        (Some(_), Some(_)) if seen.action == Some(Action::Restored) => {
            TagOutcome { what: Some(FileHistoryEvent::Adopted), ..kept }
        }
        (Some(was), Some(now)) if was == now || seen.place != TagPlace::Attribute => kept,
        (Some(was), Some(now)) if was.same_contents(&now) => {
            TagOutcome { tag: Some(now), what: Some(FileHistoryEvent::Adopted), ..kept }
        }
        (Some(_), Some(_)) if accepts => {
            TagOutcome { tag: seen.record.tag, what: Some(FileHistoryEvent::Accepted), ..kept }
        }
        (Some(_), Some(_)) => TagOutcome { replaced: true, ..kept },
        (Some(_), None) => {
            let lost = seen.has_facts && seen.verdict == Some(Verdict::Untagged);
            TagOutcome { lost, ..kept }
        }
    }
}

/// Returns whether another known file may be at the name of this one: the inode is another, and the
/// tag, or the lack of one, is not that of the file that was here. The end of the run decides.
fn may_be_another(was: &FileRecord, seen: &ObservedFile) -> bool {
    let is_other_inode = seen.has_facts && seen.record.facts.inode != was.facts.inode;
    let Some(known) = was.tag.filter(|_| is_other_inode) else { return false };
    match seen.own_tag() {
        Some(own) => !own.same_contents(&known),
        None => seen.changed_tag() || seen.verdict == Some(Verdict::Untagged),
    }
}

/// Decides what is kept of the status of a file after the run.
fn facts_after(
    was: &FileRecord,
    seen: &ObservedFile,
    outcome: &TagOutcome,
    standing: FileState,
    has_proof: bool,
) -> FileFacts {
    let mut facts = if seen.has_facts { seen.record.facts } else { was.facts };
    let proves = (seen.is_checked() && standing.proves()) || seen.changed_tag();
    if !proves && has_proof {
        // The change time of the last proof is the evidence of later verdicts.
        facts.ctime = was.facts.ctime;
    }
    if !proves && was.standing.keeps_date() && standing.keeps_date() {
        facts.mtime = was.facts.mtime;
    }
    if !seen.is_checked() && standing.proves() && was.tag.is_some() && outcome.tag == was.tag {
        // No run has read what was written since, so a comparison must go on to find it.
        (facts.length, facts.mtime) = (was.facts.length, was.facts.mtime);
    }
    facts
}

/// Decides the state of a file after the run.
fn state_after(was: &FileRecord, seen: &ObservedFile, outcome: &TagOutcome) -> FileState {
    let returned = if was.standing == FileState::Missing { FileState::Fine } else { was.standing };
    match seen.verdict {
        _ if seen.changed_tag() => FileState::Fine,
        _ if outcome.lost => returned,
        Some(_) if outcome.replaced && seen.record.standing.proves() => FileState::TagReplaced,
        Some(_) => seen.record.standing,
        None if outcome.replaced => FileState::TagReplaced,
        None => returned,
    }
}
