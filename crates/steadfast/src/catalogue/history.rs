//! The history of one file: every run that judged it, with its verdict.
//!
//! Takes a path; returns its runs in order. Verdicts are not stored one by one: the verdict of a
//! run that covered a file follows from the file's state at that time, and changes of state are
//! events.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Row};
use steadfast_sys::names::NameBytes as _;

use steadfast_sys::file::Timestamp;

use super::column;
use super::directory::{ROOT, at_path, directory};
use super::entry::{FileFacts, state_at};
use super::error::DbError;
use super::file_history_event::FileHistoryEvent;
use super::repaired::{self, RepairSource};
use super::runs::{self, RunRecord};
use super::slice_cache::{FoundRow, reading};
use super::writes::{self, NewEvent};
use super::{Catalogue, CatalogueError};
use crate::file_state::FileState;
use crate::verdict::Verdict;
use steadfast_manifest::tag::Tag;

/// The present knowledge of a catalogue about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFile {
    /// The last facts from the file system.
    pub facts: FileFacts,
    /// Its tag, if it has one.
    pub tag: Option<Tag>,
    /// Its state.
    pub standing: FileState,
    /// The run that first saw it.
    pub first_run: i64,
    /// The run that last judged it; 0 for none.
    pub last_checked_run: i64,
    /// The run that last proved its contents; 0 for none.
    pub last_proved_run: i64,
}

impl KnownFile {
    pub(super) fn of(found: &FoundRow) -> KnownFile {
        let FoundRow { known, slice_run } = found;
        KnownFile {
            facts: known.record.facts,
            tag: known.record.tag,
            standing: known.record.standing,
            first_run: known.first_run,
            last_checked_run: known.last_checked(*slice_run),
            last_proved_run: known.last_proved(*slice_run),
        }
    }
}

/// An event of a file in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Happened {
    /// Time, UTC, to about a second.
    pub at: Timestamp,
    /// The event: a verdict, an action, or a finding.
    pub what: FileHistoryEvent,
    /// The state of the file after it.
    pub standing: FileState,
    /// The previous tag, if the file lost or changed it.
    pub before: Option<Tag>,
    /// Another path that the event refers to, from the root.
    pub other: Option<PathBuf>,
    /// Where the contents came from, if the file was repaired.
    pub sources: Vec<RepairSource>,
}

/// A run that involved a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRun {
    /// The run.
    pub run: RunRecord,
    /// Its verdict, if it judged the file.
    pub verdict: Option<Verdict>,
    /// The state of the file after the run.
    pub standing: FileState,
    /// The tag of the file after the run.
    pub tag: Option<Tag>,
    /// Its events, in order; empty if the file was as the previous run left it.
    pub happened: Vec<Happened>,
}

/// The history of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// Its path from the root.
    pub path: PathBuf,
    /// The present knowledge; `None` if the file is not known, or no longer.
    pub now: Option<KnownFile>,
    /// The runs that involved it, the earliest first.
    pub runs: Vec<HistoryRun>,
}

impl Catalogue {
    /// Returns the history of a file, by its path from the root.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub fn history(&self, path: &Path) -> Result<History, CatalogueError> {
        let history = reading(&self.db, || history(self, path));
        history.map_err(|fault| self.wrong(fault))
    }

    /// Returns the paths that a file had before it moved to its present one, the last one first.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub(crate) fn former_paths(&self, path: &Path) -> Result<Vec<PathBuf>, CatalogueError> {
        let former = reading(&self.db, || former_paths(&self.db, path));
        former.map_err(|fault| self.wrong(fault))
    }

    /// Returns when the file of a path was last modified when its contents were last proved; `None`
    /// if it has another tag, or may have been written since.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub(crate) fn proved_mtime(
        &self,
        path: &Path,
        tag: &Tag,
    ) -> Result<Option<Timestamp>, CatalogueError> {
        let found = self.known_at(path).map_err(|fault| self.wrong(fault))?;
        let is_of_tag =
            |it: &FoundRow| it.known.record.tag.is_some_and(|known| known.same_contents(tag));
        Ok(found.filter(is_of_tag).and_then(|found| found.known.proved_mtime()))
    }

    /// Returns whether the last file of a path had these contents, and its loss was accepted.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub(crate) fn was_let_go(&self, path: &Path, tag: &Tag) -> Result<bool, CatalogueError> {
        let last = reading(&self.db, || last_event(&self.db, path));
        let is_loss = |event: StoredEvent| {
            let Happened { what, standing, before, .. } = event.happened;
            (what, standing) == (FileHistoryEvent::Dropped, FileState::Missing)
                && before.is_some_and(|before| before.same_contents(tag))
        };
        last.map(|event| event.is_some_and(is_loss)).map_err(|fault| self.wrong(fault))
    }

    /// Returns the path to which the last file of a path moved; `None` if it did not move.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub(crate) fn moved_to(&self, path: &Path) -> Result<Option<PathBuf>, CatalogueError> {
        reading(&self.db, || moved_to(&self.db, path)).map_err(|fault| self.wrong(fault))
    }
}

