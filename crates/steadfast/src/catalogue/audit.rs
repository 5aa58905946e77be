//! What can be proved about a tree: how much was proved when, what is overdue, and what ever
//! failed.
//!
//! Takes numbers of days; returns counts and streams of files. A file is proved by the last run
//! that read it and found the tagged contents. The start of that run counts as the time: it is
//! earlier than the reading, never later.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use steadfast_sys::names::{NameBuf as _, NameBytes as _};

use steadfast_sys::file::Timestamp;

use super::directory::{Paths, at_path};
use super::entry::{FileRecord, FileRow};
use super::error::DbError;
use super::file_history_event::FileHistoryEvent;
use super::history::{read_event, select_events};
use super::repaired::{self, RepairSource};
use super::runs::{self, RunRecord, RunState};
use super::slice::{NameSlice, next_first, rows_of, slices_after};
use super::slice_cache::{FoundRow, SliceCache, reading};
use super::{Catalogue, CatalogueError};
use crate::file_state::FileState;
use crate::verb_kind::VerbKind;

/// Slices that are read in one transaction.
const PAGE_LEN: usize = 256;

/// Seconds in a day.
const DAY_S: i64 = 86_400;

/// How much was proved within a number of days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditWindow {
    /// The number of days before the audit.
    pub days: u32,
    /// Files whose contents were proved in that time.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that were proved or came in that time, or have an open failure, which is no matter of
    /// time.
    pub judged: u64,
}

/// What one run was the last to prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastProofs {
    /// Its number.
    pub run: i64,
    /// When the run began.
    pub at: Timestamp,
    /// Files whose contents it proved, and no later run did.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What can be proved about a tree at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audit {
    /// The time of the audit.
    pub at: Timestamp,
    /// Known files.
    pub entries: u64,
    /// Files with a tag, which can be proved at all.
    pub tagged: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What was proved, by numbers of days.
    pub windows: Vec<AuditWindow>,
    /// The same by the run that proved them last, the earliest run first.
    pub proofs: Vec<LastProofs>,
    /// Tagged files that were never proved, or by a run whose time is in the future, and their
    /// bytes.
    pub never: (u64, u64),
    /// Whether a comparison was completed: one run compared all files that were known then, or
    /// several together did. A check that was stopped, or of a part, is none.
    pub checked: bool,
    /// The oldest among the last proofs of all files.
    pub oldest_proof: Option<Timestamp>,
    /// Files in a state other than fine, by state.
    pub standings: BTreeMap<FileState, u64>,
    /// The last runs, the latest first.
    pub runs: Vec<RunRecord>,
}

/// A file whose last proof is too old.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overdue {
    /// Its path from the root.
    pub path: PathBuf,
    /// Its length in bytes.
    pub length: u64,
    /// Time of the last proof; `None` if it was never proved.
    pub last_proof: Option<Timestamp>,
    /// Its state.
    pub standing: FileState,
}

/// A failure of a file in the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCheck {
    /// Its path from the root.
    pub path: PathBuf,
    /// The run that found it.
    pub run: i64,
    /// Time of that run, UTC.
    pub at: Timestamp,
    /// The failure.
    pub standing: FileState,
    /// The present state of the file, even if it has moved; `None` if it is no longer known.
    pub now: Option<FileState>,
    /// The length that is recorded of the file now.
    pub length: Option<u64>,
    /// Whether it is settled: a later run read the file and found it intact, or met a missing file
    /// under another name, or its loss was accepted. A failure stays open until the file is read
    /// again.
    pub settled: bool,
    /// Whether the file has a failure of its own at the name to which it moved since. Only that one
    /// counts for the file.
    pub goes_on: bool,
    /// The first run after it that repaired the file.
    pub repaired_run: Option<i64>,
}

/// A file that a run repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairedFile {
    /// Its path from the root.
    pub path: PathBuf,
    /// The run.
    pub run: i64,
    /// When, UTC, to about a second.
    pub at: Timestamp,
    /// Where its contents came from.
    pub sources: Vec<RepairSource>,
}

