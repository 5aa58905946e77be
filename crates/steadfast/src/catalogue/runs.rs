//! The runs that a catalogue records.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row};
use strum::{FromRepr, IntoStaticStr};

use steadfast_sys::file::{Timestamp, age_s};

use super::column;
use super::entry::RowSum;
use super::error::DbError;
use crate::read::Origin;
use crate::verb_kind::VerbKind;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRepr, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum RunState {
    /// It is in progress, or the process or the machine died during it.
    Unfinished,
    /// It was completed.
    Whole,
    /// It was stopped.
    Interrupted,
}

impl RunState {
    fn number(self) -> i64 {
        self as i64
    }

    fn of(number: i64) -> Result<RunState, DbError> {
        let known = usize::try_from(number).ok().and_then(RunState::from_repr);
        known.ok_or_else(|| DbError::damaged(format_args!("state {number} of a run")))
    }

    /// Returns the name in lower case, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A recorded run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRecord {
    /// Its number, from 1. Later runs have higher ones.
    pub id: i64,
    /// The verb in words; [`RunRecord::kind`] to compare it.
    pub verb: String,
    /// The program's version.
    pub version: String,
    /// The requested source of bytes; `None` if none were read.
    pub read_from: Option<Origin>,
    /// The SHA-256 backend and its lanes.
    pub backend: String,
    /// When it began, UTC.
    pub started: Timestamp,
    /// Time of its last write to the catalogue; for a completed run, that of its end.
    pub latest: Timestamp,
    /// How it ended.
    pub state: RunState,
    /// Files that it saw.
    pub files: u64,
    /// Bytes of the files that it judged.
    pub bytes: u64,
    /// Counts of verdicts and findings, by name.
    pub counts: BTreeMap<String, u64>,
    /// Numbers of rows in the catalogue after it.
    pub(super) totals: Totals,
}

/// Numbers of rows in a catalogue. The row of the last run has them, so lost rows are detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) directories: i64,
    pub(super) slices: i64,
    pub(super) entries: i64,
    pub(super) coverage: i64,
    pub(super) events: i64,
}

impl Totals {
    /// Those of a new catalogue.
    const NEW: Totals = Totals { directories: 1, slices: 0, entries: 0, coverage: 0, events: 0 };

    fn numbers(self) -> [i64; 5] {
        [self.directories, self.slices, self.entries, self.coverage, self.events]
    }
}

const RUN_COLUMNS: &str = "id, verb, version, read_from, backend, started_s, latest_s, state, \
    files, bytes, all_directories, all_slices, all_entries, all_coverage, all_events, sum";

impl RunRecord {
    /// Returns what it did; `None` if this version has no such verb.
    pub fn kind(&self) -> Option<VerbKind> {
        self.verb.parse().ok()
    }

    /// Returns the requested source of bytes as it is stored: empty if there is none.
    pub fn source(&self) -> &'static str {
        self.read_from.map_or("", Origin::name)
    }

    /// Reads [`RUN_COLUMNS`] and the check value, which also covers the counts.
    fn read(row: &Row<'_>) -> Result<(RunRecord, i64), DbError> {
        let moment = |seconds| Timestamp { seconds, nanoseconds: 0 };
        let run = RunRecord {
            id: column::integer(row, 0)?,
            verb: column::text(row, 1)?.to_owned(),
            version: column::text(row, 2)?.to_owned(),
            read_from: source_at(row, 3)?,
            backend: column::text(row, 4)?.to_owned(),
            started: moment(column::integer(row, 5)?),
            latest: moment(column::integer(row, 6)?),
            state: RunState::of(column::integer(row, 7)?)?,
            files: column::count(row, 8)?,
            bytes: column::unsigned(row, 9)?,
            counts: BTreeMap::new(),
            totals: Totals {
                directories: column::integer(row, 10)?,
                slices: column::integer(row, 11)?,
                entries: column::integer(row, 12)?,
                coverage: column::integer(row, 13)?,
                events: column::integer(row, 14)?,
            },
        };
        Ok((run, column::integer(row, 15)?))
    }

    fn sum(&self) -> RowSum {
        let texts = [self.verb.as_str(), &self.version, self.source(), &self.backend];
        let sum = RowSum::of("runs").number(self.id);
        let sum = texts.into_iter().fold(sum, |sum, text| sum.bytes(text.as_bytes()));
        let numbers = [self.started.seconds, self.latest.seconds, self.state.number()];
        let numbers = numbers.into_iter().chain([self.files, self.bytes].map(u64::cast_signed));
        let sum = numbers.chain(self.totals.numbers()).fold(sum, RowSum::number);
        let count = |sum: RowSum, (what, count): (&String, &u64)| {
            sum.bytes(what.as_bytes()).number(count.cast_signed())
        };
        self.counts.iter().fold(sum, count)
    }

    /// Writes the row, and the counts.
    pub(super) fn put(&self, db: &Connection) -> Result<(), DbError> {
        let mut statement = db.prepare_cached(
            "REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        let [directories, slices, entries, coverage, events] = self.totals.numbers();
        statement.execute((
            self.id,
            &self.verb,
            &self.version,
            self.source(),
            &self.backend,
            self.started.seconds,
            self.latest.seconds,
            self.state.number(),
            self.files.cast_signed(),
            self.bytes.cast_signed(),
            directories,
            slices,
            entries,
            coverage,
            events,
            self.sum().value(),
        ))?;
        let mut statement = db.prepare_cached("REPLACE INTO counts VALUES (?, ?, ?)")?;
        for (what, count) in &self.counts {
            statement.execute((self.id, what, count.cast_signed()))?;
        }
        Ok(())
    }
}