impl Catalogue {
    /// Returns the numbers of the runs that judged everything beneath a directory. These judged a
    /// name in it that comes before every other name, which runs over single files never do.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub fn runs_over(&self, directory: &Path) -> Result<Vec<i64>, CatalogueError> {
        let history = self.history(&directory.join("\u{1}"))?;
        let judged = history.runs.iter().filter(|run| run.verdict.is_some());
        Ok(judged.map(|run| run.run.id).collect())
    }
}

/// An event of one file.
struct StoredEvent {
    run: i64,
    happened: Happened,
}

fn history(catalogue: &Catalogue, path: &Path) -> Result<History, DbError> {
    let db = &catalogue.db;
    let mut history = History { path: path.to_owned(), now: None, runs: Vec::new() };
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(history) };
    runs::ensure_past(db)?;
    let Some(parent) = at_path(db, parent)? else { return Ok(history) };
    ensure_events(db)?;
    let known = catalogue.known_at(path)?;
    let first_run = known.as_ref().map_or(1, |found| found.known.first_run);
    history.now = known.as_ref().map(KnownFile::of);
    let events = events_of(db, parent.id, name.as_bytes())?;
    let lives = lives(&events, first_run);
    let tags = tags_after(&events, history.now.as_ref().and_then(|now| now.tag));
    let covered = CoveringRuns::of(db, parent.id)?.at(name.as_bytes());
    let is_alive = |run: i64| lives.iter().any(|(from, to)| (*from..=*to).contains(&run));
    let covered: BTreeSet<i64> = covered.into_iter().filter(|run| is_alive(*run)).collect();
    let all: BTreeSet<i64> =
        covered.iter().copied().chain(events.iter().map(|event| event.run)).collect();
    let records = records_of(db, &all)?;
    for run in all {
        let after = events.partition_point(|event| event.run <= run);
        let standing =
            after.checked_sub(1).map_or(FileState::Fine, |at| events[at].happened.standing);
        let tag = tags[after];
        let own = events.iter().filter(|event| event.run == run);
        let has = |what: FileHistoryEvent| own.clone().any(|event| event.happened.what == what);
        let verdict = match covered.contains(&run) {
            true if has(FileHistoryEvent::MovedTo) && !has(FileHistoryEvent::New) => {
                Some(Verdict::Moved)
            }
            true if !has(FileHistoryEvent::PassedBy) => Some(standing.verdict(tag.is_some())),
            _ => None,
        };
        let record = records.get(&run);
        let record =
            record.ok_or_else(|| DbError::damaged(format_args!("there is no run {run}")))?;
        let mut happened: Vec<Happened> = own.clone().map(|event| event.happened.clone()).collect();
        if has(FileHistoryEvent::New) {
            // Where the file came from may be known before it is known where the one before went.
            happened.sort_by_key(|it| !it.what.ends_life());
        }
        history.runs.push(HistoryRun { run: record.clone(), verdict, standing, tag, happened });
    }
    Ok(history)
}

/// Paths that a file had before, of which a repair asks.
const FORMER_MAX: usize = 32;

/// Returns the paths that a file had before, the last one first.
pub(super) fn former_paths(db: &Connection, path: &Path) -> Result<Vec<PathBuf>, DbError> {
    let mut former: Vec<PathBuf> = Vec::new();
    let mut ways = vec![(path.to_owned(), i64::MAX)];
    while let Some((path, left_run)) = ways.pop() {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
        let Some(parent) = at_path(db, parent)? else { continue };
        let events = events_of(db, parent.id, name.as_bytes())?;
        let came = |event: &&StoredEvent| {
            event.happened.what == FileHistoryEvent::New && event.run < left_run
        };
        // In its last run, a name may have got the next file as well.
        let since = events.iter().rfind(came).map_or(0, |event| event.run);
        for event in &events {
            let Some(other) = &event.happened.other else { continue };
            let is_of_file = (since..left_run).contains(&event.run);
            if event.happened.what == FileHistoryEvent::MovedFrom
                && is_of_file
                && former.len() < FORMER_MAX
            {
                former.push(other.clone());
                ways.push((other.clone(), event.run));
            }
        }
    }
    Ok(former)
}