impl Catalogue {
    /// Audits the whole tree. `windows` are the numbers of days for which proofs are counted.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub fn audit(&self, windows: &[u32], now: Timestamp) -> Result<Audit, CatalogueError> {
        reading(&self.db, || audit(&self.db, windows, now)).map_err(|fault| self.wrong(fault))
    }

    /// Visits the files that no run proved within some days, by directory and name.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn overdue(
        &self,
        days: u32,
        now: Timestamp,
        visit: &mut dyn FnMut(Overdue) -> ControlFlow<()>,
    ) -> Result<(), CatalogueError> {
        reading(&self.db, || overdue(&self.db, days, now, visit)).map_err(|fault| self.wrong(fault))
    }

    /// Visits every past failure, by directory, name and run.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub fn failures(
        &self,
        visit: &mut dyn FnMut(FailedCheck) -> ControlFlow<()>,
    ) -> Result<(), CatalogueError> {
        reading(&self.db, || failures(&self.db, None, visit)).map_err(|fault| self.wrong(fault))
    }

    /// Visits the failures that one run found, by directory and name.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub fn failures_of(
        &self,
        run: i64,
        visit: &mut dyn FnMut(FailedCheck) -> ControlFlow<()>,
    ) -> Result<(), CatalogueError> {
        reading(&self.db, || failures(&self.db, Some(run), visit)).map_err(|it| self.wrong(it))
    }

    /// Visits every repair, by directory, name and run.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub fn repairs(
        &self,
        visit: &mut dyn FnMut(RepairedFile) -> ControlFlow<()>,
    ) -> Result<(), CatalogueError> {
        reading(&self.db, || repairs(&self.db, visit)).map_err(|fault| self.wrong(fault))
    }
}

/// Returns whether a run compared files with tags that earlier runs had made.
fn compares(run: &RunRecord) -> bool {
    !run.kind().is_some_and(VerbKind::records)
}

/// Numbers of tagged files that are not late although no proof within a window is of them.
#[derive(Default)]
struct ExcusedFiles {
    /// Those with an open failure, by the run that proved them last.
    failed: BTreeMap<i64, u64>,
    /// Those that are not amiss and that no run has proved, by the run that met them first.
    met: BTreeMap<i64, u64>,
}

impl ExcusedFiles {
    /// Counts them in a window: those that failed after an older proof, and those that came in it.
    fn count(&self, is_within: impl Fn(i64) -> bool) -> u64 {
        let failed = self.failed.iter().filter(|(run, _)| !is_within(**run));
        let met = self.met.iter().filter(|(run, _)| is_within(**run));
        failed.chain(met).map(|(_, count)| count).sum()
    }
}

/// Returns whether all tagged files were compared: in one run, or in several. `judged` are the
/// files that each run was the last to judge.
fn is_compared(runs: &[RunRecord], judged: &dyn Fn(i64) -> u64, tagged: u64) -> bool {
    let of_all = |run: &RunRecord| {
        let gone = run.counts.get("missing").copied().unwrap_or(0);
        run.state == RunState::Whole && run.files + gone >= run.totals.entries.cast_unsigned()
    };
    let comparing = || runs.iter().filter(|run| compares(run));
    let compared: u64 = comparing().map(|run| judged(run.id)).sum();
    compared > 0 && (compared >= tagged || comparing().any(of_all))
}