fn source_at(row: &Row<'_>, at: usize) -> Result<Option<Origin>, DbError> {
    let source = column::text(row, at)?;
    let unknown = |_| DbError::damaged(format_args!("a run that read from `{source}`"));
    if source.is_empty() { Ok(None) } else { source.parse().map(Some).map_err(unknown) }
}

/// Reads runs before one, the latest first; all of them with `i64::MAX` and no limit.
pub(super) fn before(db: &Connection, id: i64, limit: i64) -> Result<Vec<RunRecord>, DbError> {
    let sql = format!("SELECT {RUN_COLUMNS} FROM runs WHERE id < ? ORDER BY id DESC LIMIT ?");
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query((id, limit))?;
    let mut runs: Vec<RunRecord> = Vec::new();
    while let Some(row) = rows.next()? {
        let (mut run, sum) = RunRecord::read(row)?;
        run.counts = counts(db, run.id)?;
        run.sum().ensure(sum, "runs")?;
        if runs.last().is_some_and(|later| later.id != run.id + 1) {
            return Err(DbError::damaged(format_args!("there is no run {}", run.id + 1)));
        }
        runs.push(run);
    }
    let first = runs.last().map_or(1, |run| run.id);
    let cut = i64::try_from(runs.len()).is_ok_and(|len| len == limit);
    if first == 1 || cut { Ok(runs) } else { Err(DbError::damaged("the first runs are missing")) }
}

fn counts(db: &Connection, run: i64) -> Result<BTreeMap<String, u64>, DbError> {
    let mut statement = db.prepare_cached("SELECT what, count FROM counts WHERE run = ?")?;
    let mut rows = statement.query((run,))?;
    let mut counts = BTreeMap::new();
    while let Some(row) = rows.next()? {
        counts.insert(column::text(row, 0)?.to_owned(), column::count(row, 1)?);
    }
    Ok(counts)
}

/// Returns the number of the last run, 0 for none, and the numbers of rows after it.
pub(super) fn last(db: &Connection) -> Result<(i64, Totals), DbError> {
    let last = before(db, i64::MAX, 1)?;
    Ok(last.first().map_or((0, Totals::NEW), |run| (run.id, run.totals)))
}

/// Returns whether any run was completed.
pub(super) fn any_whole(db: &Connection) -> Result<bool, DbError> {
    let mut statement = db.prepare("SELECT 1 FROM runs WHERE state = ? LIMIT 1")?;
    Ok(statement.exists((RunState::Whole.number(),))?)
}

/// Returns when each run started, in seconds since 1970. A run that seems to have started after
/// `now` has no time here.
pub(super) fn starts(db: &Connection, now: Timestamp) -> Result<BTreeMap<i64, i64>, DbError> {
    Ok(starts_of(&before(db, i64::MAX, -1)?, now))
}

/// Returns when each of these runs started, as [`starts`].
pub(super) fn starts_of(runs: &[RunRecord], now: Timestamp) -> BTreeMap<i64, i64> {
    let all = runs.iter().map(|run| (run.id, run.started.seconds));
    all.filter(|(_, started_s)| age_s(*started_s, now.seconds).is_some()).collect()
}

/// Checks that no slice is lost, nor the runs that count them.
pub(super) fn ensure_slices(db: &Connection) -> Result<(), DbError> {
    let (_, totals) = last(db)?;
    let mut statement =
        db.prepare_cached("SELECT count(*), coalesce(sum(entries), 0) FROM slices")?;
    let found: (i64, i64) = statement.query_row((), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let expected = (totals.slices, totals.entries);
    if found == expected {
        return Ok(());
    }
    Err(DbError::damaged(format_args!("slices are lost: {found:?} are there of {expected:?}")))
}

/// Checks that no row is lost from which history is derived.
pub(super) fn ensure_past(db: &Connection) -> Result<(), DbError> {
    let (_, totals) = last(db)?;
    let mut statement =
        db.prepare_cached("SELECT (SELECT count(1) FROM coverage), (SELECT count(1) FROM events)")?;
    let found: (i64, i64) = statement.query_row((), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let expected = (totals.coverage, totals.events);
    if found == expected {
        return Ok(());
    }
    Err(DbError::damaged(format_args!("events are lost: {found:?} are there of {expected:?}")))
}