fn moved_to(db: &Connection, path: &Path) -> Result<Option<PathBuf>, DbError> {
    let mut now: Option<PathBuf> = None;
    // Names can be exchanged again and again.
    for _ in 0..FORMER_MAX {
        let event = last_event(db, now.as_deref().unwrap_or(path))?;
        match event.filter(|event| event.happened.what == FileHistoryEvent::MovedTo) {
            Some(event) => now = event.happened.other,
            None => break,
        }
    }
    Ok(now)
}

/// Returns the last event of a path.
fn last_event(db: &Connection, path: &Path) -> Result<Option<StoredEvent>, DbError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    let Some(parent) = at_path(db, parent)? else { return Ok(None) };
    Ok(events_of(db, parent.id, name.as_bytes())?.pop())
}

/// Returns the runs between which the file was known, first and last.
fn lives(events: &[StoredEvent], first_run: i64) -> Vec<(i64, i64)> {
    let mut lives = Vec::new();
    let begins = |event: &&StoredEvent| event.happened.what == FileHistoryEvent::New;
    // The files of the first run have no event.
    let mut from = match events.iter().find(begins) {
        Some(_) if events.first().as_ref().is_some_and(begins) => None,
        Some(_) => Some(1),
        None => Some(first_run),
    };
    for event in events {
        match event.happened.what {
            FileHistoryEvent::New => from = Some(event.run),
            what if what.ends_life() => {
                lives.extend(from.take().map(|from| (from, event.run)));
            }
            _ => {}
        }
    }
    lives.extend(from.map(|from| (from, i64::MAX)));
    lives
}

/// Returns the tag before any event, and after each.
fn tags_after(events: &[StoredEvent], now: Option<Tag>) -> Vec<Option<Tag>> {
    let mut tags = vec![now; events.len() + 1];
    for (at, event) in events.iter().enumerate().rev() {
        tags[at] =
            if event.happened.what.changes_tag() { event.happened.before } else { tags[at + 1] };
    }
    tags
}

/// The columns of an event, in the order of reading.
const EVENT_COLUMNS: &str = "directory, name, run, number, at_s, what, state, other, sum, \
    algorithm, digest, tagged_s, tag_length, tag_mtime_ns, file";

/// Reads [`EVENT_COLUMNS`] and passes their values on.
pub(super) fn read_event<T>(
    row: &Row<'_>,
    take: impl FnOnce(&NewEvent<'_>) -> T,
) -> Result<T, DbError> {
    const OTHER_LEN_MAX: usize = 1 << 20;
    let other =
        if column::is_null(row, 7)? { None } else { Some(column::bytes(row, 7, OTHER_LEN_MAX)?) };
    let epoch = Timestamp { seconds: 0, nanoseconds: 0 };
    let event = NewEvent {
        file: column::integer(row, 14)?,
        directory: column::integer(row, 0)?,
        name: column::name(row, 1)?,
        run: column::integer(row, 2)?,
        number: column::integer(row, 3)?,
        at_s: column::integer(row, 4)?,
        what: event_name_at(row, 5)?,
        standing: state_at(row, 6)?,
        before: column::tag(row, 9, 0, epoch)?,
        other,
    };
    event.sum().ensure(column::integer(row, 8)?, "events")?;
    Ok(take(&event))
}

fn event_name_at(row: &Row<'_>, at: usize) -> Result<FileHistoryEvent, DbError> {
    let name = column::text(row, at)?;
    name.parse().map_err(|_| DbError::damaged(format_args!("an event `{name}`")))
}

/// Selects the events that satisfy `condition`, in the order of files and then of runs.
pub(super) fn select_events(condition: &str) -> String {
    format!(
        "SELECT {EVENT_COLUMNS} FROM events WHERE {condition} \
         ORDER BY directory, name, run, number"
    )
}

/// Returns the tag of a file before an event, by its run and number.
pub(super) fn tag_before(
    db: &Connection,
    (directory, name): (i64, &[u8]),
    (run, number): (i64, i64),
) -> Result<Option<Tag>, DbError> {
    let condition = "directory = ? AND name = ? AND run = ? AND number = ?";
    let mut statement = db.prepare_cached(&select_events(condition))?;
    let mut rows = statement.query((directory, name, run, number))?;
    let event = rows.next()?.map(|row| read_event(row, |event| event.before));
    Ok(event.transpose()?.flatten())
}

/// Returns the previous tags of a file, in the order of time.
pub(super) fn tags_before(
    db: &Connection,
    directory: i64,
    name: &[u8],
) -> Result<Vec<Tag>, DbError> {
    let events = events_of(db, directory, name)?;
    // Before it was new, the name had another file.
    let since =
        events.iter().rposition(|event| event.happened.what == FileHistoryEvent::New).unwrap_or(0);
    Ok(events.into_iter().skip(since).filter_map(|event| event.happened.before).collect())
}

fn events_of(db: &Connection, directory: i64, name: &[u8]) -> Result<Vec<StoredEvent>, DbError> {
    let mut statement = db.prepare_cached(&select_events("directory = ? AND name = ?"))?;
    let mut rows = statement.query((directory, name))?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.push(read_event(row, stored)??);
    }
    Ok(events)
}