fn audit(db: &Connection, windows: &[u32], now: Timestamp) -> Result<Audit, DbError> {
    /// Runs that an audit lists.
    const RUNS_SHOWN: usize = 30;
    let all = runs::before(db, i64::MAX, -1)?;
    let starts = runs::starts_of(&all, now);
    let mut proved: BTreeMap<i64, (u64, u64)> = BTreeMap::new();
    let mut standings: BTreeMap<FileState, u64> = BTreeMap::new();
    let mut excused = ExcusedFiles::default();
    let (mut entries, mut tagged, mut total_bytes) = (0, 0, 0_u64);
    let mut add = |run, count: u64, bytes: u64| {
        let class = proved.entry(run).or_default();
        *class = (class.0 + count, class.1.saturating_add(bytes));
    };
    each_slice(db, None, &mut |_, slice, rows| {
        entries += slice.entries;
        tagged += slice.tagged;
        total_bytes = total_bytes.saturating_add(slice.bytes);
        if slice.apart == 0 && starts.contains_key(&slice.checked_run) {
            add(slice.checked_run, slice.tagged, slice.bytes);
            return Ok(ControlFlow::Continue(()));
        }
        for row in rows()? {
            if let Some(tag) = &row.record.tag {
                let proved_run = row.last_proved(slice.checked_run);
                add(proved_run, 1, tag.length);
                if !row.record.standing.proves() {
                    *excused.failed.entry(proved_run).or_default() += 1;
                } else if !starts.contains_key(&proved_run) {
                    *excused.met.entry(row.first_run).or_default() += 1;
                }
            }
            if row.record.standing != FileState::Fine {
                *standings.entry(row.record.standing).or_default() += 1;
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let mut never = (0, 0_u64);
    proved.retain(|run, (count, bytes)| {
        let is_dated = starts.contains_key(run);
        if !is_dated {
            never = (never.0 + *count, never.1.saturating_add(*bytes));
        }
        is_dated && *count > 0
    });
    let judged = |run: i64| proved.get(&run).map_or(0, |class| class.0);
    let start = |run: &i64| starts[run];
    let windows = windows.iter().map(|&days| {
        let since = now.seconds.saturating_sub(i64::from(days) * DAY_S);
        let within = proved.iter().filter(|(run, _)| start(run) >= since);
        let sum = |(a, b): (u64, u64), (_, (c, d)): (&i64, &(u64, u64))| (a + c, b + d);
        let (entries, bytes) = within.fold((0, 0), sum);
        let is_within = |run| starts.get(&run).is_some_and(|started| *started >= since);
        AuditWindow { days, entries, bytes, judged: entries + excused.count(is_within) }
    });
    Ok(Audit {
        at: now,
        entries,
        tagged,
        bytes: total_bytes,
        windows: windows.collect(),
        proofs: last_proofs(&proved, &starts),
        never,
        checked: is_compared(&all, &judged, tagged),
        oldest_proof: proved.keys().map(start).min().map(super::seconds),
        standings,
        runs: all.into_iter().take(RUNS_SHOWN).collect(),
    })
}

/// Returns the runs that proved files last, with how many and how much.
fn last_proofs(proved: &BTreeMap<i64, (u64, u64)>, starts: &BTreeMap<i64, i64>) -> Vec<LastProofs> {
    let of = |(run, &(entries, bytes)): (&i64, &(u64, u64))| {
        let at = super::seconds(starts[run]);
        LastProofs { run: *run, at, entries, bytes }
    };
    proved.iter().map(of).collect()
}

fn overdue(
    db: &Connection,
    days: u32,
    now: Timestamp,
    visit: &mut dyn FnMut(Overdue) -> ControlFlow<()>,
) -> Result<(), DbError> {
    let starts = runs::starts(db, now)?;
    let since = now.seconds.saturating_sub(i64::from(days) * DAY_S);
    let start = |run: i64| starts.get(&run).copied();
    let mut paths = Paths::default();
    each_slice(db, None, &mut |directory, slice, rows| {
        let recent = start(slice.checked_run).is_some_and(|start| start >= since);
        if slice.tagged == 0 || slice.apart == 0 && recent {
            return Ok(ControlFlow::Continue(()));
        }
        for row in rows()? {
            let proof = start(row.last_proved(slice.checked_run));
            let Some(tag) = &row.record.tag else { continue };
            if proof.is_some_and(|proof| proof >= since) {
                continue;
            }
            let overdue = Overdue {
                path: paths.file(db, directory, &row.name)?,
                length: tag.length,
                last_proof: proof.map(super::seconds),
                standing: row.record.standing,
            };
            if visit(overdue).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    })
}

fn failures(
    db: &Connection,
    of: Option<i64>,
    visit: &mut dyn FnMut(FailedCheck) -> ControlFlow<()>,
) -> Result<(), DbError> {
    let mut paths = Paths::default();
    let mut cache = SliceCache::default();
    runs::ensure_past(db)?;
    let of_run = of.map(|run| format!(" AND run = {run}")).unwrap_or_default();
    let failed = format!("is_bad(state) AND what <> 'dropped'{of_run}");
    let mut statement = db.prepare(&select_events(&failed))?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let (mut failed, failure) = read_event(row, |event| {
            let failure = FailedCheck {
                path: PathBuf::from(Path::from_bytes(event.name)),
                run: event.run,
                at: super::seconds(event.at_s),
                standing: event.standing,
                now: None,
                length: None,
                settled: false,
                goes_on: false,
                repaired_run: None,
            };
            let (run, number) = (event.run, event.number);
            (
                PlacedFailure {
                    directory: event.directory,
                    name: event.name.to_vec(),
                    run,
                    number,
                },
                failure,
            )
        })?;
        let path = paths.of(db, failed.directory)?.join(&failure.path);
        let repaired_run = failed.repaired_run(db)?;
        let first = failed.clone();
        let dropped = failed.follow(db)?;
        let is_moved = first != failed;
        let was_settled = is_moved && first.was_proved_there(db)?;
        let now = match dropped {
            true => None,
            false => cache.find(db, failed.directory, &failed.name)?,
        };
        // A missing file that was found elsewhere is there, whether or not a run has read it since.
        let is_found = is_moved && failure.standing == FileState::Missing;
        let failure = FailedCheck {
            path,
            now: now.as_ref().map(|found| found.known.record.standing),
            length: now.as_ref().and_then(|found| found.known.record.tag).map(|tag| tag.length),
            settled: dropped
                || is_found
                || was_settled
                || now.is_some_and(|found| settles(&found, &failure)),
            goes_on: is_moved && failed.has_failed_there(db)?,
            repaired_run,
            ..failure
        };
        if visit(failure).is_break() {
            break;
        }
    }
    Ok(())
}

fn repairs(
    db: &Connection,
    visit: &mut dyn FnMut(RepairedFile) -> ControlFlow<()>,
) -> Result<(), DbError> {
    let mut paths = Paths::default();
    runs::ensure_past(db)?;
    let mut statement = db.prepare(&select_events("what = 'repaired'"))?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let (directory, file) = read_event(row, |event| {
            let file = RepairedFile {
                path: PathBuf::from(Path::from_bytes(event.name)),
                run: event.run,
                at: super::seconds(event.at_s),
                sources: repaired::of_bytes(event.other.unwrap_or_default())?,
            };
            Ok::<_, DbError>((event.directory, file))
        })??;
        let path = paths.of(db, directory)?.join(&file.path);
        if visit(RepairedFile { path, ..file }).is_break() {
            break;
        }
    }
    Ok(())
}

/// The place of a file at some point of its history.
#[derive(Clone, PartialEq, Eq)]
struct PlacedFailure {
    directory: i64,
    name: Vec<u8>,
    run: i64,
    /// The number of the event after which it was there, within its run.
    number: i64,
}

impl PlacedFailure {
    /// Returns the first later run that repaired the file there.
    fn repaired_run(&self, db: &Connection) -> Result<Option<i64>, DbError> {
        let later = select_events("directory = ? AND name = ? AND run > ? AND what = 'repaired'");
        let mut statement = db.prepare_cached(&later)?;
        let mut rows = statement.query((self.directory, self.name.as_slice(), self.run))?;
        rows.next()?.map(|row| read_event(row, |event| event.run)).transpose()
    }

    /// Returns whether the contents were proved after it, before the file went elsewhere.
    fn was_proved_there(&self, db: &Connection) -> Result<bool, DbError> {
        let next = select_events(
            "directory = ? AND name = ? AND (run, number) > (?, ?) \
             AND what IN ('intact', 'repaired', 'moved to', 'dropped', 'overwritten')",
        );
        let mut statement = db.prepare_cached(&next)?;
        let mut rows =
            statement.query((self.directory, self.name.as_slice(), self.run, self.number))?;
        let first = rows.next()?.map(|row| read_event(row, |event| event.what)).transpose()?;
        Ok(matches!(first, Some(FileHistoryEvent::Intact | FileHistoryEvent::Repaired)))
    }

    /// Returns whether the file that is there has failed there.
    fn has_failed_there(&self, db: &Connection) -> Result<bool, DbError> {
        let mut statement = db.prepare_cached(
            "SELECT 1 FROM events WHERE directory = ?1 AND name = ?2 AND is_bad(state) \
             AND what <> 'dropped' AND run >= (SELECT max(run) FROM events \
             WHERE directory = ?1 AND name = ?2 AND what = 'new')",
        )?;
        Ok(statement.exists((self.directory, self.name.as_slice()))?)
    }

    /// Follows a file to its present place. Returns whether its loss was accepted on the way.
    fn follow(&mut self, db: &Connection) -> Result<bool, DbError> {
        let next = select_events(
            "directory = ? AND name = ? AND (run, number) > (?, ?) \
             AND what IN ('moved to', 'dropped', 'overwritten')",
        );
        let mut statement = db.prepare_cached(&next)?;
        // Terminates, because each step goes to a later event.
        loop {
            let mut rows =
                statement.query((self.directory, self.name.as_slice(), self.run, self.number))?;
            let Some(row) = rows.next()? else { return Ok(false) };
            let (run, to) = read_event(row, |event| (event.run, event.other.map(<[u8]>::to_vec)))?;
            let Some(to) = to else { return Ok(true) };
            let to = PathBuf::from_vec(to);
            let (Some(parent), Some(name)) = (to.parent(), to.file_name()) else {
                return Err(DbError::damaged("a file moved to no name"));
            };
            let parent = at_path(db, parent)?;
            let parent = parent.ok_or_else(|| DbError::damaged("a file moved to nowhere"))?;
            let (directory, name) = (parent.id, name.as_bytes().to_vec());
            // Another file may have left the new place in the same run.
            let number = i64::MAX;
            *self = PlacedFailure { directory, name, run, number };
        }
    }
}

/// Returns whether the present state of a file settles one of its failures.
fn settles(found: &FoundRow, failure: &FailedCheck) -> bool {
    let FileRecord { tag, standing, .. } = found.known.record;
    let of_contents = !matches!(
        failure.standing,
        FileState::Unreadable | FileState::Unstable | FileState::Missing
    );
    match tag {
        // Without a tag, the contents cannot be proved, but the file exists and can be read.
        None => standing == FileState::Fine && !of_contents,
        // A file that failed again after a proof has a failure of its own for that.
        Some(_) => {
            let is_other = standing != failure.standing || !standing.proves();
            found.known.last_proved(found.slice_run) > failure.run && is_other
        }
    }
}

/// Visits one slice: its directory, its row, and the rows of its files if requested.
pub(super) type AuditVisit<'a> = dyn FnMut(
        i64,
        &NameSlice,
        &mut dyn FnMut() -> Result<Vec<FileRow>, DbError>,
    ) -> Result<ControlFlow<()>, DbError>
    + 'a;

/// Visits every slice after one in one transaction, so all are of one moment. A slice is named by
/// its directory and its first name.
pub(super) fn each_slice(
    db: &Connection,
    mut after: Option<(i64, Vec<u8>)>,
    visit: &mut AuditVisit<'_>,
) -> Result<(), DbError> {
    let mut buffer = Vec::new();
    loop {
        let place = after.as_ref().map(|(directory, first)| (*directory, first.as_slice()));
        let page = slices_after(db, place, PAGE_LEN)?;
        for (directory, slice) in &page {
            let rows = &mut || {
                let next = next_first(db, *directory, &slice.first)?;
                rows_of(db, *directory, slice, next.as_deref(), &mut buffer)
            };
            if visit(*directory, slice, rows)?.is_break() {
                return Ok(());
            }
        }
        let Some((directory, slice)) = page.into_iter().last() else { return Ok(()) };
        after = Some((directory, slice.first));
    }
}