fn stored(event: &NewEvent<'_>) -> Result<StoredEvent, DbError> {
    let is_repair = event.what == FileHistoryEvent::Repaired;
    let path = event.other.filter(|_| !is_repair && event.what != FileHistoryEvent::Written);
    let sources = event.other.filter(|_| is_repair).unwrap_or_default();
    Ok(StoredEvent {
        run: event.run,
        happened: Happened {
            at: super::seconds(event.at_s),
            what: event.what,
            standing: event.standing,
            before: event.before,
            other: path.map(|path| PathBuf::from(Path::from_bytes(path))),
            sources: repaired::of_bytes(sources)?,
        },
    })
}

/// Checks every event. One whose key decayed is not found by the name of its file, and the history
/// of that file would lack it without a word.
fn ensure_events(db: &Connection) -> Result<(), DbError> {
    let mut statement = db.prepare_cached(&select_events("TRUE"))?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        read_event(row, |_| ())?;
    }
    Ok(())
}

/// The runs that covered the names of one directory.
pub(super) struct CoveringRuns {
    /// Those that covered all of it.
    whole: BTreeSet<i64>,
    /// Others, and what each covered.
    ranges: Vec<(i64, CoveredNames)>,
}

impl CoveringRuns {
    pub(super) fn of(db: &Connection, directory_id: i64) -> Result<CoveringRuns, DbError> {
        let mut covering = CoveringRuns { whole: BTreeSet::new(), ranges: Vec::new() };
        let mut statement = db.prepare_cached(
            "SELECT run, first, last, beneath, sum FROM coverage WHERE directory = ?",
        )?;
        let mut at = directory_id;
        loop {
            let mut rows = statement.query((at,))?;
            while let Some(row) = rows.next()? {
                let (run, beneath) = (column::integer(row, 0)?, column::integer(row, 3)? != 0);
                let first = column::bytes(row, 1, column::NAME_LEN_MAX)?;
                let last = match column::is_null(row, 2)? {
                    true => None,
                    false => Some(column::bytes(row, 2, column::NAME_LEN_MAX)?),
                };
                let sum = writes::coverage_sum(run, at, first, last, beneath);
                sum.ensure(column::integer(row, 4)?, "coverage")?;
                if beneath {
                    covering.whole.insert(run);
                } else if at == directory_id {
                    let (first, last) = (first.to_vec(), last.map(<[u8]>::to_vec));
                    covering.ranges.push((run, CoveredNames { first, last }));
                }
            }
            if at == ROOT {
                return Ok(covering);
            }
            at = directory(db, at)?.parent;
        }
    }

    /// Returns the runs that covered a name.
    pub(super) fn at(&self, name: &[u8]) -> BTreeSet<i64> {
        let ranges = self.ranges.iter().filter(|(_, range)| range.has(name));
        self.whole.iter().copied().chain(ranges.map(|(run, _)| *run)).collect()
    }

    /// Returns whether a run covered a name.
    pub(super) fn has(&self, run: i64, name: &[u8]) -> bool {
        let has = |(of, range): &(i64, CoveredNames)| *of == run && range.has(name);
        self.whole.contains(&run) || self.ranges.iter().any(has)
    }
}

/// Names from a first one to a last one, or to the end.
struct CoveredNames {
    first: Vec<u8>,
    last: Option<Vec<u8>>,
}

impl CoveredNames {
    fn has(&self, name: &[u8]) -> bool {
        self.first.as_slice() <= name && self.last.as_deref().is_none_or(|last| name <= last)
    }
}

fn records_of(
    db: &Connection,
    wanted: &BTreeSet<i64>,
) -> Result<BTreeMap<i64, RunRecord>, DbError> {
    let mut records = BTreeMap::new();
    for &run in wanted {
        let found = runs::before(db, run.saturating_add(1), 1)?;
        records.extend(found.into_iter().map(|record| (record.id, record)));
    }
    Ok(records)
}
